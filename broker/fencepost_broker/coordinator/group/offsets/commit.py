"""Decisions on OffsetCommit and TxnOffsetCommit.

All partitions exist: the broker has answered for the others. One partition may be refused (too much
metadata), or all of them because of the member.
"""

from __future__ import annotations

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.offsets.records import offset_record
from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision

EPOCHS_SINCE = 9
"""OffsetCommit versions with the errors for members that use KIP-848."""


def commit_offsets(ctx: Context, now_ms: int, ask: Ask) -> Decision[OffsetCommitResponse]:
    """Commit the offsets of a consumer or an administrator."""
    request = ask.request
    assert isinstance(request, OffsetCommitRequest)
    refusal = _commit_refusal(ctx, request, ask.version)
    retention_ms = request.retention_time_ms  # only in versions 2 to 4
    expire_at_ms = -1 if retention_ms == -1 else now_ms + retention_ms
    records: list[LogRecord] = []
    answer = OffsetCommitResponse()
    for topic in request.topics:
        result = OffsetCommitResponseTopic(topic.name, topic.topic_id)
        answer.topics.append(result)
        for partition in topic.partitions:
            code = refusal or _partition_refusal(ctx, partition)
            index = partition.partition_index
            result.partitions.append(OffsetCommitResponsePartition(index, code))
            if not code:
                offset = _offset(partition, now_ms)
                offset.expire_timestamp_ms = expire_at_ms
                if expire_at_ms == -1:  # the record version with an expiry time has no topic id
                    offset.topic_id = ctx.topics.topic_id(topic.name) or ZERO_UUID
                records.append(offset_record(request.group_id, topic.name, index, offset))
    soft = () if refusal else _session_of(ctx, now_ms, request)
    return Decision(answer, tuple(records), soft=soft)


def commit_transactional_offsets(
    ctx: Context, now_ms: int, ask: Ask
) -> Decision[TxnOffsetCommitResponse]:
    """Add offsets to a transaction; the caller has checked that it is open."""
    request = ask.request
    assert isinstance(request, TxnOffsetCommitRequest)
    refusal = _transactional_refusal(ctx, request)
    records: list[LogRecord] = []
    answer = TxnOffsetCommitResponse()
    for topic in request.topics:
        result = TxnOffsetCommitResponseTopic(topic.name)
        answer.topics.append(result)
        for partition in topic.partitions:
            code = refusal or _partition_refusal(ctx, partition)
            index = partition.partition_index
            result.partitions.append(TxnOffsetCommitResponsePartition(index, code))
            if not code:
                offset = _offset(partition, now_ms)
                records.append(offset_record(request.group_id, topic.name, index, offset))
    return Decision(
        answer,
        tuple(records),
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
    )


def _commit_refusal(ctx: Context, request: OffsetCommitRequest, version: int) -> ErrorCode:
    group = ctx.groups.get(request.group_id)
    generation = request.generation_id_or_member_epoch
    if group is not None:
        instance_id = request.group_instance_id
        partitions = _partitions(ctx, request)
        return group.commit_refusal(
            request.member_id, instance_id, generation, partitions, version=version
        )
    if generation < 0:  # an administrator, or a consumer without group management
        return ErrorCode.NONE
    known = version >= EPOCHS_SINCE
    return ErrorCode.GROUP_ID_NOT_FOUND if known else ErrorCode.ILLEGAL_GENERATION


def _transactional_refusal(ctx: Context, request: TxnOffsetCommitRequest) -> ErrorCode:
    group = ctx.groups.get(request.group_id)
    if group is None:
        return ErrorCode.NONE if request.generation_id < 0 else ErrorCode.ILLEGAL_GENERATION
    return group.transactional_commit_refusal(
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        _partitions(ctx, request),
    )


def _partitions(
    ctx: Context, request: OffsetCommitRequest | TxnOffsetCommitRequest
) -> list[tuple[bytes, int]]:
    """Return the partitions by topic id."""
    return [
        (ctx.topics.topic_id(topic.name) or ZERO_UUID, partition.partition_index)
        for topic in request.topics
        for partition in topic.partitions
    ]


def _partition_refusal(
    ctx: Context, partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition
) -> ErrorCode:
    size_max = ctx.settings.offset_metadata_max_bytes
    too_large = len(partition.committed_metadata or "") > size_max
    return ErrorCode.OFFSET_METADATA_TOO_LARGE if too_large else ErrorCode.NONE


def _offset(
    partition: OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition, now_ms: int
) -> CommittedOffset:
    return CommittedOffset(
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        now_ms,
    )


def _session_of(ctx: Context, now_ms: int, request: OffsetCommitRequest) -> tuple[object, ...]:
    """Return the timers that a commit changes: it extends a classic member's session."""
    group = ctx.groups.get(request.group_id)
    return () if group is None else group.heard_from(request.member_id, now_ms)
