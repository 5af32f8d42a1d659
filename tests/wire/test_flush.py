"""Produce requests that wait for the disk: ``fsync=always``, ``flush.messages``, ``flush.ms``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker import Broker, StateClock
from fencepost_broker.storage.disk import files
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.describe_log_dirs import DescribeLogDirsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client
from tests.support.syncs import Syncs, controlled_syncs

pytestmark = pytest.mark.asyncio
ALWAYS = {"fsync": "always"}


def produce(*partitions: int, acks: int = -1, value: bytes = b"x") -> ProduceRequest:
    batches = [
        PartitionProduceData(number, bytes(build_batch(None, [value], 1000)))
        for number in partitions
    ]
    return ProduceRequest(acks=acks, topic_data=[TopicProduceData("t", partition_data=batches)])


@pytest.fixture
def syncs() -> Iterator[Syncs]:
    with controlled_syncs() as syncs:
        yield syncs


async def ask_produce(
    client: Client, *partitions: int, acks: int = -1
) -> list[PartitionProduceResponse]:
    answer = await client.ask(produce(*partitions, acks=acks), 9)
    answers: list[PartitionProduceResponse] = answer.responses[0].partition_responses
    return answers


async def still_waits(task: asyncio.Task[object], others: Client) -> bool:
    """Whether a request has no answer yet though another connection was served meanwhile."""
    await others.ask(MetadataRequest(topics=None), 9)
    return not task.done()


@pytest.mark.parametrize("acks", [-1, 1])
async def test_an_acknowledgement_waits_for_the_disk(
    tmp_path: Path, syncs: Syncs, acks: int
) -> None:
    async with (
        Broker(settings=ALWAYS, data_dir=tmp_path, topics={"t": 2}) as broker,
        Client(broker.bootstrap) as client,
        Client(broker.bootstrap) as others,
    ):
        syncs.may_go_on.clear()
        waiting = asyncio.ensure_future(ask_produce(client, 0, 1, acks=acks))
        assert await still_waits(waiting, others)
        syncs.may_go_on.set()
        assert [(each.error_code, each.base_offset) for each in await waiting] == [(0, 0), (0, 0)]
        assert syncs.count >= 2, "a file for each partition"
        assert [each.base_offset for each in await ask_produce(client, 0, acks=acks)] == [1]


async def test_who_asks_while_the_disk_is_busy_shares_the_next_flush(
    tmp_path: Path, syncs: Syncs
) -> None:
    async with Broker(settings=ALWAYS, data_dir=tmp_path, topics={"t": 1}) as broker:
        clients = [Client(broker.bootstrap) for _ in range(20)]
        others = Client(broker.bootstrap)
        await ask_produce(clients[0], 0)  # names are synced with the first flush
        syncs.may_go_on.clear()
        syncs.count = 0
        waiting = [asyncio.ensure_future(ask_produce(clients[0], 0))]
        assert await still_waits(waiting[0], others)
        waiting += [asyncio.ensure_future(ask_produce(client, 0)) for client in clients[1:]]
        while (await offset_behind(others, "t")) < 21:
            pass  # they arrive
        assert not any(task.done() for task in waiting)
        syncs.may_go_on.set()
        offsets = sorted([answer.base_offset for each in waiting for answer in await each])
        assert offsets == list(range(1, 21))
        assert syncs.count == 2
        for client in (*clients, others):
            await client.disconnect()


async def offset_behind(client: Client, topic: str) -> int:
    """Where a partition ends, flushed or not."""
    from fencepost_protocol.generated.list_offsets import (
        ListOffsetsPartition,
        ListOffsetsRequest,
        ListOffsetsTopic,
    )

    wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(0, timestamp=-1)])
    answer = await client.ask(ListOffsetsRequest(-1, topics=[wanted]), 7)
    return int(answer.topics[0].partitions[0].offset)


async def test_answers_of_a_connection_stay_in_order(tmp_path: Path, syncs: Syncs) -> None:
    async with (
        Broker(settings=ALWAYS, data_dir=tmp_path, topics={"t": 1}) as broker,
        Client(broker.bootstrap) as others,
    ):
        address = broker.addresses[0]
        reader, writer = await asyncio.open_connection(address.host, address.port)
        syncs.may_go_on.clear()
        writer.write(encode_request(produce(0), 9, 1, "test"))
        writer.write(encode_request(MetadataRequest(topics=None), 9, 2, "test"))
        writer.write(encode_request(produce(0, acks=0), 9, 3, "test"))
        writer.write(encode_request(produce(0), 9, 4, "test"))
        reading = asyncio.ensure_future(correlation_ids(reader, 3))
        assert await still_waits(reading, others)
        syncs.may_go_on.set()
        assert await reading == [1, 2, 4]
        assert await offset_behind(others, "t") == 3
        writer.close()
        await writer.wait_closed()


async def correlation_ids(reader: asyncio.StreamReader, count: int) -> list[int]:
    found = []
    for _ in range(count):
        size = int.from_bytes(await reader.readexactly(4))
        found.append(int.from_bytes((await reader.readexactly(size))[:4]))
    return found


async def test_a_sync_that_fails_is_a_storage_error(
    tmp_path: Path, syncs: Syncs, capsys: pytest.CaptureFixture[str]
) -> None:
    async with (
        Broker(settings=ALWAYS, data_dir=tmp_path, topics={"t": 2}) as broker,
        Client(broker.bootstrap) as client,
    ):
        await ask_produce(client, 0, 1)
        directory = (await client.ask(DescribeLogDirsRequest(None), 4)).results[0]
        assert directory.error_code == ErrorCode.NONE
        syncs.fails = True
        failed = (await ask_produce(client, 0))[0]
        assert failed.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        syncs.fails = False
        again, other = await ask_produce(client, 0, 1)
        assert again.error_code == ErrorCode.KAFKA_STORAGE_ERROR, "nobody knows what is on disk"
        assert other.error_code == ErrorCode.NONE
        directory = (await client.ask(DescribeLogDirsRequest(None), 4)).results[0]
        assert directory.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert [topic.name for topic in directory.topics] == ["t"]
    assert "this partition takes no records until the broker is started again" in (
        capsys.readouterr().err
    )
    async with (
        Broker(settings=ALWAYS, data_dir=tmp_path) as broker,
        Client(broker.bootstrap) as client,
    ):
        assert (await ask_produce(client, 0))[0].error_code == ErrorCode.NONE


async def test_every_so_many_records_one_waits(tmp_path: Path, syncs: Syncs) -> None:
    async with (
        Broker(data_dir=tmp_path, topics=["t:1:flush.messages=3"]) as broker,
        Client(broker.bootstrap) as client,
        Client(broker.bootstrap) as others,
    ):
        syncs.may_go_on.clear()
        for _ in range(2):
            assert not (await ask_produce(client, 0))[0].error_code
        waiting = asyncio.ensure_future(ask_produce(client, 0))
        assert await still_waits(waiting, others)
        syncs.may_go_on.set()
        assert (await waiting)[0].base_offset == 2


async def test_what_is_old_is_flushed_without_anybody_waiting(tmp_path: Path, syncs: Syncs) -> None:
    clock = StateClock(manual=True)
    topics = ["t:1:flush.ms=60000"]
    async with (
        Broker(data_dir=tmp_path, topics=topics, clock=clock) as broker,
        Client(broker.bootstrap) as client,
    ):
        await client.produce("t", 0, b"x", timestamp_ms=clock.now_ms())
        clock.advance(seconds=59)
        await client.ask(MetadataRequest(topics=None), 9)
        assert syncs.count == 0
        clock.advance(seconds=1)
        while not syncs.count:
            await client.ask(MetadataRequest(topics=None), 9)


async def test_decisions_are_on_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    sync = files._Sync.__call__

    def note(self: files._Sync) -> None:
        synced.append(self._path)
        sync(self)

    monkeypatch.setattr(files._Sync, "__call__", note)
    async with (
        Broker(settings=ALWAYS, data_dir=tmp_path) as broker,
        Client(broker.bootstrap) as client,
    ):
        synced.clear()
        await client.ask(CreateTopicsRequest(topics=[CreatableTopic("t", 1, 1)]), 7)
        assert any("__cluster_metadata-0" in path for path in synced)


async def test_in_memory_nothing_waits(syncs: Syncs) -> None:
    async with (
        Broker(settings=ALWAYS, topics={"t": 1}) as broker,
        Client(broker.bootstrap) as client,
    ):
        assert not (await ask_produce(client, 0))[0].error_code
        assert not syncs.threads


async def test_what_coordinators_decide_is_on_disk_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = files._Sync.__call__

    def note(self: files._Sync) -> None:
        synced.append(self._path)
        sync(self)

    monkeypatch.setattr(files._Sync, "__call__", note)
    async with (
        Broker(settings=ALWAYS, data_dir=tmp_path) as broker,
        Client(broker.bootstrap) as client,
    ):
        while True:  # the coordinator's topic is made when it is first asked for
            found = await client.ask(FindCoordinatorRequest("txn", 1), 3)
            answer = await client.ask(InitProducerIdRequest("txn", 60_000), 4)
            if not (found.error_code or answer.error_code):
                break
        assert any("__transaction_state" in path and path.endswith(".log") for path in synced)
