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
    states: PartitionStates = field(default_factory=PartitionStates)
    is_checked: bool = False
    """Soft: whether the metadata of the topics is unchanged since the last check."""
    initializing_since_ms: int = 0
    """Soft: when partitions were last given to the share coordinators to initialize."""

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
        return any(topic in each.topics for each in self.members.values())

    def retention_start_ms(self, offset: CommittedOffset) -> int | None:  # noqa: ARG002
        return None

    def tombstones(self) -> list[LogRecord]:
        return group_tombstones(self.group_id, self.members)
