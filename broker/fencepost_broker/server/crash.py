"""The end of this process at a step of a transaction, as after a power cut."""

from __future__ import annotations

import os
import signal
from fnmatch import fnmatchcase
from itertools import count
from typing import TYPE_CHECKING

from fencepost_broker.coordinator.runtime.steps import check_step

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.steps import OnStep


def crash_at(step: str, which: int = 1) -> OnStep:
    """Return an ``on_step`` that kills this process (SIGKILL) at such a step for the n-th time.

    The step is a name, or a pattern as ``marker.orders-*.after``; raises ValueError for others.
    """
    check_step(step)
    passed = count(1)

    def on_step(name: str) -> None:
        if fnmatchcase(name, step) and next(passed) == which:
            os.kill(os.getpid(), signal.SIGKILL)

    return on_step
