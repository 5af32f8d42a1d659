"""Deletion of offsets: OffsetDelete, and the offsets of deleted groups and topics."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

from fencepost_broker.coordinator.group.commands import Ask, TopicsDeleted
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.offsets.records import offset_tombstone
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision


def delete_offsets(ctx: Context, _now_ms: int, ask: Ask) -> Decision[OffsetDeleteResponse]:
    """Delete offsets, except of topics to which the group is subscribed. All partitions exist."""
    request = ask.request
    assert isinstance(request, OffsetDeleteRequest)
    group = ctx.groups.get(request.group_id)
    if group is None:
        known = ErrorCode.GROUP_ID_NOT_FOUND if request.group_id else ErrorCode.INVALID_GROUP_ID
        return Decision(OffsetDeleteResponse(known))
    refusal = group.offset_delete_refusal() if request.group_id else ErrorCode.INVALID_GROUP_ID
    if refusal is not ErrorCode.NONE:
        return Decision(OffsetDeleteResponse(refusal))
    records: list[LogRecord] = []
    answer = OffsetDeleteResponse()
    for topic in request.topics:
        result = OffsetDeleteResponseTopic(topic.name)
        answer.topics.append(result)
        subscribed = group.is_subscribed(topic.name)
        for partition in topic.partitions:
            index = partition.partition_index
            code = ErrorCode.NONE
            if subscribed:
                code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            elif _is_known(ctx, request.group_id, topic.name, index):
                records.append(offset_tombstone(request.group_id, topic.name, index))
            result.partitions.append(OffsetDeleteResponsePartition(index, code))
    return Decision(answer, tuple(records))


def delete_offsets_of_topics(ctx: Context, _now_ms: int, command: TopicsDeleted) -> Decision[None]:
    """Delete the offsets of all groups for deleted topics."""
    records = [
        offset_tombstone(group_id, topic, partition)
        for topic in command.names.values()
        for group_id, partitions in ctx.offsets.groups_with(topic)
        for partition in sorted(partitions)
    ]
    return Decision(None, tuple(records))


def tombstones_of_group(ctx: Context, group_id: str) -> Iterator[LogRecord]:
    """Return the tombstones for all offsets of a group, including pending ones."""
    partitions = {
        (topic, number): None
        for topic, by_partition in ctx.offsets.committed(group_id).items()
        for number in by_partition
    }
    partitions.update(dict.fromkeys(ctx.offsets.pending(group_id)))
    return (offset_tombstone(group_id, topic, number) for topic, number in partitions)


def _is_known(ctx: Context, group_id: str, topic: str, partition: int) -> bool:
    return ctx.offsets.find(group_id, topic, partition) is not None or ctx.offsets.is_pending(
        group_id, topic, partition
    )
