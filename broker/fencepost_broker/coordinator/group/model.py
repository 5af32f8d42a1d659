"""What both kinds of group have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.soft import SetTimer
from fencepost_broker.coordinator.records import LogRecord


class Group(ABC):
    """A group as the offsets, the lists and DeleteGroups see it.

    A refusal is an error code, and NONE is none.
    """

    __slots__ = ()

    TYPE: ClassVar[str]
    """Kafka's name of the kind, as ListGroups gives it."""

    group_id: str

    @property
    @abstractmethod
    def state_name(self) -> str:
        """Kafka's name of the state."""

    @property
    @abstractmethod
    def listed_protocol_type(self) -> str:
        """What ListGroups says: ``consumer``, or "" when nobody has said."""

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
        """Why this member cannot commit offsets of these partitions (by topic id).

        The generation is the member's epoch in a consumer group.
        """

    @abstractmethod
    def heard_from(self, member_id: str, now_ms: int) -> tuple[SetTimer, ...]:
        """What a commit does for the member's session."""

    @abstractmethod
    def transactional_commit_refusal(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        partitions: Iterable[tuple[bytes, int]],
    ) -> ErrorCode:
        """Why offsets cannot become part of a transaction in this member's name (KIP-447)."""

    @abstractmethod
    def fetch_refusal(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        """Why this member cannot read offsets; only KIP-848's members say who they are."""

    @abstractmethod
    def offset_delete_refusal(self) -> ErrorCode:
        """Why no offset of the group can be deleted."""

    @abstractmethod
    def is_subscribed(self, topic: str) -> bool:
        """Whether a member reads this topic, so that its offsets must stay."""

    @abstractmethod
    def retention_start_ms(self, offset: CommittedOffset) -> int | None:
        """From when on this offset grows old; None while the group keeps it young."""

    @abstractmethod
    def tombstones(self) -> list[LogRecord]:
        """Records that delete the group, its offsets aside."""
