"""What a rebalance means for a consumer, in both group protocols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fencepost_client.types import TopicPartition

NONE: Final[frozenset[TopicPartition]] = frozenset()


@dataclass(frozen=True, slots=True)
class AssignmentChange:
    """Partitions that are revoked, and then those that are assigned."""

    revoked: frozenset[TopicPartition] = NONE
    is_lost: bool = False
    """The partitions may be another member's already: their offsets cannot be committed."""
    assigned: frozenset[TopicPartition] | None = None
    """The new partitions, at the end of a rebalance; the set may be empty."""


@dataclass(frozen=True, slots=True)
class WantedTopics:
    """The subscription of a member: topic names, or a regular expression for the broker."""

    topics: frozenset[str] = frozenset()
    regex: str | None = None
