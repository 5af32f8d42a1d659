"""Start offsets of share groups (KIP-932): listing, setting and deleting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.generated.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.admin.fan_out import (
    ItemRequest,
    ItemResult,
    ask_at,
    by_topic,
    gather,
    named,
    settle,
)
from fencepost_client.errors import KafkaError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import GROUP, Ask, Coordinator, Procedure, retry
from fencepost_client.types import TopicPartition

_NOT_THERE: Final = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
_UNKNOWN: Final = -1


@dataclass(frozen=True, slots=True)
class SharePartitionOffset:
    """Where a share group begins in a partition."""

    start_offset: int
    """No record before this offset is delivered."""
    leader_epoch: int
    lag: int | None
    """Records that are still to be delivered; ``None`` if the broker does not know."""


Offsets = dict[TopicPartition, SharePartitionOffset]


def list_share_group_offsets(
    group_id: str, partitions: Iterable[TopicPartition] | None, backoff: Backoff
) -> Procedure[Offsets]:
    """List the start offsets of a share group; partitions without state are left out."""
    topics = None
    if partitions is not None:
        topics = [
            DescribeShareGroupOffsetsRequestTopic(name, numbers)
            for name, numbers in by_topic(partitions).items()
        ]
    asked = DescribeShareGroupOffsetsRequest(
        [DescribeShareGroupOffsetsRequestGroup(group_id, topics)]
    )
    where = Coordinator(GROUP, group_id)
    ask = Ask(where, ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, lambda _: asked)
    [group] = (yield from retry(ask, _may_pass, backoff)).groups
    if group.error_code:
        state = f"listing the offsets of share group {group_id!r}"
        raise admin_error(group.error_code, group.error_message, state=state)
    return settle(*_offsets(group))


def _may_pass(answer: Any) -> int:
    [group] = answer.groups
    if group.error_code:
        return int(group.error_code)
    codes = {part.error_code for topic in group.topics for part in topic.partitions} - {0}
    if any(code not in RETRIABLE - _NOT_THERE for code in codes):
        return ErrorCode.NONE  # asking again does not help all of them
    return min(codes, default=ErrorCode.NONE)


def _offsets(group: Any) -> tuple[Offsets, dict[TopicPartition, KafkaError]]:
    done: Offsets = {}
    failed: dict[TopicPartition, KafkaError] = {}
    for topic in group.topics:
        for part in topic.partitions:
            where = TopicPartition(topic.topic_name, part.partition_index)
            if part.error_code:
                state = f"listing the offset of share group {group.group_id!r} in {named(where)}"
                failed[where] = admin_error(part.error_code, part.error_message, state=state)
            elif part.start_offset >= 0:
                lag = None if part.lag == _UNKNOWN else part.lag
                done[where] = SharePartitionOffset(part.start_offset, part.leader_epoch, lag)
    return done, failed


def alter_share_group_offsets(
    group_id: str, offsets: Mapping[TopicPartition, int], backoff: Backoff
) -> Procedure[dict[TopicPartition, None]]:
    """Set the start offsets of a share group without members, in some partitions."""

    def build(_: int, some: Sequence[TopicPartition]) -> AlterShareGroupOffsetsRequest:
        topics = [
            AlterShareGroupOffsetsRequestTopic(
                name,
                [
                    AlterShareGroupOffsetsRequestPartition(
                        number, offsets[TopicPartition(name, number)]
                    )
                    for number in numbers
                ],
            )
            for name, numbers in by_topic(some).items()
        ]
        return AlterShareGroupOffsetsRequest(group_id, topics)

    def read(
        answer: Any, asked: Sequence[TopicPartition]
    ) -> Iterable[ItemResult[TopicPartition, None]]:
        if answer.error_code:
            for where in asked:
                yield ItemResult(where, answer.error_code, answer.error_message, None)
            return
        for topic in answer.responses:
            for part in topic.partitions:
                where = TopicPartition(topic.topic_name, part.partition_index)
                yield ItemResult(where, part.error_code, part.error_message, None)

    doing = f"setting the offset of share group {group_id!r} in"
    question = ItemRequest(doing, ApiKey.ALTER_SHARE_GROUP_OFFSETS, build, read, _NOT_THERE)
    return gather(question, offsets, ask_at(Coordinator(GROUP, group_id)), backoff)


def delete_share_group_offsets(
    group_id: str, topics: Iterable[str], backoff: Backoff
) -> Procedure[dict[str, None]]:
    """Delete the state of topics; a share group without members begins there anew."""

    def build(_: int, some: Sequence[str]) -> DeleteShareGroupOffsetsRequest:
        return DeleteShareGroupOffsetsRequest(
            group_id, [DeleteShareGroupOffsetsRequestTopic(name) for name in some]
        )

    def read(answer: Any, asked: Sequence[str]) -> Iterable[ItemResult[str, None]]:
        if answer.error_code:
            for name in asked:
                yield ItemResult(name, answer.error_code, answer.error_message, None)
            return
        for topic in answer.responses:
            yield ItemResult(topic.topic_name, topic.error_code, topic.error_message, None)

    doing = f"deleting the offsets of share group {group_id!r} in topic"
    question = ItemRequest(doing, ApiKey.DELETE_SHARE_GROUP_OFFSETS, build, read, _NOT_THERE)
    return gather(question, topics, ask_at(Coordinator(GROUP, group_id)), backoff)
