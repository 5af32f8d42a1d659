"""A broker in an event loop, from its start to a clean stop."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from fencepost_protocol.apis import Message

from fencepost_broker.apis.registry import served
from fencepost_broker.config import Settings
from fencepost_broker.config.tables.security import read_own_name
from fencepost_broker.controller.channel.local import LocalController
from fencepost_broker.network import serving
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.dispatcher import Dispatcher
from fencepost_broker.network.limits import Limits
from fencepost_broker.network.listeners import name_of_this_machine
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.network.tap.facts import Facts
from fencepost_broker.network.tap.port import TapPort, open_tap
from fencepost_broker.network.worker_threads import WorkerThreads
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import Address
from fencepost_broker.replication.partition import topics_snapshot
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.server.clock import ClockPosition, ProcessClock, StateClock, wall_ms
from fencepost_broker.server.disk_faults import follow_faults
from fencepost_broker.server.errors import BrokerFailedError
from fencepost_broker.server.links.other_processes import OtherProcessLinks
from fencepost_broker.storage.disk.faulty import FaultyDisk
from fencepost_broker.storage.flush_scheduler import InlineWorker, Worker
from fencepost_broker.storage.log import Disk
from fencepost_broker.storage.log.checkpoints import cluster_id_of

T = TypeVar("T")

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.steps import OnStep
    from fencepost_broker.faults.rules import FaultRules
    from fencepost_broker.network.key_fetcher import KeyFetcher
    from fencepost_broker.network.watched_context import WatchedContext
    from fencepost_broker.server.controller_server import ControllerServer

MAINTENANCE_MS_MAX: Final = 1000
FLUSHES_AT_ONCE: Final = 8
"""A disk flushes several files together in less time than one by one: its journal groups them."""


def start_soon(call: Coroutine[Any, Any, T]) -> Awaitable[T]:
    """Let the running loop make a call; the caller must keep the result until then."""
    return asyncio.get_running_loop().create_task(call)


class AreaLogs(Protocol):
    """Gives each area of the broker its logger."""

    def area(self, name: str) -> Any:
        """Return the logger of an area."""


class BrokerProcess:
    """A broker, a controller, or both, with their listeners."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        logs: AreaLogs,
        clock: StateClock | None = None,
        log_levels: LogLevels | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        """``on_step`` is called with the name of each step of a transaction in a log."""
        self.settings = settings
        self.logs = logs
        self.log = logs.area("server")
        self.clock = clock or StateClock()
        self.on_failure: Callable[[str], None] = lambda _: None
        """Called with the reason if the broker cannot continue; the caller then stops it."""
        self._failure = ""
        self.used_fault_rules: FaultRules | None = None
        """The fault rules, if there ever were any."""
        self._is_started = False
        self._is_cut_off = False
        self.listening: tuple[str, ...] = ()
        """The ``listeners``, with actual ports instead of 0."""
        self._disk = disk
        self._worker: Worker = InlineWorker()
        self._log_levels = log_levels or LogLevels()
        self._on_step = on_step
        self.tap: TapPort | None = None
        self._maintenance: asyncio.TimerHandle | None = None
        self.links: OtherProcessLinks | None = None
        """Connections to other processes; a controller by itself needs none."""
        self._controller_server: SocketServer | None = None
        """Server of the controller's listeners, for other brokers."""
        self._key_fetchers: list[KeyFetcher] = []

    async def start(self) -> list[Address]:
        """Open the logs, listen and register; returns the addresses for clients."""
        settings, logs = self.settings, self.logs
        self.clock.notice_step()  # since it was made
        loop = asyncio.get_running_loop()
        threads = WorkerThreads(loop, FLUSHES_AT_ONCE)
        # What is in memory needs no sync, so no thread either.
        if settings.data_dirs:
            self._worker = threads
        log, limits = logs.area("connection"), Limits.from_settings(settings)
        self.server: BrokerServer | ControllerServer
        if "broker" in settings.process_roles:
            if "controller" not in settings.process_roles:
                settings = await self._join(settings)
            self.links = OtherProcessLinks(settings, logs.area, self._fail)
            self.server = broker = self._make_broker(settings, self._disk)
            self.socket_server = SocketServer(
                broker.context, served(settings), log, limits, broker.ready, broker.quotas
            )
            if settings.controller_endpoints and broker.has_controller:
                self._open_to_brokers(broker)
        else:
            from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
            from fencepost_broker.server.controller_server import ControllerServer

            clock, chance = ProcessClock(self.clock, loop), random.SystemRandom()
            self.server = ControllerServer(
                settings, self._disk, clock, chance, self._worker, self._log_levels
            )
            context, ready = self.server.context, self.server.ready
            self.socket_server = SocketServer(context, SERVED_BY_CONTROLLER, log, limits, ready)
        self.server.config.listen(self.socket_server.use)
        if isinstance(self._disk, FaultyDisk):
            follow_faults(self._disk.faults, lambda: self.server, threads)
            self._disk.faults.on_crash = self._fail
        try:
            addresses = await self._listen()
            self.server.start(addresses)
            self._tell_events()
            if isinstance(self.server, BrokerServer) and not self.server.has_controller:
                await self._follow_controller(self.server)
            node_id, cluster_id, _ = self.server.identity
            self._facts = Facts(node_id, cluster_id, self.server.table, self.stats)
            in_force, log = self.server.config.settings, logs.area("tap")
            port, facts = self._first_port, self._facts
            self.tap = await open_tap(self.socket_server, in_force, facts, port, log)
            for each in self._socket_servers():
                await serving.serve(each)
            if self.links is not None and self.links.controller is not None:
                await self.links.controller.wait_until_unfenced()
            self._check()
        except BaseException:
            # The caller may try again in this process: nothing stays bound or locked.
            serving.finish(self.socket_server)
            await self._close_links()
            await self._stop_servers(0)
            await self._close_tap()
            await self.server.flushes.close()
            self.server.stop()
            self._tell_events()
            raise
        self._is_started = True
        self.clock.follow(self)
        self._maintain()
        return addresses

    def _make_broker(self, settings: Settings, disk: Disk) -> BrokerServer:
        clock = ProcessClock(self.clock, asyncio.get_running_loop())
        return BrokerServer(
            settings, disk, clock, random.SystemRandom(), self._worker, self._log_levels,
            self.links, self._fail, self._on_step,
        )  # fmt: skip

    async def exchange(self, disk: Disk, at: ClockPosition, *, keep_idle: bool = False) -> None:
        """Continue with the state of another disk, at the same listeners.

        Connections are closed, all or those with a request under way. On an error, which may be any
        of a start, the broker continues with the state that it had. This is for a broker that is a
        cluster by itself.
        """
        if not await serving.close_connections(self.socket_server, keep_idle=keep_idle):
            raise RuntimeError("this broker was stopped")
        # From here on to the end, the loop has no turn: no request meets half of the exchange.
        old, before = self.broker, self.clock.position
        self.clock.set(at)
        try:
            made = self._make_broker(self.settings, disk)
            made.controller_addresses += old.controller_addresses
            try:
                made.start(old.addresses)
            except BaseException:
                made.release_waiting()
                made.stop()
                raise
        except BaseException:
            self.clock.set(before)
            raise
        old.release_waiting()
        self._tell_events()
        old.stop()
        self._disk, self.server = disk, made
        made.config.listen(self.socket_server.use)
        self.socket_server.use(made.config.settings)
        self.socket_server.exchange(made.context, made.ready, made.quotas)
        self._facts.cluster_id, self._facts.table = made.identity.cluster_id, made.table
        if self.clock.is_manual:
            self.catch_up()
        self._tell_events()

    def _check(self) -> None:
        if self._failure:
            raise BrokerFailedError(self._failure)

    def _fail(self, why: str) -> None:
        self._failure = why
        self.log.error(why)
        if self._is_started:
            self.on_failure(why)

    @property
    def controller_addresses(self) -> list[Address]:
        """Addresses of this process's controller for brokers, if they may join."""
        return self.server.controller_addresses

    @property
    def is_whole(self) -> bool:
        """Whether this process is a whole cluster: a broker with its controller."""
        return isinstance(self.server, BrokerServer) and self.server.has_controller

    @property
    def broker(self) -> BrokerServer:
        """The broker, in a process that is one."""
        assert isinstance(self.server, BrokerServer), "this process is a controller by itself"
        return self.server

    @property
    def fault_rules(self) -> FaultRules:
        """The fault rules; the first access shows requests to them."""
        if self.used_fault_rules is None:
            from fencepost_broker.network.faulted_request import Faults
            from fencepost_broker.server.states import rules_of

            apis, now_ms = self.socket_server.served, self.clock.now_ms
            self.used_fault_rules = rules_of(apis, now_ms, self.settings, lambda: self.broker)
            self.socket_server.use_faults(Faults(self.used_fault_rules))
        return self.used_fault_rules

    async def ask(self, message: Message) -> Any:
        """Return the controller's decision, wherever it is; ``None`` if it is unknown."""
        if "broker" not in self.settings.process_roles:
            return self.server.controller.command(message)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.broker.controller.ask(message, answer.set_result)
        return await answer

    async def _join(self, settings: Settings) -> Settings:
        """Return the settings with the controller's cluster id, unless they have one."""
        from fencepost_broker.server.links.controller_link import ask_cluster_id

        if settings.cluster_id or cluster_id_of(self._disk):
            return settings
        cluster_id = await ask_cluster_id(settings, self.logs.area("controller"))
        return settings.with_overrides({"cluster.id": cluster_id})

    async def _follow_controller(self, broker: BrokerServer) -> None:
        """Register at a controller in another process, and open the topics of its log."""
        from fencepost_broker.metadata.log.follower import MetadataFollower

        assert self.links is not None
        assert self.links.controller is not None
        follower = MetadataFollower(
            broker.identity,
            broker.image,
            broker.metadata_log,
            self.clock.now_ms,
            broker.publishers,
            broker.replicas.prepare,
        )
        await self.links.controller.start(
            broker.registration, broker.addresses, broker.image, follower
        )
        broker.open()
        broker.coordinators.start()
        broker.producer_ids.begin()

    async def _close_links(self) -> None:
        """Close the connections to other processes, and fetch no more keys."""
        for fetcher in self._key_fetchers:
            await fetcher.stop()
        if self.links is not None:
            await self.links.close()

    def _open_to_brokers(self, broker: BrokerServer) -> None:
        from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER

        limits = Limits.from_settings(self.settings)
        log = self.logs.area("connection")
        context = broker.controller_context(Metrics())
        port = SocketServer(context, SERVED_BY_CONTROLLER, log, limits, broker.ready)
        self._controller_server = self.socket_server.beside = port
        broker.config.listen(port.use)

    async def _listen(self) -> list[Address]:
        """Bind all listeners; returns the advertised addresses."""
        settings = self.settings
        of_controller = {each.name for each in settings.controller_endpoints}
        told = {each.name: each for each in settings.advertised_endpoints}
        addresses, to_brokers, listening = [], [], []
        self._first_port = 0
        for endpoint in settings.endpoints:
            is_clients = endpoint.name not in of_controller
            if is_clients and endpoint.name not in told:
                listening.append(str(endpoint))
                continue
            server = self.socket_server
            if not is_clients and self._controller_server is not None:
                server = self._controller_server
            front, tls = await self._front(server, endpoint.name), self._tls(endpoint.name)
            _, port = await serving.add_listener(server, *endpoint, front, tls)
            listening.append(str(endpoint._replace(port=port)))
            advertised = told.get(endpoint.name, endpoint)
            host = advertised.host or name_of_this_machine()
            address = Address(endpoint.name, host, advertised.port or port)
            if server is self.socket_server:
                self._first_port = self._first_port or port
                addresses.append(address)
            else:
                to_brokers.append(address)
        self.listening = tuple(listening)
        self._tell_unused({each.name for each in settings.endpoints})
        if settings.without_effect:
            self.log.warning(
                "some of Apache Kafka's settings have no effect here",
                settings=", ".join(settings.without_effect),
            )
        is_controller_alone = "broker" not in settings.process_roles
        self.server.controller_addresses += addresses if is_controller_alone else to_brokers
        return addresses

    def _tell_unused(self, listeners: set[str]) -> None:
        """Warn about settings of listeners that do not exist: they may be misspelled."""
        for name in self.settings.given_beside:
            own = read_own_name(name)
            if own is not None and own.listener and own.listener.upper() not in listeners:
                self.log.warning("a setting has no effect: there is no such listener", setting=name)

    async def _front(
        self, server: SocketServer, listener: str
    ) -> Callable[[], Dispatcher[Connection]] | None:
        """Return what authenticates the connections of a listener, or ``None``."""
        if self.settings.protocol(listener) not in ("SASL_PLAINTEXT", "SASL_SSL"):
            return None
        from fencepost_broker.network.sasl_gate import Entrance, Gate

        entrance = Entrance.from_settings(self.settings, listener, self.clock.now_ms)
        self._key_fetchers += await entrance.start_fetching(self.log)
        return lambda: Gate(server, entrance)

    def _tls(self, listener: str) -> WatchedContext | None:
        if self.settings.protocol(listener) not in ("SSL", "SASL_SSL"):
            return None
        from fencepost_broker.network.tls import not_valid_now
        from fencepost_broker.network.watched_context import WatchedContext

        context = WatchedContext(self.settings, listener, self.log)
        if told := not_valid_now(self.settings, listener, wall_ms()):
            self.log.warning("clients will refuse the certificate of a listener", **told)
        return context

    async def stop(self) -> bool:
        """Send pending answers, then close the logs; returns whether everything is on disk."""
        self.clock.unfollow(self)
        if self._maintenance is not None:
            self._maintenance.cancel()
        if self.settings.controlled_shutdown_enable and not self._is_cut_off:
            await self._hand_over()
        serving.finish(self.socket_server)
        await self._close_links()
        self.server.release_waiting()
        wait_s = 0 if self._is_cut_off else self.settings.shutdown_timeout_ms / 1000
        await self._stop_servers(wait_s)
        await self._close_tap()
        await self.server.flushes.close()
        is_clean = self.server.stop()
        self._tell_events()
        self.log.info("stopped", clean=is_clean)
        return is_clean

    async def cut_off(self) -> None:
        """Close all connections without answers; the stop after this is as sudden as a kill."""
        self._is_cut_off = True
        await self._close_links()
        await serving.close_connections(self.socket_server)

    async def _hand_over(self) -> None:
        """Let other brokers take over this one's leaderships."""
        if self.links is not None and self.links.controller is not None:
            await self.links.controller.leave(self.settings.shutdown_timeout_ms)
        elif self._controller_server is not None:
            from fencepost_broker.server.controlled_shutdown import hand_over

            controller = self.broker.controller
            assert isinstance(controller, LocalController)
            grace_s = self.settings.shutdown_timeout_ms / 1000
            if not await hand_over(controller, self.broker.registration, grace_s):
                text = "the controlled shutdown took too long: this broker still leads partitions"
                self.log.warning(text)

    async def _stop_servers(self, grace_s: float) -> None:
        servers = self._socket_servers()
        for each in servers:
            serving.finish(each)
        await asyncio.gather(*(serving.stop(each, grace_s) for each in servers))

    def _socket_servers(self) -> list[SocketServer]:
        second = self._controller_server
        return [self.socket_server] if second is None else [self.socket_server, second]

    # -- state time ----------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """Return when the first of the machines has something due."""
        return self.server.deadline_ms()

    def expire(self) -> None:
        """Let machines do what is due now."""
        self.server.expire(self.clock.now_ms())
        self.server.ready.drain()

    def catch_up(self) -> None:
        """Do all maintenance that is due: the clock was moved by hand."""
        self.server.catch_up(self.clock.now_ms())
        self.server.ready.drain()
        self._tell_events()

    def jumped(self, by_ms: int) -> None:
        """Move the ends of durations: the clock was set."""
        self.server.jumped(by_ms)

    def resumed(self) -> None:
        """Go on with the maintenance: the clock runs again."""
        if self._maintenance is not None:
            self._maintenance.cancel()
        self._maintain()

    def stats(self) -> dict[str, Any]:
        """Return all counters as plain data, for exporters and ``fencepost tap --stats``."""
        port = self._controller_server
        return {
            "connections": self.socket_server.stats(),
            "controller": None
            if port is None
            else {"connections": port.stats(), **port.metrics.snapshot()},
            **self.server.metrics.snapshot(),
            "topics": topics_snapshot(self.server.table),
            "tap": None if self.tap is None else self.tap.stats(),
        }

    async def _close_tap(self) -> None:
        tap, self.tap = self.tap, None  # a broker may be stopped twice
        if tap is not None:
            await tap.stop()

    def _maintain(self) -> None:
        """Do a part of the maintenance and repeat, unless time is moved by hand only."""
        if self.clock.is_manual:
            self.catch_up()
            return
        delay_ms = MAINTENANCE_MS_MAX
        try:
            delay_ms = self._maintain_once()
        except Exception as error:
            self.log.error("maintenance failed: this is a bug: please report it", exc_info=error)  # noqa: TRY400
        loop = asyncio.get_running_loop()
        self._maintenance = loop.call_later(delay_ms / 1000, self._maintain)

    def _maintain_once(self) -> int:
        """Do a part of the maintenance; returns when the next part is due, in ms."""
        self.clock.notice_step()
        now_ms = self.clock.now_ms()
        self.server.expire(now_ms)
        next_ms = self.server.maintain(now_ms)
        self._tell_events()
        deadline_ms = self.server.deadline_ms()
        if deadline_ms is not None:
            next_ms = min(next_ms, deadline_ms)
        return min(max(next_ms - now_ms, 0), MAINTENANCE_MS_MAX)

    def _tell_events(self) -> None:
        for event in self.server.take_events():
            log = self.logs.area(event.area)
            if event.is_detail:
                log.debug(event.text)
                continue
            self.server.metrics.log_event(event.kind)
            tell = log.warning if event.unexpected else log.info
            tell(event.text, kind=event.kind, partition=event.partition or None)
