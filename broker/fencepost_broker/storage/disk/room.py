"""Room on the disk ahead of a file's end, which makes writes cheaper.

Linux's ``fallocate`` reserves blocks after the end of a file and leaves its size as it is, so no
reader sees them, and a crash loses nothing. Python has no name for it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Final

_KEEP_SIZE: Final = 1
"""``FALLOC_FL_KEEP_SIZE``"""


def reserve_room(descriptor: int, position: int, length: int) -> None:
    """Reserve blocks from a position on, if the system, the file system and its free room allow."""
    fallocate = _find_fallocate()
    if fallocate is not None:
        fallocate(descriptor, _KEEP_SIZE, position, length)


def release_room(descriptor: int) -> None:
    """Give back the blocks after the file's end."""
    os.ftruncate(descriptor, os.fstat(descriptor).st_size)


@functools.cache
def _find_fallocate() -> Callable[[int, int, int, int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes  # most data directories never need it

        library = ctypes.CDLL(None)
        found = getattr(library, "fallocate64", None) or library.fallocate
    except (ImportError, OSError, AttributeError):
        return None
    found.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    found.restype = ctypes.c_int
    return found
