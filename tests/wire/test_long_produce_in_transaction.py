"""A Produce of many batches in a transaction: examined in turns, appended in one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fencepost_broker.apis.produce import examination
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from fencepost_protocol.records.batch import (
    TRANSACTIONAL_FLAG,
    set_producer_state,
    split_batches,
    verify_crc,
)
from fencepost_protocol.records.compression import Compression, compress
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from tests.hostile.batch_harness import SMALLEST, with_body
from tests.support.broker import Client, RunningBroker, running_broker
from tests.wire.transaction_harness import Producer, broker_address

pytestmark = pytest.mark.asyncio
NOW = 1_700_000_000_000
LOGS = ("plain", "stamped", "gzipped")
NONE, CORRUPT, UNKNOWN = (
    ErrorCode.NONE, ErrorCode.CORRUPT_MESSAGE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)  # fmt: skip


@asynccontextmanager
async def running() -> AsyncIterator[RunningBroker]:
    """A broker with topics that keep batches as they are, and that change them."""
    async with running_broker(topics={"plain": 3, "t": 40}) as broker:
        broker.create("stamped", 3, **{"message.timestamp.type": "LogAppendTime"})
        broker.create("gzipped", 3, **{"compression.type": "gzip"})
        yield broker


def request_of(producer: Producer, turn: int = 0) -> ProduceRequest:
    """Good and bad batches, in partitions that are there and that are not."""

    def batch(topic: str, number: int, codec: Compression) -> bytes:
        value = f"{topic}-{number}-{turn}".encode()
        return bytes(
            build_batch(
                None, [value] * 3, NOW, codec=codec, producer_id=producer.id,
                producer_epoch=producer.epoch, base_sequence=3 * turn, transactional=True,
            )
        )  # fmt: skip

    topics = []
    for topic in (*LOGS, "none"):
        data = [
            PartitionProduceData(number, batch(topic, number, codec))
            for number, codec in (
                (0, Compression.NONE),
                (1, Compression.ZSTD),
                (7, Compression.NONE),
            )
        ]
        bad = batch(topic, 2, Compression.NONE)[:-1] + b"\x7f"
        topics.append(TopicProduceData(topic, partition_data=[*data, PartitionProduceData(2, bad)]))
    return ProduceRequest(producer.name, -1, 1000, topics)


def told(answer: ProduceResponse) -> dict[str, list[tuple[int, int, int]]]:
    return {
        each.name: [
            (part.index, part.error_code, part.base_offset) for part in each.partition_responses
        ]
        for each in answer.responses
    }


async def stored(client: Client) -> dict[tuple[str, int], list[tuple[int, Compression, bytes]]]:
    """The records of each log, and how their batches are compressed."""
    wanted = [FetchPartition(number, partition_max_bytes=1 << 20) for number in range(3)]
    topics = [FetchTopic(each, partitions=wanted) for each in LOGS]
    answer = await client.ask(
        FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1 << 20, topics=topics), 12
    )
    found = {}
    for topic in answer.responses:
        for partition in topic.partitions:
            kept: list[tuple[int, Compression, bytes]] = []
            found[topic.topic, partition.partition_index] = kept
            for header, batch in split_batches(partition.records or b""):
                verify_crc(batch)
                if not header.is_control:
                    records = iter_records(batch)
                    kept += [
                        (each.offset, header.codec, bytes(each.value or b"")) for each in records
                    ]
    return found


async def add(producer: Producer) -> None:
    topics = [AddPartitionsToTxnTopic(each, [0, 1, 2]) for each in LOGS]
    request = AddPartitionsToTxnRequest([], producer.name, producer.id, producer.epoch, topics)
    answer = await producer.client.ask(request, 3)
    for topic in answer.results_by_topic_v3_and_below:
        assert not any(each.partition_error_code for each in topic.results_by_partition)


def in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each turn have one batch."""
    monkeypatch.setattr(examination, "_FIRST_TURN_NS", -1)
    monkeypatch.setattr(examination, "_TURN_NS", -1)


@pytest.mark.parametrize("version", [11, 12])
async def test_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    async def run() -> tuple[list[object], object]:
        async with running() as broker:
            producer = Producer(broker)
            await producer.start()
            if version < 12:
                await add(producer)
            answers: list[object] = [
                told(await broker.ask(request_of(producer, turn), version)) for turn in range(2)
            ]
            assert await producer.end() is NONE
            return answers, await stored(broker)

    at_once = await run()
    in_turns(monkeypatch)
    assert await run() == at_once
    (first, second), logs = at_once
    expected = [(0, NONE, 0), (1, NONE, 0), (7, UNKNOWN, -1), (2, CORRUPT, -1)]
    assert first == dict.fromkeys(LOGS, expected) | {
        "none": [(number, UNKNOWN, -1) for number in (0, 1, 7, 2)]
    }
    assert second != first
    assert isinstance(logs, dict)
    assert [each[2] for each in logs["plain", 1]] == [b"plain-1-0"] * 3 + [b"plain-1-1"] * 3
    assert {each[1] for each in logs["gzipped", 0]} == {Compression.GZIP}


async def test_requests_of_a_connection_stay_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    in_turns(monkeypatch)
    async with running() as broker, Client(broker_address(broker)) as client:
        producer = Producer(client)
        await producer.start()
        requests = [request_of(producer, turn) for turn in range(3)]
        answers = [told(each)["stamped"] for each in await client.ask_at_once(requests, 12)]
        assert [each[0] for each in answers] == [(0, NONE, 0), (0, NONE, 3), (0, NONE, 6)]
        assert await producer.end() is NONE
        values = [each[2] for each in (await stored(broker))["stamped", 1]]
        assert values == [b"stamped-1-%d" % turn for turn in range(3) for _ in range(3)]


def small_request(producer: Producer, turn: int) -> ProduceRequest:
    """A batch for each partition of ``t``."""
    records = bytes(
        build_batch(
            None, [b"x"], NOW, producer_id=producer.id, producer_epoch=producer.epoch,
            base_sequence=turn, transactional=True,
        )
    )  # fmt: skip
    data = [PartitionProduceData(number, records) for number in range(40)]
    return ProduceRequest(producer.name, -1, 1000, [TopicProduceData("t", partition_data=data)])


def ends_of(broker: RunningBroker) -> set[int]:
    return {each.log.log_end_offset for each in broker.server.table.by_name["t"].partitions}


async def test_a_newer_producer_comes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    in_turns(monkeypatch)
    async with running() as broker, Client(broker_address(broker)) as client:
        producer, newer = Producer(client), Producer(broker)
        await producer.start()
        sent = asyncio.ensure_future(client.ask(small_request(producer, 0), 12))
        assert await newer.initialize() is NONE
        assert {code for _, code, _ in told(await sent)["t"]} == {ErrorCode.INVALID_PRODUCER_EPOCH}
        assert ends_of(broker) == {1}, "the marker alone, of the transaction that has begun"


async def test_its_transaction_ends_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator is asked again: with old versions no epoch tells that it has ended."""
    async with running() as broker, Client(broker_address(broker)) as client:
        producer = Producer(client)
        await producer.start()
        topics = [AddPartitionsToTxnTopic("t", list(range(40)))]
        who = producer.id, producer.epoch
        await client.ask(AddPartitionsToTxnRequest([], producer.name, *who, topics), 3)
        answer = told(await client.ask(small_request(producer, 0), 11))
        assert {code for _, code, _ in answer["t"]} == {NONE}
        in_turns(monkeypatch)
        sent = asyncio.ensure_future(client.ask(small_request(producer, 1), 11))
        ended = await broker.ask(EndTxnRequest(producer.name, *who, committed=True), 3)
        assert not ended.error_code
        assert {code for _, code, _ in told(await sent)["t"]} == {ErrorCode.TRANSACTION_ABORTABLE}
        assert ends_of(broker) == {2}, "a batch and the marker"


def bombs_of(producer: Producer, count: int) -> ProduceRequest:
    """Batches of 172 bytes, each of which is 149,000 records."""
    body = compress(Compression.ZSTD, SMALLEST * 149_000)
    bomb = bytearray(with_body(body, Compression.ZSTD, 149_000, TRANSACTIONAL_FLAG))
    set_producer_state(bomb, producer.id, producer.epoch, 0)
    data = [PartitionProduceData(number, bytes(bomb)) for number in range(count)]
    return ProduceRequest(producer.name, -1, 1000, [TopicProduceData("t", partition_data=data)])


async def test_many_small_bombs_are_not_examined_in_one_turn() -> None:
    async with (
        running() as broker,
        Client(broker_address(broker)) as attacker,
        Client(broker_address(broker)) as client,
    ):
        await client.ask(MetadataRequest(), 12)
        producer = Producer(attacker)
        await producer.start()
        attack = asyncio.ensure_future(attacker.ask(bombs_of(producer, 40), 12))
        answered = 0
        while not attack.done():
            await client.ask(MetadataRequest(), 12)
            answered += 1
        codes = {code for _, code, _ in told(attack.result())["t"]}
        assert codes == {NONE}
        assert answered > 5, "others have turns between its batches"


async def test_what_is_compressed_anew_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "_CHANGED_BYTES_MAX", 150)
    async with running() as broker:
        producer = Producer(broker)
        await producer.start()
        answer = told(await broker.ask(request_of(producer), 12))
        assert [code for _, code, _ in answer["plain"]] == [NONE, NONE, UNKNOWN, CORRUPT]
        assert answer["gzipped"][1][1] == ErrorCode.MESSAGE_TOO_LARGE
        assert await producer.end() is NONE
