"""Interfaces and settings that the group coordinator gets from its caller."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

MINUTE_MS: Final = 60_000


class Topics(Protocol):
    """The topics of the current metadata image."""

    def topic_id(self, name: str) -> bytes | None:
        """Return a topic's id; ``None`` if the topic does not exist."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with this id; ``None`` if it does not exist."""

    def partition_count(self, name: str) -> int:
        """Return a topic's number of partitions; 0 if the topic does not exist."""

    def names(self) -> Iterable[str]:
        """Return the names of all topics, including internal ones."""

    def version(self) -> int:
        """Return the image's offset, which grows with every change of the metadata."""


class Patterns(Protocol):
    """Regular expressions in the syntax of RE2 (KIP-848)."""

    def problem(self, pattern: str) -> str | None:
        """Return the error in an expression; ``None`` if it is valid."""

    def matching(self, pattern: str, names: Iterable[str]) -> frozenset[str]:
        """Return the names that match completely."""


class NoPatterns:
    """Refuses every expression; for a coordinator without RE2."""

    def problem(self, _pattern: str) -> str | None:
        """Return the same error for every expression."""
        return "this broker does not support regular expressions"

    def matching(self, _pattern: str, _names: Iterable[str]) -> frozenset[str]:
        """Return no names."""
        return frozenset()


class GroupConfigs(Protocol):
    """Settings of individual groups (resource type GROUP)."""

    def number(self, group_id: str, name: str) -> int | None:
        """Return a group's own setting; ``None`` if the broker's applies."""


class NoGroupConfigs:
    """Group settings for a coordinator whose groups have none of their own."""

    def number(self, _group_id: str, _name: str) -> int | None:
        """Return ``None``: the broker's setting applies."""
        return None


@dataclass(frozen=True, slots=True)
class GroupCoordinatorSettings:
    """Settings of the group coordinator; the defaults are Kafka's."""

    offset_metadata_max_bytes: int = 4096
    offsets_retention_ms: int = 7 * 24 * 60 * MINUTE_MS
    offsets_retention_check_interval_ms: int = 10 * MINUTE_MS
    offset_fetch_pending_legacy: str = "retry"
    """``retry``: while an offset is pending, OffsetFetch below version 7 gets an error that clients
    retry. ``kafka``: it gets the previous offset."""
    group_min_session_timeout_ms: int = 6000
    group_max_session_timeout_ms: int = 30 * MINUTE_MS
    group_initial_rebalance_delay_ms: int = 3000
    group_max_size: int = (1 << 31) - 1
    new_member_join_timeout_ms: int = 5 * MINUTE_MS
    """The longest wait of a new member in JoinGroup; it has no id and sends no heartbeats yet."""
    group_coordinator_rebalance_protocols: tuple[str, ...] = ("classic", "consumer", "streams")
    group_consumer_session_timeout_ms: int = 45_000
    group_consumer_heartbeat_interval_ms: int = 5000
    group_consumer_max_size: int = (1 << 31) - 1
    group_consumer_assignors: tuple[str, ...] = ("uniform", "range")
    group_consumer_assignment_interval_ms: int = 1000
    group_consumer_migration_policy: str = "bidirectional"
    group_consumer_regex_refresh_interval_ms: int = 10 * MINUTE_MS
    group_share_session_timeout_ms: int = 45_000
    group_share_heartbeat_interval_ms: int = 5000
    group_share_max_size: int = 200
    group_share_assignment_interval_ms: int = 1000
    group_share_initialize_retry_interval_ms: int = 30_000
    group_streams_session_timeout_ms: int = 45_000
    group_streams_heartbeat_interval_ms: int = 5000
    group_streams_max_size: int = (1 << 31) - 1
    group_streams_num_standby_replicas: int = 0
    group_streams_assignment_interval_ms: int = 1000
    group_streams_initial_rebalance_delay_ms: int = 3000
