"""The decisive error code of an answer, and partitions by topic for requests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode

from fencepost_client.types import TopicPartition

_SAYS_NOTHING: Final = {ErrorCode.NONE, ErrorCode.OPERATION_NOT_ATTEMPTED}


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
