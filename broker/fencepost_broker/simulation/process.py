"""A process of a simulation: its name, its clock, and whether it runs.

Code belongs to the process in whose context it runs. A broker that is started again is another
process with the same name: nothing of the former one ever runs again.
"""

from __future__ import annotations

import asyncio
from contextvars import Context, ContextVar
from typing import Any, Final


class Process:
    """What belongs together, and is killed, paused and cut off together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.runs = True
        """Whether its callbacks are called. Else they wait in ``held``."""
        self.held: list[asyncio.Handle] = []
        self.clock_ahead_s = 0.0
        """How far its wall clock is ahead of the simulation's."""
        self.drift = 0.0
        """How many seconds its wall clock gains in a second of the simulation."""

    def __repr__(self) -> str:
        return f"<Process {self.name}>"

    def wall_s(self, now_s: float) -> float:
        """Return the time of its wall clock, since the start of the simulation."""
        return now_s * (1 + self.drift) + self.clock_ahead_s

    def set_drift(self, drift: float, now_s: float) -> None:
        """Let its wall clock run slower or faster from now on."""
        self.clock_ahead_s += now_s * (self.drift - drift)
        self.drift = drift

    def set_clock(self, like: Process | None = None) -> None:
        """Set its wall clock like that of another process, or right."""
        self.clock_ahead_s, self.drift = (
            (0.0, 0.0) if like is None else (like.clock_ahead_s, like.drift)
        )

    def pause(self) -> None:
        """Call nothing of it until ``resume``, as after SIGSTOP. Its connections stay open."""
        self.runs = False

    def resume(self) -> None:
        """Let it run on: what has arrived and what is due comes first, in order."""
        if not self.is_dead:
            self.revive()

    def revive(self) -> None:
        """Let it run on, also if it is dead: after a run, so that it cleans up."""
        self.runs = True
        held, self.held = self.held, []
        for handle in held:
            if not handle.cancelled():
                handle._loop._ready.append(handle)  # type: ignore[attr-defined]

    def end(self) -> None:
        """Never call anything of it again, as after SIGKILL."""
        self.is_dead, self.runs = True, False


OUTSIDE: Final = Process("program")
"""For code that runs in no simulation."""
current_process: Final[ContextVar[Process]] = ContextVar("current_process", default=OUTSIDE)
"""The process that code belongs to."""


def _context_of(handle: Any) -> Context:
    context: Context = handle._context
    return context


def _runs_now(handle: asyncio.Handle) -> bool:
    """Whether a callback may be called; it is kept for later if its process does not run."""
    process = _context_of(handle).get(current_process, OUTSIDE)
    if not process.runs:
        process.held.append(handle)
    return process.runs


class ProcessHandle(asyncio.Handle):
    """A callback that is called if its process runs."""

    __slots__ = ()

    def _run(self) -> None:
        if _runs_now(self):
            super()._run()


class ProcessTimer(asyncio.TimerHandle):
    """A timer that is called if its process runs; one that is paused is called late."""

    __slots__ = ()

    def _run(self) -> None:
        if _runs_now(self):
            super()._run()
