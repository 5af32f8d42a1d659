"""Detecting that a log was truncated after it was read (KIP-320).

A new leader may lack records of the old one, and have others in their place. So before the next
Fetch a consumer asks the new leader where the leader epoch of its last record ends. Since version
12, Fetch itself answers this (``diverging_epoch``).

``truncated`` handles a truncation. It first drops batches that were fetched ahead, and the position
of the application is checked. If that is truncated as well, the reset policy continues from the
offset where the logs diverge, or the application gets an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.generated.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

from fencepost_client.consumer.positions import UNKNOWN, Position
from fencepost_client.errors import LogTruncatedError, consumer_error
from fencepost_client.types import TopicPartition

ASK_THE_LEADER_AGAIN: Final = {ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH}
_CONSUMER: Final = -1


@dataclass(slots=True)
class EpochCheck:
    """An OffsetForLeaderEpoch request, with the positions at that time."""

    node_id: int
    partitions: dict[TopicPartition, tuple[Position, int]]
    leader_epochs: dict[TopicPartition, int]

    def request(self) -> OffsetForLeaderEpochRequest:
        """The request to the leader."""
        topics: dict[str, OffsetForLeaderTopic] = {}
        for where, (position, _) in self.partitions.items():
            topic = topics.setdefault(where.topic, OffsetForLeaderTopic(where.topic))
            topic.partitions.append(
                OffsetForLeaderPartition(
                    where.partition, self.leader_epochs[where], position.fetch_epoch
                )
            )
        return OffsetForLeaderEpochRequest(_CONSUMER, list(topics.values()))

    def answered(
        self, response: OffsetForLeaderEpochResponse, reset_to: int | None
    ) -> list[Position]:
        """Take an answer; returns the positions that must be checked again."""
        left = dict(self.partitions)
        for topic in response.topics:
            for end in topic.partitions:
                where = TopicPartition(topic.topic, end.partition)
                position, era = left.get(where, (None, 0))
                if position is None:
                    continue
                if position.era != era:
                    del left[where]
                elif end.error_code not in RETRIABLE and end.error_code not in ASK_THE_LEADER_AGAIN:
                    del left[where]
                    self._take(position, end, reset_to)
        return [position for position, era in left.values() if position.era == era]

    def _take(self, position: Position, end: EpochEndOffset, reset_to: int | None) -> None:
        if end.error_code:
            where = f"{position.where.topic}-{position.where.partition}"
            position.error = consumer_error(
                end.error_code, state=f"checking the leader epoch of {where} before the next fetch"
            )
            return
        position.checked_epoch = self.leader_epochs[position.where]
        if end.end_offset < position.fetch_offset or end.leader_epoch < 0:
            truncated(position, end.leader_epoch, end.end_offset, reset_to)


def truncated(position: Position, epoch: int, end_offset: int, reset_to: int | None) -> None:
    """Handle a truncation at this offset; -1 if the leader does not know it."""
    if position.fetch_offset != position.offset:
        position.seek(position.offset, position.epoch, position.until)
    elif reset_to is None:
        position.checked_epoch = UNKNOWN
        position.error = LogTruncatedError(position.where, position.offset, epoch, end_offset)
    elif epoch < 0 or end_offset < 0:
        position.seek_to_time(reset_to)
    else:
        position.seek(end_offset, epoch, position.until)
