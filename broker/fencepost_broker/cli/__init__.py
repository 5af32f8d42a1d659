"""The `fencepost` command."""
