"""The state of a share group. Only replay changes it.

The epochs are those of a consumer group, but a member takes its whole assignment at once: several
members may have a partition, so none has to give it up first. Only partitions whose state has
been initialized with the share coordinator are assigned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.consumer.member import Partitions
from fencepost_broker.coordinator.group.consumer.member_counts import add_to
from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.share.members import PartitionStates, ShareMember
from fencepost_broker.coordinator.group.share.records import group_tombstones
from fencepost_broker.coordinator.group.soft import SetTimer
from fencepost_broker.coordinator.records import LogRecord

SHARE_PROTOCOL: Final = "share"


@dataclass(slots=True)
class ShareGroup(Group):
    """A share group; the module describes its epochs."""

    TYPE: ClassVar[str] = "Share"
    EXPIRES: ClassVar[bool] = False
    static_members: ClassVar[Mapping[str, str]] = {}
    """Share groups have none."""

    group_id: str
    group_epoch: int = 1
    metadata_hash: int = 0
    assignment_epoch: int = 1
    assignment_at_ms: int = 0
    members: dict[str, ShareMember] = field(default_factory=dict)
    target: dict[str, Partitions] = field(default_factory=dict)
    """By member: its partitions in the assignment of ``assignment_epoch``."""
    names: dict[str, int] = field(default_factory=dict)
    """By topic: the number of members that subscribe to it."""
    states: PartitionStates = field(default_factory=PartitionStates)
    is_checked: bool = False
    """Soft: whether topics, partitions and the assignment are unchanged since the last check, after
    which there was nothing to do."""
    initializing_since_ms: int = 0
    """Soft: when partitions were last given to the share coordinators to initialize."""

    def put(self, member: ShareMember) -> None:
        """Add or replace a member."""
        before = self.members.get(member.member_id)
        self.members[member.member_id] = member
        self._count(() if before is None else before.topics, member.topics)

    def remove(self, member_id: str) -> None:
        """Remove a member."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count(member.topics, ())

    def _count(self, before: Iterable[str], after: Iterable[str]) -> None:
        if before != after:
            self.is_checked = False
            for name in before:
                add_to(self.names, name, -1)
            for name in after:
                add_to(self.names, name, 1)

    def topics_after(self, member_id: str, topics: Iterable[str]) -> set[str]:
        """Return all topics that members subscribe to if this member subscribes to these."""
        member = self.members.get(member_id)
        before = () if member is None else member.topics
        return (self.names.keys() - {each for each in before if self.names[each] == 1}) | {*topics}

    @property
    def state_name(self) -> str:
        return "Stable" if self.members else "Empty"

    @property
    def listed_protocol_type(self) -> str:
        return SHARE_PROTOCOL

    @property
    def is_empty(self) -> bool:
        return not self.members

    def commit_refusal(
        self,
        member_id: str,  # noqa: ARG002 (all of these are Group's)
        instance_id: str | None,  # noqa: ARG002
        generation: int,  # noqa: ARG002
        partitions: Iterable[tuple[bytes, int]],  # noqa: ARG002
        *,
        version: int,  # noqa: ARG002
    ) -> ErrorCode:
        return ErrorCode.GROUP_ID_NOT_FOUND

    def transactional_commit_refusal(
        self,
        member_id: str,  # noqa: ARG002 (all of these are Group's)
        instance_id: str | None,  # noqa: ARG002
        generation: int,  # noqa: ARG002
        partitions: Iterable[tuple[bytes, int]],  # noqa: ARG002
    ) -> ErrorCode:
        return ErrorCode.GROUP_ID_NOT_FOUND

    def heard_from(self, member_id: str, now_ms: int) -> tuple[SetTimer, ...]:  # noqa: ARG002
        return ()

    def fetch_refusal(self, member_id: str | None, member_epoch: int) -> ErrorCode:  # noqa: ARG002
        return ErrorCode.NONE

    def offset_delete_refusal(self) -> ErrorCode:
        return ErrorCode.GROUP_ID_NOT_FOUND

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.names

    def retention_start_ms(self, offset: CommittedOffset) -> int | None:  # noqa: ARG002
        return None

    def tombstones(self) -> list[LogRecord]:
        return group_tombstones(self.group_id, self.members)
