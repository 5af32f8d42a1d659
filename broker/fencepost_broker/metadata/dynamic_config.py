"""Settings that are changed while the broker runs: those of one broker, and those of all.

They are records of the metadata log. A value that was set for this broker comes first, then one for
all brokers (the resource with the empty name), then the one that the broker was started with. The
settings that Kafka allows to be changed can be changed here, too, except those of listeners.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fencepost_broker.config import Settings, SettingsError
from fencepost_broker.config.setting import Scope, Value
from fencepost_broker.config.table import Origin, Source
from fencepost_broker.metadata.features import MIN_INSYNC_SETTING
from fencepost_broker.metadata.image.changes import Changes, ConfigChanged, TopicDeleted
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.storage.log import LogConfig
from fencepost_broker.storage.log.manager import Intervals

OF_CLUSTER = Source(Origin.CLUSTER)
OF_BROKER = Source(Origin.BROKER)
LOG_SETTINGS_OF_BROKER: Final = (
    "producer.id.expiration.ms",
    "transaction.partition.verification.enable",
    "cleaner.keys.max",
    "record.validation",
)


class DynamicConfig(MetadataPublisher):
    """The settings that are in force: the broker's, and those of each topic's logs."""

    def __init__(
        self, static: Settings, image: MetadataImage, jitter_seed: int, warn: Callable[[str], None]
    ) -> None:
        """``static`` is what the process was started with; ``warn`` takes a text for people."""
        self._static = static
        self._image = image
        self._jitter_seed = jitter_seed
        self._warn = warn
        self.settings = static
        """The broker's, as they are now."""
        self._of_topics: dict[str, LogConfig] = {}
        """Kept because a topic may have thousands of partitions."""
        self._of_others: LogConfig | None = None
        """Those of every topic that has no settings of its own."""
        self._listeners: list[Callable[[Settings], None]] = []
        self._topic_listeners: list[Callable[[str], None]] = []

    def listen(self, on_settings: Callable[[Settings], None]) -> None:
        """Have this called with the broker's settings whenever they change."""
        self._listeners.append(on_settings)

    def listen_to_topics(self, on_topic: Callable[[str], None]) -> None:
        """Have this called with the name of a topic whose settings change."""
        self._topic_listeners.append(on_topic)

    def refresh(self) -> None:
        """Take the broker's settings from the image, and tell all listeners."""
        self.settings, problems = in_force(self._static, self._image, self._static.node_id)
        for problem in problems:
            self._warn(f"a setting in the metadata log is ignored: {problem}")
        self._of_topics.clear()
        self._of_others = None
        for on_settings in self._listeners:
            on_settings(self.settings)

    def on_changes(self, changes: Changes) -> None:
        """Take other settings from the image if they changed."""
        for change in changes:
            if isinstance(change, ConfigChanged):
                if change.resource_type == ResourceType.TOPIC:
                    self._of_topics.clear()
                    for on_topic in self._topic_listeners:
                        on_topic(change.resource_name)
                elif change.resource_type == ResourceType.BROKER:
                    self.refresh()
            elif isinstance(change, TopicDeleted):
                self._of_topics.pop(change.name, None)

    def of_topic(self, topic: str) -> LogConfig:
        """The settings of a topic's logs."""
        config = self._of_topics.get(topic)
        if config is None:
            config = self._of_topics[topic] = self._configure(topic)
        return config

    @property
    def syncs_always(self) -> bool:
        """Whether everything is on disk before it is acknowledged; in memory there is no sync."""
        return self.settings.fsync == "always" and bool(self.settings.data_dirs)

    def _configure(self, topic: str) -> LogConfig:
        own = self._image.configs.of_topic(topic)
        if own:
            return self._configured(own)
        if self._of_others is None:
            self._of_others = self._configured({})
        return self._of_others

    def _configured(self, own: Mapping[str, str]) -> LogConfig:
        topic_settings = self.settings.topic(own)
        of_broker = {name: self.settings[name] for name in LOG_SETTINGS_OF_BROKER}
        of_broker["jitter.seed"] = self._jitter_seed
        if self.syncs_always:
            of_broker["flush.messages"] = 1
        return LogConfig.from_settings({**topic_settings, **of_broker})


def in_force(static: Settings, image: MetadataImage, node_id: int) -> tuple[Settings, list[str]]:
    """Return the settings of a broker, and what is wrong with those that are left out.

    The log's values were valid when they were written; another version may validate otherwise.
    """
    settings = static
    problems: list[str] = []
    for name, source in (("", OF_CLUSTER), (str(node_id), OF_BROKER)):
        given = image.configs.of(ResourceType.BROKER, name)
        try:
            settings = _with(settings, given, source)
        except SettingsError:
            for key, value in given.items():
                try:
                    settings = _with(settings, {key: value}, source)
                except SettingsError as error:
                    problems += error.problems
    own = static.min_insync_replicas
    if static.given(MIN_INSYNC_SETTING) and own != settings.min_insync_replicas:
        problems.append(
            f"{MIN_INSYNC_SETTING}={own}, which this process was started with, is without effect: "
            f"{settings.min_insync_replicas} was set for all brokers (fencepost configs alters it)"
        )
    return settings, problems


def of_cluster(image: MetadataImage) -> Settings:
    """Return the settings with only the values that were set for all brokers."""
    return _with(Settings(), image.configs.of(ResourceType.BROKER, ""), OF_CLUSTER)


def refusal(
    static: Settings, broker_id: int | None, after: Mapping[str, str], changed: frozenset[str]
) -> str | None:
    """Return why a running broker (``None``: all of them) cannot have these settings."""
    if broker_id is not None and broker_id != static.node_id:
        return f"this is broker {static.node_id}, not {broker_id}"
    for name in sorted(changed & after.keys()):
        setting = Settings.setting_of(name)
        if setting is None:
            return Settings.explain_unknown(name)
        if setting.scope is Scope.READ_ONLY:
            return f"{name} cannot be changed while the broker runs"
        if setting.scope is Scope.PER_BROKER:
            return f"{name} can be changed while Apache Kafka runs, but not here"
    try:
        _with(static, after, OF_CLUSTER)
    except SettingsError as error:
        return "; ".join(error.problems)
    return None


def _with(settings: Settings, given: Mapping[str, str], source: Source) -> Settings:
    values: dict[str, Value] = {key: value for key, value in given.items() if key in settings}
    return settings.with_overrides(values, source) if values else settings


def intervals_of(settings: Settings) -> Intervals:
    """Return the log's intervals from the settings."""
    return Intervals(
        log_retention_check_interval=settings.log_retention_check_interval_ms,
        # Without a pause at all, looking would never end.
        log_cleaner_backoff=max(settings.log_cleaner_backoff_ms, 1),
        checkpoint=max(
            min(
                settings.log_flush_offset_checkpoint_interval_ms,
                settings.log_flush_start_offset_checkpoint_interval_ms,
            ),
            1,
        ),
        producer_id_expiration_check_interval=settings.producer_id_expiration_check_interval_ms,
        removal_at_once=not settings.data_dirs,
    )
