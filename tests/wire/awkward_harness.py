"""Clients that read a partition as `fencepost topics make-awkward` describes it."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import confluent_kafka
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as OfAiokafka
from fencepost_client import Consumer, TopicPartition

READ_S = 60.0
ISOLATION = ("read_uncommitted", "read_committed")

Read = tuple[int, int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]
"""Offset, timestamp, key, value and headers of a record."""
Reader = Callable[[str, dict[str, int], str], Awaitable[dict[str, list[Read]]]]
"""Reads topics, each to an end offset, with an isolation level."""


def described(path: Path) -> list[dict[str, Any]]:
    """The topics of the file that the command has written."""
    topics: list[dict[str, Any]] = json.loads(path.read_text())["topics"]
    return topics


def expected(topic: dict[str, Any], isolation: str) -> list[Read]:
    return [
        (
            each["offset"],
            each["timestamp"],
            _bytes(each["key"]),
            _bytes(each["value"]),
            tuple((header["key"], _bytes(header["value"])) for header in each["headers"]),
        )
        for each in topic["records"]
        if isolation == "read_uncommitted" or not each["aborted"]
    ]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


async def check(bootstrap: str, topics: list[dict[str, Any]]) -> None:
    """Every client reads exactly what is described, with both isolation levels."""
    ends = {each["topic"]: each["end_offset"] for each in topics}
    for isolation in ISOLATION:
        for reader in READERS:
            found = await reader(bootstrap, ends, isolation)
            for topic in topics:
                wanted, read = expected(topic, isolation), found[topic["topic"]]
                name = f"{reader.__name__} of {topic['topic']}, {isolation}"
                assert [each[:2] for each in read] == [each[:2] for each in wanted], name
                assert read == wanted, name


async def ours(bootstrap: str, ends: dict[str, int], isolation: Any) -> dict[str, list[Read]]:
    found: dict[str, list[Read]] = {topic: [] for topic in ends}
    async with (
        asyncio.timeout(READ_S),
        Consumer(bootstrap, auto_offset_reset="earliest", isolation_level=isolation) as consumer,
    ):
        partitions = [TopicPartition(topic, 0) for topic in ends]
        consumer.assign(partitions)
        while any([await consumer.position(each) < ends[each.topic] for each in partitions]):
            for each in await consumer.getmany(timeout_ms=100):
                headers = tuple((key, value) for key, value in each.headers)
                read = (each.offset, each.timestamp_ms, each.key, each.value, headers)
                found[each.topic].append(read)
    return found


async def aiokafka(bootstrap: str, ends: dict[str, int], isolation: str) -> dict[str, list[Read]]:
    found: dict[str, list[Read]] = {topic: [] for topic in ends}
    partitions = [OfAiokafka(topic, 0) for topic in ends]
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, auto_offset_reset="earliest", isolation_level=isolation
    )
    await consumer.start()
    try:
        consumer.assign(partitions)
        async with asyncio.timeout(READ_S):
            while any([await consumer.position(each) < ends[each.topic] for each in partitions]):
                for partition, records in (await consumer.getmany(timeout_ms=100)).items():
                    found[partition.topic] += [
                        (each.offset, each.timestamp, each.key, each.value, tuple(each.headers))
                        for each in records
                    ]
    finally:
        await consumer.stop()
    return found


async def librdkafka(bootstrap: str, ends: dict[str, int], isolation: str) -> dict[str, list[Read]]:
    return await asyncio.to_thread(_librdkafka, bootstrap, ends, isolation)


def _librdkafka(bootstrap: str, ends: dict[str, int], isolation: str) -> dict[str, list[Read]]:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
        }
    )
    found: dict[str, list[Read]] = {topic: [] for topic in ends}
    unread = set(ends)
    try:
        beginning = confluent_kafka.OFFSET_BEGINNING
        consumer.assign([confluent_kafka.TopicPartition(each, 0, beginning) for each in ends])
        while unread:
            message = consumer.poll(READ_S)
            assert message is not None
            if message.error():
                assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
                unread.discard(message.topic())
                continue
            headers = tuple(message.headers() or ())
            time_ms = message.timestamp()[1]
            read = (message.offset(), time_ms, message.key(), message.value(), headers)
            found[message.topic()].append(read)
    finally:
        consumer.close()
    return found


READERS: list[Reader] = [ours, aiokafka, librdkafka]
