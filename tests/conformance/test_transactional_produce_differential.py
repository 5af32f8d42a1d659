"""Produce requests with batches of several kinds: Apache Kafka and ours refuse the same of them.

A transactional batch without a transactional id, or transactional batches of two producers, have
all of a request refused, whatever else is right or wrong with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import ATTRIBUTES_OFFSET
from fencepost_protocol.records.writer import build_batch

from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.broker import Client, running_broker

pytestmark = pytest.mark.conformance

Entry = tuple[str, int, bytes]
Case = tuple[str, int, int, Sequence[Entry]]
"""Transactional id, version, acks, and what is sent."""
NEW_TOPIC = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER)
COME_AGAIN = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)
STRANGER = 900


def plain(**more: Any) -> bytes:
    return bytes(build_batch(None, [b"x"], 1_700_000_000_000, **more))


def idempotent(producer_id: int, epoch: int = 0) -> bytes:
    return plain(producer_id=producer_id, producer_epoch=epoch, base_sequence=0)


def transactional(producer_id: int = STRANGER, epoch: int = 0, sequence: int = 0) -> bytes:
    return plain(
        producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence, transactional=True
    )


def changed(records: bytes, position: int, value: int) -> bytes:
    return records[:position] + bytes([value]) + records[position + 1 :]


def cases(producer_id: int, epoch: int) -> list[Case]:
    bad, good, mine = transactional(), ("t", 1, plain()), transactional(producer_id, epoch)
    old = changed(bad, ATTRIBUTES_OFFSET - 5, 1)
    beside: list[Entry] = [("nope", 0, plain()), ("t", 77, plain()), good]
    return [
        *(("", version, -1, [("t", 0, bad), good]) for version in (3, 7, 8, 9, 11, 12)),
        ("", 11, -1, [("nope", 0, bad), good]),
        ("", 11, -1, [("t", 99, bad), good]),
        ("", 11, -1, [("__consumer_offsets", 0, bad), good]),
        ("", 11, 2, [("t", 0, bad), good]),
        ("", 11, -1, [("t", 0, plain() + bad), good]),
        ("", 11, -1, [("t", 0, b"abc"), ("t", 1, bad)]),
        ("", 11, -1, [("t", 0, b""), ("t", 1, bad)]),
        ("", 11, -1, [("t", 0, changed(plain(), ATTRIBUTES_OFFSET - 5, 1)), ("t", 1, bad)]),
        ("", 11, -1, [("t", 0, old), good]),
        ("", 11, -1, [("t", 0, changed(bad, ATTRIBUTES_OFFSET - 1, 0)), good]),
        ("x", 11, -1, [("t", 0, plain()), good]),
        ("x", 12, -1, [("t", 1, mine), ("t", 0, plain())]),
        ("x", 12, -1, [("t", 2, mine), ("u", 0, idempotent(producer_id, epoch))]),
        ("x", 12, -1, [("u", 2, mine), ("t", 2, mine), ("nope", 0, mine)]),
        ("x", 12, -1, [("t", 0, mine), ("u", 1, bad), *beside]),
        ("x", 9, -1, [("t", 0, mine), ("u", 1, bad), *beside]),
        ("x", 12, 2, [("t", 0, mine), ("u", 1, bad), good]),
        ("x", 12, -1, [("t", 0, mine), ("u", 1, transactional(producer_id, epoch + 1)), good]),
        ("x", 12, -1, [("t", 0, mine), ("u", 1, bad[:70]), good]),
        ("x", 12, -1, [("t", 0, mine), ("u", 1, idempotent(STRANGER + 1)), good]),
        ("x", 12, -1, [("t", 0, mine), ("nope", 1, bad), good]),
        ("x", 12, -1, [("t", 0, mine), ("u", 1, transactional(-1, -1, -1)), good]),
        ("x", 9, -1, [("t", 0, transactional(producer_id, epoch, 1)), ("t", 2, bad)]),
        ("", 11, 0, [("t", 0, bad), good]),
        ("x", 11, 0, [("t", 0, mine), ("u", 1, bad), good]),
    ]


def request(case: Case) -> ProduceRequest:
    name, _, acks, entries = case
    topics: dict[str, TopicProduceData] = {}
    for topic, number, records in entries:
        data = topics.setdefault(topic, TopicProduceData(topic, partition_data=[]))
        data.partition_data.append(PartitionProduceData(number, records))
    return ProduceRequest(name or None, acks, 5000, list(topics.values()))


async def answer(client: Client, case: Case) -> Any:
    try:
        response = await client.ask(request(case), case[1])
    except asyncio.IncompleteReadError:
        await client.disconnect()
        return "closed"
    return sorted(
        (topic.name, each.index, ErrorCode(each.error_code).name, each.base_offset)
        for topic in response.responses
        for each in topic.partition_responses
    )


async def answers(client: Client) -> list[Any]:
    topics = [CreatableTopic(name, 3, 1) for name in ("t", "u")]
    await client.ask(CreateTopicsRequest(topics=topics), 5)
    for number in range(3):
        for topic in ("t", "u"):
            ready: Case = ("", 11, -1, [(topic, number, plain())])
            while (await answer(client, ready))[0][2] in [code.name for code in NEW_TOPIC]:
                pass
    for kind in (0, 1):
        await client.ask(FindCoordinatorRequest("x", kind), 3)
    while (producer := await client.ask(InitProducerIdRequest("x", 60_000), 4)).error_code:
        assert producer.error_code in COME_AGAIN
    return [
        await answer(client, case) for case in cases(producer.producer_id, producer.producer_epoch)
    ]


async def ours() -> list[Any]:
    async with running_broker() as broker:
        return await answers(broker)


async def theirs(bootstrap: str) -> list[Any]:
    async with Client(bootstrap) as client:
        return await answers(client)


def test_the_same_is_refused() -> None:
    try:
        with ApacheKafka() as kafka:
            expected = asyncio.run(theirs(kafka.bootstrap))
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    for case, told, found in zip(cases(0, 0), expected, asyncio.run(ours()), strict=True):
        assert found == told, [entry[:2] for entry in case[3]]
