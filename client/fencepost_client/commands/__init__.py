"""The commands ``fencepost topics|groups|configs|produce|consume|bench``."""
