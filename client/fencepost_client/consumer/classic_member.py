"""A member of a classic group: join, sync, heartbeat, leave.

::

    OUTSIDE --join--> JoinGroup --leader? assigns--> SyncGroup --> STABLE
    STABLE --heartbeat: REBALANCE_IN_PROGRESS--> OUTSIDE, still known by its member id
    anywhere --UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION--> OUTSIDE, what it had is lost

A rebalance is joined when the application asks for records, as in Kafka's consumer: what it was
given before is processed by then and can be committed. Heartbeats go on meanwhile, so a slow
application is a member until the group's rebalance is over (``max_poll_interval_ms``).

By most assignors a member gives up everything before it joins. By cooperative ones (KIP-429) it
joins with what it owns, gives up afterwards what it may no longer have, and joins again, so
that the next assignment can give it to another member.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost_protocol.generated.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

from fencepost_client.consumer.assignors import ASSIGNORS, Assignor, assignors_of
from fencepost_client.consumer.group_members import Assignment, Member
from fencepost_client.consumer.group_protocol import (
    NO_GENERATION,
    NOTHING,
    Holding,
    Subscription,
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from fencepost_client.consumer.racks import Racks
from fencepost_client.consumer.rebalance import AssignmentChange
from fencepost_client.errors import RetriableError, consumer_error
from fencepost_client.requests.backoff import Backoff, Chance
from fencepost_client.requests.procedures import (
    GROUP,
    Ask,
    Coordinator,
    Moved,
    PartitionCounts,
    PartitionRacks,
    Pause,
    Procedure,
)
from fencepost_client.types import GroupMetadata, TopicPartition

PROTOCOL_TYPE: Final = "consumer"
DEFAULT_ASSIGNORS: Final = ("range", "cooperative-sticky")
"""Kafka's: range, until a rolling change takes it out of all members (KIP-429)."""
_ANSWER_MARGIN_MS: Final = 5_000
"""JoinGroup is answered at the end of the rebalance; so much later it is out of time."""
_INSTANCE_FROM: Final = {ApiKey.JOIN_GROUP: 5, ApiKey.SYNC_GROUP: 3, ApiKey.HEARTBEAT: 3}
_PROTOCOL_NAMED_FROM: Final = 5
_REBALANCE_TIMEOUT_FROM: Final = 1
_LEAVE_MANY_FROM: Final = 3
_OUTSIDE: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}
_BEGIN_ANEW: Final = {
    *_OUTSIDE,
    ErrorCode.MEMBER_ID_REQUIRED,
    ErrorCode.REBALANCE_IN_PROGRESS,
}
"""The answers to a join after which one joins at once, as whoever one is by then."""


@dataclass(slots=True)
class MemberSettings:
    """By Kafka's names: group.id, session.timeout.ms and so on."""

    group_id: str
    group_instance_id: str | None = None
    session_timeout_ms: int = 45_000
    rebalance_timeout_ms: int = 300_000
    assignors: tuple[Assignor, ...] = assignors_of(DEFAULT_ASSIGNORS)
    rack: str | None = None


class ClassicMember:
    """One membership."""

    def __init__(self, settings: MemberSettings, chance: Chance) -> None:
        self.member_id = ""
        self.generation_id = NO_GENERATION
        self.is_stable = False
        """Whether this member has its part of the newest assignment that it knows of."""
        self._settings = settings
        self._chance = chance
        self._topics: frozenset[str] = frozenset()
        self._is_cooperative = all(assignor.is_cooperative for assignor in settings.assignors)
        self._last = NOTHING
        """What was assigned last; kept when the membership is not, for what it is worth."""
        self._is_told = False
        """Whether the application knows ``_last``."""
        self._led: dict[str, int] | None = None
        """The partition counts that this member went by when it assigned, if it leads."""

    def metadata(self) -> GroupMetadata:
        """Who this is, for commits and for a producer's ``send_offsets``."""
        settings = self._settings
        return GroupMetadata(
            settings.group_id, self.generation_id, self.member_id, settings.group_instance_id
        )

    @property
    def led_topics(self) -> frozenset[str]:
        """The topics whose growth this member has to notice, because it leads the group."""
        return frozenset(self._led or ())

    @property
    def _coordinator(self) -> Coordinator:
        return Coordinator(GROUP, self._settings.group_id)

    def _fall_out(self, code: int) -> None:
        """The group has gone on without this member; by its id it can come back, if that holds."""
        if code == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""
        self.generation_id = NO_GENERATION
        self.is_stable = False

    # -- what the application has to do ----------------------------------------------------------

    def subscribe(self, topics: Iterable[str]) -> None:
        """Want these from now on."""
        self._topics = frozenset(topics)
        self.is_stable = False

    def change(self, owned: AbstractSet[TopicPartition]) -> AssignmentChange | None:
        """What an application that reads ``owned`` has to do before anything else."""
        if self.is_stable:
            if self._is_told:
                return None
            self._is_told = True
            assigned = frozenset(self._last.partitions)
            revoked = frozenset(owned - assigned)
            # What was given up here can go to others only in another rebalance (KIP-429).
            self.is_stable = not revoked
            return AssignmentChange(revoked, assigned=assigned - owned)
        is_lost = self.generation_id == NO_GENERATION
        kept: set[TopicPartition] = set()
        if self._is_cooperative and not is_lost:
            kept = {where for where in owned if where.topic in self._topics}
        return AssignmentChange(frozenset(owned - kept), is_lost) if kept != owned else None

    def has_kept(self, partitions: Iterable[TopicPartition]) -> bool:
        """Whether these stayed this member's through the last rebalance (KIP-429)."""
        is_in = self.generation_id != NO_GENERATION
        return self._is_cooperative and is_in and set(partitions) <= set(self._last.partitions)

    def counts_are(self, counts: Mapping[str, int]) -> None:
        """So many partitions there are now: a leader whose topics have grown assigns anew."""
        led = self._led
        if led is not None and any(
            count != led[topic] for topic, count in counts.items() if topic in led
        ):
            self.is_stable = False

    # -- joining -------------------------------------------------------------------------------

    def join(self, owned: AbstractSet[TopicPartition]) -> Procedure[None]:
        """Take part in a rebalance; ``change`` says what comes of it.

        A member that loses what it owns while it joins stops there: that required up first.
        """
        backoff = Backoff(self._chance)
        has_begun_anew = False
        while True:
            topics = self._topics
            try:
                joined = yield self._join_request(owned)
                code = joined.error_code
                if code == ErrorCode.NONE:
                    self.member_id = joined.member_id
                    self.generation_id = joined.generation_id
                    assignments = yield from self._assign(joined)
                    synced = yield self._sync_request(joined, assignments)
                    code = synced.error_code
                    if code == ErrorCode.NONE:
                        assigned = read_assignment(synced.assignment)
                        self._last = Holding(tuple(assigned), self.generation_id)
                        self._is_told = False
                        self.is_stable = topics == self._topics
                        return
                elif code == ErrorCode.MEMBER_ID_REQUIRED:
                    self.member_id = joined.member_id
            except RetriableError:
                yield Moved(self._coordinator)
                yield Pause(backoff.next_ms())
                continue
            if code in _OUTSIDE:
                self._fall_out(code)
                if owned:
                    return
            if code in _BEGIN_ANEW:
                if has_begun_anew:  # a coordinator that says nothing else is not asked in a loop
                    yield Pause(backoff.next_ms())
                has_begun_anew = True
                continue
            if code not in RETRIABLE:
                raise consumer_error(code, state=f"joining group {self._settings.group_id!r}")
            if KINDS[code] == "refresh":
                yield Moved(self._coordinator)
            yield Pause(backoff.next_ms())

    def _join_request(self, owned: AbstractSet[TopicPartition]) -> Ask:
        settings = self._settings
        # By the generation in which it was assigned, which a rebalance that broke off is not.
        is_known = self.generation_id != NO_GENERATION
        holding = Holding(tuple(owned), self._last.generation_id if is_known else NO_GENERATION)
        subscription = Subscription(tuple(self._topics), holding, rack=settings.rack)
        protocols = [
            JoinGroupRequestProtocol(
                assignor.name,
                write_subscription(replace(subscription, user_data=assignor.user_data(self._last))),
            )
            for assignor in settings.assignors
        ]

        def build(version: int) -> JoinGroupRequest:
            request = JoinGroupRequest(
                settings.group_id,
                settings.session_timeout_ms,
                member_id=self.member_id,
                protocol_type=PROTOCOL_TYPE,
                protocols=protocols,
            )
            if version >= _REBALANCE_TIMEOUT_FROM:
                request.rebalance_timeout_ms = settings.rebalance_timeout_ms
            if version >= _INSTANCE_FROM[ApiKey.JOIN_GROUP]:
                request.group_instance_id = settings.group_instance_id
            return request

        timeout_ms = settings.rebalance_timeout_ms + _ANSWER_MARGIN_MS
        return Ask(self._coordinator, ApiKey.JOIN_GROUP, build, None, timeout_ms, may_wait=True)

    def _assign(self, joined: JoinGroupResponse) -> Procedure[Assignment]:
        """What the leader decides; others have nothing to say."""
        self._led = None
        if joined.leader != self.member_id:
            return {}
        first = self._settings.assignors[0]
        assignor = ASSIGNORS.get(joined.protocol_name or first.name, first)
        members = []
        for member in joined.members:
            told = read_subscription(member.metadata)
            members.append(
                Member(
                    member.member_id,
                    member.group_instance_id,
                    told.topics,
                    assignor.owned(told),
                    told.rack or None,
                )
            )
        topics = sorted({topic for member in members for topic in member.topics})
        counts = yield PartitionCounts(tuple(topics))
        self._led = {topic: counts.get(topic, 0) for topic in topics}
        if joined.skip_assignment:
            return {}  # a static leader that came back: all go on with what they have (KIP-814)
        racks: Racks = {}
        if any(member.rack for member in members):
            racks = yield PartitionRacks(tuple(counts))
        return assignor.assign(members, counts, racks)

    def _sync_request(self, joined: JoinGroupResponse, assignments: Assignment) -> Ask:
        def build(version: int) -> SyncGroupRequest:
            request = SyncGroupRequest(self._settings.group_id, self.generation_id, self.member_id)
            if version >= _INSTANCE_FROM[ApiKey.SYNC_GROUP]:
                request.group_instance_id = self._settings.group_instance_id
            if version >= _PROTOCOL_NAMED_FROM:
                request.protocol_type = PROTOCOL_TYPE
                request.protocol_name = joined.protocol_name
            request.assignments = [
                SyncGroupRequestAssignment(member_id, write_assignment(partitions))
                for member_id, partitions in assignments.items()
            ]
            return request

        timeout_ms = self._settings.rebalance_timeout_ms + _ANSWER_MARGIN_MS
        return Ask(self._coordinator, ApiKey.SYNC_GROUP, build, None, timeout_ms, may_wait=True)

    # -- staying and leaving -------------------------------------------------------------------

    def heartbeat(self) -> Procedure[None]:
        """Say that this member is alive; ``is_stable`` is false afterwards if it has to join."""

        def build(version: int) -> HeartbeatRequest:
            request = HeartbeatRequest(self._settings.group_id, self.generation_id, self.member_id)
            if version >= _INSTANCE_FROM[ApiKey.HEARTBEAT]:
                request.group_instance_id = self._settings.group_instance_id
            return request

        generation_id = self.generation_id
        try:
            answer = yield Ask(self._coordinator, ApiKey.HEARTBEAT, build)
        except RetriableError:
            yield Moved(self._coordinator)
            return
        code = answer.error_code
        if not code or generation_id != self.generation_id:
            return  # or an answer to what this member was before it joined anew
        if code == ErrorCode.REBALANCE_IN_PROGRESS:
            self.is_stable = False
        elif code in _OUTSIDE:
            self._fall_out(code)
        elif code in RETRIABLE:
            yield Moved(self._coordinator)
        else:
            self.is_stable = False
            raise consumer_error(code, state=f"heartbeat to group {self._settings.group_id!r}")

    def leave(self) -> Procedure[None]:
        """Leave at once, unless this is a static member, which is expected back (KIP-345)."""
        settings, member_id = self._settings, self.member_id
        self._fall_out(ErrorCode.UNKNOWN_MEMBER_ID)
        if not member_id or settings.group_instance_id is not None:
            return

        def build(version: int) -> LeaveGroupRequest:
            if version < _LEAVE_MANY_FROM:
                return LeaveGroupRequest(settings.group_id, member_id)
            return LeaveGroupRequest(settings.group_id, members=[MemberIdentity(member_id)])

        try:
            _: Any = yield Ask(self._coordinator, ApiKey.LEAVE_GROUP, build)
        except RetriableError:
            return  # its session will expire
