"""Partitions: listing offsets, deleting records and electing leaders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

from fencepost_client.admin.fan_out import (
    ItemRequest,
    ItemResult,
    by_topic,
    gather,
    named,
    require,
    settle,
)
from fencepost_client.admin.routing import Leaders
from fencepost_client.errors import KafkaError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import Ask, Controller, Procedure, retry
from fencepost_client.types import TopicPartition, distinct

MAX_TIMESTAMP: Final = -3
"""The record with the highest timestamp (KIP-734)."""
EARLIEST_LOCAL: Final = -4
"""The first record that is not only in tiered storage (KIP-405)."""
LATEST_TIERED: Final = -5
"""The last record that is in tiered storage (KIP-1005)."""
EARLIEST_PENDING_UPLOAD: Final = -6
"""The first record that tiered storage does not have yet (KIP-1023)."""
_NEEDS_VERSION: Final = {
    MAX_TIMESTAMP: (7, "the offset of the highest timestamp"),
    EARLIEST_LOCAL: (8, "the earliest local offset"),
    LATEST_TIERED: (9, "the latest tiered offset"),
    EARLIEST_PENDING_UPLOAD: (11, "the earliest offset that is not uploaded"),
}
_ISOLATION_FROM: Final = 2
_TIMEOUT_FROM: Final = 10


class ListedOffset(NamedTuple):
    """An offset; -1 if there is none.

    The timestamp is -1 for special positions.
    """

    offset: int
    timestamp_ms: int = -1
    leader_epoch: int = -1


class Election(IntEnum):
    """The kinds of leader elections."""

    PREFERRED = 0
    """Elect the preferred replica, if it is in sync."""
    UNCLEAN = 1
    """Elect any live replica if there is no leader; records may be lost."""


def list_offsets(
    times: Mapping[TopicPartition, int], backoff: Backoff, timeout_ms: int, *, read_committed: bool
) -> Procedure[dict[TopicPartition, ListedOffset]]:
    """List the offsets for timestamps or special positions, at the leaders."""

    def build(version: int, partitions: Sequence[TopicPartition]) -> ListOffsetsRequest:
        topics: dict[str, ListOffsetsTopic] = {}
        for where in partitions:
            if times[where] in _NEEDS_VERSION:
                require(version, *_NEEDS_VERSION[times[where]])
            topic = topics.setdefault(where.topic, ListOffsetsTopic(where.topic))
            topic.partitions.append(ListOffsetsPartition(where.partition, timestamp=times[where]))
        request = ListOffsetsRequest(-1, topics=list(topics.values()))
        if read_committed:
            require(version, _ISOLATION_FROM, "reading committed records only")
            request.isolation_level = 1
        if version >= _TIMEOUT_FROM:
            request.timeout_ms = timeout_ms
        return request

    def read(answer: Any, _: object) -> Iterable[ItemResult[TopicPartition, ListedOffset]]:
        for topic in answer.topics:
            for part in topic.partitions:
                found = ListedOffset(part.offset, part.timestamp, part.leader_epoch)
                where = TopicPartition(topic.name, part.partition_index)
                yield ItemResult(where, part.error_code, None, found)

    question = ItemRequest("listing offsets of", ApiKey.LIST_OFFSETS, build, read)
    return gather(question, times, Leaders(), backoff)


def delete_records(
    offsets: Mapping[TopicPartition, int], backoff: Backoff, timeout_ms: int
) -> Procedure[dict[TopicPartition, int]]:
    """Delete records before these offsets (-1: all); returns the new first offsets."""

    def build(_: int, partitions: Sequence[TopicPartition]) -> DeleteRecordsRequest:
        topics: dict[str, DeleteRecordsTopic] = {}
        for where in partitions:
            topic = topics.setdefault(where.topic, DeleteRecordsTopic(where.topic))
            topic.partitions.append(DeleteRecordsPartition(where.partition, offsets[where]))
        return DeleteRecordsRequest(list(topics.values()), timeout_ms)

    def read(answer: Any, _: object) -> Iterable[ItemResult[TopicPartition, int]]:
        for topic in answer.topics:
            for part in topic.partitions:
                where = TopicPartition(topic.name, part.partition_index)
                yield ItemResult(where, part.error_code, None, part.low_watermark)

    question = ItemRequest("deleting records of", ApiKey.DELETE_RECORDS, build, read)
    return gather(question, offsets, Leaders(), backoff)


def elect_leaders(
    election: Election,
    partitions: Iterable[TopicPartition] | None,
    backoff: Backoff,
    timeout_ms: int,
) -> Procedure[dict[TopicPartition, bool]]:
    """Elect leaders of these partitions, or of all that need one; whether each changed."""
    wanted = None if partitions is None else distinct(partitions)

    def build(version: int) -> ElectLeadersRequest:
        topics = None
        if wanted is not None:
            topics = [TopicPartitions(name, parts) for name, parts in by_topic(wanted).items()]
        request = ElectLeadersRequest(topic_partitions=topics, timeout_ms=timeout_ms)
        if election != Election.PREFERRED:
            require(version, 1, "an unclean election")
            request.election_type = election
        return request

    ask = Ask(Controller(), ApiKey.ELECT_LEADERS, build)
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    if answer.error_code:
        raise admin_error(answer.error_code, state="electing leaders")
    done: dict[TopicPartition, bool] = {}
    failed: dict[TopicPartition, KafkaError] = {}
    for topic in answer.replica_election_results:
        for part in topic.partition_result:
            where = TopicPartition(topic.topic, part.partition_id)
            code = part.error_code
            if code in {ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED}:
                done[where] = code == ErrorCode.NONE
            else:
                state = f"electing a leader of {named(where)}"
                failed[where] = admin_error(code, part.error_message, state=state)
    return settle(done, failed)
