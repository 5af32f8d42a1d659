"""Snapshots of a running broker: going back to one, resetting, and a second broker from one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import pytest_asyncio
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from fencepost_broker import Broker, Snapshot, StateClock, StorageError
from fencepost_broker import blocking as blocking_broker
from fencepost_client import Producer
from fencepost_client.blocking import Consumer as BlockingConsumer
from fencepost_client.blocking import Producer as BlockingProducer
from fencepost_client.errors import KafkaError
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic

from tests.support.broker import Client
from tests.support.waiting import asked_until, until
from tests.wire.snapshot_harness import LONG_MS, T, end_offset, read, write
from tests.wire.transaction_harness import Producer as ManualProducer
from tests.wire.transaction_harness import stable_offset, state_of, until_state

DAY_MS = 86_400_000


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[Broker]:
    async with Broker(topics={"t": 1}, log_level="error") as broker:
        yield broker


@pytest.mark.asyncio
async def test_what_was_written_later_is_gone(broker: Broker) -> None:
    await write(broker, b"one", b"two")
    snapshot = broker.snapshot()
    before = broker.bootstrap
    await write(broker, b"three")
    broker.create_topic("u")
    await broker.restore(snapshot)
    assert broker.bootstrap == before
    assert await read(broker, 2) == [b"one", b"two"]
    assert broker.stats()["topics"].keys() == {"t"}
    await write(broker, b"other")
    assert await read(broker, 3) == [b"one", b"two", b"other"]
    await broker.restore(snapshot)
    assert await read(broker, 2) == [b"one", b"two"], "a snapshot never changes"


@pytest.mark.asyncio
async def test_clients_connect_again_and_continue(broker: Broker) -> None:
    """Clients of two kinds, which were connected when the broker was restored."""
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap, enable_idempotence=True)
    given: dict[str, Any] = {"group_id": "g", "auto_offset_reset": "earliest"}
    consumer = AIOKafkaConsumer("t", bootstrap_servers=broker.bootstrap, **given)
    async with producer, consumer, Producer(broker.bootstrap) as ours:
        await producer.send_and_wait("t", b"one")
        await ours.send("t", b"two")
        assert [(await consumer.getone()).value for _ in range(2)] == [b"one", b"two"]
        await consumer.commit()
        snapshot = broker.snapshot()
        await producer.send_and_wait("t", b"lost")
        assert (await consumer.getone()).value == b"lost"
        await broker.restore(snapshot)
        assert (await (await ours.send("t", b"three"))).offset == 2
        # It is at offset 3, where the log ends.
        await write(broker, b"four")
        assert (await consumer.getone()).value == b"four"
    second = AIOKafkaConsumer("t", bootstrap_servers=broker.bootstrap, **given)
    async with second:
        committed = await second.committed(next(iter(second.assignment())))
        assert committed in (2, 4), "of the snapshot, or by the first one when it closed"


@pytest.mark.asyncio
async def test_a_fetch_that_waits_ends_with_its_connection(broker: Broker) -> None:
    snapshot = broker.snapshot()
    async with Client(broker.bootstrap) as client:
        partition = FetchPartition(0, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=LONG_MS, min_bytes=1, topics=[FetchTopic("t", partitions=[partition])]
        )
        waiting = asyncio.ensure_future(client.ask(request, 11))
        await until(lambda: broker.stats()["connections"]["parked_requests"])
        await broker.restore(snapshot)
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await waiting
    assert broker.stats()["connections"]["open"] == 0
    assert await read(broker, 0) == []


@pytest.mark.asyncio
async def test_idle_connections_can_be_kept(broker: Broker) -> None:
    async with Client(broker.bootstrap) as idle, Client(broker.bootstrap) as waiting:
        await idle.produce("t", 0, b"one")
        snapshot = broker.snapshot()
        await idle.produce("t", 0, b"two")
        partition = FetchPartition(0, fetch_offset=2, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=LONG_MS, min_bytes=1, topics=[FetchTopic("t", partitions=[partition])]
        )
        parked = asyncio.ensure_future(waiting.ask(request, 11))
        await until(lambda: broker.stats()["connections"]["parked_requests"])
        await broker.restore(snapshot, connections="keep")
        assert await end_offset(idle) == 1, "the same connection, the state of before"
        assert await idle.produce("t", 0, b"three") == 1
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await parked
        with pytest.raises(ValueError, match='it is "close" or "keep"'):
            await broker.restore(snapshot, connections="maybe")  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_an_open_transaction_is_open_again(broker: Broker) -> None:
    async with Client(broker.bootstrap) as client:
        producer = ManualProducer(client)
        await producer.start()
        assert await producer.send() is ErrorCode.NONE
        snapshot = broker.snapshot()
        assert await producer.end() is ErrorCode.NONE
        await until_state(client, "CompleteCommit")
    at_snapshot = producer.id, producer.epoch - 1
    for outcome in ("commit", "abort"):
        await broker.restore(snapshot)
        async with Client(broker.bootstrap) as client:
            await until_state(client, "Ongoing")
            assert await stable_offset(client) == 0
            explained = broker.explain_partition("t", 0)
            assert explained is not None
            assert explained.holder is not None
            assert explained.holder.transactional_id == "a"
            again = ManualProducer(client)
            again.id, again.epoch = at_snapshot
            again.sequences["t", 0] = 1
            assert await again.send() is ErrorCode.NONE, "its sequence is known"
            assert await again.end(outcome) is ErrorCode.NONE
            await until_state(client, f"Complete{outcome.title()}")
            assert await stable_offset(client) == 3


@pytest.mark.asyncio
async def test_held_markers_are_sent_after_going_back(broker: Broker) -> None:
    async with Client(broker.bootstrap) as client:
        producer = ManualProducer(client)
        await producer.start()
        hold = broker.hold_markers()
        await producer.send()
        await producer.end()
        assert await state_of(client) == "PrepareCommit"
        snapshot = broker.snapshot()
    await broker.restore(snapshot)
    async with Client(broker.bootstrap) as client:
        await until_state(client, "CompleteCommit")
        hold.release()
        assert await stable_offset(client) == 2


@pytest.mark.asyncio
async def test_members_come_back_and_time_out() -> None:
    clock = StateClock(manual=True)
    async with Broker(topics={"t": 1}, clock=clock, log_level="error") as broker:
        async with AIOKafkaConsumer("t", bootstrap_servers=broker.bootstrap, group_id="g"):
            await until_group_is(broker, "Stable")
            snapshot = broker.snapshot()
        await until_group_is(broker, "Empty")
        await broker.restore(snapshot)
        await until_group_is(broker, "Stable")
        clock.advance(minutes=10)
        await until_group_is(broker, "Dead")


async def until_group_is(broker: Broker, state: str) -> None:
    async with Client(broker.bootstrap) as client:

        async def is_so() -> bool:
            groups = (await client.ask(DescribeGroupsRequest(["g"]), 5)).groups
            return [str(each.group_state) for each in groups] == [state]

        await asked_until(is_so)


@pytest.mark.asyncio
async def test_reset() -> None:
    async with Broker(topics=["t:2:retention.ms=5000"], clock="manual") as broker:
        before, start_ms = broker.bootstrap, broker.clock.now_ms()
        for _ in range(3):
            await write(broker, b"one")
            broker.create_topic("u")
            broker.clock.advance(days=1)
            await broker.reset()
            assert broker.bootstrap == before
            assert broker.clock.now_ms() == start_ms
            assert {name: each["log_bytes"] for name, each in broker.stats()["topics"].items()} == {
                "t": 0
            }
        await broker.stop()
        await broker.start()
        await write(broker, b"one")
        assert await read(broker, 1) == [b"one"]


@pytest.mark.asyncio
async def test_a_clock_that_runs_goes_on() -> None:
    async with Broker() as broker:
        broker.clock.advance(days=1)
        snapshot = broker.snapshot()
        broker.clock.advance(days=3)
        before_ms = broker.clock.now_ms()
        await broker.restore(snapshot)
        assert before_ms - 3 * DAY_MS <= broker.clock.now_ms() < before_ms - 2 * DAY_MS
        broker.clock.pause()
        paused = broker.snapshot()
        broker.clock.resume()
        broker.clock.advance(days=5)
        await broker.restore(paused)
        assert before_ms - 3 * DAY_MS <= broker.clock.now_ms() < before_ms - 2 * DAY_MS


@pytest.mark.asyncio
async def test_a_clock_that_brokers_share_is_not_set() -> None:
    clock = StateClock(manual=True)
    async with Broker(clock=clock) as broker, Broker(clock=clock):
        clock.advance(days=1)
        before_ms = clock.now_ms()
        await broker.reset()
        assert clock.now_ms() == before_ms


@pytest.mark.asyncio
async def test_a_fork_has_the_state_and_nothing_else_in_common(broker: Broker) -> None:
    await write(broker, b"one")
    async with broker.fork() as other:
        assert other.bootstrap != broker.bootstrap
        await write(broker, b"two")
        await write(other, b"three")
        assert await read(broker, 2) == [b"one", b"two"]
        assert await read(other, 2) == [b"one", b"three"]
        await other.reset()
        assert await read(other, 1) == [b"one"], "as it started"
        async with broker.fork(other.snapshot()) as third:
            assert await read(third, 1) == [b"one"]


@pytest.mark.asyncio
async def test_a_fork_has_its_own_control_port() -> None:
    async with Broker(control=0) as broker, broker.fork() as other:
        assert broker.control
        assert other.control
        assert other.control != broker.control


@pytest.mark.asyncio
async def test_the_control_port_and_fault_rules_continue_with_the_restored_state() -> None:
    async with Broker(control=0, topics={"t": 1}) as broker:

        def topics() -> list[str]:
            with urlopen(f"http://{broker.control}/v1/topics") as answer:
                return [each["name"] for each in json.load(answer)["topics"]]

        snapshot = broker.snapshot()
        broker.create_topic("u")
        assert await asyncio.to_thread(topics) == ["t", "u"]
        await broker.restore(snapshot)
        assert await asyncio.to_thread(topics) == ["t"]
        fault = broker.faults.error("LEADER_NOT_AVAILABLE", api="ListOffsets", topic="t", times=1)
        await broker.restore(snapshot)
        async with Client(broker.bootstrap) as client:
            assert await end_offset(client) == -1
            assert await end_offset(client) == 0
        assert fault.fired == 1
        await broker.reset()
        assert broker.faults.list() == []


@pytest.mark.asyncio
async def test_a_fork_has_its_own_clock() -> None:
    async with Broker(clock="manual", topics={"t": 1}) as broker:
        broker.clock.advance(days=2)
        async with broker.fork() as other:
            assert other.clock.now_ms() == broker.clock.now_ms()
            other.clock.advance(days=1)
            assert other.clock.now_ms() == broker.clock.now_ms() + DAY_MS


@pytest.mark.asyncio
async def test_names(broker: Broker) -> None:
    made = broker.snapshot("empty")
    assert (made.name, broker.snapshots) == ("empty", {"empty": made})
    await write(broker, b"one")
    broker.snapshot("one")
    await broker.restore("empty")
    assert await read(broker, 0) == []
    async with broker.fork("one") as other:
        assert await read(other, 1) == [b"one"]
    with pytest.raises(KeyError, match="there is no snapshot 'two'; there is 'empty', 'one'"):
        await broker.restore("two")


@pytest.mark.asyncio
async def test_users_and_their_passwords_are_state() -> None:
    async with Broker(users={"alice": "secret"}, topics={"t": 1}) as broker:
        login: dict[str, Any] = {
            "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SCRAM-SHA-256",
            "sasl_plain_username": "alice", "sasl_plain_password": "secret",
        }  # fmt: skip
        for _ in range(2):
            async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap, **login) as producer:
                assert (await producer.send_and_wait("t", b"one")).offset == 0
            await broker.reset()


@pytest.mark.asyncio
async def test_a_damaged_snapshot_changes_nothing(broker: Broker) -> None:
    await write(broker, b"one")
    disk = broker.snapshot().disk()
    disk.write("meta.properties", b"version=1\nnode.id=7\n", durable=True)
    damaged = Snapshot(disk, broker.clock.position)
    with pytest.raises(StorageError, match=r"it has no cluster\.id"):
        await broker.restore(damaged)
    disk.write("meta.properties", b"version=1\ncluster.id=x\nnode.id=7\n", durable=True)
    with pytest.raises(StorageError, match=r"belongs to node\.id 7, not 1"):
        await broker.restore(damaged)
    assert await read(broker, 1) == [b"one"]
    await write(broker, b"two")


@pytest.mark.asyncio
async def test_a_metadata_log_that_cannot_be_read_changes_nothing(broker: Broker) -> None:
    await write(broker, b"one")
    disk = broker.snapshot().disk()
    [path] = [path for path, _ in disk.walk() if path.endswith(".log") and "metadata" in path]
    data = bytearray(disk.read(path) or b"")
    data[200] ^= 1
    disk.write(path, data, durable=True)
    with pytest.raises(StorageError):
        await broker.restore(Snapshot(disk, broker.clock.position))
    assert await read(broker, 1) == [b"one"]


@pytest.mark.asyncio
async def test_who_has_no_snapshots(tmp_path: Path) -> None:
    broker = Broker(data_dir=tmp_path)
    with pytest.raises(RuntimeError, match="not running"):
        broker.snapshot()
    async with broker:
        with pytest.raises(RuntimeError, match=r"use Snapshot\.from_data_dir"):
            broker.snapshot()
        with pytest.raises(RuntimeError, match=r"use Snapshot\.from_data_dir"):
            await broker.reset()
    given = {
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
        "controller.listener.names": "CONTROLLER",
    }
    async with Broker(settings=given) as combined:
        with pytest.raises(RuntimeError, match="part of a cluster"):
            combined.snapshot()


@pytest.mark.asyncio
async def test_memory_is_given_back(broker: Broker) -> None:
    await write(broker, *[bytes(10_000)] * 10)
    snapshot = broker.snapshot()
    budget = snapshot.disk().budget
    used = []
    for _ in range(5):
        await write(broker, *[bytes(500_000)] * 10)
        await broker.restore(snapshot)
        used.append(budget.used_bytes)
    assert max(used) - min(used) < 100_000, used


def test_in_a_blocking_program() -> None:
    with blocking_broker.Broker(topics={"t": 1}) as broker:
        blocking_write(broker, b"one")
        snapshot = broker.snapshot("one")
        blocking_write(broker, b"two")
        with broker.fork(snapshot) as other:
            assert blocking_read(other, 1) == [b"one"]
        broker.restore("one")
        blocking_write(broker, b"three")
        assert blocking_read(broker, 2) == [b"one", b"three"]
        broker.reset()
        assert broker.stats()["topics"]["t"]["log_bytes"] == 0
        assert broker.snapshots == {"one": snapshot}


def blocking_write(broker: blocking_broker.Broker, value: bytes) -> None:
    with BlockingProducer(broker.bootstrap) as producer:
        producer.send("t", value).result()


def test_a_producer_whose_records_are_gone_is_told_so() -> None:
    with (
        blocking_broker.Broker(topics={"t": 1}) as broker,
        BlockingProducer(broker.bootstrap) as producer,
    ):
        producer.send("t", b"one").result()
        snapshot = broker.snapshot()
        producer.send("t", b"two").result()
        broker.restore(snapshot)
        with pytest.raises(KafkaError, match="OUT_OF_ORDER_SEQUENCE_NUMBER"):
            producer.send("t", b"three").result()


def blocking_read(broker: blocking_broker.Broker, count: int) -> list[bytes | None]:
    with BlockingConsumer(broker.bootstrap) as consumer:
        consumer.assign([T])
        consumer.seek_to_beginning(T)
        found: list[bytes | None] = []
        while len(found) < count:
            found += [record.value for record in consumer.getmany(timeout_ms=LONG_MS)]
        return found


@pytest.mark.asyncio
async def test_clients_that_never_pause(broker: Broker, capfd: pytest.CaptureFixture[str]) -> None:
    """The broker goes back again and again while clients connect and ask."""
    snapshot, answered, is_over = broker.snapshot(), 0, False

    async def ask_on_and_on(number: int) -> None:
        nonlocal answered
        while not is_over:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                async with Client(broker.bootstrap, f"client-{number}") as client:
                    while not is_over:
                        await client.produce("t", 0, b"x" * 1000 * number)
                        await end_offset(client)
                        answered += 1

    clients = [asyncio.ensure_future(ask_on_and_on(number)) for number in range(6)]
    for turn in range(20):
        wanted = answered + 10

        def is_answered(wanted: int = wanted) -> bool:
            return answered >= wanted

        await until(is_answered)
        await broker.restore(snapshot, "keep" if turn % 2 else "close")
    is_over = True
    await asyncio.gather(*clients)
    await broker.restore(snapshot)
    assert await read(broker, 0) == []
    printed = capfd.readouterr()
    assert "bug" not in printed.err, printed.err
    assert "rror" not in printed.err, printed.err
