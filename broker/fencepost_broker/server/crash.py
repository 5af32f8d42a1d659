"""The end of this process at a step of a transaction, as after a power cut."""

from __future__ import annotations

import os
import signal
from fnmatch import fnmatchcase
from itertools import count
from typing import TYPE_CHECKING, Final

from fencepost_broker.coordinator.runtime.steps import check_step

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.steps import OnStep

_AT_ONCE: Final = getattr(signal, "SIGKILL", signal.SIGTERM)
"""Windows has no SIGKILL, and ends a process at once for each signal that is sent so."""


def crash_at(step: str, which: int = 1) -> OnStep:
    """Return an ``on_step`` that kills this process (SIGKILL) at such a step for the n-th time.

    The step is a name, or a pattern as ``marker.orders-*.after``; raises ValueError for others.
    """
    check_step(step)
    passed = count(1)

    def on_step(name: str) -> None:
        if fnmatchcase(name, step) and next(passed) == which:
            os.kill(os.getpid(), _AT_ONCE)

    return on_step
