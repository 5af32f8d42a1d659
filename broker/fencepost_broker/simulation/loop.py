"""An event loop whose time is virtual: when nothing is to be done, it jumps to the next timer."""

from __future__ import annotations

import asyncio
import heapq
import socket
import threading
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any, Final, NoReturn

from fencepost_broker.simulation.network import HOST, Network
from fencepost_broker.simulation.process import Process, ProcessHandle, ProcessTimer

TURN_S: Final = 0.000_02
"""What a turn of the loop takes, so that time passes also for a program that never waits."""
TURNS_MAX: Final = 500_000
"""Turns without a wait, after which the program is taken to be in an endless loop."""
_HOSTS: Final = (None, "", HOST, "localhost", "0.0.0.0", "::1", "::")  # noqa: S104 - names only


class SimulationError(Exception):
    """A program did what a simulation cannot do: use threads, TLS, or other hosts."""


class SimulationStuckError(SimulationError):
    """Nothing will happen any more, or time stands still."""


class _Timers:
    """In place of a selector: there are no sockets, so a wait ends when the next timer is due."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop
        self._turns = 0

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise SimulationStuckError(
                "nothing will happen any more: all tasks wait, and no timer is set"
            )
        if timeout > 0:
            self._turns = 0
            self._loop.advance(timeout)
            return []
        self._turns += 1
        if self._turns > TURNS_MAX:
            raise SimulationStuckError(
                f"the loop was busy for {TURNS_MAX} turns: something repeats without a wait"
            )
        self._loop.advance(TURN_S)
        return []

    def begin(self) -> None:
        """Count turns from now on."""
        self._turns = 0

    def close(self) -> None:
        """There is nothing to close."""


def _refuses(what: str) -> Any:
    async def refuse(*_: Any, **__: Any) -> NoReturn:
        raise SimulationError(f"a simulation has no {what}")

    return refuse


class SimLoop(asyncio.BaseEventLoop):
    """The event loop of a simulation."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._now = 0.0
        self._ready: deque[asyncio.Handle]
        self._scheduled: list[asyncio.TimerHandle]
        self._selector = _Timers(self)
        self._thread = threading.get_ident()
        self.network = Network(self, random)
        self._killed: list[Process] = []
        self._kept: list[Any] = []
        """What killed processes were about: if it were let go, its ``finally`` would run."""

    # -- time ------------------------------------------------------------------------------------

    def time(self) -> float:
        """Return seconds since the start of the simulation."""
        return self._now

    def advance(self, by_s: float) -> None:
        """Let time pass."""
        self._now += by_s

    def _process_events(self, event_list: list[Any]) -> None:
        """There are no events of sockets."""

    def _write_to_self(self) -> None:
        """No other thread waits for the loop."""

    # -- callbacks -------------------------------------------------------------------------------

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Call in the next turn, if the process of the context runs."""
        self._check_closed()  # type: ignore[attr-defined]
        handle = ProcessHandle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Call at a time, or later if the process of the context is paused then."""
        self._check_closed()  # type: ignore[attr-defined]
        timer = ProcessTimer(when, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)
        timer._scheduled = True  # type: ignore[attr-defined]
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
        self._selector.begin()
        for process in self._killed:
            process.revive()

    # -- threads ---------------------------------------------------------------------------------

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Call in the next turn; another thread is refused."""
        if threading.get_ident() != self._thread:
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
