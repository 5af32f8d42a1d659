"""What the broker adds to the ``fencepost`` command line."""
