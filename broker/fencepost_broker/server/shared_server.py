"""What every process of a cluster has, whatever its roles: settings, one disk, the metadata."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from fencepost_protocol.primitives import uuid_text

from fencepost_broker.apis.authorization.cluster_action import ClusterAction
from fencepost_broker.apis.ports import Features
from fencepost_broker.config import Settings
from fencepost_broker.config.inter_broker import parse_users
from fencepost_broker.metadata.changes import AclsChanged, Changes
from fencepost_broker.metadata.config_validator import SettingRules
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.dynamic_config import in_force, intervals_of
from fencepost_broker.metadata.features import SUPPORTED_RANGES, told_levels
from fencepost_broker.metadata.image import MetadataImage
from fencepost_broker.metadata.log import MetadataLog, metadata_config, open_metadata_log
from fencepost_broker.metadata.log_check import check_metadata_log
from fencepost_broker.observability.cluster_events import ClusterEvents
from fencepost_broker.observability.log_levels import LEVELS, LogLevels
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.observability.one_time_warnings import OneTimeWarnings
from fencepost_broker.ports import Address, Chance, Clock, Timer
from fencepost_broker.replication.partition import PartitionTable
from fencepost_broker.security.authorizer.authorizer import Authorizer
from fencepost_broker.storage.flush_scheduler import FlushScheduler, InlineWorker, Worker
from fencepost_broker.storage.log import Disk, LogConfig
from fencepost_broker.storage.log.checkpoints import cluster_id_of
from fencepost_broker.storage.log.identity import Identity
from fencepost_broker.storage.log.manager import LogManager
from fencepost_broker.storage.log.results import LogEvent

LOG_SETTINGS_OF_BROKER: Final = (
    "producer.id.expiration.ms",
    "transaction.partition.verification.enable",
    "cleaner.keys.max",
    "record.validation",
)


class NodeCore:
    """One process around one disk."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        chance: Chance,
        worker: Worker | None = None,
    ) -> None:
        self._static_settings = settings
        self.settings = settings
        """What is in force."""
        self.on_settings: Callable[[Settings], None] = lambda _: None
        """Told when other settings are in force."""
        self.log_levels = LogLevels()
        self.node_id = settings.node_id
        self.image = MetadataImage()
        self.table = PartitionTable()
        self.addresses: list[Address] = []
        self.controller_addresses: list[Address] = []
        """Where brokers reach the controller, if it is here and may be joined."""
        self._jitter_seed = chance.randrange(1 << 32)
        self._configs: dict[str, LogConfig] = {}
        """Of topics, kept because a topic may have thousands of partitions."""
        self.broker_epoch = -1
        self._clock = clock
        self.now_ms: Callable[[], int] = clock.now_ms
        """State time."""
        self.chance = chance
        cluster_id = settings.cluster_id or cluster_id_of(disk) or uuid_text(chance.randbytes(16))
        identity = Identity(self.node_id, cluster_id, uuid_text(chance.randbytes(16)))
        self.manager = LogManager.open(
            disk,
            identity,
            self.configured,
            clock.now_ms(),
            intervals_of(settings),
            check=partial(check_metadata_log, recover=settings.metadata_log_recover),
        )
        self.cluster_id = self.manager.identity.cluster_id
        self._rules = SettingRules(settings)
        self.metadata = MetadataLog(
            open_metadata_log(self.manager, metadata_config(settings), clock.now_ms()),
            is_synced=self._syncs_always,
        )
        self.warnings = OneTimeWarnings()
        self.authorizer = self._make_authorizer(settings)
        self.cluster_action = ClusterAction.from_settings(settings, self.authorizer)
        """Who may ask what only brokers ask."""
        self.news = ClusterEvents(self.node_id)
        self._events: list[LogEvent] = []
        self.metrics = Metrics()
        self.flushes = FlushScheduler(worker or InlineWorker(), clock)

    def stop(self) -> bool:
        """Close all logs; says whether the stop was clean."""
        epoch = self.broker_epoch
        if epoch < 0:  # it did not come as far as the controller: what was so before, is so still
            epoch = self.manager.previous_broker_epoch
        return self.manager.close(self.now_ms(), epoch)

    def _make_authorizer(self, settings: Settings) -> Authorizer | None:
        if not settings.authorizer_class_name:
            return None
        return Authorizer(
            parse_users(settings.super_users),
            lambda: self.image.acls.by_id.values(),
            allows_without_acls=settings.allow_everyone_if_no_acl_found,
        )

    def note_acls(self, changes: Changes) -> None:
        """Go by other ACLs, if these are among the changes."""
        if self.authorizer is not None and AclsChanged() in changes:
            self.authorizer.changed()

    # -- settings ------------------------------------------------------------------------------

    def first_levels(self) -> dict[str, int]:
        """Levels of features that a new cluster begins with, where they are not the highest."""
        given = (word.rpartition(":") for word in self.settings.features)
        return {name: int(level) for name, _, level in given}

    def use_settings(self) -> None:
        """Go by what was set at start and what was set since."""
        self.settings, problems = in_force(self._static_settings, self.image, self.node_id)
        for problem in problems:
            self.warnings.add(f"a setting in the metadata log is ignored: {problem}")
        self._configs.clear()
        self._rules.use(self.settings)
        self.manager.intervals = intervals_of(self.settings)
        for name in self.table.by_name:
            self.manager.configure(name, self.configured(name))
        self.on_settings(self.settings)

    def topic_settings_changed(self, topic: str) -> None:
        """A topic was given settings of its own, or lost some."""
        self._configs.clear()
        self.manager.configure(topic, self.configured(topic))

    def forget_topic_settings(self, topic: str) -> None:
        """A topic is gone."""
        self._configs.pop(topic, None)

    def configured(self, topic: str) -> LogConfig:
        """What the logs of a topic go by."""
        config = self._configs.get(topic)
        if config is None:
            config = self._configs[topic] = self._configure(topic)
        return config

    @property
    def _syncs_always(self) -> bool:
        """Whether everything is on disk before it is acknowledged; in memory there is no sync."""
        return self.settings.fsync == "always" and bool(self.settings.data_dirs)

    def _configure(self, topic: str) -> LogConfig:
        topic_settings = self.settings.topic(self.image.configs.of_topic(topic))
        of_broker = {name: self.settings[name] for name in LOG_SETTINGS_OF_BROKER}
        of_broker["jitter.seed"] = self._jitter_seed
        if self._syncs_always:
            of_broker["flush.messages"] = 1
        return LogConfig.from_settings({**topic_settings, **of_broker})

    # -- what handlers use ---------------------------------------------------------------------

    @property
    def features(self) -> Features:
        """Supported and finalized features as they are now."""
        levels = told_levels(self.image.features.levels)
        return Features(SUPPORTED_RANGES, levels, self.image.last_offset)

    @property
    def time_runs(self) -> bool:
        """Whether state time passes by itself."""
        return self._clock.runs

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Timer:
        """Wire time."""
        return self._clock.call_later(delay_ms, call)

    # -- what people hear ----------------------------------------------------------------------

    def take_events(self) -> list[LogEvent]:
        """What a person should hear since the last time."""
        events, self._events = self._events, []
        events += self.news.take()
        events += self.manager.take_events()
        events += (
            LogEvent("warning", "", text, unexpected=True, area="controller")
            for text in self.warnings.take()
        )
        return events

    def stood_still(self, for_ms: int) -> None:
        """The controller here heard nobody for so long."""
        self.news.stood_still(for_ms)

    def tell_records(self, decision: Decision[Any]) -> None:
        """Tell of each record that was decided on, if somebody wants to hear of it."""
        if self.log_levels.at_least("controller") <= LEVELS["debug"]:
            self._events += (
                LogEvent("record", "", str(each.message), area="controller", is_detail=True)
                for each in decision.records
            )
