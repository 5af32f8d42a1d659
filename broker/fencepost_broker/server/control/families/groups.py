"""Groups of this broker's coordinators: members, what they are assigned, and committed offsets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final

from fencepost_client.admin.groups import GroupMember, classic_group, consumer_group
from fencepost_client.types import TopicPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from msgspec import Meta, Struct

from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.server.control.group_waits import (
    PendingOffset,
    Rebalance,
    pending_offsets,
    rebalance_of,
)
from fencepost_broker.server.control.in_cluster import all_brokers, broker_that_has_it
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import ControlContext, Route

_LIST_VERSION: Final = 5
_DESCRIBE_VERSION: Final = 5
_CONSUMER_VERSION: Final = 1
_OFFSETS_VERSION: Final = 9
_CONSUMER: Final = "consumer"


class ListedGroup(Struct, frozen=True):
    """A group."""

    group_id: str
    type: Annotated[str, Meta(description="classic or consumer (KIP-848)")]
    state: str
    protocol_type: str


class Groups(Struct, frozen=True):
    """The groups that this broker coordinates."""

    groups: list[ListedGroup]


class GroupName(Struct, frozen=True, forbid_unknown_fields=True):
    """The id of a group."""

    group_id: str


class Assigned(Struct, frozen=True):
    """A partition that a member reads."""

    topic: str
    partition: int


class Member(Struct, frozen=True):
    """A member of a group."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    subscribed_topics: tuple[str, ...]
    assignment: list[Assigned]
    member_epoch: Annotated[int | None, Meta(description="of KIP-848; else null")]


class Committed(Struct, frozen=True):
    """A committed offset."""

    topic: str
    partition: int
    offset: int
    log_end_offset: Annotated[int | None, Meta(description="null: the partition is not here")]
    lag: int | None


class Group(Struct, frozen=True):
    """A group with its members and its committed offsets."""

    group_id: str
    type: str
    state: str
    protocol_type: str
    assignor: str
    group_epoch: int | None
    members: list[Member]
    offsets: list[Committed]
    pending: Annotated[list[PendingOffset], Meta(description="offsets of open transactions")]
    rebalance: Annotated[Rebalance | None, Meta(description="what it waits for; null: none")]


async def list_groups(context: ControlContext) -> Groups:
    """Return the groups that this broker coordinates, sorted."""
    answer = await context.ask(ListGroupsRequest(), _LIST_VERSION)
    _check(answer.error_code)
    return Groups(
        sorted(
            (
                ListedGroup(each.group_id, each.group_type, each.group_state, each.protocol_type)
                for each in answer.groups
            ),
            key=lambda each: each.group_id,
        )
    )


async def describe_group(context: ControlContext, named: GroupName) -> Group:
    """Return a group with its members and committed offsets."""
    listed = {each.group_id: each for each in (await list_groups(context)).groups}
    if named.group_id not in listed:
        raise not_found("group", named.group_id, listed, where="path, $.group_id")
    node_id = context.server.identity.node_id
    if listed[named.group_id].type == _CONSUMER:
        question: Any = ConsumerGroupDescribeRequest([named.group_id])
        [told] = (await context.ask(question, _CONSUMER_VERSION)).groups
        _check(told.error_code)
        group = consumer_group(told, node_id)
    else:
        question = DescribeGroupsRequest([named.group_id])
        [told] = (await context.ask(question, _DESCRIBE_VERSION)).groups
        _check(told.error_code)
        group = classic_group(told, node_id)
    return Group(
        group.group_id,
        group.group_type,
        group.state,
        group.protocol_type,
        group.assignor,
        group.group_epoch,
        [_member(each) for each in group.members],
        await _offsets(context, named.group_id),
        *_waits(context, named.group_id),
    )


def _waits(context: ControlContext, group_id: str) -> tuple[list[PendingOffset], Rebalance | None]:
    shard = context.coordinators.shard(RecordFamily.GROUPS, group_id)
    if shard is None or not isinstance(shard.machine, GroupCoordinator):
        return [], None
    state = shard.machine.state
    group = state.groups.get(group_id)
    rebalance = None if group is None else rebalance_of(group, context.now_ms())
    return pending_offsets(state.offsets, group_id), rebalance


def _member(member: GroupMember) -> Member:
    return Member(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.host,
        member.subscribed_topics,
        _assigned(member.assignment),
        member.member_epoch,
    )


def _assigned(partitions: Iterable[TopicPartition]) -> list[Assigned]:
    return [Assigned(*each) for each in partitions]


async def _offsets(context: ControlContext, group_id: str) -> list[Committed]:
    wanted = OffsetFetchRequestGroup(group_id, topics=None)
    answer = await context.ask(OffsetFetchRequest(groups=[wanted]), _OFFSETS_VERSION)
    [group] = answer.groups
    _check(group.error_code)
    found = [
        _committed(context, topic.name, each.partition_index, each.committed_offset)
        for topic in group.topics
        for each in topic.partitions
        if not each.error_code
    ]
    return sorted(found, key=lambda each: (each.topic, each.partition))


def _committed(context: ControlContext, topic: str, number: int, offset: int) -> Committed:
    partition = context.server.table.find(topic, number)
    if partition is None or not partition.is_here:
        return Committed(topic, number, offset, None, None)
    end = partition.log.log_end_offset
    return Committed(topic, number, offset, end, end - offset)


def _check(error_code: int) -> None:
    if error_code:
        raise ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"{ErrorCode(error_code).name}: the coordinator cannot answer yet",
            advice="Try again.",
        )


def _united(answers: Sequence[Groups]) -> Groups:
    found = [each for answer in answers for each in answer.groups]
    return Groups(sorted(found, key=lambda each: each.group_id))


ROUTES: Final = (
    Route(
        "GET",
        "/v1/groups",
        list_groups,
        "the groups that this broker coordinates",
        response=Groups,
        in_cluster=all_brokers(_united),
        errors=(HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE),
    ),
    Route(
        "GET",
        "/v1/groups/{group_id}",
        describe_group,
        "a group with its members, their partitions, and committed offsets",
        request=GroupName,
        response=Group,
        in_cluster=broker_that_has_it,
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE),
    ),
)
