"""Markers by hand, and what readers see of transactions: Apache Kafka and ours tell the same.

WriteTxnMarkers, DescribeProducers, ListOffsets and Fetch with both isolation levels, at each step.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.writer import build_batch

from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.broker import Client, running_broker

pytestmark = pytest.mark.conformance

PARTITIONS = 4
COME_AGAIN = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
)
TIME_MS = int(time.time() * 1000) - 3_600_000
"""Of records; markers are of now, which is told as ``MARKED``."""
MARKED = "the time of a marker"
STRANGER = 4711
LATEST, EARLIEST, MAX_TIME, LOCAL, TIERED, PENDING, UNKNOWN = -1, -2, -3, -4, -5, -6, -7


class Asked:
    """One broker; what it tells is free of what it makes up."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.who = (-1, -1)
        self.sequence = 0
        self.name = ""

    async def prepare(self) -> None:
        await self.client.ask(CreateTopicsRequest(topics=[CreatableTopic("t", PARTITIONS, 1)]), 5)
        await self.client.ask(FindCoordinatorRequest("x", 1), 3)
        for number in range(PARTITIONS):
            while await self.plain(number) != ErrorCode.NONE.name:
                pass

    async def begin(self) -> None:
        while True:
            answer = await self.client.ask(InitProducerIdRequest(self.name, 600_000), 4)
            if answer.error_code not in (*COME_AGAIN, ErrorCode.CONCURRENT_TRANSACTIONS):
                break
        assert not answer.error_code
        self.who = answer.producer_id, answer.producer_epoch
        self.sequence = 0

    async def enter(self, *numbers: int) -> None:
        topics = [AddPartitionsToTxnTopic("t", list(numbers))]
        answer = await self.client.ask(
            AddPartitionsToTxnRequest([], self.name, *self.who, topics), 3
        )
        for each in answer.results_by_topic_v3_and_below[0].results_by_partition:
            assert not each.partition_error_code

    async def plain(self, number: int, at_ms: int = TIME_MS) -> str:
        return await self._send(None, number, build_batch(None, [b"x"], at_ms))

    async def write(self, number: int, at_ms: int = TIME_MS) -> str:
        records = build_batch(
            None, [b"x", b"y"], at_ms, producer_id=self.who[0], producer_epoch=self.who[1],
            base_sequence=self.sequence, transactional=True,
        )  # fmt: skip
        self.sequence += 2
        return await self._send(self.name, number, records)

    async def _send(self, name: str | None, number: int, records: bytearray) -> str:
        data = TopicProduceData("t", partition_data=[PartitionProduceData(number, bytes(records))])
        answer = await self.client.ask(ProduceRequest(name, -1, 5000, [data]), 11)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code).name

    async def mark(
        self, number: int, *, commit: bool = True, version: int = 2, tv: int = 0,
        who: tuple[int, int] | None = None, epoch: int = 0, by: int = 0, topic: str = "t",
    ) -> str:  # fmt: skip
        producer_id, producer_epoch = self.who if who is None else who
        marker = WritableTxnMarker(
            producer_id, producer_epoch + epoch, commit,
            [WritableTxnMarkerTopic(topic, [number])], by, tv if version >= 2 else 0,
        )  # fmt: skip
        answer = await self.client.ask(WriteTxnMarkersRequest([marker]), version)
        return ErrorCode(answer.markers[0].topics[0].partitions[0].error_code).name

    # -- what is seen ---------------------------------------------------------------------------

    def _name(self, producer_id: int) -> str:
        return "own" if producer_id == self.who[0] else str(producer_id)

    async def seen(self, number: int) -> list[Any]:
        return [
            await self._producers(number),
            *[await self._offsets(number, version, level, timestamp, epoch)
              for version, level, timestamp, epoch in OFFSETS],
            *[await self._fetched(number, offset, level)
              for level in (0, 1) for offset in range(9)],
        ]  # fmt: skip

    async def _producers(self, number: int) -> Any:
        request = DescribeProducersRequest([TopicRequest("t", [number])])
        (found,) = (await self.client.ask(request, 0)).topics[0].partitions
        return ErrorCode(found.error_code).name, sorted(
            (
                self._name(each.producer_id), each.producer_epoch - max(self.who[1], 0),
                each.last_sequence, each.coordinator_epoch, each.current_txn_start_offset,
            )
            for each in found.active_producers
        )  # fmt: skip

    async def _offsets(
        self, number: int, version: int, level: int, timestamp: int, epoch: int
    ) -> Any:
        wanted = ListOffsetsPartition(number, epoch if version >= 4 else -1, timestamp)
        topics = [ListOffsetsTopic("t", [wanted])]
        request = ListOffsetsRequest(-1, level if version >= 2 else 0, topics)
        (found,) = (await self.client.ask(request, version)).topics[0].partitions
        asked = version, level, timestamp - TIME_MS if timestamp > 0 else timestamp, epoch
        code = ErrorCode(found.error_code).name
        if found.timestamp > TIME_MS + 1000:  # which of them is the first of its time, is chance
            return asked, code, MARKED, found.leader_epoch
        return asked, code, found.offset, max(found.timestamp - TIME_MS, -1), found.leader_epoch

    async def _fetched(self, number: int, offset: int, level: int) -> Any:
        wanted = FetchPartition(number, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, isolation_level=level,
            topics=[FetchTopic("t", partitions=[wanted])],
        )  # fmt: skip
        (data,) = (await self.client.ask(request, 12)).responses[0].partitions
        aborted = data.aborted_transactions
        return (
            (level, offset), ErrorCode(data.error_code).name, data.high_watermark,
            data.last_stable_offset, data.log_start_offset,
            aborted and sorted((self._name(each.producer_id), each.first_offset)
                               for each in aborted),
            [(header.base_offset, header.is_control, header.is_transactional, header.record_count)
             for header, _ in split_batches(data.records or b"", tolerate_partial=True)],
        )  # fmt: skip


OFFSETS = [
    *[(version, level, LATEST, -1) for version in range(1, 12) for level in (0, 1)],
    *[(version, 1, timestamp, -1)
      for version in (1, 6, 7, 8, 9, 11)
      for timestamp in (EARLIEST, MAX_TIME, LOCAL, TIERED, PENDING, UNKNOWN, 0, TIME_MS + 5,
                        TIME_MS * 2)],
    *[(8, 0, timestamp, -1) for timestamp in (EARLIEST, MAX_TIME, TIME_MS + 5, TIME_MS * 2)],
    *[(8, level, LATEST, epoch) for level in (0, 1) for epoch in (0, 1, 7)],
]  # fmt: skip
"""Version, isolation level, what is asked for, leader epoch."""


async def markers_of_strangers(asked: Asked) -> AsyncIterator[Any]:
    for commit in (True, True, False):
        yield await asked.mark(0, commit=commit, who=(STRANGER, 0), version=1)
    yield await asked.seen(0)
    yield await asked.mark(0, who=(STRANGER, 3), tv=2)
    yield await asked.mark(0, who=(STRANGER, 2))
    yield await asked.mark(0, who=(STRANGER, 3), by=5)
    yield await asked.mark(0, who=(STRANGER, 3), by=4)
    yield await asked.mark(0, topic="nowhere")
    yield await asked.mark(99)
    yield await asked.seen(0)


async def a_transaction_that_somebody_else_ends(asked: Asked) -> AsyncIterator[Any]:
    await asked.begin()
    await asked.begin()  # so that there is an epoch below
    await asked.enter(1)
    yield await asked.write(1, TIME_MS + 10)
    yield await asked.plain(1, TIME_MS + 20)
    yield await asked.seen(1)
    yield await asked.mark(1, epoch=-1)
    yield await asked.mark(1, tv=2)
    yield await asked.seen(1)
    yield await asked.mark(1, commit=False, by=7)
    yield await asked.seen(1)
    yield await asked.mark(1, commit=True, by=6)
    yield await asked.mark(1, commit=True, by=7)
    yield await asked.mark(1, epoch=1, tv=2, by=7)
    yield await asked.seen(1)


async def one_behind_the_other(asked: Asked) -> AsyncIterator[Any]:
    await asked.begin()
    await asked.enter(2)
    for commit in (True, False, True):
        yield await asked.write(2)
        yield await asked.mark(2, commit=commit, version=1)
    yield await asked.seen(2)
    yield await asked.write(2)
    yield await asked.seen(2)


SCRIPTS = (
    markers_of_strangers,
    a_transaction_that_somebody_else_ends,
    one_behind_the_other,
)


async def told(client: Client) -> list[tuple[str, Any]]:
    found = []
    asked = Asked(client)
    await asked.prepare()
    for script in SCRIPTS:
        # A transaction whose markers were fenced never comes to its end.
        asked.who, asked.name = (-1, -1), script.__name__
        async for step in script(asked):
            lines = step if isinstance(step, list) else [step]
            found += [(script.__name__, line) for line in lines]
    return found


async def ours() -> list[tuple[str, Any]]:
    async with running_broker({"transaction.park.enable": "false"}) as broker:
        return await told(broker)


async def theirs(bootstrap: str) -> list[tuple[str, Any]]:
    async with Client(bootstrap) as client:
        return await told(client)


def test_both_tell_the_same() -> None:
    try:
        with ApacheKafka() as kafka:
            expected = asyncio.run(theirs(kafka.bootstrap))
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    found = asyncio.run(ours())
    assert len(found) == len(expected)
    different = [
        f"{kafka[0]}\n  Kafka {kafka[1]}\n  ours  {mine[1]}"
        for kafka, mine in zip(expected, found, strict=True)
        if kafka != mine
    ]
    assert not different, "\n".join(different)
