"""A fetcher with one partition, whose requests a test answers."""

from __future__ import annotations

import struct
from typing import Any

from fencepost_client import ConsumerRecord, TopicPartition
from fencepost_client.consumer.fetcher import Fetch, Fetcher, FetchSettings
from fencepost_client.consumer.positions import Position
from fencepost_client.consumer.truncation import EpochCheck
from fencepost_client.metadata.cluster import Cluster, Leader, Node, Topic
from fencepost_client.requests.backoff import Backoff
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.records.control import build_end_txn_marker
from fencepost_protocol.records.writer import build_batch

WHERE = TopicPartition("t", 0)
LEADER_EPOCH_AT = 12


def cluster_of(partitions: int, epoch: int = 0, node_id: int = 1) -> Cluster:
    """A picture with topic t, all led by one node."""
    cluster = Cluster(Backoff(lambda: 0.5))
    cluster.nodes = {number: Node(number, "h", 9092) for number in (1, 2)}
    leaders = {number: Leader(node_id, epoch) for number in range(partitions)}
    cluster.topics["t"] = Topic("t", leaders=leaders)
    return cluster


class Rig:
    """A fetcher with partitions of topic t, all led by node 1."""

    def __init__(self, partitions: int = 1, **settings: Any) -> None:
        self.fetcher = Fetcher(FetchSettings(**settings), lambda: 0.5)
        self.fetcher.assign(TopicPartition("t", number) for number in range(partitions))
        for position in self.fetcher.positions.values():
            position.seek(0)
        self.now_ms = 0
        self.cluster = cluster_of(partitions)

    @property
    def position(self) -> Position:
        return self.fetcher.positions[WHERE]

    def ask(self) -> list[Fetch]:
        fetches, checks = self.fetcher.requests(self.now_ms, self.cluster, lambda _: True)
        assert checks == [], "a fetch was expected, not a question about an epoch"
        return fetches

    def check(self) -> EpochCheck:
        """The one question to the leader, and no fetch beside it."""
        fetches, checks = self.fetcher.requests(self.now_ms, self.cluster, lambda _: True)
        assert fetches == []
        assert len(checks) == 1
        return checks[0]

    def request(self, fetch: Fetch, version: int = 12) -> FetchRequest:
        """What is sent, as it can be encoded."""
        request = self.fetcher.request(fetch, self.cluster, version)
        request.encode(version, bytearray())
        return request

    def answer(
        self, fetch: Fetch, *batches: bytes | bytearray, code: int = 0, **fields: Any
    ) -> None:
        self.request(fetch)
        data = PartitionData(0, code, 100, 100, records=b"".join(batches), **fields)
        topic = FetchableTopicResponse("t", partitions=[data])
        self.fetcher.answered(self.now_ms, fetch, FetchResponse(responses=[topic]))

    def fetch(self, *batches: bytes | bytearray, **fields: Any) -> None:
        fetches = self.ask()
        assert len(fetches) == 1
        self.answer(fetches[0], *batches, **fields)

    def take(self, limit: int = 100) -> list[int]:
        out: list[ConsumerRecord] = []
        self.position.take(limit, out)
        return [record.offset for record in out]


def batch(
    base_offset: int, count: int = 2, producer_id: int = -1, leader_epoch: int = 0
) -> bytearray:
    built = build_batch(
        None,
        [b"%d" % (base_offset + number) for number in range(count)],
        1000,
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
        base_sequence=0 if producer_id >= 0 else -1,
        transactional=producer_id >= 0,
    )
    struct.pack_into(">i", built, LEADER_EPOCH_AT, leader_epoch)
    return built


def marker(offset: int, producer_id: int, *, committed: bool) -> bytearray:
    return build_end_txn_marker(
        committed=committed,
        producer_id=producer_id,
        producer_epoch=0,
        coordinator_epoch=0,
        timestamp_ms=0,
        base_offset=offset,
    )
