"""A follower over real logs, with a leader that is another log."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fencepost_broker.replication.follower import (
    Followed,
    LeaderFetcher,
    Limits,
    Quotas,
)
from fencepost_broker.storage.log import PartitionLog, UpperBound
from fencepost_client.types import TopicPartition
from fencepost_protocol.generated.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.records.writer import build_batch

from tests.machine.storage.harness import open_log

WHERE = TopicPartition("t", 0)
TOPIC_ID = b"t" * 16
VERSION = 17
BACKOFF_MS = 1000
NO_QUOTAS: Any = SimpleNamespace(follower=None)


def append(log: PartitionLog, *values: bytes, epoch: int = 0) -> None:
    for value in values:
        batch = memoryview(build_batch(None, [value], 1000))
        assert not log.append_as_leader(batch, epoch, 1000).error


def contents(log: PartitionLog) -> bytes:
    result = log.read(log.log_start_offset, 1 << 20, UpperBound.LOG_END, min_one_batch=True)
    return b"".join(bytes(piece) for piece in result.pieces or ())


class Pair:
    """A leader's log, a follower's, and the fetcher between them."""

    def __init__(self, quotas: Quotas = NO_QUOTAS) -> None:
        self.leader = open_log()
        self.log = open_log()
        self.log.follows_log_end = False
        self.fetcher = LeaderFetcher(7, Limits(backoff_ms=BACKOFF_MS), quotas)
        self.wire_ms = 0
        self.epoch = 0
        self.followed = self.follow(0)

    def follow(self, epoch: int) -> Followed:
        self.epoch = epoch
        followed = Followed(WHERE, TOPIC_ID, self.log, epoch)
        self.fetcher.follow(followed)
        return followed

    def request(self) -> FetchRequest | None:
        return self.fetcher.request(VERSION, 5, self.wire_ms)

    def asked(self) -> FetchRequest:
        request = self.request()
        assert request is not None
        return request

    def answer(self, request: FetchRequest) -> PartitionData:
        """What a leader with this log says; what has not changed in a session is asked again."""
        offset, fetched_epoch = self.log.log_end_offset, self.log.latest_epoch
        for topic in request.topics:
            (entry,) = topic.partitions
            assert entry.fetch_offset == offset
        leader = self.leader
        data = PartitionData(0, 0, leader.high_watermark, -1, leader.log_start_offset)
        diverging = leader.diverging_epoch(offset, fetched_epoch) if fetched_epoch >= 0 else None
        if diverging is not None:
            data.diverging_epoch = EpochEndOffset(*diverging)
            return data
        result = leader.read(offset, 1 << 20, UpperBound.LOG_END, min_one_batch=True)
        data.error_code = result.error
        data.records = b"".join(bytes(piece) for piece in result.pieces or ())
        return data

    def take(self, data: PartitionData) -> list[Followed]:
        topic = FetchableTopicResponse("", TOPIC_ID, [data])
        response = FetchResponse(session_id=3, responses=[topic])
        return self.fetcher.answered(response, self.wire_ms, 1000)

    def step(self) -> list[Followed]:
        return self.take(self.answer(self.asked()))

    def is_equal(self) -> bool:
        return contents(self.log) == contents(self.leader)
