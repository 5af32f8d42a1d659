"""A classic group: its state, its members, and its checks of requests.

    Empty                no members; offsets may still be committed, and can expire
    PreparingRebalance   members are asked to rejoin; JoinGroup waits
    CompletingRebalance  the generation has begun; SyncGroup waits for the leader's assignment
    Stable               all members have their assignment

Kafka calls a group that does not exist Dead. Only the last GroupMetadata record is durable. It is
written when a generation becomes stable or empty, and a restart returns to it. The state in between
is soft: a decision changes a draft of the group, and the draft then replaces the group. A visible
group never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, ClassVar, Final

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.group_metadata import GroupMetadataKey, GroupMetadataValue

from fencepost_broker.coordinator.group.classic.subscriptions import subscribed_topics
from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.soft import SetTimer, Timer, TimerKey
from fencepost_broker.coordinator.hashing import java_hash
from fencepost_broker.coordinator.records import LogRecord

CONSUMER_PROTOCOL: Final = "consumer"
NO_GENERATION: Final = -1


class State(Enum):
    """The states, with Kafka's names."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"


TRANSITIONS: Final = {
    State.EMPTY: {State.PREPARING_REBALANCE},
    State.PREPARING_REBALANCE: {State.EMPTY, State.COMPLETING_REBALANCE},
    State.COMPLETING_REBALANCE: {State.PREPARING_REBALANCE, State.STABLE},
    State.STABLE: {State.PREPARING_REBALANCE},
}


@dataclass(slots=True)
class Member:
    """One member; every change replaces the object."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    """The assignors that it supports, best first, each with its metadata."""
    assignment: bytes = b""
    is_new: bool = False
    """Whether it still waits for its first answer; it has no id and sends no heartbeats yet."""
    join_token: Any = None
    """Its waiting JoinGroup."""
    sync_token: Any = None
    """Its waiting SyncGroup."""

    def metadata(self, protocol: str | None) -> bytes:
        """Return the member's metadata for one protocol."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")


@dataclass(slots=True)
class ClassicGroup(Group):
    """A classic group; the module describes its states."""

    TYPE: ClassVar[str] = "Classic"

    group_id: str
    state: State = State.EMPTY
    previous_state: State = State.EMPTY
    state_since_ms: int = -1
    generation: int = 0
    protocol_type: str | None = None
    """``None`` for a simple group, which has offsets and never had a member."""
    protocol: str | None = None
    leader: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    static_members: dict[str, str] = field(default_factory=dict)
    """By instance id (KIP-345)."""
    pending_joins: set[str] = field(default_factory=set)
    """Ids given to clients with MEMBER_ID_REQUIRED (KIP-394) that have not joined yet."""
    pending_syncs: set[str] = field(default_factory=set)
    awaiting_joins: int = 0
    """The number of members with a waiting JoinGroup."""
    supported: dict[str, int] = field(default_factory=dict)
    """By protocol: the number of members that support it."""
    topics: frozenset[str] | None = None
    """The topics that members read; ``None`` if the broker cannot read their subscriptions."""
    new_member_added: bool = False
    """Whether a member has joined during an initial rebalance, so that it may be extended."""
    initial_delay_ms: int = 0
    initial_delay_left_ms: int = 0
    stored: GroupMetadataValue | None = None
    """The last record, to which a restart returns."""

    def draft(self) -> ClassicGroup:
        """Return a copy for changes."""
        return replace(
            self,
            members=self.members.copy(),
            static_members=self.static_members.copy(),
            pending_joins=self.pending_joins.copy(),
            pending_syncs=self.pending_syncs.copy(),
            supported=self.supported.copy(),
        )

    # -- changing a draft ------------------------------------------------------------------------

    def become(self, state: State, now_ms: int) -> None:
        """Change to another state."""
        assert state in TRANSITIONS[self.state], f"{self.group_id}: {self.state} to {state}"
        self.previous_state, self.state, self.state_since_ms = self.state, state, now_ms

    def add(self, member: Member, protocol_type: str) -> None:
        """Add a member; the first one becomes the leader and sets the protocol type."""
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self._count(member, 1)
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        self.pending_joins.discard(member.member_id)

    def change(self, member_id: str, **changes: Any) -> Member:
        """Replace a member by a changed copy."""
        before = self.members[member_id]
        member = replace(before, **changes)
        self._count(before, -1)
        self._count(member, 1)
        self.members[member_id] = member
        return member

    def remove(self, member_id: str) -> None:
        """Remove a member or a pending id; a removed leader gets a successor."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count(member, -1)
            if member.instance_id is not None:
                self.static_members.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.pending_joins.discard(member_id)
        self.pending_syncs.discard(member_id)

    def rename(self, member_id: str, new_member_id: str) -> None:
        """Give a static member another id; the order of members stays the same."""
        renamed = replace(self.members[member_id], member_id=new_member_id)
        self.members = {
            (new_member_id if each == member_id else each): (
                renamed if each == member_id else member
            )
            for each, member in self.members.items()
        }
        assert renamed.instance_id is not None
        self.static_members[renamed.instance_id] = new_member_id
        self.leader = new_member_id if self.leader == member_id else self.leader

    def elect_joined_leader(self) -> bool:
        """Choose a joined member as leader if the current one has not joined; False for none."""
        if self.leader is None:
            return False
        if self.members[self.leader].join_token is not None:
            return True
        joined = (each for each, member in self.members.items() if member.join_token is not None)
        successor = next(joined, None)
        if successor is not None:
            self.leader = successor
        return successor is not None

    def begin_generation(self, now_ms: int) -> None:
        """Begin the next generation with the current members."""
        self.generation += 1
        self.protocol = self.chosen_protocol() if self.members else None
        self.topics = self.find_topics()
        self.become(State.COMPLETING_REBALANCE if self.members else State.EMPTY, now_ms)

    def _count(self, member: Member, by: int) -> None:
        self.awaiting_joins += by * (member.join_token is not None)
        for name, _ in member.protocols:
            self.supported[name] = self.supported.get(name, 0) + by

    # -- protocols -------------------------------------------------------------------------------

    def chosen_protocol(self) -> str:
        """Return the protocol with the most votes.

        Each member votes for its first protocol that all members support.
        """
        count = len(self.members)
        candidates = {name for name, known in self.supported.items() if known == count}
        votes: dict[str, int] = {}
        for member in self.members.values():
            choice = next(name for name, _ in member.protocols if name in candidates)
            votes[choice] = votes.get(choice, 0) + 1
        # In a tie, Kafka takes the first one in the order of its hash map.
        return min(votes, key=lambda name: (-votes[name], _hash_map_slot(name)))

    def supports(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Whether a member that supports these protocols may join the group."""
        if self.state is State.EMPTY:
            return bool(protocol_type) and any(True for _ in names)
        count = len(self.members)
        return protocol_type == self.protocol_type and any(
            self.supported.get(name, 0) == count for name in names
        )

    def find_topics(self) -> frozenset[str] | None:
        """Return the topics that members read; ``None`` if their subscriptions cannot be read."""
        if self.protocol_type != CONSUMER_PROTOCOL:
            return None
        if not self.members:
            return frozenset()
        if self.protocol is None:
            return None
        return subscribed_topics(each.metadata(self.protocol) for each in self.members.values())

    # -- queries ---------------------------------------------------------------------------------

    @property
    def state_name(self) -> str:
        return self.state.value

    @property
    def listed_protocol_type(self) -> str:
        return self.protocol_type or ""

    @property
    def is_empty(self) -> bool:
        return self.state is State.EMPTY

    @property
    def all_have_joined(self) -> bool:
        """Whether all members and pending ids have joined."""
        return self.awaiting_joins == len(self.members) and not self.pending_joins

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of any member."""
        return max((each.rebalance_timeout_ms for each in self.members.values()), default=0)

    def missing_members(self) -> Iterator[Member]:
        """Return the members that have not rejoined."""
        return (each for each in self.members.values() if each.join_token is None)

    def member_refusal(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Return the error for a request with this member id and instance id (KIP-345)."""
        if instance_id is not None:
            known = self.static_members.get(instance_id)
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def commit_refusal(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        partitions: Iterable[tuple[bytes, int]],  # noqa: ARG002 (Group's)
        *,
        version: int,  # noqa: ARG002 (Group's)
    ) -> ErrorCode:
        if generation < 0 and self.state is State.EMPTY:
            return ErrorCode.NONE  # an administrator, or a consumer without group management
        if generation < 0 and not member_id and instance_id is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        refusal = self._generation_refusal(member_id, instance_id, generation)
        if refusal is ErrorCode.NONE and self.state is State.COMPLETING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS
        return refusal

    def transactional_commit_refusal(
        self,
        member_id: str,
        instance_id: str | None,
        generation: int,
        partitions: Iterable[tuple[bytes, int]],  # noqa: ARG002 (Group's)
    ) -> ErrorCode:
        if generation < 0 and (
            self.state is State.EMPTY or (not member_id and instance_id is None)
        ):
            return ErrorCode.NONE  # a producer without KIP-447, or one without a group
        return self._generation_refusal(member_id, instance_id, generation)

    def _generation_refusal(
        self, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        refusal = self.member_refusal(member_id, instance_id)
        if refusal is ErrorCode.NONE and generation != self.generation:
            return ErrorCode.ILLEGAL_GENERATION
        return refusal

    def heard_from(self, member_id: str, now_ms: int) -> tuple[SetTimer, ...]:
        member = self.members.get(member_id)
        if member is None or self.state not in {State.STABLE, State.PREPARING_REBALANCE}:
            return ()
        return (self.session(member, now_ms),)

    def session(self, member: Member, now_ms: int) -> SetTimer:
        """Return the timer for a new session of a member."""
        key = TimerKey(Timer.SESSION, self.group_id, member.member_id)
        return SetTimer(key, now_ms + member.session_timeout_ms)

    def fetch_refusal(self, member_id: str | None, member_epoch: int) -> ErrorCode:  # noqa: ARG002
        return ErrorCode.NONE

    def offset_delete_refusal(self) -> ErrorCode:
        if self.state is State.EMPTY or self.protocol_type == CONSUMER_PROTOCOL:
            return ErrorCode.NONE
        return ErrorCode.NON_EMPTY_GROUP

    def is_subscribed(self, topic: str) -> bool:
        if self.topics is None:
            return self.protocol_type == CONSUMER_PROTOCOL
        return topic in self.topics

    def retention_start_ms(self, offset: CommittedOffset) -> int | None:
        if self.protocol_type is None:
            return offset.commit_timestamp_ms
        if self.state is State.EMPTY:
            known = self.state_since_ms != -1  # records of old versions do not have it
            return self.state_since_ms if known else offset.commit_timestamp_ms
        stable_consumers = self.state is State.STABLE and self.protocol_type == CONSUMER_PROTOCOL
        return offset.commit_timestamp_ms if stable_consumers and self.topics is not None else None

    def tombstones(self) -> list[LogRecord]:
        return [LogRecord(GroupMetadataKey(self.group_id), None)]


def _hash_map_slot(name: str) -> int:
    spread = java_hash(name)
    return (spread ^ ((spread & 0xFFFFFFFF) >> 16)) & 15
