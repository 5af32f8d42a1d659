"""A broker as a process: its loop, its signals, from start to a clean stop."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

from fencepost_broker.adapters.clock import NodeClock, StateClock
from fencepost_broker.adapters.listening import name_of_this_machine
from fencepost_broker.adapters.server import Limits, Server
from fencepost_broker.adapters.tap_port import TapPort, open_tap
from fencepost_broker.adapters.worker import WorkerThreads
from fencepost_broker.apis.registry import served
from fencepost_broker.flushes import InlineWorker, Worker
from fencepost_broker.log import Disk
from fencepost_broker.log_levels import LogLevels
from fencepost_broker.metrics import topics_snapshot
from fencepost_broker.node import Address, Node
from fencepost_broker.settings import Settings

if TYPE_CHECKING:
    from fencepost_broker.adapters.replica_fetchers import ReplicaFetchers

MAINTENANCE_MS_MAX: Final = 1000
FLUSHES_AT_ONCE: Final = 8
"""A disk takes several files together in less time than one by one: its journal groups them."""


def run_loop(main: Coroutine[Any, Any, int]) -> int:
    """Run on uvloop where there is one, else on asyncio's own loop."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


class AreaLogs(Protocol):
    """Gives each area of the broker its logger."""

    def area(self, name: str) -> Any:
        """The logger of an area."""


class BrokerProcess:
    """One node behind one server."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        logs: AreaLogs,
        clock: StateClock | None = None,
        log_levels: LogLevels | None = None,
    ) -> None:
        self.settings = settings
        self.logs = logs
        self.log = logs.area("server")
        self.clock = clock or StateClock()
        self.listening: tuple[str, ...] = ()
        """``listeners`` with the ports that the system gave where 0 was asked for."""
        self._disk = disk
        self._log_levels = log_levels or LogLevels()
        self.tap: TapPort | None = None
        self._maintenance: asyncio.TimerHandle | None = None
        self._fetchers: ReplicaFetchers | None = None

    async def start(self) -> list[Address]:
        """Open the logs, listen, register; gives where clients find it."""
        settings, logs = self.settings, self.logs
        loop = asyncio.get_running_loop()
        # What is in memory needs no sync, so no thread either.
        worker: Worker = InlineWorker()
        if settings.data_dirs:
            worker = WorkerThreads(loop, FLUSHES_AT_ONCE)
        clock = NodeClock(self.clock, loop)
        self.node = Node(settings, self._disk, clock, random.SystemRandom(), worker)
        self.node.log_levels = self._log_levels
        self.server = Server(
            self.node, served(settings), logs.area("connection"), Limits.from_settings(settings)
        )
        self.node.on_settings = self.server.use
        self.node.replicas.make_following = self._begin_to_follow
        try:
            addresses = await self._listen()
            self.node.start(addresses)
            self._tell_events()
            port = self._first_port
            self.tap = await open_tap(self.server, self.node, port, self.stats, logs.area("tap"))
            await self.server.serve()
        except BaseException:
            # Whoever asked may try again, in this process: nothing stays bound or locked.
            self.server.finish()
            await self.server.stop(0)
            await self._close_tap()
            await self.node.flushes.close()
            self.node.stop()
            self._tell_events()
            raise
        self.clock.follow(self)
        self._maintain()
        return addresses

    async def _listen(self) -> list[Address]:
        settings = self.settings
        advertised = {each.name: each for each in settings.advertised_endpoints}
        addresses = []
        listening = []
        self._first_port = 0
        for endpoint in settings.endpoints:
            if endpoint.name not in advertised:
                listening.append(str(endpoint))
                continue
            _, port = await self.server.listen(endpoint.name, endpoint.host, endpoint.port)
            listening.append(str(endpoint._replace(port=port)))
            self._first_port = self._first_port or port
            told = advertised[endpoint.name]
            host = told.host or name_of_this_machine()
            addresses.append(Address(endpoint.name, host, told.port or port))
        self.listening = tuple(listening)
        return addresses

    def _begin_to_follow(self) -> ReplicaFetchers:
        from fencepost_broker.adapters.replica_fetchers import ReplicaFetchers

        self._fetchers = ReplicaFetchers(self.node, self.logs.area("log"))
        return self._fetchers

    async def stop(self) -> bool:
        """Let what is being answered leave, then close the logs; says whether all is on disk."""
        self.clock.unfollow(self)
        if self._maintenance is not None:
            self._maintenance.cancel()
        self.server.finish()
        if self._fetchers is not None:
            await self._fetchers.close()
        self.node.release_waiting()
        await self.server.stop(self.settings.shutdown_timeout_ms / 1000)
        await self._close_tap()
        await self.node.flushes.close()
        is_clean = self.node.stop()
        self._tell_events()
        self.log.info("stopped", clean=is_clean)
        return is_clean

    # -- state time ----------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """When the first of the node's machines wants to be woken."""
        return self.node.deadline_ms()

    def expire(self) -> None:
        """Let machines do what is due now."""
        self.node.expire(self.node.now_ms())

    def catch_up(self) -> None:
        """Do all upkeep that is due now, in one go: the clock was moved by hand."""
        self.node.catch_up(self.node.now_ms())
        self._tell_events()

    def stats(self) -> dict[str, Any]:
        """All counters as plain data, for exporters and ``fencepost tap --stats``."""
        return {
            "connections": self.server.stats(),
            **self.node.metrics.snapshot(),
            "topics": topics_snapshot(self.node.table),
            "tap": None if self.tap is None else self.tap.stats(),
        }

    async def _close_tap(self) -> None:
        if self.tap is not None:
            await self.tap.stop()

    def _maintain(self) -> None:
        """Do a piece of upkeep and come again, unless time only moves by hand."""
        if self.clock.is_manual:
            self.catch_up()
            return
        delay_ms = MAINTENANCE_MS_MAX
        try:
            delay_ms = self._maintain_once()
        except Exception as error:
            self.log.error("upkeep failed: please report this", exc_info=error)  # noqa: TRY400
        loop = asyncio.get_running_loop()
        self._maintenance = loop.call_later(delay_ms / 1000, self._maintain)

    def _maintain_once(self) -> int:
        """Do a piece of upkeep; gives when the next is due, in ms."""
        now_ms = self.node.now_ms()
        self.node.expire(now_ms)
        next_ms = self.node.maintain(now_ms)
        self._tell_events()
        deadline_ms = self.node.deadline_ms()
        if deadline_ms is not None:
            next_ms = min(next_ms, deadline_ms)
        return min(max(next_ms - now_ms, 0), MAINTENANCE_MS_MAX)

    def _tell_events(self) -> None:
        for event in self.node.take_events():
            log = self.logs.area(event.area)
            if event.is_detail:
                log.debug(event.text)
                continue
            self.node.metrics.log_event(event.kind)
            tell = log.warning if event.unexpected else log.info
            tell(event.text, kind=event.kind, partition=event.partition or None)


class Runnable(Protocol):
    """What can be run until it is told to stop."""

    async def start(self) -> Any:
        """Serve from now on."""

    async def stop(self) -> bool:
        """Stop in order; says whether all went well."""


async def run_until_stopped(broker: Runnable, ready: Callable[[], None]) -> int:
    """Serve until SIGTERM or SIGINT, a second of which ends at once; gives the exit code."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()

    def on_signal() -> None:
        if stopping.is_set():
            sys.exit(130)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows: KeyboardInterrupt stops the runner
            loop.add_signal_handler(number, on_signal)
    await broker.start()
    ready()
    await stopping.wait()
    return 0 if await broker.stop() else 1
