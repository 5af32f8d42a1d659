"""The state of a consumer group. Only replay changes it.

    group epoch        grows when members, subscriptions or topics change
    assignment epoch   the group epoch of the last assignment
    member epoch       the assignment epoch that a member has reached

The group is stable when all three are equal for every member.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.consumer.member import ConsumerMember, Owned
from fencepost_broker.coordinator.group.consumer.member_counts import MemberCounts
from fencepost_broker.coordinator.group.consumer.records import group_tombstones
from fencepost_broker.coordinator.group.consumer.target_assignment import (
    Owners,
    TargetAssignment,
    claim,
    release,
)
from fencepost_broker.coordinator.group.epochs import EpochGroup
from fencepost_broker.coordinator.records import LogRecord

CONSUMER_PROTOCOL: Final = "consumer"


@dataclass(slots=True)
class Resolved:
    """The topics that matched a regular expression at the last check."""

    topics: frozenset[str]
    version: int
    """The version of the metadata at that check."""
    at_ms: int


@dataclass(slots=True)
class ConsumerGroup(EpochGroup[ConsumerMember]):
    """A consumer group; the module describes its epochs."""

    TYPE: ClassVar[str] = "Consumer"

    group_id: str
    group_epoch: int = 1
    metadata_hash: int = 0
    assignment_epoch: int = 1
    assignment_at_ms: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    target: TargetAssignment = field(default_factory=TargetAssignment)
    """The assignment of ``assignment_epoch``."""
    resolved: dict[str, Resolved] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    """By instance id."""
    owners: Owners = field(default_factory=dict)
    """The members that have partitions or have yet to revoke them."""
    counts: MemberCounts = field(default_factory=MemberCounts)
    has_partition_metadata: bool = False
    """Whether the log has a record of Kafka before 4.1, which has to be deleted."""
    is_checked: bool = False
    """Soft: whether the metadata of the topics is unchanged since the last check."""

    # -- replay ----------------------------------------------------------------------------------

    def put(self, member: ConsumerMember) -> None:
        """Add or replace a member."""
        before = self.members.get(member.member_id)
        if before is not None:
            self.counts.count(before, -1)
            self._release(before)
            if before.instance_id != member.instance_id:
                self._forget_instance(before)
        else:
            self.target.join(member.member_id)
        self.members[member.member_id] = member
        self.counts.count(member, 1)
        claim(self.owners, member.member_id, member.assigned)
        claim(self.owners, member.member_id, member.revoking)
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id

    def remove(self, member_id: str) -> None:
        """Remove a member."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self.target.leave(member_id)
            self.counts.count(member, -1)
            self._release(member)
            self._forget_instance(member)

    def _forget_instance(self, member: ConsumerMember) -> None:
        # The instance may already belong to the member that replaced this one.
        known = self.static_members.get(member.instance_id or "")
        if member.instance_id is not None and known == member.member_id:
            del self.static_members[member.instance_id]

    def _release(self, member: ConsumerMember) -> None:
        release(self.owners, member.member_id, member.assigned)
        release(self.owners, member.member_id, member.revoking)

    # -- queries ---------------------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.group_epoch > self.assignment_epoch:
            return "Assigning"
        epoch = self.assignment_epoch
        reconciled = all(each.has_reconciled(epoch) for each in self.members.values())
        return "Stable" if reconciled else "Reconciling"

    @property
    def listed_protocol_type(self) -> str:
        return CONSUMER_PROTOCOL

    def owner(self, topic_id: bytes, partition: int) -> str | None:
        """Return the member that has a partition or has yet to revoke it."""
        return self.owners.get(topic_id, {}).get(partition)

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """Return the current member of an instance id."""
        member_id = self.static_members.get(instance_id or "")
        return None if member_id is None or instance_id is None else self.members[member_id]

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """Return a member's topics, by name and by its regular expression."""
        known = self.resolved.get(member.pattern)
        return frozenset(member.topics) | (known.topics if known else frozenset())

    def waits_for_release(self, member: ConsumerMember) -> bool:
        """Whether another member has yet to release a partition of this member's assignment."""
        return any(
            self.owner(topic_id, number) not in {None, member.member_id}
            for topic_id, numbers in self.target.of(member.member_id).items()
            for number in numbers
        )

    def supports_classic(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether a client on the classic protocol with these assignors may join."""
        return protocol_type == CONSUMER_PROTOCOL and any(
            self.counts.classic_protocols.get(name, 0) == self.counts.classic for name in names
        )

    def epoch_refusal(
        self, member: ConsumerMember, epoch: int, partitions: Iterable[tuple[bytes, int]]
    ) -> ErrorCode:
        """Check an epoch; an older one is valid for partitions owned since then (KIP-1251)."""
        if epoch == member.member_epoch:
            return ErrorCode.NONE
        if epoch > member.member_epoch:
            return self.stale(member)
        for topic_id, number in partitions:
            since = _epoch_of(member.assigned, topic_id, number)
            if since is None:
                since = _epoch_of(member.revoking, topic_id, number)
            if since is None or epoch < since:
                return self.stale(member)
        return ErrorCode.NONE

    def has_generation(self, member: ConsumerMember) -> bool:
        return member.classic is not None

    def stale(self, member: ConsumerMember) -> ErrorCode:
        classic = self.has_generation(member)
        return ErrorCode.ILLEGAL_GENERATION if classic else ErrorCode.STALE_MEMBER_EPOCH

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.counts.names or any(
            topic in each.topics
            for name, each in self.resolved.items()
            if name in self.counts.patterns
        )

    def tombstones(self) -> list[LogRecord]:
        return group_tombstones(self.group_id, self.members, self.resolved)


def _epoch_of(owned: Owned, topic_id: bytes, number: int) -> int | None:
    return owned.get(topic_id, {}).get(number)


def same_partitions(
    left: Mapping[bytes, Iterable[int]], right: Mapping[bytes, Iterable[int]]
) -> bool:
    """Whether both contain the same partitions; topics without partitions do not count."""
    return {each: set(numbers) for each, numbers in left.items() if numbers} == {
        each: set(numbers) for each, numbers in right.items() if numbers
    }
