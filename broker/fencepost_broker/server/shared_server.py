"""Common parts of every process of a cluster: settings, one disk, the metadata."""

from __future__ import annotations

from functools import partial

from fencepost_protocol.primitives import uuid_text

from fencepost_broker.apis.authorization.access_control import AccessControl
from fencepost_broker.config import Settings
from fencepost_broker.config.tables.inter_broker import parse_users
from fencepost_broker.config.values.releases import release_of
from fencepost_broker.metadata.config_validator import SettingRules
from fencepost_broker.metadata.dynamic_config import DynamicConfig, intervals_of
from fencepost_broker.metadata.features import first_levels
from fencepost_broker.metadata.image.changes import Changes, OtherChange
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.log.check import check_metadata_log
from fencepost_broker.metadata.log.metadata_log import (
    MetadataLog,
    metadata_config,
    open_metadata_log,
)
from fencepost_broker.metadata.publishing import MetadataPublisher, MetadataPublishers
from fencepost_broker.observability.cluster_events import ClusterEvents
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.observability.one_time_warnings import OneTimeWarnings
from fencepost_broker.ports import Address, Chance, Clock, ReadyList
from fencepost_broker.replication.partition import PartitionTable
from fencepost_broker.security.authorizer.authorizer import Authorizer
from fencepost_broker.server.event_publisher import EventPublisher
from fencepost_broker.storage.flush_scheduler import FlushScheduler, InlineWorker, Worker
from fencepost_broker.storage.log import Disk
from fencepost_broker.storage.log.checkpoints import cluster_id_of
from fencepost_broker.storage.log.identity import Identity
from fencepost_broker.storage.log.manager import LogManager
from fencepost_broker.storage.log.results import LogEvent


class SharedServer:
    """One process with one disk, to which each role adds its parts."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        chance: Chance,
        worker: Worker | None = None,
        log_levels: LogLevels | None = None,
    ) -> None:
        self._static_settings = settings
        self._clock = clock
        self.ready = ReadyList(partial(clock.call_later, 0))
        self.image = MetadataImage()
        self.warnings = OneTimeWarnings()
        self.log_levels = log_levels or LogLevels()
        self.config = DynamicConfig(
            settings, self.image, chance.randrange(1 << 32), self.warnings.add
        )
        cluster_id = settings.cluster_id or cluster_id_of(disk) or uuid_text(chance.randbytes(16))
        self.log_manager = LogManager.open(
            disk,
            Identity(settings.node_id, cluster_id, uuid_text(chance.randbytes(16))),
            self.config.of_topic,
            clock.now_ms(),
            intervals_of(settings),
            check=partial(
                check_metadata_log,
                recover=settings.metadata_log_recover,
                is_copy="controller" not in settings.process_roles,
            ),
        )
        self.identity = self.log_manager.identity
        self.metadata_log = MetadataLog(
            open_metadata_log(self.log_manager, metadata_config(settings), clock.now_ms()),
            is_synced=self.config.syncs_always,
        )
        self.rules = SettingRules(settings)
        self.flushes = FlushScheduler(worker or InlineWorker(), clock)
        self.metrics = Metrics()
        self.events = ClusterEvents(settings.node_id)
        self._told = EventPublisher(
            settings.node_id, self.image, self.config, self.events, self.log_levels
        )
        authorizer = _authorizer(settings, self.image)
        self.access = AccessControl.from_settings(settings, authorizer, self.warnings.add)
        self.publishers = MetadataPublishers()
        if authorizer is not None:
            self.publishers.add(_AclPublisher(authorizer))
        self.config.listen(self.rules.use)
        self.config.listen(self._configure_logs)
        self.config.listen_to_topics(self._configure_logs_of)
        self.table = PartitionTable()
        self.addresses: list[Address] = []
        self.controller_addresses: list[Address] = []
        """Addresses of this process's controller for brokers, if they may join."""

    def _configure_logs(self, settings: Settings) -> None:
        self.log_manager.intervals = intervals_of(settings)
        for topic in self.table.by_name:
            self._configure_logs_of(topic)

    def _configure_logs_of(self, topic: str) -> None:
        self.log_manager.configure(topic, self.config.of_topic(topic))

    def first_levels(self) -> dict[str, int]:
        """Feature levels of a new cluster, where they are not the highest."""
        settings = self.config.settings
        given = (word.rpartition(":") for word in settings.features)
        levels = first_levels(release_of(settings.kafka_release))
        return levels | {name: int(level) for name, _, level in given}

    def take_events(self) -> list[LogEvent]:
        """Return the new events for the log."""
        events = self._told.take()
        events += self.log_manager.take_events()
        events += (
            LogEvent("warning", "", text, unexpected=True, area="controller")
            for text in self.warnings.take()
        )
        return events


class _AclPublisher(MetadataPublisher):
    """Tells the authorizer that ACLs have changed."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def on_changes(self, changes: Changes) -> None:
        if OtherChange.ACLS in changes:
            self._authorizer.changed()


def _authorizer(settings: Settings, image: MetadataImage) -> Authorizer | None:
    if not settings.authorizer_class_name:
        return None
    return Authorizer(
        parse_users(settings.super_users),
        lambda: image.acls.by_id.values(),
        allows_without_acls=settings.allow_everyone_if_no_acl_found,
    )
