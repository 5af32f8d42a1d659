"""What the group coordinator needs of others, handed in: topics, chance, settings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

MINUTE_MS: Final = 60_000


class Topics(Protocol):
    """Topics as the metadata image has them now."""

    def topic_id(self, name: str) -> bytes | None:
        """Its id; None when there is no such topic."""

    def topic_name(self, topic_id: bytes) -> str | None:
        """The name of the topic with this id; None when there is none."""

    def partition_count(self, name: str) -> int:
        """How many partitions it has; 0 when there is no such topic."""

    def names(self) -> Iterable[str]:
        """All topics, internal ones too."""

    def version(self) -> int:
        """A number that grows with every change of the metadata: the image's offset."""


class Patterns(Protocol):
    """Regular expressions as RE2 understands them (KIP-848)."""

    def problem(self, pattern: str) -> str | None:
        """What is wrong with it; None when nothing is."""

    def matching(self, pattern: str, names: Iterable[str]) -> frozenset[str]:
        """The names that it matches from end to end."""


class NoPatterns:
    """For a coordinator that has no RE2: every expression is refused."""

    def problem(self, _pattern: str) -> str | None:
        """Always the same."""
        return "this broker knows no regular expressions"

    def matching(self, _pattern: str, _names: Iterable[str]) -> frozenset[str]:
        """None of them."""
        return frozenset()


class GroupConfigs(Protocol):
    """Settings of single groups (resource type GROUP)."""

    def number(self, group_id: str, name: str) -> int | None:
        """What a group is set to; None when the broker's setting counts."""


class NoGroupConfigs:
    """No group has settings of its own."""

    def number(self, _group_id: str, _name: str) -> int | None:
        """What a group is set to: nothing."""
        return None


@dataclass(frozen=True, slots=True)
class GroupCoordinatorSettings:
    """Settings that the group coordinator goes by; defaults are Kafka's."""

    offset_metadata_max_bytes: int = 4096
    offsets_retention_ms: int = 7 * 24 * 60 * MINUTE_MS
    offsets_retention_check_interval_ms: int = 10 * MINUTE_MS
    offset_fetch_pending_legacy: str = "retry"
    """``retry``: OffsetFetch below version 7 is asked to come again while an offset is pending;
    ``kafka``: it gets the offset before."""
    group_min_session_timeout_ms: int = 6000
    group_max_session_timeout_ms: int = 30 * MINUTE_MS
    group_initial_rebalance_delay_ms: int = 3000
    group_max_size: int = (1 << 31) - 1
    new_member_join_timeout_ms: int = 5 * MINUTE_MS
    """How long a new member may wait in JoinGroup: it has no id yet, so it sends no heartbeats."""
    group_coordinator_rebalance_protocols: tuple[str, ...] = ("classic", "consumer")
    group_consumer_session_timeout_ms: int = 45_000
    group_consumer_heartbeat_interval_ms: int = 5000
    group_consumer_max_size: int = (1 << 31) - 1
    group_consumer_assignors: tuple[str, ...] = ("uniform", "range")
    group_consumer_assignment_interval_ms: int = 1000
    group_consumer_migration_policy: str = "bidirectional"
    group_consumer_regex_refresh_interval_ms: int = 10 * MINUTE_MS
