"""The lock of a data directory: Java's, so that Apache Kafka and Fencepost keep each other out.

The system's lock belongs to a process. Two brokers of one process are kept apart by a set of what
is locked here; without it, the second would get the lock, and its release would free the first's.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import Final

from fencepost_broker.storage.log.disk import LockedError

if sys.platform != "win32":
    import fcntl
else:
    import msvcrt

_TAKEN: Final = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_FLAGS: Final = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_MODE: Final = 0o600

_locked_here: Final[set[tuple[int, int]]] = set()
"""Device and inode of each lock file that this process has locked."""


class FileLock:
    """A locked file; it goes with its descriptor. Raises ``LockedError``, or ``OSError``."""

    __slots__ = ("_descriptor", "_file")

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        try:
            # Closing any descriptor of a file frees the process's lock, so look before opening.
            known = os.stat(path)
        except FileNotFoundError:
            pass
        else:
            if (known.st_dev, known.st_ino) in _locked_here:
                raise LockedError("lock", path, "another broker of this program uses the directory")
        descriptor = os.open(path, _FLAGS, _MODE)
        try:
            if sys.platform != "win32":
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            found = os.fstat(descriptor)
        except OSError as error:
            os.close(descriptor)
            if error.errno in _TAKEN:
                raise LockedError("lock", path, "another broker uses the directory") from error
            raise
        self._file = found.st_dev, found.st_ino
        _locked_here.add(self._file)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let others have it."""
        if self._descriptor >= 0:
            _locked_here.discard(self._file)
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.release()
