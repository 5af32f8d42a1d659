"""Groups: listing, describing and deleting them, and removing members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeRequest
from fencepost_protocol.generated.streams_group_describe import StreamsGroupDescribeRequest

from fencepost_client.admin.fan_out import (
    ItemRequest,
    ItemResult,
    ask_at,
    gather,
    gather_all,
    require,
    settle,
)
from fencepost_client.admin.routing import Coordinators, at_brokers, list_brokers
from fencepost_client.admin.streams_groups import (
    StreamsMember,
    StreamsTask,
    StreamsTopology,
    read_member,
    read_topology,
)
from fencepost_client.consumer.group_protocol import read_assignment, read_subscription
from fencepost_client.errors import KafkaError
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import GROUP, Coordinator, Procedure
from fencepost_client.types import TopicPartition, distinct

_STATES_FROM: Final = 4
_TYPES_FROM: Final = 5
_MEMBERS_FROM: Final = 3
_REASON_FROM: Final = 5
_OTHER_TYPE: Final = frozenset({ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION})
"""What a coordinator says when it is asked for a group of another type."""
_CONSUMER_PROTOCOL: Final = "consumer"
_DEAD: Final = "Dead"


@dataclass(frozen=True, slots=True)
class GroupListing:
    """A group in a list; without state before Kafka 2.6, and without type before 3.8."""

    group_id: str
    protocol_type: str
    state: str
    group_type: str
    coordinator_id: int


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A member; only those of consumer groups (KIP-848) have a target assignment.

    The assignment of a streams group's member is what its active tasks read.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[TopicPartition, ...]
    subscribed_topics: tuple[str, ...] = ()
    subscribed_regex: str | None = None
    rack_id: str | None = None
    member_epoch: int | None = None
    target_assignment: tuple[TopicPartition, ...] | None = None
    """The assignment after other members have given up partitions."""
    is_classic: bool | None = None
    """Whether it uses the classic protocol; ``None`` if the broker does not report it."""
    streams: StreamsMember | None = None
    """What only members of streams groups have, such as tasks."""


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """A group with its members."""

    group_id: str
    group_type: str
    """``"consumer"`` (KIP-848), ``"share"`` (KIP-932), ``"streams"`` (KIP-1071), ``"classic"``."""
    state: str
    protocol_type: str
    assignor: str
    members: tuple[GroupMember, ...]
    coordinator_id: int
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    topology: StreamsTopology | None = None
    """The topology of a streams group, once a member has told it."""


class MemberToRemove(NamedTuple):
    """A member by its id, or a static member by its ``group_instance_id``."""

    member_id: str = ""
    group_instance_id: str | None = None

    def __str__(self) -> str:
        """As messages name it."""
        return repr(self.group_instance_id or self.member_id)


# -- looking --------------------------------------------------------------------------------------


def list_groups(
    states: Sequence[str], types: Sequence[str], backoff: Backoff
) -> Procedure[list[GroupListing]]:
    """List the groups of all coordinators, in these states and of these types."""

    def build(version: int, _: object) -> ListGroupsRequest:
        request = ListGroupsRequest()
        if states:
            require(version, _STATES_FROM, "listing groups by state")
            request.states_filter = distinct(states)
        if types:
            require(version, _TYPES_FROM, "listing groups by type")
            request.types_filter = distinct(types)
        return request

    def read(answer: Any, asked: Sequence[int]) -> Iterable[ItemResult[int, list[GroupListing]]]:
        found = [
            GroupListing(
                each.group_id, each.protocol_type, each.group_state, each.group_type, asked[0]
            )
            for each in answer.groups
        ]
        yield ItemResult(asked[0], answer.error_code, None, found)

    brokers = yield from list_brokers(backoff)
    question = ItemRequest("listing the groups of broker", ApiKey.LIST_GROUPS, build, read)
    found = yield from gather(question, brokers, at_brokers(int), backoff)
    # A group whose coordinator moves meanwhile may be told twice.
    groups = {group.group_id: group for listed in found.values() for group in listed}
    return [groups[group_id] for group_id in sorted(groups)]


def describe_groups(
    group_ids: Iterable[str], backoff: Backoff
) -> Procedure[dict[str, GroupDescription]]:
    """Describe groups of all types; they are asked for as one type after the other."""
    wanted = distinct(group_ids)
    where = Coordinators(GROUP)

    def read_with(
        describe: Callable[[Any, int], GroupDescription],
    ) -> Callable[[Any, object], Iterable[ItemResult[str, GroupDescription]]]:
        def read(answer: Any, _: object) -> Iterable[ItemResult[str, GroupDescription]]:
            for told in answer.groups:
                code = told.error_code
                if code == ErrorCode.NONE and told.group_state == _DEAD:
                    code = ErrorCode.GROUP_ID_NOT_FOUND  # older versions say it by the state
                group = describe(told, where.node_ids.get(told.group_id, -1))
                yield ItemResult(told.group_id, code, told.error_message, group)

        return read

    done: dict[str, GroupDescription] = {}
    failed: dict[str, KafkaError] = {}
    left = wanted
    for api_key, message, describe in _DESCRIBED_BY:
        question: ItemRequest[str, GroupDescription] = ItemRequest(
            "describing group",
            api_key,
            lambda _, some, message=message: message(list(some)),  # type: ignore[misc]
            read_with(describe),
        )
        more, refused = yield from gather_all(question, left, where, backoff)
        done |= more
        failed |= refused
        left = [group_id for group_id, error in refused.items() if error.code in _OTHER_TYPE]
    failed = {each: error for each, error in failed.items() if each not in done}
    return settle({each: done[each] for each in wanted if each in done}, failed)


def consumer_group(told: Any, coordinator_id: int) -> GroupDescription:
    """A group of ConsumerGroupDescribe."""
    members = tuple(
        GroupMember(
            each.member_id,
            each.instance_id,
            each.client_id,
            each.client_host,
            _partitions(each.assignment),
            tuple(each.subscribed_topic_names),
            each.subscribed_topic_regex or None,
            each.rack_id,
            each.member_epoch,
            _partitions(each.target_assignment),
            None if each.member_type < 0 else each.member_type == 0,
        )
        for each in told.members
    )
    return GroupDescription(
        told.group_id,
        "consumer",
        told.group_state,
        _CONSUMER_PROTOCOL,
        told.assignor_name,
        members,
        coordinator_id,
        told.group_epoch,
        told.assignment_epoch,
    )


def share_group(told: Any, coordinator_id: int) -> GroupDescription:
    """A group of ShareGroupDescribe."""
    members = tuple(
        GroupMember(
            each.member_id,
            None,
            each.client_id,
            each.client_host,
            _partitions(each.assignment),
            tuple(each.subscribed_topic_names),
            rack_id=each.rack_id,
            member_epoch=each.member_epoch,
            is_classic=False,
        )
        for each in told.members
    )
    return GroupDescription(
        told.group_id,
        "share",
        told.group_state,
        "share",
        told.assignor_name,
        members,
        coordinator_id,
        told.group_epoch,
        told.assignment_epoch,
    )


def streams_group(told: Any, coordinator_id: int) -> GroupDescription:
    """A group of StreamsGroupDescribe."""
    topology = None if told.topology is None else read_topology(told.topology)

    def read_by(tasks: Iterable[StreamsTask]) -> tuple[TopicPartition, ...]:
        return () if topology is None else topology.partitions_of(tasks)

    members = []
    for each in told.members:
        streams = read_member(each)
        members.append(
            GroupMember(
                each.member_id,
                each.instance_id,
                each.client_id,
                each.client_host,
                read_by(streams.tasks.active),
                rack_id=each.rack_id,
                member_epoch=each.member_epoch,
                target_assignment=read_by(streams.target_tasks.active),
                is_classic=each.is_classic,
                streams=streams,
            )
        )
    return GroupDescription(
        told.group_id,
        "streams",
        told.group_state,
        "streams",
        "",
        tuple(members),
        coordinator_id,
        told.group_epoch,
        told.assignment_epoch,
        topology,
    )


def _partitions(assignment: Any) -> tuple[TopicPartition, ...]:
    found = (
        TopicPartition(topic.topic_name, number)
        for topic in assignment.topic_partitions
        for number in topic.partitions
    )
    return tuple(sorted(found))


def classic_group(told: Any, coordinator_id: int) -> GroupDescription:
    """A group of DescribeGroups."""
    is_consumer = told.protocol_type == _CONSUMER_PROTOCOL
    members = tuple(
        GroupMember(
            each.member_id,
            each.group_instance_id,
            each.client_id,
            each.client_host,
            _assigned(each.member_assignment) if is_consumer else (),
            _subscribed(each.member_metadata) if is_consumer else (),
            is_classic=True,
        )
        for each in told.members
    )
    return GroupDescription(
        told.group_id,
        "classic",
        told.group_state,
        told.protocol_type,
        told.protocol_data,
        members,
        coordinator_id,
    )


def _assigned(assignment: bytes) -> tuple[TopicPartition, ...]:
    try:
        return tuple(sorted(read_assignment(bytes(assignment))))
    except ProtocolError:
        return ()  # members may send each other what they like


def _subscribed(metadata: bytes) -> tuple[str, ...]:
    if not metadata:
        return ()  # told only while the group is stable
    try:
        return tuple(read_subscription(bytes(metadata)).topics)
    except ProtocolError:
        return ()


_DESCRIBED_BY: Final = (
    (ApiKey.CONSUMER_GROUP_DESCRIBE, ConsumerGroupDescribeRequest, consumer_group),
    (ApiKey.SHARE_GROUP_DESCRIBE, ShareGroupDescribeRequest, share_group),
    (ApiKey.STREAMS_GROUP_DESCRIBE, StreamsGroupDescribeRequest, streams_group),
    (ApiKey.DESCRIBE_GROUPS, DescribeGroupsRequest, classic_group),
)
"""The requests that describe groups, in the order in which they are asked."""


# -- changing -------------------------------------------------------------------------------------


def delete_groups(group_ids: Iterable[str], backoff: Backoff) -> Procedure[dict[str, None]]:
    """Delete groups without members, and their offsets."""

    def read(answer: Any, _: object) -> Iterable[ItemResult[str, None]]:
        for told in answer.results:
            yield ItemResult(told.group_id, told.error_code, None, None)

    question: ItemRequest[str, None] = ItemRequest(
        "deleting group",
        ApiKey.DELETE_GROUPS,
        lambda _, some: DeleteGroupsRequest(list(some)),
        read,
    )
    return gather(question, group_ids, Coordinators(GROUP), backoff)


def remove_members(
    group_id: str, members: Iterable[MemberToRemove] | None, reason: str, backoff: Backoff
) -> Procedure[dict[MemberToRemove, None]]:
    """Remove members from a group, these or all; members that still run join again."""
    if members is None:
        described = yield from describe_groups([group_id], backoff)
        members = [
            MemberToRemove("", each.group_instance_id)
            if each.group_instance_id
            else MemberToRemove(each.member_id)
            for each in described[group_id].members
        ]

    def build(version: int, some: Sequence[MemberToRemove]) -> LeaveGroupRequest:
        require(version, _MEMBERS_FROM, "removing members")
        told = reason if version >= _REASON_FROM else None
        return LeaveGroupRequest(
            group_id,
            members=[MemberIdentity(each.member_id, each.group_instance_id, told) for each in some],
        )

    def read(
        answer: Any, asked: Sequence[MemberToRemove]
    ) -> Iterable[ItemResult[MemberToRemove, None]]:
        if answer.error_code:
            for each in asked:
                yield ItemResult(each, answer.error_code, None, None)
            return
        for told in answer.members:
            by_id = MemberToRemove(told.member_id, told.group_instance_id)
            by_instance = MemberToRemove("", told.group_instance_id)
            for each in dict.fromkeys((by_id, by_instance)):
                yield ItemResult(each, told.error_code, None, None)

    doing = f"removing from group {group_id!r} member"
    question = ItemRequest(doing, ApiKey.LEAVE_GROUP, build, read)
    return (yield from gather(question, members, ask_at(Coordinator(GROUP, group_id)), backoff))
