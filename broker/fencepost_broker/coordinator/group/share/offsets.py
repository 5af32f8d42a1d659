"""Decisions on the start offsets of share groups, which share coordinators keep.

Each answer is an ``Errand``: the caller asks the share coordinators, completes the answer by what
they say, and tells the machine of the outcome.
"""

from __future__ import annotations

from typing import Any

from fencepost_protocol.generated import alter_share_group_offsets as altering
from fencepost_protocol.generated import delete_share_group_offsets as deleting
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import read_share_group_state_summary as summing
from fencepost_protocol.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.share.commands import Errand
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.share.heartbeat import share_group
from fencepost_broker.coordinator.group.share.members import TopicState
from fencepost_broker.coordinator.group.share.partitions import (
    begin_to_delete,
    request_to_delete,
    with_initializing,
)
from fencepost_broker.coordinator.group.share.records import states_record
from fencepost_broker.metadata.decision import Decision

_UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def describe_share_offsets(ctx: Context, _now_ms: int, ask: Ask) -> Decision[Errand]:
    """Return the question about all initialized partitions of the request's one group."""
    request = ask.request
    assert isinstance(request, DescribeShareGroupOffsetsRequest)
    group_id = request.groups[0].group_id
    group = ctx.groups.get(group_id)
    states = group.states.initialized if isinstance(group, ShareGroup) else {}
    topics = [
        summing.ReadStateSummaryData(
            topic_id, [summing.PartitionData(number, -1) for number in sorted(topic.numbers)]
        )
        for topic_id, topic in states.items()
    ]
    asked = summing.ReadShareGroupStateSummaryRequest(group_id, topics) if topics else None
    return Decision(Errand(None, asked))


def _empty_group(ctx: Context, group_id: str, *, create: bool = False) -> ShareGroup:
    if not group_id:
        raise Refusal(ErrorCode.INVALID_GROUP_ID, "the group has no id")
    group = share_group(ctx, group_id, create=create)
    if not group.is_empty:
        raise Refusal(ErrorCode.NON_EMPTY_GROUP, f"group {group_id!r} has members")
    return group


def alter_share_offsets(ctx: Context, _now_ms: int, ask: Ask) -> Decision[Errand]:
    """Begin the state of partitions anew, from other offsets on."""
    request = ask.request
    assert isinstance(request, altering.AlterShareGroupOffsetsRequest)
    try:
        group = _empty_group(ctx, request.group_id, create=True)
    except Refusal as refusal:
        answer = altering.AlterShareGroupOffsetsResponse(0, refusal.code, refusal.message)
        return Decision(Errand(answer, None))
    answers: dict[str, altering.AlterShareGroupOffsetsResponseTopic] = {}
    offsets: dict[str, dict[int, int]] = {}
    # As in Kafka, topics that do not exist come first, and each topic is there once.
    for topic in sorted(
        request.topics, key=lambda each: bool(ctx.topics.topic_id(each.topic_name))
    ):
        name = topic.topic_name
        topic_id = ctx.topics.topic_id(name)
        if topic_id is None and not topic.partitions:
            continue
        count = ctx.topics.partition_count(name)
        answered = answers.setdefault(
            name, altering.AlterShareGroupOffsetsResponseTopic(name, topic_id or ZERO_UUID)
        )
        for each in topic.partitions:
            number = each.partition_index
            result = altering.AlterShareGroupOffsetsResponsePartition(number)
            if 0 <= number < count:
                offsets.setdefault(name, {})[number] = each.start_offset
            else:
                result.error_code = _UNKNOWN
                result.error_message = "there is no such partition"
            answered.partitions.append(result)
    answer = altering.AlterShareGroupOffsetsResponse(responses=list(answers.values()))
    stage: dict[bytes, TopicState] = {}
    rows = []
    for name, starts in offsets.items():
        topic_id = answers[name].topic_id
        stage[topic_id] = TopicState(name, frozenset(starts))
        parts = [
            initializing.PartitionData(number, group.group_epoch, offset)
            for number, offset in starts.items()
        ]
        rows.append(initializing.InitializeStateData(topic_id, parts))
    if not stage:
        return Decision(Errand(answer, None))
    asked: Any = initializing.InitializeShareGroupStateRequest(group.group_id, rows)
    after = with_initializing(group.states, stage)
    return Decision(Errand(answer, asked), (states_record(group.group_id, after),))


def delete_share_offsets(ctx: Context, _now_ms: int, ask: Ask) -> Decision[Errand]:
    """Have the state of topics deleted."""
    request = ask.request
    assert isinstance(request, deleting.DeleteShareGroupOffsetsRequest)
    try:
        group = _empty_group(ctx, request.group_id)
    except Refusal as refusal:
        answer = deleting.DeleteShareGroupOffsetsResponse(0, refusal.code, refusal.message)
        return Decision(Errand(answer, None))
    states = group.states
    stored = {
        topic.name: topic_id
        for stage in (states.deleting, states.initializing, states.initialized)
        for topic_id, topic in stage.items()
    }
    found: dict[bytes, None] = {}
    known, unknown = [], []
    for name in dict.fromkeys(each.topic_name for each in request.topics):
        result = deleting.DeleteShareGroupOffsetsResponseTopic(name, ZERO_UUID)
        if name in stored and ctx.topics.topic_id(name) == stored[name]:
            result.topic_id = stored[name]
            found[stored[name]] = None
            known.append(result)
        else:
            result.error_code = _UNKNOWN
            result.error_message = "the group has no offsets of this topic"
            unknown.append(result)
    answer = deleting.DeleteShareGroupOffsetsResponse(responses=known + unknown)
    if not found:
        return Decision(Errand(answer, None))
    record, stage = begin_to_delete(ctx, group, found)
    return Decision(Errand(answer, request_to_delete(group.group_id, stage)), (record,))
