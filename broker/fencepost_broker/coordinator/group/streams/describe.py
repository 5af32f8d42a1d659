"""Decisions on StreamsGroupDescribe: a group, with its topology and its members' tasks."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost_protocol.generated import streams_group_describe as messages
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)

from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.coordinator.group.streams.heartbeat import streams_group
from fencepost_broker.coordinator.group.streams.members import (
    StreamsMember,
    Target,
    Task,
    by_subtopology,
)
from fencepost_broker.coordinator.group.streams.topology import (
    Configured,
    InternalTopic,
    Topology,
    configure,
)
from fencepost_broker.metadata.decision import Decision


def describe_streams_groups(
    ctx: Context, _now_ms: int, ask: Ask
) -> Decision[StreamsGroupDescribeResponse]:
    """Describe streams groups; a group of another type counts as unknown here."""
    request = ask.request
    assert isinstance(request, StreamsGroupDescribeRequest)
    groups = [_described(ctx, group_id) for group_id in request.group_ids]
    return Decision(StreamsGroupDescribeResponse(groups=groups))


def _described(ctx: Context, group_id: str) -> messages.DescribedGroup:
    if not group_id:
        return messages.DescribedGroup(ErrorCode.INVALID_GROUP_ID)
    try:
        group = streams_group(ctx, group_id)
    except Refusal as refusal:
        return messages.DescribedGroup(refusal.code, refusal.message, group_id)
    topology = group.topology
    return messages.DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology=None if topology is None else _topology(topology, configure(topology, ctx.topics)),
        members=[_member(group, each) for each in group.members.values()],
    )


def _topology(topology: Topology, configured: Configured) -> messages.Topology:
    def internal(topics: Iterable[InternalTopic]) -> list[messages.TopicInfo]:
        return [
            messages.TopicInfo(
                each.name,
                configured.partitions.get(each.name, each.partitions),
                each.replication_factor,
                [messages.KeyValue(*pair) for pair in each.configs],
            )
            for each in topics
        ]

    return messages.Topology(
        topology.epoch,
        [
            messages.Subtopology(
                each.name,
                list(each.sources),
                list(each.sinks),
                internal(each.changelogs),
                internal(each.repartitions),
            )
            for each in topology.subtopologies
        ],
    )


def _member(group: StreamsGroup, member: StreamsMember) -> messages.Member:
    endpoint = member.endpoint
    target = group.target.get(member.member_id, Target())
    return messages.Member(
        member.member_id,
        member.member_epoch,
        None,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.topology_epoch,
        member.process_id,
        None if endpoint is None else messages.Endpoint(endpoint.host, endpoint.port),
        [messages.KeyValue(*each) for each in member.tags],
        [],
        [],
        messages.Assignment(_rows(member.active), _rows(member.standby)),
        messages.Assignment(_rows(target.active), _rows(target.standby)),
    )


def _rows(tasks: Iterable[Task]) -> list[messages.TaskIds]:
    return [messages.TaskIds(*row) for row in by_subtopology(tasks)]
