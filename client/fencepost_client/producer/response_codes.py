"""What error codes mean to a transaction, and partitions by topic for requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.generated.txn_offset_commit import TxnOffsetCommitRequestPartition

from fencepost_client.types import OffsetAndMetadata, TopicPartition

_SAYS_NOTHING: Final = {ErrorCode.NONE, ErrorCode.OPERATION_NOT_ATTEMPTED}
ANOTHER_IS_AT_WORK: Final = {
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.PRODUCER_FENCED,
}
PERHAPS_TIMED_OUT: Final = {*ANOTHER_IS_AT_WORK, ErrorCode.INVALID_TXN_STATE}
"""The last one is for a commit of version 2 whose transaction was aborted meanwhile."""
ENDS_THE_PRODUCER: Final = {
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.UNSUPPORTED_VERSION,
}
"""Of what leaders say to batches, as Kafka's producer takes it; the rest ends the transaction."""
ABORT_IS_ENOUGH: Final = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.FENCED_INSTANCE_ID,
    # From a partition's leader; whether the coordinator agrees shows when the abort is asked for.
    ErrorCode.INVALID_PRODUCER_EPOCH,
}
"""Errors that end this transaction and not the producer, whatever their class."""
OUT_OF_THE_GROUP: Final = {
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.STALE_MEMBER_EPOCH,
}


def code_of(answer: Any) -> int:
    """The code of an answer that has only one."""
    code: int = answer.error_code
    return code


def _worst(codes: Iterable[int]) -> int:
    """The code that decides: one that cannot be repeated before one that can, 0 if all is well."""
    decisive: int = ErrorCode.NONE
    for code in codes:
        if code not in RETRIABLE and code not in _SAYS_NOTHING:
            return code
        if decisive in _SAYS_NOTHING or KINDS[code] == "refresh":
            decisive = code or decisive
    return decisive


def worst_of_partitions(answer: Any) -> int:
    """The decisive code of AddPartitionsToTxn in the versions for clients."""
    return _worst(
        result.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for result in topic.results_by_partition
    )


def worst_of_offsets(answer: Any) -> int:
    """The decisive code of TxnOffsetCommit."""
    return _worst(part.error_code for topic in answer.topics for part in topic.partitions)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Partitions by topic, as requests have them."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return topics


def offset_of(
    topic: str, partition: int, offsets: Mapping[TopicPartition, OffsetAndMetadata]
) -> TxnOffsetCommitRequestPartition:
    """The offset of a partition, as TxnOffsetCommit has it."""
    offset = offsets[TopicPartition(topic, partition)]
    return TxnOffsetCommitRequestPartition(
        partition, offset.offset, offset.leader_epoch, offset.metadata
    )
