"""OffsetForLeaderEpoch: find the end offset of a leader's epoch (KIP-101, KIP-279, KIP-320).

Behaviour: the answer is the largest epoch that is not above the requested one, and the offset
after its last record; -1 and -1 if there is none. If the client's current epoch differs from the
partition's, the answer is FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH.

Version notes: 2 to 4; the replica's id (3) is ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.replication.partition import Partition

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


def offset_for_leader_epoch(
    context: BrokerContext, _request: Request, message: OffsetForLeaderEpochRequest
) -> Answer:
    """Answer OffsetForLeaderEpoch, versions 2 to 4."""
    topics = []
    for named in message.topics:
        ends = [
            _end(context.replicas.table.find(named.topic, entry.partition), entry)
            for entry in named.partitions
        ]
        topics.append(OffsetForLeaderTopicResult(named.topic, ends))
    return OffsetForLeaderEpochResponse(topics=topics)


def _end(partition: Partition | None, entry: OffsetForLeaderPartition) -> EpochEndOffset:
    number = entry.partition
    if partition is None:
        return EpochEndOffset(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, number)
    error = partition.epoch_error(entry.current_leader_epoch)
    if error:
        return EpochEndOffset(error, number)
    if partition.is_offline:
        return EpochEndOffset(ErrorCode.KAFKA_STORAGE_ERROR, number)
    end = partition.log.offset_for_leader_epoch(entry.leader_epoch)
    return EpochEndOffset(ErrorCode.NONE, number, *end)
