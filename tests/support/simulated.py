"""A loop whose time is virtual, and processes in it that are killed, stopped and cut off.

    loop = SimulatedLoop(random.Random(seed))
    process = Process(1)
    loop.begin(process, main())      # what it calls later, and what arrives for it, is its own
    loop.pause(process)              # SIGSTOP: nothing of it runs, what arrives waits
    loop.kill(process)               # SIGKILL: nothing of it ever runs again, its peers hear so
    loop.cuts[1, 2] = Cut.HOLD       # what processes of node 1 send to node 2 waits

Time jumps to whatever is due next, so a minute costs what happens in it. Connections are pairs of
objects; each piece that is sent takes a moment of its own, in order. Whose turn it is, is told by
the context in which each call of asyncio's runs. Threads and names of hosts are left out.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import random
from collections import deque
from collections.abc import Callable, Coroutine
from enum import Enum, auto
from typing import Any, Final

_TICK: Final = 1e-6
_LOOKS_S: Final = 0.02
"""So often somebody who connects looks whether the wire is whole again."""


class Cut(Enum):
    """What becomes of what is sent."""

    HOLD = auto()
    """It waits, and arrives when the wire is whole again."""
    SWALLOW = auto()
    """It vanishes, and so does all that follows on that connection."""


class Process:
    """One that runs at a node, of which there may be several one after the other."""

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.is_killed = False
        self.waiting: deque[asyncio.Handle] | None = None
        """While it is stopped."""


_NOBODY: Final = Process(0)
_PROCESS: contextvars.ContextVar[Process] = contextvars.ContextVar("process", default=_NOBODY)


class Transport(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, loop: SimulatedLoop, protocol: Any, owner: contextvars.Context) -> None:
        super().__init__()
        self.loop = loop
        self.protocol = protocol
        self.owner = owner
        self.process = owner.get(_PROCESS, _NOBODY)
        self.peer: Transport
        self.is_closed = False
        self._arrives_at = 0.0
        self._is_dead = False
        """What is sent does not arrive any more."""
        self.held: list[bytes | None] = []
        self._is_paused = False
        self._unread: list[bytes] = []

    # -- what protocols call --------------------------------------------------------------------

    def write(self, data: Any) -> None:
        if not self.is_closed and len(data):
            self.send(bytes(data))

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(bytes(each) for each in list_of_data))

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            self.send(None)
            self.loop.call_soon(self.protocol.connection_lost, None, context=self.owner)

    def is_closing(self) -> bool:
        return self.is_closed

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        unread, self._unread = self._unread, []
        for data in unread:
            self.loop.call_soon(self._take, data, context=self.owner)

    # -- the wire -------------------------------------------------------------------------------

    def send(self, data: bytes | None) -> None:
        """Let the other end have it, or know that this one is closed."""
        cut = self.loop.cuts.get((self.process.node_id, self.peer.process.node_id))
        if self._is_dead or cut is Cut.SWALLOW:
            self._is_dead = True
        elif cut is Cut.HOLD or self.held:
            self.held.append(data)
        else:
            now = self.loop.time()
            self._arrives_at = max(self._arrives_at + _TICK, now + self.loop.latency())
            peer = self.peer
            self.loop.call_at(self._arrives_at, peer.arrive, data, context=peer.owner)

    def release(self) -> None:
        """The wire is whole again."""
        held, self.held = self.held, []
        for data in held:
            self.send(data)

    def arrive(self, data: bytes | None) -> None:
        """Something came from the other end."""
        if self.is_closed:
            return
        if data is None:
            self.is_closed = True
            self.protocol.connection_lost(None)
        elif self._is_paused:
            self._unread.append(data)
        else:
            self._take(data)

    def _take(self, data: bytes) -> None:
        at = 0
        while at < len(data) and not self.is_closed:
            room = memoryview(self.protocol.get_buffer(len(data) - at))
            count = min(len(room), len(data) - at)
            room[:count] = data[at : at + count]
            self.protocol.buffer_updated(count)
            at += count


class Listener:
    """Stands for an ``asyncio.Server`` and for its socket."""

    def __init__(self, loop: SimulatedLoop, factory: Any, port: int) -> None:
        self.loop = loop
        self.factory = factory
        self.port = port
        self.owner = contextvars.copy_context()
        self.sockets = [self]

    def getsockname(self) -> tuple[str, int]:
        return "127.0.0.1", self.port

    def setsockopt(self, *_: int) -> None:
        pass

    async def start_serving(self) -> None:
        self.loop.listeners[self.port] = self

    def close(self) -> None:
        if self.loop.listeners.get(self.port) is self:
            del self.loop.listeners[self.port]


class SimulatedLoop(asyncio.BaseEventLoop):
    """See above. ``failures`` has what was raised and met by nobody."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__()
        self.rng = rng
        self.slowest_s = 0.005
        self.listeners: dict[int, Listener] = {}
        self.cuts: dict[tuple[int, int], Cut] = {}
        self.failures: list[str] = []
        self._now = 0.0
        self._ports = 9000
        self._ends: list[Transport] = []
        self._is_over = False
        self._buried: list[asyncio.Handle] = []
        """What killed processes would have done: kept, or their tasks would notice the end."""
        self.set_exception_handler(lambda _, told: self.failures.append(repr(told)))
        self.set_task_factory(self._make_task)

    def latency(self) -> float:
        """How long a piece is under way."""
        return self.rng.random() ** 3 * self.slowest_s

    # -- processes ------------------------------------------------------------------------------

    def begin(self, process: Process, main: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Let a process run."""
        context = contextvars.copy_context()
        context.run(_PROCESS.set, process)
        return self.create_task(main, context=context)

    def pause(self, process: Process) -> None:
        """Stop it."""
        if process.waiting is None:
            process.waiting = deque()

    def resume(self, process: Process) -> None:
        """Let it go on: its timers come first, then what has arrived, as with libuv."""
        waiting, process.waiting = process.waiting or (), None
        arrived = [each for each in waiting if _is_arrival(each)]
        ready: deque[asyncio.Handle] = self._ready  # type: ignore[attr-defined]
        ready.extend(each for each in waiting if not _is_arrival(each))
        ready.extend(arrived)

    def kill(self, process: Process) -> None:
        """End it."""
        process.is_killed, process.waiting = True, None
        for port, listener in list(self.listeners.items()):
            if listener.owner.get(_PROCESS) is process:
                del self.listeners[port]
        for each in self._ends:
            if each.process is process and not each.is_closed:
                each.is_closed = True
                each.send(None)
        self._ends = [each for each in self._ends if not each.is_closed or each.held]

    def finish(self) -> None:
        """Let all that is left end, also of processes that were killed, and close."""
        self._is_over = True
        self._ready.extend(self._buried)  # type: ignore[attr-defined]
        self._buried.clear()
        if left := asyncio.all_tasks(self):
            for task in left:
                task.cancel()
            self.run_until_complete(asyncio.wait(left, timeout=60))
        self.close()

    def heal(self) -> None:
        """All wires are whole again."""
        self.cuts.clear()
        for each in self._ends:
            each.release()

    # -- what asyncio asks ----------------------------------------------------------------------

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        ready: deque[asyncio.Handle] = self._ready  # type: ignore[attr-defined]
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        while scheduled and scheduled[0]._cancelled:
            heapq.heappop(scheduled)._scheduled = False  # type: ignore[attr-defined]
        if not ready and not self._stopping:  # type: ignore[attr-defined]
            assert scheduled, "nothing will ever happen again"
            # A little later: whoever counts in whole milliseconds comes to the same one.
            self._now = max(self._now, scheduled[0].when() + _TICK)
        while scheduled and scheduled[0].when() <= self._now:
            handle = heapq.heappop(scheduled)
            handle._scheduled = False  # type: ignore[attr-defined]
            ready.append(handle)
        for _ in range(len(ready)):
            handle = ready.popleft()  # type: ignore[assignment]
            if handle.cancelled():
                continue
            process = handle._context.get(_PROCESS, _NOBODY)  # type: ignore[attr-defined]
            if self._is_over:
                handle._run()
            elif process.is_killed:
                self._buried.append(handle)
            elif process.waiting is not None:
                process.waiting.append(handle)
            else:
                handle._run()

    def _timer_handle_cancelled(self, handle: Any) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    async def shutdown_default_executor(self, *_: float | None) -> None:
        pass

    @staticmethod
    def _make_task(
        loop: Any, coro: Any, context: contextvars.Context | None = None, **more: Any
    ) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, context=context, **more)
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        task.add_done_callback(loop._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, OSError):
            self.failures.append(f"{task.get_coro()}: {error!r}")

    async def create_server(  # type: ignore[override]
        self, protocol_factory: Any, host: str, port: int, **_: Any
    ) -> Listener:
        if not port:
            self._ports += 1
            port = self._ports
        return Listener(self, protocol_factory, port)

    async def create_connection(  # type: ignore[override]
        self, protocol_factory: Callable[[], Any], host: str, port: int, **_: Any
    ) -> tuple[Transport, Any]:
        near = contextvars.copy_context()
        own = near.get(_PROCESS, _NOBODY).node_id
        await asyncio.sleep(self.latency())
        while True:
            listener = self.listeners.get(port)
            if listener is None:
                raise ConnectionRefusedError(f"nobody listens at {host}:{port}")
            there = listener.owner.get(_PROCESS, _NOBODY).node_id
            if not ({(own, there), (there, own)} & self.cuts.keys()):
                break
            await asyncio.sleep(_LOOKS_S)
        here = Transport(self, protocol_factory(), near)
        other = Transport(self, listener.factory(), listener.owner)
        here.peer, other.peer = other, here
        self._ends += (here, other)
        self.call_soon(other.protocol.connection_made, other, context=listener.owner)
        here.protocol.connection_made(here)
        return here, here.protocol


def _is_arrival(handle: asyncio.Handle) -> bool:
    called = handle._callback  # type: ignore[attr-defined]
    return getattr(called, "__func__", None) is Transport.arrive
