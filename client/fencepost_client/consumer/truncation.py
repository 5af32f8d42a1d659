"""Whether a log still is what was read of it (KIP-320).

A new leader may lack what the old one had, and have other records in its place. So whoever has
read up to an offset, the last of it from a leader epoch, asks the new leader where that epoch ends
before it fetches on. Fetch tells the same since version 12, if one says what one has
(``diverging_epoch``).

What was cut off is noticed by ``truncated``: first what was only fetched ahead is dropped and the
application's own position is checked; if that is cut off, too, the reset policy goes on from where
the logs part, or the application is told.
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
    """One OffsetForLeaderEpoch request, with the positions as they were."""

    node_id: int
    partitions: dict[TopicPartition, tuple[Position, int]]
    leader_epochs: dict[TopicPartition, int]

    def request(self) -> OffsetForLeaderEpochRequest:
        """What to ask the leader."""
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
        """Take what came; gives the positions that have to be checked again."""
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
    """The log agrees with what was fetched only up to this offset; -1 where that is not known."""
    if position.fetch_offset != position.offset:
        position.seek(position.offset, position.epoch, position.until)
    elif reset_to is None:
        position.checked_epoch = UNKNOWN
        position.error = LogTruncatedError(position.where, position.offset, epoch, end_offset)
    elif epoch < 0 or end_offset < 0:
        position.seek_to_time(reset_to)
    else:
        position.seek(end_offset, epoch, position.until)
