"""Decisions on OffsetFetch: the committed offsets of a group.

A transactional offset may be in the log while its transaction is open. A client that asks for
stable offsets (version 7, KIP-447) gets UNSTABLE_OFFSET_COMMIT for that partition and retries.
Older clients cannot ask for that. Apache Kafka gives them the previous offset, which is wrong
between a commit and the arrival of its marker. This broker answers COORDINATOR_LOAD_IN_PROGRESS
instead, unless the setting ``offset.fetch.pending.legacy`` says otherwise. The error is set for the
group and for every partition, because some clients read only one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.offsets.store import (
    NO_OFFSET,
    CommittedOffset,
    OffsetsByTopic,
)
from fencepost_broker.metadata.decision import Decision

GROUP_ERRORS_SINCE: Final = 2
REQUIRE_STABLE_SINCE: Final = 7
GROUPS_SINCE: Final = 8
TOPIC_IDS_SINCE: Final = 10
_NOTHING: Final[OffsetsByTopic] = {}


def fetch_offsets(ctx: Context, _now_ms: int, ask: Ask) -> Decision[OffsetFetchResponse]:
    """Read the offsets of one group, or from version 8 on of several."""
    request = ask.request
    assert isinstance(request, OffsetFetchRequest)
    if ask.version >= GROUPS_SINCE:
        groups = [_fetch_group(ctx, each, ask.version, request) for each in request.groups]
        return Decision(OffsetFetchResponse(groups=groups))
    topics = request.topics
    asked = OffsetFetchRequestGroup(
        request.group_id,
        topics=None
        if topics is None
        else [
            OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes)
            for topic in topics
        ],
    )
    return Decision(_single(_fetch_group(ctx, asked, ask.version, request)))


def failed_fetch(request: OffsetFetchRequest, version: int, code: ErrorCode) -> OffsetFetchResponse:
    """Return a response with one error for the whole request, such as NOT_COORDINATOR.

    Version 1 has error fields in the partitions only; later responses contain no partitions.
    """
    if version >= GROUPS_SINCE:
        groups = [OffsetFetchResponseGroup(each.group_id, [], code) for each in request.groups]
        return OffsetFetchResponse(groups=groups)
    topics = (
        [
            OffsetFetchResponseTopic(
                topic.name,
                [
                    OffsetFetchResponsePartition(each, NO_OFFSET, -1, "", code)
                    for each in topic.partition_indexes
                ],
            )
            for topic in request.topics or ()
        ]
        if version < GROUP_ERRORS_SINCE
        else []
    )
    return OffsetFetchResponse(topics=topics, error_code=code)


def _fetch_group(
    ctx: Context, asked: OffsetFetchRequestGroup, version: int, request: OffsetFetchRequest
) -> OffsetFetchResponseGroup:
    answer = OffsetFetchResponseGroup(asked.group_id)
    group = ctx.groups.get(asked.group_id)
    if group is not None:
        refusal = group.fetch_refusal(asked.member_id, asked.member_epoch)
        if refusal is not ErrorCode.NONE:
            answer.error_code = refusal
            return answer
    stored = ctx.offsets.committed(asked.group_id) if group is not None else _NOTHING
    stable = request.require_stable
    if asked.topics is None:
        for topic, by_partition in stored.items():
            topic_id = ctx.topics.topic_id(topic) if version >= TOPIC_IDS_SINCE else ZERO_UUID
            if topic_id is not None:
                found = OffsetFetchResponseTopics(topic, topic_id)
                _add_partitions(ctx, asked.group_id, topic, by_partition, found, stable, stored)
                answer.topics.append(found)
    else:
        unknown: list[OffsetFetchResponseTopics] = []
        for wanted in asked.topics:
            found = OffsetFetchResponseTopics(wanted.name, wanted.topic_id)
            by_id = version >= TOPIC_IDS_SINCE
            name = ctx.topics.topic_name(wanted.topic_id) if by_id else wanted.name
            numbers = wanted.partition_indexes
            if name is None:  # as in Kafka, these come last
                code = ErrorCode.UNKNOWN_TOPIC_ID
                found.partitions = [_partition(each, None, code) for each in numbers]
                unknown.append(found)
            else:
                _add_partitions(ctx, asked.group_id, name, numbers, found, stable, stored)
                answer.topics.append(found)
        answer.topics += unknown
    if version < REQUIRE_STABLE_SINCE and ctx.settings.offset_fetch_pending_legacy != "kafka":
        _ask_to_come_again(ctx, asked, answer)
    return answer


def _add_partitions(
    ctx: Context,
    group_id: str,
    topic: str,
    partitions: Iterable[int],
    found: OffsetFetchResponseTopics,
    stable: bool,
    stored: OffsetsByTopic,
) -> None:
    offsets = stored.get(topic, {})
    for number in partitions:
        if stable and ctx.offsets.is_pending(group_id, topic, number):
            found.partitions.append(_partition(number, None, ErrorCode.UNSTABLE_OFFSET_COMMIT))
            continue
        offset = offsets.get(number)
        if offset is not None and _is_of_another_topic(offset.topic_id, found.topic_id):
            offset = None
        found.partitions.append(_partition(number, offset, ErrorCode.NONE))


def _is_of_another_topic(committed_id: bytes, asked_id: bytes) -> bool:
    """Whether the topic was deleted and created again after the commit."""
    return ZERO_UUID not in {committed_id, asked_id} and committed_id != asked_id


def _partition(
    number: int, offset: CommittedOffset | None, code: ErrorCode
) -> OffsetFetchResponsePartitions:
    if offset is None:
        return OffsetFetchResponsePartitions(number, NO_OFFSET, -1, "", code)
    return OffsetFetchResponsePartitions(
        number, offset.offset, offset.leader_epoch, offset.metadata, code
    )


def _ask_to_come_again(
    ctx: Context, asked: OffsetFetchRequestGroup, answer: OffsetFetchResponseGroup
) -> None:
    pending = set(ctx.offsets.pending(asked.group_id))
    if asked.topics is not None:
        wanted = {(each.name, number) for each in asked.topics for number in each.partition_indexes}
        pending &= wanted
    if not pending:
        return
    answer.error_code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    for topic in answer.topics:
        topic.partitions = [
            _partition(each.partition_index, None, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            for each in topic.partitions
        ]


def _single(group: OffsetFetchResponseGroup) -> OffsetFetchResponse:
    """Return the response in the form before version 8."""
    topics = [
        OffsetFetchResponseTopic(
            topic.name,
            [
                OffsetFetchResponsePartition(
                    each.partition_index,
                    each.committed_offset,
                    each.committed_leader_epoch,
                    each.metadata,
                    each.error_code,
                )
                for each in topic.partitions
            ],
        )
        for topic in group.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=group.error_code)
