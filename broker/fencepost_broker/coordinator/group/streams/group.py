"""The state of a streams group. Only replay changes it.

The epochs are those of a consumer group. A task is active in one process at a time, and a process
does not have the same task twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.ports import Topics
from fencepost_broker.coordinator.group.soft import SetTimer
from fencepost_broker.coordinator.group.streams.commands import (
    EndpointsChanged,
    ShutdownRequested,
    TopologyConfigured,
)
from fencepost_broker.coordinator.group.streams.members import StreamsMember, Target
from fencepost_broker.coordinator.group.streams.records import group_tombstones
from fencepost_broker.coordinator.group.streams.topology import NOT_READY, Configured, Topology
from fencepost_broker.coordinator.records import LogRecord

STREAMS_PROTOCOL: Final = "streams"
EPOCHS_IN_COMMITS_SINCE: Final = 9
"""The OffsetCommit version from which the generation may be a member epoch."""


@dataclass(slots=True)
class StreamsGroup(Group):
    """A streams group."""

    TYPE: ClassVar[str] = "Streams"

    group_id: str
    topics: Topics
    group_epoch: int = 1
    metadata_hash: int = 0
    validated_epoch: int = -1
    """The epoch of the topology that was last found to be right; -1 if it was not."""
    assignment_configs: Mapping[str, str] = field(default_factory=dict)
    topology: Topology | None = None
    assignment_epoch: int = 1
    assignment_at_ms: int = 0
    members: dict[str, StreamsMember] = field(default_factory=dict)
    target: dict[str, Target] = field(default_factory=dict)
    configured: Configured = NOT_READY
    """Soft: the topology with the topics that there are."""
    is_checked: bool = False
    """Soft: whether the topics are unchanged since ``configured`` was made."""
    endpoints_epoch: int = 0
    """Soft: counts the changes of what members tell others about their endpoints."""
    shutdown_by: str | None = None
    """Soft: the member that has asked for the end of the application."""

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.validated_epoch < 0:
            return "NotReady"
        if self.group_epoch > self.assignment_epoch:
            return "Assigning"
        epoch = self.assignment_epoch
        reconciled = all(each.has_reconciled(epoch) for each in self.members.values())
        return "Stable" if reconciled else "Reconciling"

    @property
    def listed_protocol_type(self) -> str:
        return STREAMS_PROTOCOL

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
        if version < EPOCHS_IN_COMMITS_SINCE:
            return ErrorCode.UNSUPPORTED_VERSION  # this version has no error for a stale epoch
        return self._epoch_refusal(member, generation, partitions)

    def transactional_commit_refusal(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        partitions: Iterable[tuple[bytes, int]],
    ) -> ErrorCode:
        nobody = generation == -1 and not member_id and instance_id is None
        if nobody or (generation < 0 and not self.members):
            return ErrorCode.NONE
        member = self.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        refusal = self._epoch_refusal(member, generation, partitions)
        return ErrorCode.NONE if refusal is ErrorCode.NONE else ErrorCode.ILLEGAL_GENERATION

    def _epoch_refusal(
        self, member: StreamsMember, epoch: int, partitions: Iterable[tuple[bytes, int]]
    ) -> ErrorCode:
        """Check an epoch; an older one is valid for tasks that the member has had since then."""
        if epoch == member.member_epoch:
            return ErrorCode.NONE
        if epoch > member.member_epoch:
            return ErrorCode.STALE_MEMBER_EPOCH
        had = {**member.revoking_active, **member.active}
        for topic_id, number in partitions:
            name = self.topics.topic_name(topic_id)
            since = [
                at
                for task, at in had.items()
                if task.partition == number and self._reads(task.subtopology, name)
            ]
            if not since or epoch < min(since):
                return ErrorCode.STALE_MEMBER_EPOCH
        return ErrorCode.NONE

    def _reads(self, subtopology: str, topic: str | None) -> bool:
        return self.topology is not None and any(
            topic in each.sources or any(topic == internal.name for internal in each.repartitions)
            for each in self.topology.subtopologies
            if each.name == subtopology
        )

    def heard_from(self, member_id: str, now_ms: int) -> tuple[SetTimer, ...]:  # noqa: ARG002
        return ()

    def fetch_refusal(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        if member_id is None and member_epoch < 0:
            return ErrorCode.NONE  # an administrator, or a client that does not send its id
        member = self.members.get(member_id or "")
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if member_epoch == member.member_epoch:
            return ErrorCode.NONE
        return ErrorCode.STALE_MEMBER_EPOCH

    def offset_delete_refusal(self) -> ErrorCode:
        return ErrorCode.NONE

    def is_subscribed(self, topic: str) -> bool:
        return bool(self.members and self.topology and topic in self.topology.topics())

    def take(self, soft: TopologyConfigured | EndpointsChanged | ShutdownRequested) -> None:
        """Apply soft state."""
        if isinstance(soft, TopologyConfigured):
            self.configured, self.is_checked = soft.configured, True
        elif isinstance(soft, EndpointsChanged):
            self.endpoints_epoch += 1
        else:
            self.shutdown_by = soft.member_id

    def retention_start_ms(self, offset: CommittedOffset) -> int | None:
        return offset.commit_timestamp_ms

    def tombstones(self) -> list[LogRecord]:
        return group_tombstones(self.group_id, self.members)
