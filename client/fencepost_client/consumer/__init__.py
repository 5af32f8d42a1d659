"""The pure parts of the consumer: positions, fetches, offsets, members of groups."""
