"""The consumer's pure parts: positions, fetching, offsets, and membership of a group."""
