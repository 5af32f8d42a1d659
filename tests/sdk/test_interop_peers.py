"""Beside Java's clients and librdkafka: records, partitions and offsets of one are the other's.

Java's are Apache Kafka's console tools, librdkafka's is kcat. Groups in which members of several
clients share partitions are in conformance/test_mixed_groups.py.
"""

from __future__ import annotations

import asyncio
import shutil
import zlib
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from typing import Final, NamedTuple

import pytest
from fencepost_client import Consumer, OffsetAndMetadata, Producer, TopicPartition

from tests.sdk.harness.producer import create
from tests.support.apache_kafka import run_tool

pytestmark = [pytest.mark.asyncio, pytest.mark.slow, pytest.mark.conformance]
needs_kcat = pytest.mark.skipif(
    shutil.which("kcat") is None, reason="needs kcat (apt-get install kcat)"
)
PARTITIONS: Final = 4
KEYS: Final = [b"key-%d" % number for number in range(20)]
LINES: Final = "".join(f"{key.decode()}\tvalue of {key.decode()}\n" for key in KEYS)
PRODUCER: Final = "org.apache.kafka.tools.ConsoleProducer"
CONSUMER: Final = "org.apache.kafka.tools.consumer.ConsoleConsumer"


class Seen(NamedTuple):
    """A record, as everybody can print it."""

    partition: int
    offset: int
    key: str
    value: str


async def ours_writes(bootstrap: str, topic: str, **options: object) -> dict[str, int]:
    """One record for each key; the partition of each."""
    async with Producer(bootstrap, **options) as producer:  # type: ignore[arg-type]
        return {
            key.decode(): (
                await producer.send_and_wait(
                    topic, b"value of " + key, key=key, headers=[("from", b"ours")]
                )
            ).partition
            for key in KEYS
        }


async def ours_reads(bootstrap: str, topic: str, count: int) -> list[Seen]:
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign(TopicPartition(topic, number) for number in range(PARTITIONS))
        found: list[Seen] = []
        while len(found) < count:
            for each in await consumer.getmany(timeout_ms=1000):
                assert each.key is not None
                assert each.value is not None
                key, value = each.key.decode(), each.value.decode()
                found.append(Seen(each.partition, each.offset, key, value))
    return sorted(found)


async def java(tool: str, bootstrap: str, topic: str, *words: str, given: str = "") -> list[str]:
    command = ("--bootstrap-server", bootstrap, "--topic", topic, *words)
    return (await asyncio.to_thread(run_tool, tool, *command, given=given)).splitlines()


async def java_reads(bootstrap: str, topic: str, count: int, *words: str) -> list[Seen]:
    shown = [f"print.{what}=true" for what in ("partition", "offset", "key")]
    options = [word for each in shown for word in ("--formatter-property", each)]
    lines = await java(CONSUMER, bootstrap, topic, "--max-messages", str(count), *options, *words)
    return sorted(seen_by_java(line) for line in lines if line.startswith("Partition:"))


def seen_by_java(line: str) -> Seen:
    partition, offset, key, value = line.split("\t")
    return Seen(int(partition.partition(":")[2]), int(offset.partition(":")[2]), key, value)


async def kcat(bootstrap: str, *words: str, given: str = "") -> str:
    process = await asyncio.create_subprocess_exec(
        "kcat", "-b", bootstrap, *words, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    out, err = await process.communicate(given.encode())
    assert process.returncode == 0, err
    return out.decode()


async def kcat_reads(bootstrap: str, *words: str) -> list[Seen]:
    """What it prints of what it reads; ``words`` say what."""
    lines = (await kcat(bootstrap, *words, "-f", r"%p %o %k %s\n")).splitlines()
    rows = (line.split(" ", 3) for line in lines if line[:1].isdigit())
    return sorted(Seen(int(p), int(o), key, value) for p, o, key, value in rows)


def partitions_of(found: Sequence[Seen]) -> dict[str, int]:
    return {each.key: each.partition for each in found}


# -- records and partitions --------------------------------------------------------------------


@pytest.mark.long_on_kafka
async def test_java_reads_and_writes_the_same_records(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic, PARTITIONS)
    placed = await ours_writes(bootstrap, topic, compression="gzip")
    read = await java_reads(bootstrap, topic, len(KEYS), "--from-beginning")
    assert read == await ours_reads(bootstrap, topic, len(KEYS))
    assert partitions_of(read) == placed
    words = ("--reader-property", "parse.key=true", "--compression-codec", "lz4")
    await java(PRODUCER, bootstrap, topic, *words, given=LINES)
    both = await ours_reads(bootstrap, topic, 2 * len(KEYS))
    assert partitions_of([each for each in both if each not in read]) == placed, "murmur2"


def by_crc32(topic: str, key: bytes, partition_count: int) -> int:
    """librdkafka's own: what its programs have where nobody chose another one."""
    del topic
    return zlib.crc32(key) % partition_count


@needs_kcat
@pytest.mark.parametrize("partitioner", ["murmur2_random", "consistent_random"])
async def test_librdkafka_reads_and_writes_the_same_records(
    bootstrap: str, topic: str, partitioner: str
) -> None:
    await create(bootstrap, topic, PARTITIONS)
    options = {} if partitioner == "murmur2_random" else {"partitioner": by_crc32}
    placed = await ours_writes(bootstrap, topic, compression="snappy", **options)
    read = await kcat_reads(bootstrap, "-C", "-t", topic, "-e", "-o", "beginning")
    assert read == await ours_reads(bootstrap, topic, len(KEYS))
    assert partitions_of(read) == placed
    words = ("-P", "-t", topic, "-K", "\t", "-z", "lz4", "-X", f"partitioner={partitioner}")
    await kcat(bootstrap, *words, given=LINES)
    both = await ours_reads(bootstrap, topic, 2 * len(KEYS))
    assert partitions_of([each for each in both if each not in read]) == placed


# -- offsets -----------------------------------------------------------------------------------


async def ours_goes_on(bootstrap: str, topic: str, count: int) -> list[str | None]:
    """So many values as a member of the group, which it commits."""
    found: list[str | None] = []
    async with Consumer(
        bootstrap, group_id=topic, auto_offset_reset="earliest", enable_auto_commit=False
    ) as consumer:
        consumer.subscribe([topic])
        while len(found) < count:
            records = await consumer.getmany(timeout_ms=1000, max_records=count - len(found))
            found += [each.value.decode() for each in records if each.value is not None]
        await consumer.commit()
    return found


async def numbered(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap) as producer:
        await producer.send_many(topic, [b"%d" % number for number in range(9)])


@pytest.mark.long_on_kafka
async def test_offsets_that_java_has_committed_are_gone_on_from_and_the_reverse(
    bootstrap: str, topic: str
) -> None:
    await numbered(bootstrap, topic)
    words = ("--group", topic, "--from-beginning", "--max-messages", "3")
    assert await java(CONSUMER, bootstrap, topic, *words) == ["0", "1", "2"]
    assert await ours_goes_on(bootstrap, topic, 3) == ["3", "4", "5"]
    assert await java(CONSUMER, bootstrap, topic, *words) == ["6", "7", "8"]


@needs_kcat
async def test_offsets_that_librdkafka_has_committed_are_gone_on_from_and_the_reverse(
    bootstrap: str, topic: str
) -> None:
    await numbered(bootstrap, topic)
    words = ("-X", "auto.offset.reset=earliest", "-c", "3", "-G", topic, topic)
    assert await kcat(bootstrap, "-q", *words) == "0\n1\n2\n"
    assert await ours_goes_on(bootstrap, topic, 3) == ["3", "4", "5"]
    assert await kcat(bootstrap, "-q", *words) == "6\n7\n8\n"


@needs_kcat
async def test_offsets_of_a_transaction_are_gone_on_from(bootstrap: str, topic: str) -> None:
    await numbered(bootstrap, topic)
    async with (
        Producer(bootstrap, transactional_id=topic) as producer,
        Consumer(bootstrap, group_id=topic) as consumer,
        producer.transaction() as transaction,
    ):
        offsets = {TopicPartition(topic, 0): OffsetAndMetadata(6, "ours")}
        await transaction.send_offsets(offsets, consumer.group_metadata())
    words = ("-X", "auto.offset.reset=earliest", "-c", "3", "-G", topic, topic)
    assert await kcat(bootstrap, "-q", *words) == "6\n7\n8\n"
