"""Groups whose members have epochs, not a generation: consumer groups and streams groups."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Final, Generic, Protocol, TypeVar

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.soft import SetTimer

EPOCHS_IN_COMMITS_SINCE: Final = 9
"""The OffsetCommit version from which the generation may be a member epoch."""


class HasEpoch(Protocol):
    """A member of such a group."""

    @property
    def member_epoch(self) -> int:
        """Its epoch."""


M = TypeVar("M", bound=HasEpoch)


class EpochGroup(Group, Generic[M]):
    """What both kinds answer about offsets."""

    __slots__ = ()

    members: Mapping[str, M]

    @abstractmethod
    def epoch_refusal(
        self, member: M, epoch: int, partitions: Iterable[tuple[bytes, int]]
    ) -> ErrorCode:
        """Check the epoch of a commit; an older one may be valid for some partitions."""

    def stale(self, member: M) -> ErrorCode:  # noqa: ARG002
        """Return the error for an epoch that is not the member's."""
        return ErrorCode.STALE_MEMBER_EPOCH

    def has_generation(self, member: M) -> bool:  # noqa: ARG002
        """Whether the member uses the classic protocol, for which its epoch is a generation."""
        return False

    @property
    def is_empty(self) -> bool:
        return not self.members

    def commit_refusal(
        self,
        member_id: str,
        instance_id: str | None,  # noqa: ARG002 (Group's)
        generation: int,
        partitions: Iterable[tuple[bytes, int]],
        *,
        version: int,
    ) -> ErrorCode:
        if generation < 0 and not self.members:
            return ErrorCode.NONE
        member = self.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if version < EPOCHS_IN_COMMITS_SINCE and not self.has_generation(member):
            return ErrorCode.UNSUPPORTED_VERSION  # this version has no error for a stale epoch
        return self.epoch_refusal(member, generation, partitions)

    def transactional_commit_refusal(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        partitions: Iterable[tuple[bytes, int]],
    ) -> ErrorCode:
        names_no_member = generation == -1 and not member_id and instance_id is None
        if names_no_member or (generation < 0 and not self.members):
            return ErrorCode.NONE
        member = self.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        refusal = self.epoch_refusal(member, generation, partitions)
        return ErrorCode.NONE if refusal is ErrorCode.NONE else ErrorCode.ILLEGAL_GENERATION

    def heard_from(self, member_id: str, now_ms: int) -> tuple[SetTimer, ...]:  # noqa: ARG002
        return ()

    def fetch_refusal(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        if member_id is None and member_epoch < 0:
            return ErrorCode.NONE  # an administrator, or a client that does not send its id
        member = self.members.get(member_id or "")
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member_epoch == member.member_epoch else self.stale(member)

    def offset_delete_refusal(self) -> ErrorCode:
        return ErrorCode.NONE

    def retention_start_ms(self, offset: CommittedOffset) -> int | None:
        return offset.commit_timestamp_ms
