"""An event loop whose time is virtual: when nothing is to be done, it jumps to the next timer."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any, Final, NoReturn

from fencepost_broker.simulation.network import HOST, Network
from fencepost_broker.simulation.process import Callback, Process

TURN_S: Final = 0.000_02
"""What a turn of the loop takes, so that time passes also for a program that never waits."""
TURNS_MAX: Final = 500_000
"""Turns without a wait, after which the program is taken to be in an endless loop."""
_CLOCK_S: Final = 1e-9
"""Timers that are due within this time are due now, as in asyncio."""
_HOSTS: Final = (None, "", HOST, "localhost", "0.0.0.0", "::1", "::")  # noqa: S104 - names only


class SimulationError(Exception):
    """A program did what a simulation cannot do: use threads, TLS, or other hosts."""


class SimulationStuckError(SimulationError):
    """Nothing will happen any more, or time stands still."""


def _refuses(what: str) -> Any:
    async def refuse(*_: Any, **__: Any) -> NoReturn:
        raise SimulationError(f"a simulation has no {what}")

    return refuse


class SimLoop(asyncio.BaseEventLoop):
    """The event loop of a simulation."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.now_s = 0.0
        """What ``time`` returns; the simulator itself reads it very often."""
        self._turns = 0
        """Turns since the last wait."""
        self._ready: deque[Callback]
        self._stopping: bool
        self._closed: bool
        self._scheduled: list[tuple[float, int, Callback]]
        self._timers = count()
        """Timers that are due at the same time are called in the order in which they were set."""
        self.thread = threading.get_ident()
        """The thread that runs it."""
        self.network = Network(self, random)
        self._killed: list[Process] = []
        self._kept: list[Any] = []
        """What killed processes were about: if it were let go, its ``finally`` would run."""

    # -- time ------------------------------------------------------------------------------------

    def time(self) -> float:
        """Return seconds since the start of the simulation."""
        return self.now_s

    def _run_once(self) -> None:
        """Call what is ready. If nothing is, jump to the next timer."""
        ready, timers = self._ready, self._scheduled
        while timers and timers[0][2]._cancelled:
            heappop(timers)
        if ready or self._stopping or (timers and timers[0][0] <= self.now_s):
            self._turns += 1
            if self._turns > TURNS_MAX:
                raise SimulationStuckError(
                    f"the loop was busy for {TURNS_MAX} turns: something repeats without a wait"
                )
            self.now_s += TURN_S
        elif timers:
            self._turns = 0
            self.now_s = timers[0][0]
        else:
            raise SimulationStuckError(
                "nothing will happen any more: all tasks wait, and no timer is set"
            )
        until_s = self.now_s + _CLOCK_S
        while timers and timers[0][0] < until_s:
            ready.append(heappop(timers)[2])
        for _ in range(len(ready)):
            ready.popleft().run()

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled timer is skipped when it is due."""

    def _write_to_self(self) -> None:
        """No other thread waits for the loop."""

    # -- callbacks -------------------------------------------------------------------------------

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Call in the next turn, if the process of the context runs."""
        if self._closed:
            self._check_closed()  # type: ignore[attr-defined]
        handle = Callback(0, callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Call at a time, or later if the process of the context is paused then."""
        if self._closed:
            self._check_closed()  # type: ignore[attr-defined]
        timer = Callback(when, callback, args, self, context)
        heappush(self._scheduled, (when, next(self._timers), timer))
        return timer

    # -- processes -------------------------------------------------------------------------------

    def kill(self, process: Process, *, silently: bool = False) -> None:
        """End a process as SIGKILL does; ``silently``, its machine goes away with it."""
        self._kept += [asyncio.all_tasks(self), list(self.network.ends), list(process.held)]
        self.network.end(process, silently=silently)
        process.end()
        self._killed.append(process)

    def revive(self) -> None:
        """Let what was killed clean up, after the run."""
        self._turns = 0
        for process in self._killed:
            process.revive()

    # -- threads ---------------------------------------------------------------------------------

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Call in the next turn; another thread is refused."""
        if threading.get_ident() != self.thread:
            raise SimulationError("another thread calls into the simulation")
        return self.call_soon(callback, *args, context=context)

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Call at once: there are no threads."""
        del executor
        future: asyncio.Future[Any] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - the future has it
            future.set_exception(error)
        return future

    # -- network ---------------------------------------------------------------------------------

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> list[Any]:
        """Return the one address of this simulation, for names of this machine only."""
        del options
        if host not in _HOSTS:
            raise socket.gaierror(
                socket.EAI_NONAME, f"a simulation has no DNS, and its only host is {HOST}: {host}"
            )
        kind = socket.SOCK_STREAM
        return [(socket.AF_INET, kind, socket.IPPROTO_TCP, "", (HOST, int(port or 0)))]

    async def create_server(
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: Any = None,
        port: int | None = None,
        **options: Any,
    ) -> Any:
        """Listen in memory."""
        self._refuse_sockets(options)
        await self.getaddrinfo(host, port)
        serves = options.get("start_serving", True)
        return self.network.listen(protocol_factory, port or 0, is_serving=serves)

    async def create_connection(
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: Any = None,
        port: int | None = None,
        **options: Any,
    ) -> Any:
        """Connect in memory."""
        self._refuse_sockets(options)
        await self.getaddrinfo(host, port)
        return await self.network.connect(protocol_factory, int(port or 0))

    def _refuse_sockets(self, options: dict[str, Any]) -> None:
        for name in ("ssl", "sock"):
            if options.get(name):
                raise SimulationError(f"a simulation has no sockets and no TLS: {name}=")

    create_datagram_endpoint = _refuses("UDP")
    create_unix_connection = _refuses("Unix sockets")
    create_unix_server = _refuses("Unix sockets")
    subprocess_exec = _refuses("subprocesses")
    subprocess_shell = _refuses("subprocesses")
