"""Looking up offsets by ListOffsets, at the leaders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

from fencepost_client.errors import RetriableError, consumer_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import Build
from fencepost_client.requests.procedures import (
    Ask,
    LeaderOf,
    Moved,
    NodeId,
    Pause,
    Procedure,
)
from fencepost_client.types import TopicPartition

EARLIEST: Final = -2
LATEST: Final = -1


def list_offsets(
    wanted: Mapping[TopicPartition, int],
    leader_of: Callable[[str, int], int | None],
    backoff: Backoff,
    *,
    read_committed: bool,
) -> Procedure[dict[TopicPartition, int]]:
    """The first offset at or after a time, for each partition; -1 if there is none.

    A time is in ms, or ``EARLIEST``, or ``LATEST``, which is the last stable offset for a
    read-committed consumer.
    """
    left = dict(wanted)
    found: dict[TopicPartition, int] = {}
    while left:
        by_node: dict[int, list[TopicPartition]] = {}
        for where in left:
            node_id = leader_of(*where)
            if node_id is not None:
                by_node.setdefault(node_id, []).append(where)
        for node_id, partitions in by_node.items():
            request = _list_request({where: left[where] for where in partitions}, read_committed)
            try:
                answer = yield Ask(NodeId(node_id), ApiKey.LIST_OFFSETS, _always(request))
            except RetriableError:
                continue
            for topic in answer.topics:
                for part in topic.partitions:
                    where = TopicPartition(topic.name, part.partition_index)
                    if part.error_code == ErrorCode.NONE:
                        found[where] = part.offset
                        left.pop(where, None)
                    elif part.error_code not in RETRIABLE:
                        raise consumer_error(part.error_code, state=f"listing offsets of {where}")
        if left:
            yield Moved(LeaderOf(*next(iter(left))))
            yield Pause(backoff.next_ms())
    return found


def _always(request: ListOffsetsRequest) -> Build:
    return lambda _: request


def _list_request(wanted: Mapping[TopicPartition, int], read_committed: bool) -> ListOffsetsRequest:
    topics: dict[str, ListOffsetsTopic] = {}
    for where, timestamp in wanted.items():
        topic = topics.setdefault(where.topic, ListOffsetsTopic(where.topic))
        topic.partitions.append(ListOffsetsPartition(where.partition, timestamp=timestamp))
    return ListOffsetsRequest(-1, int(read_committed), list(topics.values()))
