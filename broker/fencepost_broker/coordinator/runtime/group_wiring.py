"""Creation of coordinators of groups and of share partitions from metadata and settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fencepost_broker.config import Settings, SettingsOfGroup
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.group.ports import MINUTE_MS, GroupCoordinatorSettings
from fencepost_broker.coordinator.share.machine import ShareCoordinator, ShareCoordinatorSettings
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.re2_patterns import Re2Patterns
from fencepost_broker.ports import Chance

_SAME_NAME: Final = (
    "offsets_retention_check_interval_ms",
    "offset_fetch_pending_legacy",
    "group_min_session_timeout_ms",
    "group_max_session_timeout_ms",
    "group_initial_rebalance_delay_ms",
    "group_max_size",
    "group_coordinator_rebalance_protocols",
    "group_consumer_session_timeout_ms",
    "group_consumer_heartbeat_interval_ms",
    "group_consumer_max_size",
    "group_consumer_assignors",
    "group_consumer_assignment_interval_ms",
    "group_consumer_migration_policy",
    "group_consumer_regex_refresh_interval_ms",
    "group_share_session_timeout_ms",
    "group_share_heartbeat_interval_ms",
    "group_share_max_size",
    "group_share_assignment_interval_ms",
    "group_share_initialize_retry_interval_ms",
    "group_streams_session_timeout_ms",
    "group_streams_heartbeat_interval_ms",
    "group_streams_max_size",
    "group_streams_num_standby_replicas",
    "group_streams_assignment_interval_ms",
    "group_streams_initial_rebalance_delay_ms",
)
"""The machine's settings that have the same names as the broker's."""


def group_coordinator(image: MetadataImage, chance: Chance, settings: Settings) -> GroupCoordinator:
    """Return a group coordinator without groups."""
    return GroupCoordinator(
        _Topics(image),
        chance,
        coordinator_settings(settings),
        patterns=Re2Patterns(),
        configs=_GroupConfigs(image),
    )


def share_coordinator(image: MetadataImage, settings: Settings) -> ShareCoordinator:
    """Return a share coordinator without share partitions."""
    of_shares = ShareCoordinatorSettings(
        settings.share_coordinator_snapshot_update_records_per_snapshot,
        settings.share_coordinator_cold_partition_snapshot_interval_ms,
        settings.share_coordinator_state_topic_prune_interval_ms,
    )
    return ShareCoordinator(_Topics(image), of_shares)


def coordinator_settings(settings: Settings) -> GroupCoordinatorSettings:
    """Return the group coordinator's settings from the broker's."""
    of_broker = {name: getattr(settings, name) for name in _SAME_NAME}
    return GroupCoordinatorSettings(
        offset_metadata_max_bytes=settings.offset_metadata_max_bytes,
        offsets_retention_ms=settings.offsets_retention_minutes * MINUTE_MS,
        **of_broker,
    )


class _GroupConfigs:
    """Implements ``coordinator.group.ports.GroupConfigs`` with the metadata image."""

    __slots__ = ("_image",)

    def __init__(self, image: MetadataImage) -> None:
        self._image = image

    def number(self, group_id: str, name: str) -> int | None:
        text = self._image.configs.of(ResourceType.GROUP, group_id).get(name)
        if text is None:
            return None
        try:
            value = SettingsOfGroup.settings[name].parse(text)
        except ValueError:
            return None  # a Kafka broker with different rules has written it
        assert isinstance(value, int)
        return value


class _Topics:
    """Implements ``coordinator.group.ports.Topics`` with the metadata image."""

    __slots__ = ("_image",)

    def __init__(self, image: MetadataImage) -> None:
        self._image = image

    def topic_id(self, name: str) -> bytes | None:
        topic = self._image.topics.by_name.get(name)
        return None if topic is None else topic.topic_id

    def topic_name(self, topic_id: bytes) -> str | None:
        topic = self._image.topics.by_id.get(topic_id)
        return None if topic is None else topic.name

    def partition_count(self, name: str) -> int:
        topic = self._image.topics.by_name.get(name)
        return 0 if topic is None else len(topic.partitions)

    def names(self) -> Iterable[str]:
        return self._image.topics.by_name

    def version(self) -> int:
        return self._image.last_offset
