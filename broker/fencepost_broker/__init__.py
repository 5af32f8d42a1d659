"""The broker, and the `fencepost` command that all parts share."""
