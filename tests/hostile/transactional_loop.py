"""Read, write and commit in transactions while a disk refuses, and what is there afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from tests.support.up import Wire

MAY_COME = {
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}
"""What a client hears while there is no room: each of them tells it to come again."""


class RefusingDisk(Protocol):
    """A disk that is told when to refuse."""

    def fill(self) -> None:
        """It refuses from now on."""

    def make_room(self) -> None:
        """It takes everything again."""


class Loop:
    """Read, write and commit in one transaction, and a plain commit beside it."""

    def __init__(self, client: Wire, disk: RefusingDisk) -> None:
        self.client = client
        self.disk = disk
        self.refusals: list[ErrorCode] = []
        request = InitProducerIdRequest("x", 60_000)
        producer = self.until_done(request, 5, lambda answer: answer.error_code)
        self.who = producer.producer_id, producer.producer_epoch

    def until_done(self, request: Message, version: int, code_of: Callable[[Any], int]) -> Any:
        """Repeat a request as clients do; there is room again after some refusals."""
        while True:
            answer = self.client.ask(request, version)
            code = ErrorCode(code_of(answer))
            if not code:
                return answer
            assert code in MAY_COME
            self.refusals.append(code)
            if len(self.refusals) % 8 == 0:
                self.disk.make_room()

    def round(self, number: int) -> None:
        records = build_batch(
            None, [b"%d" % number + bytes(500)], 1000, producer_id=self.who[0],
            producer_epoch=self.who[1], base_sequence=0, transactional=True,
        )  # fmt: skip
        data = TopicProduceData("t", partition_data=[PartitionProduceData(0, bytes(records))])
        self.until_done(
            ProduceRequest("x", -1, 5000, [data]), 12,
            lambda answer: answer.responses[0].partition_responses[0].error_code,
        )  # fmt: skip
        offset = TxnOffsetCommitRequestPartition(0, number)
        self.until_done(
            TxnOffsetCommitRequest(
                "x", "g", *self.who, topics=[TxnOffsetCommitRequestTopic("t", [offset])]
            ), 5, lambda answer: answer.topics[0].partitions[0].error_code,
        )  # fmt: skip
        if number % 7 == 3:
            self.disk.fill()  # between the transaction's beginning and its end, too
        ended = self.until_done(
            EndTxnRequest("x", *self.who, number % 2 == 0), 5, lambda answer: answer.error_code
        )
        self.who = ended.producer_id, ended.producer_epoch
        topics = [
            OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, number)])
        ]
        self.until_done(
            OffsetCommitRequest("plain", topics=topics), 8,
            lambda answer: answer.topics[0].partitions[0].error_code,
        )  # fmt: skip


def committed(client: Wire, group: str) -> int:
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
    asked.require_stable = True
    while True:
        (found,) = client.ask(asked, 8).groups
        (partition,) = found.topics[0].partitions
        if not partition.error_code:
            return int(partition.committed_offset)
        assert partition.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT


def read_committed(client: Wire) -> list[int]:
    """Numbers of the records whose transactions were committed, up to the stable offset."""
    found: list[int] = []
    offset = 0
    while True:
        wanted = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, isolation_level=1,
            topics=[FetchTopic("t", partitions=[wanted])],
        )  # fmt: skip
        data = client.ask(request, 11).responses[0].partitions[0]
        assert not data.error_code
        aborted = [(each.producer_id, each.first_offset) for each in data.aborted_transactions]
        if not data.records:
            if data.last_stable_offset == data.high_watermark:
                return found
            continue
        for header, batch in split_batches(data.records, tolerate_partial=True):
            is_aborted = (header.producer_id, header.base_offset) in aborted
            if not header.is_control and not is_aborted:
                found += [int(bytes(each.value or b"").split(b"\0")[0]) for each in
                          iter_records(batch)]  # fmt: skip
            offset = header.next_offset
