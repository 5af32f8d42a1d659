"""Faults of a disk, as clients see them: nothing that was acknowledged is lost or comes twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import CorruptRecordException
from fencepost_broker import (
    Broker,
    DiskFull,
    FailingRead,
    FailingSync,
    FlippedBit,
    ReadOnlyDisk,
    SlowDisk,
    StateClock,
    TopicRefusedError,
    TornWrite,
)
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.logging import LazyLogs, Logs
from fencepost_broker.server.clock import wall_ms
from fencepost_broker.storage.disk.faults import DiskFault
from fencepost_client import Consumer, Producer
from fencepost_client import TopicPartition as FencepostPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.describe_log_dirs import DescribeLogDirsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
REFUSED = ErrorCode.KAFKA_STORAGE_ERROR
SYNCED = {"orders:1:flush.messages=1"}
"""A topic whose records are acknowledged when they are on the disk, even if that is memory."""


class Served:
    """A broker with a topic, and its log lines."""

    def __init__(self, topics: Any = ("orders:1",), **options: Any) -> None:
        self.lines = StringIO()
        levels = LogLevels("warning")
        logs = LazyLogs(lambda: Logs(self.lines, wall_ms, level="debug", as_json=False), levels)
        self.broker = Broker(topics=topics, logs=logs, **options)

    @property
    def told(self) -> str:
        """The log lines until now."""
        return self.lines.getvalue()


@asynccontextmanager
async def served(**options: Any) -> AsyncIterator[Served]:
    made = Served(**options)
    async with made.broker:
        yield made


async def values_in(bootstrap: str) -> list[bytes]:
    """What a consumer reads of the topic."""
    where = TopicPartition("orders", 0)
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap) as consumer:
        consumer.assign([where])
        end = (await consumer.end_offsets([where]))[where]
        consumer.seek(where, 0)
        found: list[bytes] = []
        while await consumer.position(where) < end:
            for batch in (await consumer.getmany(timeout_ms=1000)).values():
                found += [record.value for record in batch]
        return found


async def produced(client: Client, value: bytes, topic: str = "orders") -> ErrorCode:
    """One try to append: its error."""
    records = build_batch(None, [value], 1000)
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, records)])
    answer = await client.ask(ProduceRequest(None, -1, 30_000, [data]), 9)
    return ErrorCode(answer.responses[0].partition_responses[0].error_code)


async def read_errors(client: Client, topic: str) -> set[ErrorCode]:
    """The errors a consumer gets. Without them, it would take the records for gone."""
    fetch = FetchRequest(topics=[FetchTopic(topic, partitions=[FetchPartition(0)])])
    ends = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, [ListOffsetsPartition(0, -1, -1)])])
    epoch = OffsetForLeaderTopic(topic, [OffsetForLeaderPartition(0, -1, 0)])
    asked = OffsetForLeaderEpochRequest(-1, [epoch])
    return {
        ErrorCode((await client.ask(fetch, 12)).responses[0].partitions[0].error_code),
        ErrorCode((await client.ask(ends, 9)).topics[0].partitions[0].error_code),
        ErrorCode((await client.ask(asked, 4)).topics[0].partitions[0].error_code),
    }


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize(
    "fault",
    [
        DiskFull(topic="orders"),
        DiskFull(after_bytes=30),
        ReadOnlyDisk(topic="orders"),
        TornWrite(topic="orders", kept_bytes=40, times=None),
    ],
)
async def test_a_producer_that_tries_again_writes_each_record_once(
    fault: DiskFault, on_disk: bool, tmp_path: Path
) -> None:
    options = {"data_dir": tmp_path} if on_disk else {}
    async with (
        served(**options) as at,
        Producer(at.broker.bootstrap) as producer,
    ):
        await producer.send_and_wait("orders", b"before")
        loaded = at.broker.disk.add(fault)
        delivery = await producer.send("orders", b"42")
        await until(lambda: loaded.fired > 1)
        assert not delivery.done
        loaded.remove()
        assert (await delivery).offset == 1
        assert await values_in(at.broker.bootstrap) == [b"before", b"42"]
    assert fault.reason in at.told
    assert "orders-0" in at.told


async def test_a_full_disk_refuses_new_topics_until_there_is_room() -> None:
    async with served() as at:
        full = at.broker.disk.add(DiskFull())
        client = Client(at.broker.bootstrap)
        asked = CreateTopicsRequest(topics=[CreatableTopic("more", 1, 1)])
        assert (await client.ask(asked, 7)).topics[0].error_code == REFUSED
        full.remove()
        assert (await client.ask(asked, 7)).topics[0].error_code == 0
        await client.disconnect()


@pytest.mark.parametrize("hours", [-1, 0, 1])
async def test_a_partition_that_cannot_be_made_is_offline_until_there_is_room(hours: int) -> None:
    clock = StateClock(manual=True)
    async with served(clock=clock) as at, Client(at.broker.bootstrap) as client:
        full = at.broker.disk.add(DiskFull(topic="more"))
        at.broker.create_topic("more", 1)
        assert await produced(client, b"early", topic="more") == REFUSED
        assert await read_errors(client, "more") == {REFUSED}
        clock.jump(hours=hours)
        full.remove()
        clock.advance(ms=999)
        assert await produced(client, b"soon", topic="more") == REFUSED
        clock.advance(ms=1)
        assert await produced(client, b"there", topic="more") == 0
        assert await read_errors(client, "more") == {ErrorCode.NONE}
    assert "more-0 cannot be created; retrying" in at.told


@pytest.mark.parametrize("on_disk", [False, True])
async def test_a_slow_sync_delays_its_own_answers_only(on_disk: bool, tmp_path: Path) -> None:
    options = {"data_dir": tmp_path} if on_disk else {}
    async with (
        served(topics=SYNCED, **options) as at,
        Producer(at.broker.bootstrap) as producer,
    ):
        at.broker.create_topic("others", 1)
        await producer.send_and_wait("others", b"opened")
        slow = at.broker.disk.add(SlowDisk(topic="orders", sync_ms=600_000))
        delivery = await producer.send("orders", b"late")
        await until(lambda: slow.fired)
        async with Producer(at.broker.bootstrap) as another:
            await another.send_and_wait("others", b"at once")
        assert not delivery.done
        slow.remove()
        assert (await delivery).offset == 0


@pytest.mark.parametrize("on_disk", [False, True])
async def test_after_a_failed_sync_a_partition_is_offline_until_the_next_start(
    on_disk: bool, tmp_path: Path
) -> None:
    options = {"data_dir": tmp_path} if on_disk else {}
    async with served(topics=SYNCED, **options) as at:
        client = Client(at.broker.bootstrap)
        assert await produced(client, b"kept") == 0
        failing = at.broker.disk.add(FailingSync(topic="orders", times=1))
        assert await produced(client, b"unsure") == REFUSED
        failing.remove()
        assert await produced(client, b"refused") == REFUSED
        [folder] = (await client.ask(DescribeLogDirsRequest(None), 4)).results
        assert folder.error_code == REFUSED
        await client.disconnect()
        async with Producer(at.broker.bootstrap) as producer:
            refused = at.broker.stats()["errors"][REFUSED.name]
            delivery = await producer.send("orders", b"after")
            await until(lambda: at.broker.stats()["errors"][REFUSED.name] > refused)
            assert not delivery.done
            await at.broker.stop()
            await at.broker.start()
            await delivery
        assert [each for each in await values_in(at.broker.bootstrap) if each != b"unsure"] == [
            b"kept",
            b"after",
        ]
    assert "takes no records until the broker is started again" in at.told


@pytest.mark.parametrize("on_disk", [False, True])
async def test_what_was_acknowledged_survives_a_crash_in_a_write(
    on_disk: bool, tmp_path: Path
) -> None:
    options = {"data_dir": tmp_path} if on_disk else {}
    made = Served(**options)
    await made.broker.start()
    async with AIOKafkaProducer(
        bootstrap_servers=made.broker.bootstrap, enable_idempotence=True
    ) as producer:
        for number in range(3):
            await producer.send_and_wait("orders", b"%d" % number)
        torn = made.broker.disk.add(TornWrite(topic="orders", kept_bytes=50, crash=True))
        delivery = await producer.send("orders", b"3")
        await until(lambda: made.broker.failure)
        assert not await made.broker.stop(), "the stop of a crash is not clean"
        assert torn.fired == 1
        await made.broker.start()
        assert (await delivery).offset == 3
        assert await values_in(made.broker.bootstrap) == [b"0", b"1", b"2", b"3"]
    await made.broker.stop()
    assert "crash" in made.told
    assert "tail-truncated" in made.told


@pytest.mark.parametrize("kept_bytes", [0, 60])
@pytest.mark.parametrize("path", ["orders-0/*.log", "__transaction_state-*", "__cluster_metadata*"])
async def test_a_transaction_ends_once_whatever_a_crash_tears(path: str, kept_bytes: int) -> None:
    made = Served()
    await made.broker.start()
    async with Producer(made.broker.bootstrap, transactional_id="payments") as producer:
        async with producer.transaction() as transaction:
            await transaction.send("orders", b"1")
        made.broker.disk.add(TornWrite(path=path, kept_bytes=kept_bytes, crash=True))

        async def second() -> None:
            async with producer.transaction() as transaction:
                await transaction.send("orders", b"2")

        ending = asyncio.ensure_future(second())
        if path.startswith("__cluster"):
            with pytest.raises(TopicRefusedError):
                made.broker.create_topic("more", 1)
        await until(lambda: made.broker.failure)
        assert not await made.broker.stop()
        await made.broker.start()
        await ending
    async with Consumer(made.broker.bootstrap, isolation_level="read_committed") as consumer:
        consumer.assign([FencepostPartition("orders", 0)])
        consumer.seek_to_beginning(FencepostPartition("orders", 0))
        found: list[bytes | None] = []
        while len(found) < 2:
            found += [record.value for record in await consumer.getmany(timeout_ms=60_000)]
    assert found == [b"1", b"2"]
    await made.broker.stop()


async def test_a_consumer_finds_a_flipped_bit_by_the_crc() -> None:
    async with (
        served() as at,
        Producer(at.broker.bootstrap) as producer,
    ):
        for number in range(2):
            await producer.send_and_wait("orders", b"%d" % number)
        flipped = at.broker.disk.add(FlippedBit(topic="orders", partition=0, position=65))
        with pytest.raises(CorruptRecordException):
            await values_in(at.broker.bootstrap)
        assert flipped.fired
        flipped.remove()
        assert await values_in(at.broker.bootstrap) == [b"0", b"1"]


async def test_a_consumer_tries_again_what_cannot_be_read() -> None:
    async with (
        served() as at,
        Producer(at.broker.bootstrap) as producer,
    ):
        await producer.send_and_wait("orders", b"42")
        failing = at.broker.disk.add(FailingRead(topic="orders"))
        reading = asyncio.ensure_future(values_in(at.broker.bootstrap))
        await until(lambda: failing.fired > 1)
        assert not reading.done()
        failing.remove()
        assert await reading == [b"42"]


async def test_a_fault_can_be_there_before_the_broker_starts() -> None:
    made = Served()
    full = made.broker.disk.add(DiskFull(topic="orders"))
    async with made.broker:
        client = Client(made.broker.bootstrap)
        assert await produced(client, b"1") in (REFUSED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        full.remove()
        await client.disconnect()
