"""The broker's commands of the ``fencepost`` command line."""
