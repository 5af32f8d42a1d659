"""State that is in no log: deadlines, and groups between two records. ``apply_soft`` takes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Timer(Enum):
    """What can become due."""

    SESSION = "session"
    """A member has not been heard of for too long."""
    JOIN = "join"
    """A classic group waits for members no longer; a member of a consumer group that uses the
    classic protocol has not joined again."""
    SYNC = "sync"
    """The same for SyncGroup."""
    REBALANCE = "rebalance"
    """KIP-848: a member has not let go of partitions that it must let go."""
    PATTERNS = "patterns"
    """KIP-848: a group's regular expressions are to be matched with the topics there are."""
    RETENTION = "retention"
    """It is time to look for offsets that are too old."""


class TimerKey(NamedTuple):
    """One deadline's name."""

    timer: Timer
    group_id: str = ""
    member_id: str = ""


@dataclass(slots=True)
class SetTimer:
    """Sets, moves or forgets a deadline."""

    key: TimerKey
    at_ms: int | None


@dataclass(slots=True)
class MetadataChecked:
    """A consumer group knows the metadata of its topics as they are, or has to look again."""

    group_id: str
    is_checked: bool = True


@dataclass(slots=True)
class NewTopics:
    """There are topics that no regular expression has been matched with."""

    version: int
