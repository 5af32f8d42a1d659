"""A broker: assembles its parts, and runs them from the replay of the metadata log to a clean stop.

A command goes to the controller's machine. Its records are appended to the metadata log and
replayed, and the changes are given to the publishers (which open, close and configure logs); then
the answer is sent. A restart replays the same log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

from fencepost_broker.apis.context import BrokerContext, ControllerContext
from fencepost_broker.apis.fetch.sessions import FetchSessions
from fencepost_broker.apis.registry import SERVED, served
from fencepost_broker.apis.share.sessions import ShareSessions
from fencepost_broker.config import Settings
from fencepost_broker.config.values.releases import release_of
from fencepost_broker.controller.bootstrap import first_heartbeat
from fencepost_broker.controller.channel.local import LocalController, make_machine
from fencepost_broker.controller.channel.registration import Registration
from fencepost_broker.controller.channel.topic_creation import TopicCreation
from fencepost_broker.coordinator.runtime.coordinators import Coordinators
from fencepost_broker.coordinator.runtime.peer_brokers import PeerBrokers
from fencepost_broker.coordinator.transaction.producer_id_manager import ProducerIdSource
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.features import supported_features
from fencepost_broker.metadata.image.changes import BrokerChanged, Changes
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.network.quota_manager import QuotaManager
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import Address, Chance, Clock
from fencepost_broker.replication.quotas import ReplicationQuotas
from fencepost_broker.replication.replica_manager import ReplicaManager
from fencepost_broker.replication.replicated_partitions import ReplicatedPartitions
from fencepost_broker.replication.share.share_partitions import SharePartitions
from fencepost_broker.server.shared_server import SharedServer
from fencepost_broker.storage.flush_scheduler import Worker
from fencepost_broker.storage.log import Disk
from fencepost_broker.storage.log.results import LogEvent

if TYPE_CHECKING:
    from fencepost_broker.controller.channel.remote import RemoteController, Wire
    from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
    from fencepost_broker.coordinator.runtime.peer_brokers import Links
    from fencepost_broker.coordinator.runtime.share_persister import SharePersister
    from fencepost_broker.coordinator.runtime.steps import OnStep
    from fencepost_broker.metadata.dynamic_config import DynamicConfig
    from fencepost_broker.metadata.image.metadata_image import MetadataImage
    from fencepost_broker.observability.client_telemetry import ClientTelemetry
    from fencepost_broker.replication.partition import PartitionTable
    from fencepost_broker.replication.replicated_partitions import Following
    from fencepost_broker.replication.share.group_settings import ShareGroupSettings


class OtherProcesses(Protocol):
    """Connections to the other processes of a cluster; each kind is made on demand."""

    def to_controller(self) -> Wire:
        """Return the connection to a controller in another process."""

    def to_brokers(self, node_id: int, config: DynamicConfig, image: MetadataImage) -> Links:
        """Return the connections to other brokers."""

    def to_leaders(
        self,
        registration: Registration,
        config: DynamicConfig,
        image: MetadataImage,
        table: PartitionTable,
        clock: Clock,
        quotas: ReplicationQuotas,
    ) -> Following:
        """Return the fetchers of the partitions that this broker follows."""


class BrokerServer(SharedServer):
    """One broker, with a controller or without, and one disk."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        chance: Chance,
        worker: Worker | None = None,
        log_levels: LogLevels | None = None,
        links: OtherProcesses | None = None,
        on_failure: Callable[[str], None] = lambda _: None,
        on_step: OnStep | None = None,
    ) -> None:
        """Without ``links``, the broker is a cluster by itself; ``on_failure`` gets the reason."""
        super().__init__(settings, disk, clock, chance, worker, log_levels)
        self._chance = chance
        self._on_failure = on_failure
        self.has_controller = "controller" in settings.process_roles
        """Whether the controller is in this process."""
        node_id, image, config = settings.node_id, self.image, self.config
        previous_epoch = self.log_manager.previous_broker_epoch
        features = supported_features(release_of(settings.kafka_release))
        self.registration = Registration(
            self.identity, settings.broker_rack, previous_epoch, chance, features
        )
        self.controller = self._make_controller(chance, links)
        self.producer_ids = ProducerIdSource(
            self._allocate_producer_ids, clock.call_later, self._no_producer_ids
        )
        to_brokers = None if links is None else partial(links.to_brokers, node_id, config, image)
        peers = PeerBrokers(node_id, image, to_brokers)
        self.coordinators = Coordinators(self._make_coordinators, self.producer_ids, peers, on_step)
        self.replicas = self._make_replicas(links)
        self.quotas = QuotaManager(image, clock, settings)
        self.topics = TopicCreation(self.controller, config, clock, self.warnings.add)
        self.shares = SharePartitions(
            self._make_persister, self._share_group_settings, clock.now_ms
        )
        slots = settings.max_incremental_fetch_session_cache_slots
        self.context = BrokerContext(
            self.identity,
            clock,
            config,
            image,
            self.controller,
            self.access,
            self.metrics,
            self.log_levels,
            {api.key.value: api.versions for api in served(settings)},
            self.controller_addresses,
            self.replicas,
            self.coordinators,
            self.topics,
            FetchSessions(slots, chance),
            self._make_telemetry(chance) if settings.client_telemetry_enable else None,
            self.shares,
            ShareSessions(self.shares.release, self.shares.group_is_gone),
        )
        self.publishers.add(self.replicas, self.shares)
        config.listen(self.coordinators.use)
        config.listen(self.shares.use)
        config.listen(self.quotas.use)

    def _make_controller(
        self, chance: Chance, links: OtherProcesses | None
    ) -> LocalController | RemoteController:
        log, now_ms = self.metadata_log, self._clock.now_ms
        if not self.has_controller:
            from fencepost_broker.controller.channel.remote import RemoteController

            assert links is not None, "the controller is another process"
            wire = links.to_controller()
            return RemoteController(self.image, log, now_ms, self.publishers, wire)
        settings, cluster_id = self._static_settings, self.identity.cluster_id
        machine = make_machine(self.image, self.rules, chance, settings, cluster_id)
        stood_still = self.events.stood_still
        return LocalController(machine, log, now_ms, self.publishers, stood_still)

    def _make_telemetry(self, chance: Chance) -> ClientTelemetry:
        from fencepost_broker.observability.client_telemetry import ClientTelemetry

        return ClientTelemetry(self.image, self.config, self._clock, chance)

    def _make_replicas(self, links: OtherProcesses | None) -> ReplicaManager:
        known, image, config, clock = self.registration, self.image, self.config, self._clock
        quotas = ReplicationQuotas(known.node_id, config, clock)
        to_leaders = None
        if links is not None:
            to_leaders = partial(links.to_leaders, known, config, image, self.table, clock, quotas)
        replicated = ReplicatedPartitions(
            known, image, config, clock, self.ready, self.controller.ask, self.events, to_leaders
        )
        return ReplicaManager(
            known.node_id,
            image,
            config,
            clock,
            self.ready,
            self.table,
            self.log_manager,
            self.flushes,
            replicated,
            quotas,
            self.coordinators,
        )

    def _make_coordinators(self) -> CoordinatorRuntime:
        from fencepost_broker.apis.loopback import Loopback
        from fencepost_broker.apis.transactions.write_txn_markers import OwnMarkers
        from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime

        loopback = Loopback(self.context, SERVED, self.metrics, self._clock.call_later)
        return CoordinatorRuntime(
            self.identity.node_id,
            self._clock,
            self.ready,
            self._chance,
            self.config,
            self.image,
            self.replicas,
            self.topics,
            self.producer_ids,
            self.coordinators.peers,
            OwnMarkers(self.context, loopback),
            self.log_levels,
            self.coordinators.on_step,
            None if isinstance(self.controller, LocalController) else self.controller.is_current,
        )

    def _make_persister(self) -> SharePersister:
        from fencepost_broker.coordinator.runtime.share_persister import SharePersister

        return SharePersister(self.coordinators.runtime.persister.ask)

    def _share_group_settings(self, group_id: str) -> ShareGroupSettings:
        from fencepost_broker.replication.share.group_settings import share_group_settings

        return share_group_settings(self.config, self.image, group_id)

    def controller_context(self, metrics: Metrics) -> ControllerContext:
        """Return the context of handlers at a listener of this process's controller."""
        from fencepost_broker.server.controller_server import controller_context

        assert isinstance(self.controller, LocalController), "the controller is another process"
        return controller_context(self, self.controller, self._clock, metrics)

    # -- starting and stopping -----------------------------------------------------------------

    def start(self, addresses: Iterable[Address]) -> None:
        """Replay the metadata log, then register at these addresses and begin to lead.

        With a controller in another process, this only replays: the broker must read the rest, and
        then ``open`` begins to lead.
        """
        self.addresses += addresses
        self.controller.replay()
        if isinstance(self.controller, LocalController):
            self.open()
            imported = self.config.settings.producer_id_block_import
            self.controller.activate(self.first_levels(), imported)
            self._register()
            self.controller.is_serving = True
            self.coordinators.start()

    def open(self) -> None:
        """Open the topics of the metadata as far as it was read; apply later changes."""
        self.config.refresh()
        self.replicas.open()
        if self.image.client_quotas.records:
            self.quotas.refresh()
        register_soon = partial(self._clock.call_later, 0, self._register)
        again = _RegistersAgain(self.identity.node_id, register_soon)
        self.publishers.add(self.config, self.coordinators, self.quotas, self._told, again)

    def _register(self) -> None:
        assert isinstance(self.controller, LocalController), "the controller is another process"
        node_id = self.identity.node_id
        registered = self.controller.command(self.registration.request(self.addresses))
        if registered.error_code:
            code = ErrorCode(registered.error_code)
            why = f"node {node_id} cannot register with its controller: {code.name}"
            if code is ErrorCode.UNSUPPORTED_VERSION:
                why += ", since the data directory has a feature at a level that this broker lacks"
            raise ValueError(why)
        self.registration.epoch = registered.broker_epoch
        self.controller.command(first_heartbeat(self.image, node_id))

    def release_waiting(self) -> None:
        """Answer parked requests: the broker stops."""
        self.producer_ids.stop()
        self.controller.release_waiting()
        self.coordinators.stop()
        for topic in self.table.by_name.values():
            for partition in topic.partitions:
                partition.release_waiting()
        self.ready.drain()

    def stop(self) -> bool:
        """Close all logs; returns whether the stop was clean."""
        self.topics.stop()
        return self.log_manager.close(self._clock.now_ms(), self.registration.last_epoch)

    def copied(self, copy: Callable[[], Disk]) -> None:
        """Let ``copy`` copy the disk, and complete the copy as a clean stop does; all goes on."""
        self.ready.drain()
        self.log_manager.copied(copy, self.registration.last_epoch)

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """Return when ``expire`` should be called."""
        deadlines = (
            self.controller.deadline_ms(),
            self.coordinators.deadline_ms(),
            self.shares.deadline_ms(),
            self.quotas.muted.deadline_ms(),
        )
        return min((each for each in deadlines if each is not None), default=None)

    def expire(self, now_ms: int) -> None:
        """Let machines do what is due."""
        self.controller.expire(now_ms)
        self.quotas.muted.expire(now_ms)
        self.coordinators.expire(now_ms)
        self.shares.expire(now_ms)

    def jumped(self, by_ms: int) -> None:
        """Move the ends of durations: the clock was set."""
        self.controller.jumped(by_ms)
        self.coordinators.jumped(by_ms)
        self.shares.jumped(by_ms)
        self.log_manager.jumped(by_ms)
        self.replicas.jumped(by_ms)
        self.quotas.jumped(by_ms)

    def take_events(self) -> list[LogEvent]:
        """Return the new events for the log."""
        return super().take_events() + self.coordinators.take_events()

    def maintain(self, now_ms: int) -> int:
        """Do a part of the logs' maintenance; returns when to call again (``now_ms``: at once)."""
        self.flushes.look(self.log_manager.logs.values())
        self.replicas.replicated.look(now_ms)
        self.controller.maintain(now_ms, self.config.settings)
        again_ms = self.replicas.try_again(now_ms)
        next_ms = self.log_manager.maintain(now_ms)
        return next_ms if again_ms is None else min(next_ms, again_ms)

    def catch_up(self, now_ms: int) -> None:
        """Do all maintenance of logs: the clock was moved by hand."""
        self.replicas.try_again(now_ms)
        self.controller.maintain(now_ms, self.config.settings)
        self.flushes.ask(self.log_manager.logs_to_flush(now_ms))
        self.replicas.replicated.look(now_ms)
        while self.log_manager.maintain(now_ms) <= now_ms:
            pass

    # -- producer ids --------------------------------------------------------------------------

    def _allocate_producer_ids(
        self, then: Callable[[AllocateProducerIdsResponse | None], None]
    ) -> None:
        known = self.registration
        self.controller.ask(AllocateProducerIdsRequest(known.node_id, known.epoch), then)

    def _no_producer_ids(self, why: ErrorCode) -> None:
        if why is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            self.warnings.add(
                f"the controller allocates no producer ids ({why.name}). If its log has no error,"
                " all ids are used up: `fencepost producer-ids history` shows which broker has them"
            )
            return
        settings = self.config.settings
        words = (*settings.controller_quorum_bootstrap_servers, *settings.controller_quorum_voters)
        where = "" if self.has_controller else f" at {', '.join(words)}"
        self._on_failure(
            f"broker {self.identity.node_id} stops: the controller{where} gives it no producer ids"
            " (CLUSTER_AUTHORIZATION_FAILED); add it to the controller's"
            " controller.producer.ids.brokers, or use a node.id from that list"
        )


class _RegistersAgain(MetadataPublisher):
    """Registers this broker again when it was unregistered while it runs."""

    def __init__(self, node_id: int, register_soon: Callable[[], object]) -> None:
        self._node_id = node_id
        self._register_soon = register_soon

    def on_decision(self, changes: Changes, decision: Decision[Any] | None) -> None:
        if decision is None:
            return  # the link to the controller does it
        gone = (each for each in changes if isinstance(each, BrokerChanged) and each.after is None)
        if any(each.broker_id == self._node_id for each in gone):
            self._register_soon()
