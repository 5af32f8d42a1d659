"""``fencepost topics|groups|configs|produce|consume|bench``: the SDK, for shells and people."""
