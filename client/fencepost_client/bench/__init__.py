"""``fencepost bench``, the pure parts: reckoning, lines, settings."""
