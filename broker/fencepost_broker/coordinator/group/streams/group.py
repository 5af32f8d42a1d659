"""The state of a streams group. Only replay changes it.

The epochs are those of a consumer group. A task is active in one process at a time, and a process
does not have the same task twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.epochs import EpochGroup
from fencepost_broker.coordinator.group.ports import Topics
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


@dataclass(slots=True)
class StreamsGroup(EpochGroup[StreamsMember]):
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

    def epoch_refusal(
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

    def tombstones(self) -> list[LogRecord]:
        return group_tombstones(self.group_id, self.members)
