"""``--exit-with-parent``: the broker stops when its parent process ends.

A killed test runner cannot stop its brokers. Linux reports the end of a process by a descriptor
(pidfd_open); elsewhere a thread watches the parent's id, which changes when the parent ends. On
Windows it does not change, and the parent is often a launcher that waits for its child. There the
end of standard input is the end of the program that started the broker.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from typing import Final

_LOOK_S: Final = 0.2
_NO_PARENT: Final = "--exit-with-parent: the parent process has already ended"
_NO_PIPE: Final = (
    "--exit-with-parent: on this system, standard input must be a pipe that the parent keeps open"
)


def parent_descriptor() -> int:
    """Return a descriptor that becomes readable when the parent process ends."""
    if not hasattr(os, "fork"):  # Windows
        if not stat.S_ISFIFO(os.fstat(0).st_mode):
            raise ValueError(_NO_PIPE)
        return 0
    parent = os.getppid()
    try:
        descriptor = _opened(parent)
    except ProcessLookupError:
        raise ValueError(_NO_PARENT) from None
    if os.getppid() != parent:  # it ended while it was opened: that may be another process
        os.close(descriptor)
        raise ValueError(_NO_PARENT)
    return descriptor


def _opened(parent: int) -> int:
    if hasattr(os, "pidfd_open"):
        try:
            return os.pidfd_open(parent)
        except PermissionError:  # some sandboxes do not allow the call
            pass
    reading, writing = os.pipe()

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        os.close(writing)

    threading.Thread(target=look, name="exit-with-parent", daemon=True).start()
    return reading
