"""A process of a simulation: its name, its clock, and whether it runs.

Code belongs to the process in whose context it runs. A broker that is started again is another
process with the same name: nothing of the former one ever runs again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final


class Process:
    """What belongs together, and is killed, paused and cut off together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_dead = False
        self.runs = True
        """Whether its callbacks are called. Else they wait in ``held``."""
        self.held: list[Callback] = []
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


class Callback(asyncio.TimerHandle):
    """What the loop calls when it is due, and not before its process runs."""

    __slots__ = ()
    _context: Context
    _loop: asyncio.AbstractEventLoop

    def __init__(
        self,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: asyncio.AbstractEventLoop,
        context: Context | None,
    ) -> None:
        # As asyncio does it, but in one step and without the debug mode: there are very many.
        self._when = when
        self._callback = callback
        self._args = args
        self._loop = loop
        self._context = copy_context() if context is None else context
        self._cancelled = self._scheduled = False
        self._repr = self._source_traceback = None

    def run(self) -> None:
        """Call it, unless it is cancelled; it is kept for later if its process does not run."""
        if self._cancelled:
            return
        process = self._context.get(current_process, OUTSIDE)
        if process.runs:
            self._run()
        else:
            process.held.append(self)
