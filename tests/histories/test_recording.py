"""Histories that our clients write of a real broker: right ones, and one of a broker that lies."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.blocking import Broker as EmbeddedBroker
from fencepost_broker.server.faults import Fault
from fencepost_client import Consumer, History, KafkaError, Producer, TopicPartition
from fencepost_client.blocking import Consumer as BlockingConsumer
from fencepost_client.blocking import Producer as BlockingProducer
from fencepost_client.histories import Kind, Operation, Report, Transform, check, read_files

from tests.support.waiting import asked_until

ORDERS = [TopicPartition("orders", each) for each in range(2)]


def judge(path: Path, transform: Transform | None = None) -> Report:
    return check(read_files([path]), transform=transform)


def lines(path: Path) -> list[Operation]:
    return list(read_files([path]))


async def read_all(consumer: Consumer, count: int) -> None:
    seen = 0

    async def enough() -> bool:
        nonlocal seen
        seen += len(await consumer.getmany(timeout_ms=100))
        return seen >= count

    await asked_until(enough)


async def write(broker: Broker, history: History, name: str) -> None:
    async with Producer(broker.bootstrap, transactional_id=name, history=history) as producer:
        for number in range(20):
            producer.begin()
            for each in range(3):
                value = f"{name}-{number}-{each}".encode()
                await producer.send("orders", value, partition=each % 2)
            if number % 4 == 3:
                await producer.flush()
                await producer.abort()
            else:
                await producer.commit()


@pytest.mark.asyncio
async def test_two_transactional_writers_and_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with History(path) as history:
        async with Broker(topics={"orders": 2}) as broker:
            await asyncio.gather(*(write(broker, history, name) for name in ("a", "b")))
            for isolation in ("read_committed", "read_uncommitted"):
                async with Consumer(
                    broker.bootstrap,
                    isolation_level=isolation,
                    auto_offset_reset="earliest",
                    history=history,
                ) as consumer:
                    consumer.assign(ORDERS)
                    await read_all(consumer, 90 if isolation == "read_committed" else 120)
    report = judge(path)
    assert report.failed == []
    assert report.transactions == 40
    sends = [each for each in lines(path) if each.op == "send" and each.type == "ok"]
    assert sum(len(each.offsets) for each in sends) >= 90
    # Only what it looked like to the reader that saw aborted records.
    kinds = {kind for kind in report.tallies if kind not in (Kind.G0, Kind.UNSEEN_WRITE)}
    assert kinds <= {Kind.G1A}
    assert report.tallies[Kind.G1A].expected > 0


@pytest.mark.asyncio
async def test_a_program_that_processes_exactly_once(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with History(path) as history:
        async with Broker(topics={"orders": 1, "invoices": 1}) as broker:
            async with Producer(broker.bootstrap, history=history) as producer:
                await producer.send_many("orders", [b"%d" % each for each in range(30)])
            async with Consumer(
                broker.bootstrap,
                group_id="billing",
                isolation_level="read_committed",
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                max_poll_records=7,
                history=history,
            ) as consumer:
                consumer.subscribe(["orders"])
                worker = Producer.transactional("billing", consumer=consumer, history=history)
                done = 0

                async def some() -> bool:
                    nonlocal done
                    records = await consumer.getmany(timeout_ms=1000)
                    if records:
                        async with worker.transaction() as transaction:
                            for record in records:
                                value = b"invoice-" + (record.value or b"")
                                await transaction.send("invoices", value)
                            await transaction.send_offsets(consumer.positions())
                    done += len(records)
                    return done >= 30

                async with worker:
                    await asked_until(some)
    report = judge(path, Transform("orders", "invoices", "invoice-(.*)"))
    assert report.failed == []
    assert report.notes == []
    committed = [each for each in lines(path) if each.op == "commit_offsets" and each.type == "ok"]
    assert len(committed) == 5


@pytest.mark.asyncio
async def test_a_broker_that_acknowledges_what_it_does_not_write(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with History(path) as history:
        async with (
            Broker(topics={"orders": 1}) as broker,
            Producer(broker.bootstrap, enable_idempotence=False, history=history) as producer,
            Consumer(broker.bootstrap, auto_offset_reset="earliest", history=history) as consumer,
        ):
            await producer.send_and_wait("orders", b"first")
            rules = lie(broker)
            await producer.send_and_wait("orders", b"second")
            assert all(rule.fired for rule in rules)
            await producer.send_and_wait("orders", b"third")
            consumer.assign(ORDERS[:1])
            await read_all(consumer, 2)
    report = judge(path)
    assert Kind.LOST_WRITE in report.failed
    (lost,) = report.findings(Kind.LOST_WRITE)
    assert "'second' to orders-0" in lost.text
    assert Kind.INCONSISTENT_OFFSET in report.failed


@pytest.mark.asyncio
async def test_a_broker_that_shows_aborted_records(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with History(path) as history:
        async with Broker(topics={"orders": 2}) as broker:
            await write(broker, history, "a")
            rule = broker.faults.change_request({"isolation_level": 0}, api="Fetch")
            async with Consumer(
                broker.bootstrap,
                isolation_level="read_committed",
                auto_offset_reset="earliest",
                history=history,
            ) as consumer:
                consumer.assign(ORDERS)
                await read_all(consumer, 60)
            assert rule.fired
    assert judge(path).failed == [Kind.G1A]


@pytest.mark.asyncio
async def test_reading_elsewhere_is_no_skip(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with History(path) as history:
        async with (
            Broker(topics={"orders": 1}) as broker,
            Producer(broker.bootstrap, history=history) as producer,
            Consumer(broker.bootstrap, auto_offset_reset="earliest", history=history) as consumer,
        ):
            await (await producer.send_many("orders", [b"%d" % each for each in range(9)]))
            consumer.assign(ORDERS[:1])
            await read_all(consumer, 9)
            consumer.seek(ORDERS[0], 3)
            await read_all(consumer, 6)
            consumer.seek_to_beginning()
            async for record in consumer:
                if record.offset == 4:
                    break
            consumer.seek_to_end(ORDERS[0])
            assert [batch.offsets for batch in await consumer.fetch_batches()] == []
            consumer.seek(ORDERS[0], 8)
            (batch,) = await consumer.fetch_batches(timeout_ms=10_000)
            assert list(batch.offsets) == [8]
    report = judge(path)
    assert report.findings() == []
    assert [each.offset for each in lines(path) if each.op == "seek"] == [3, -1, -1, 8]


def test_programs_without_asyncio(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with History(path, name="app-") as history, EmbeddedBroker(topics={"orders": 1}) as broker:
        with BlockingProducer(broker.bootstrap, client_id="p", history=history) as producer:
            producer.send("orders", b"a" * 100).result()
            producer.send("orders", None).result()
        with BlockingConsumer(
            broker.bootstrap, client_id="c", auto_offset_reset="earliest", history=history
        ) as consumer:
            consumer.assign(ORDERS[:1])
            assert len(consumer.getmany(timeout_ms=10_000)) == 2
    assert judge(path).findings() == []
    written = lines(path)
    assert {each.process for each in written} == {"app-p-1", "app-c-2"}
    (poll,) = (each for each in written if each.op == "poll")
    assert poll.values[1] == "null"
    assert len(str(poll.values[0])) < 80
    assert (poll.high_watermark, poll.last_stable_offset) == (2, 2)


@pytest.mark.asyncio
async def test_a_commit_without_an_answer_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with History(path) as history:
        async with (
            Broker(topics={"orders": 1}) as broker,
            Producer(
                broker.bootstrap,
                transactional_id="a",
                max_block_ms=300,
                request_timeout_ms=100,
                history=history,
            ) as producer,
        ):
            producer.begin()
            await producer.send_and_wait("orders", b"1")
            rule = broker.faults.drop_answer(api="EndTxn", silently=True)
            with pytest.raises(KafkaError):
                await producer.commit()
            rule.remove()
            await producer.commit()
    outcomes = [each.type for each in lines(path) if each.op == "commit"]
    assert outcomes == ["invoke", "info", "invoke", "ok"]
    assert judge(path).failed == []


def lie(broker: Broker) -> list[Fault]:
    """The next batch is refused, and the answer says that it was written at offset 1."""
    partition = "responses[].partition_responses[]"
    told = {f"{partition}.error_code": 0, f"{partition}.base_offset": 1}
    return [
        broker.faults.error("UNKNOWN_SERVER_ERROR", api="Produce", times=1),
        broker.faults.change_answer(told, api="Produce", times=1),
    ]
