"""What a rebalance asks of the application, by whichever protocol its group works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fencepost_client.types import TopicPartition

NONE: Final[frozenset[TopicPartition]] = frozenset()


@dataclass(frozen=True, slots=True)
class AssignmentChange:
    """Partitions that go, and then those that come."""

    revoked: frozenset[TopicPartition] = NONE
    is_lost: bool = False
    """What goes may be another's already: its offsets cannot be committed any more."""
    assigned: frozenset[TopicPartition] | None = None
    """What comes, at the end of a rebalance; maybe nothing."""


@dataclass(frozen=True, slots=True)
class WantedTopics:
    """What a member wants to read: topics by name, or by a regular expression of the broker's."""

    topics: frozenset[str] = frozenset()
    regex: str | None = None
