"""Soft state: changes for ``apply_soft`` that are in no log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Timer(Enum):
    """The kinds of deadlines."""

    SESSION = "session"
    """A member has sent no heartbeat for too long."""
    JOIN = "join"
    """A classic group stops waiting for members, or a member of a consumer group that uses the
    classic protocol has not rejoined."""
    SYNC = "sync"
    """The same for SyncGroup."""
    REBALANCE = "rebalance"
    """KIP-848: a member has not revoked partitions in time."""
    PATTERNS = "patterns"
    """KIP-848: a group's regular expressions have to be matched with the topics again."""
    RETENTION = "retention"
    """Expired offsets have to be looked for."""


class TimerKey(NamedTuple):
    """The key of one deadline."""

    timer: Timer
    group_id: str = ""
    member_id: str = ""


@dataclass(slots=True)
class SetTimer:
    """Set or move a deadline; ``None`` cancels it."""

    key: TimerKey
    at_ms: int | None


@dataclass(slots=True)
class MetadataChecked:
    """Whether a consumer or share group has checked the current metadata of its topics."""

    group_id: str
    is_checked: bool = True


@dataclass(slots=True)
class Rebalanced:
    """A heartbeat has begun a new epoch of a group of this type, or a classic one is stable."""

    group_type: str


@dataclass(slots=True)
class SharesInitializing:
    """When a share group last gave partitions to the share coordinators to initialize."""

    group_id: str
    at_ms: int


@dataclass(slots=True)
class NewTopics:
    """Topics were created in this version of the metadata; regular expressions may match them."""

    version: int
