"""A consumer group as its records have it. Replay alone changes it.

    group epoch        grows when members, subscriptions or topics change
    assignment epoch   the group epoch for which partitions were spread last
    member epoch       the assignment epoch that a member has come to

A group whose first three numbers agree for every member is stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.consumer.member import ConsumerMember, Owned, Partitions
from fencepost_broker.coordinator.group.consumer.records import group_tombstones
from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.soft import SetTimer
from fencepost_broker.coordinator.records import LogRecord

CONSUMER_PROTOCOL: Final = "consumer"
EPOCHS_IN_COMMITS_SINCE: Final = 9
"""OffsetCommit version."""


@dataclass(slots=True)
class Resolved:
    """The topics that a regular expression stood for when it was last looked at."""

    topics: frozenset[str]
    version: int
    """Of the metadata that was looked at."""
    at_ms: int


@dataclass(slots=True)
class ConsumerGroup(Group):
    """One group; see the module."""

    TYPE: ClassVar[str] = "Consumer"

    group_id: str
    group_epoch: int = 1
    metadata_hash: int = 0
    assignment_epoch: int = 1
    assignment_at_ms: int = 0
    members: dict[str, ConsumerMember] = field(default_factory=dict)
    target: dict[str, Partitions] = field(default_factory=dict)
    """By member: what the assignment of ``assignment_epoch`` gives it."""
    resolved: dict[str, Resolved] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    """By instance id."""
    owners: dict[bytes, dict[int, str]] = field(default_factory=dict)
    """By topic id and partition: which member has it, or has not let go of it."""
    names: dict[str, int] = field(default_factory=dict)
    """By topic: how many members subscribe to it by name."""
    patterns: dict[str, int] = field(default_factory=dict)
    """By regular expression: how many members subscribe with it."""
    assignors: dict[str, int] = field(default_factory=dict)
    classic_protocols: dict[str, int] = field(default_factory=dict)
    """By name: how many of the members that speak the classic protocol can follow it."""
    classic_count: int = 0
    has_partition_metadata: bool = False
    """A record of Kafka before 4.1 stands in the log and has to go."""
    is_checked: bool = False
    """Soft: the metadata of the subscribed topics has not changed since it was last looked at."""

    # -- replay ----------------------------------------------------------------------------------

    def put(self, member: ConsumerMember) -> None:
        """Takes in a member, new or changed."""
        before = self.members.get(member.member_id)
        if before is not None:
            self._count(before, -1)
            self._release(before)
            if before.instance_id != member.instance_id:
                self._forget_instance(before)
        self.members[member.member_id] = member
        self._count(member, 1)
        for owned in (member.assigned, member.revoking):
            for topic_id, numbers in owned.items():
                self.owners.setdefault(topic_id, {}).update(
                    dict.fromkeys(numbers, member.member_id)
                )
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id

    def remove(self, member_id: str) -> None:
        """Lets a member go."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count(member, -1)
            self._release(member)
            self._forget_instance(member)

    def _forget_instance(self, member: ConsumerMember) -> None:
        # Whoever has taken the place of a static member stands here already.
        known = self.static_members.get(member.instance_id or "")
        if member.instance_id is not None and known == member.member_id:
            del self.static_members[member.instance_id]

    def _release(self, member: ConsumerMember) -> None:
        for owned in (member.assigned, member.revoking):
            for topic_id, numbers in owned.items():
                owners = self.owners.get(topic_id, {})
                for number in numbers:
                    if owners.get(number) == member.member_id:
                        del owners[number]
                if not owners:
                    self.owners.pop(topic_id, None)

    def _count(self, member: ConsumerMember, by: int) -> None:
        for topic in member.topics:
            _add(self.names, topic, by)
        if member.pattern:
            _add(self.patterns, member.pattern, by)
        if member.assignor is not None:
            _add(self.assignors, member.assignor, by)
        if member.classic is not None:
            self.classic_count += by
            for name, _ in member.classic.protocols:
                _add(self.classic_protocols, name, by)

    # -- questions -------------------------------------------------------------------------------

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

    @property
    def is_empty(self) -> bool:
        return not self.members

    def owner(self, topic_id: bytes, partition: int) -> str | None:
        """Who has this partition, or has not let go of it."""
        return self.owners.get(topic_id, {}).get(partition)

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """The member that an instance is now."""
        member_id = self.static_members.get(instance_id or "")
        return None if member_id is None or instance_id is None else self.members[member_id]

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """What a member reads, by name and by its regular expression."""
        known = self.resolved.get(member.pattern)
        return frozenset(member.topics) | (known.topics if known else frozenset())

    def waits_for_release(self, member: ConsumerMember) -> bool:
        """Whether something that the member shall get is still with another."""
        return any(
            self.owner(topic_id, number) not in {None, member.member_id}
            for topic_id, numbers in self.target.get(member.member_id, {}).items()
            for number in numbers
        )

    def supports_classic(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether a client that speaks the classic protocol fits in."""
        return protocol_type == CONSUMER_PROTOCOL and any(
            self.classic_protocols.get(name, 0) == self.classic_count for name in names
        )

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
        if member.classic is None and version < EPOCHS_IN_COMMITS_SINCE:
            return ErrorCode.UNSUPPORTED_VERSION  # it could not make sense of a stale epoch
        return _epoch_refusal(member, generation, partitions)

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
        refusal = _epoch_refusal(member, generation, partitions)
        return ErrorCode.NONE if refusal is ErrorCode.NONE else ErrorCode.ILLEGAL_GENERATION

    def heard_from(self, member_id: str, now_ms: int) -> tuple[SetTimer, ...]:  # noqa: ARG002
        return ()

    def fetch_refusal(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        if member_id is None and member_epoch < 0:
            return ErrorCode.NONE  # an administrator, or a client that does not say who it is
        member = self.members.get(member_id or "")
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member_epoch == member.member_epoch else _stale(member)

    def offset_delete_refusal(self) -> ErrorCode:
        return ErrorCode.NONE

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.names or any(
            topic in each.topics for name, each in self.resolved.items() if name in self.patterns
        )

    def retention_start_ms(self, offset: CommittedOffset) -> int | None:
        return offset.commit_timestamp_ms

    def tombstones(self) -> list[LogRecord]:
        return group_tombstones(self.group_id, self.members, self.resolved)


def _epoch_refusal(
    member: ConsumerMember, epoch: int, partitions: Iterable[tuple[bytes, int]]
) -> ErrorCode:
    """KIP-1251: an older epoch will do for partitions that the member has had since then."""
    if epoch == member.member_epoch:
        return ErrorCode.NONE
    if epoch > member.member_epoch:
        return _stale(member)
    for topic_id, number in partitions:
        since = _epoch_of(member.assigned, topic_id, number)
        if since is None:
            since = _epoch_of(member.revoking, topic_id, number)
        if since is None or epoch < since:
            return _stale(member)
    return ErrorCode.NONE


def _epoch_of(owned: Owned, topic_id: bytes, number: int) -> int | None:
    return owned.get(topic_id, {}).get(number)


def _stale(member: ConsumerMember) -> ErrorCode:
    classic = member.classic is not None
    return ErrorCode.ILLEGAL_GENERATION if classic else ErrorCode.STALE_MEMBER_EPOCH


def _add(counts: dict[str, int], name: str, by: int) -> None:
    count = counts.get(name, 0) + by
    if count:
        counts[name] = count
    else:
        counts.pop(name, None)


def same_partitions(
    left: Mapping[bytes, Iterable[int]], right: Mapping[bytes, Iterable[int]]
) -> bool:
    """Whether both name the same partitions; a topic without any is none."""
    return {each: set(numbers) for each, numbers in left.items() if numbers} == {
        each: set(numbers) for each, numbers in right.items() if numbers
    }
