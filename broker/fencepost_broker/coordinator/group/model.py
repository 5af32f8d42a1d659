"""The common interface of all types of groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.soft import SetTimer
from fencepost_broker.coordinator.records import LogRecord


class Group(ABC):
    """A group, for the code that handles all kinds: offsets, lists and DeleteGroups.

    A refusal is an error code; NONE means permission.
    """

    __slots__ = ()

    TYPE: ClassVar[str]
    """Kafka's name of the group type, as in ListGroups."""

    EXPIRES: ClassVar[bool] = True
    """Whether the group is deleted when it is empty and has no offsets left."""

    group_id: str

    @property
    @abstractmethod
    def state_name(self) -> str:
        """Kafka's name of the state."""

    @property
    @abstractmethod
    def listed_protocol_type(self) -> str:
        """The protocol type in ListGroups: ``consumer``, or "" if no member has set one."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether it has no members."""

    @abstractmethod
    def commit_refusal(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        partitions: Iterable[tuple[bytes, int]],
        *,
        version: int,
    ) -> ErrorCode:
        """Return the error for a commit of a member to these partitions (by topic id).

        In a consumer group the generation is the member's epoch.
        """

    @abstractmethod
    def heard_from(self, member_id: str, now_ms: int) -> tuple[SetTimer, ...]:
        """Return the timers that a commit of this member changes."""

    @abstractmethod
    def transactional_commit_refusal(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        partitions: Iterable[tuple[bytes, int]],
    ) -> ErrorCode:
        """Return the error for a transactional commit of a member (KIP-447)."""

    @abstractmethod
    def fetch_refusal(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        """Return the error for an OffsetFetch; only members that use KIP-848 send their id."""

    @abstractmethod
    def offset_delete_refusal(self) -> ErrorCode:
        """Return the error for an OffsetDelete of any offset of the group."""

    @abstractmethod
    def is_subscribed(self, topic: str) -> bool:
        """Whether a member is subscribed to a topic, so that its offsets must be kept."""

    @abstractmethod
    def retention_start_ms(self, offset: CommittedOffset) -> int | None:
        """Return the start of an offset's retention time; ``None`` while it cannot expire."""

    @abstractmethod
    def tombstones(self) -> list[LogRecord]:
        """Return the records that delete the group, without those for its offsets."""
