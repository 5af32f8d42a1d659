"""``exactly_once`` without ``async``: its handler in the caller's thread, each record once."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Sequence

import fencepost_client
import pytest
from fencepost_client import (
    ConsumerRecord,
    IllegalStateError,
    NewTopic,
    TransactionAbortedError,
    blocking,
)
from fencepost_client.blocking import Admin, Consumer, Producer, Transaction, exactly_once

pytestmark = pytest.mark.usefixtures("no_thread_is_left")


def consumer_of(servers: str, group_id: str) -> Consumer:
    return Consumer(
        servers,
        group_id=group_id,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=4,
        heartbeat_interval_ms=20,
    )


def fill(servers: str, topic: str, count: int) -> list[bytes]:
    with Admin(servers) as admin:
        admin.create_topics([NewTopic(topic, 1), NewTopic(f"{topic}-out", 1)])
    with Producer(servers) as producer:
        producer.send_many(topic, [b"n%03d" % number for number in range(count)])
    return [b"N%03d" % number for number in range(count)]


def outputs(servers: str, topic: str, count: int) -> list[bytes | None]:
    """So many committed records."""
    found: list[bytes | None] = []
    with consumer_of(servers, f"{topic}-reader") as consumer:
        consumer.subscribe([f"{topic}-out"])
        while len(found) < count:
            found += [record.value for record in consumer.getmany(timeout_ms=100)]
    return found


def test_a_transaction_a_step(servers: str, topic: str) -> None:
    wanted = fill(servers, topic, 10)
    threads: set[int] = set()
    failures = [TransactionAbortedError(), ZeroDivisionError()]
    seen: list[list[bytes | None]] = []

    def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        threads.add(threading.get_ident())
        seen.append([record.value for record in records])
        for record in records:
            assert record.value is not None
            delivery = transaction.send(f"{topic}-out", record.value.upper())
        assert delivery.result(10).offset >= 0  # A handler may wait.
        if len(seen) > 1 and failures:
            raise failures.pop(0)

    producer = Producer(servers, transactional_id=topic)
    with (
        consumer_of(servers, topic) as consumer,
        exactly_once(consumer, producer, handler) as transactions,
    ):
        consumer.subscribe([topic])
        first = next(transactions)
        assert [record.value for record in first.records] == seen[0]
        with pytest.raises(ZeroDivisionError):
            next(transactions)
        assert transactions.aborted == 1
        assert seen[1] == seen[2], "the same records again"
        done = len(first.records)
        for committed in transactions:
            done += len(committed.records)
            if done == len(wanted):
                transactions.stop()
    assert threads == {threading.get_ident()}
    assert outputs(servers, topic, 10) == wanted


def test_another_thread_stops_it_while_it_waits(servers: str, topic: str) -> None:
    fill(servers, topic, 2)
    with consumer_of(servers, topic) as consumer:
        consumer.subscribe([topic])
        producer = Producer(servers, transactional_id=topic)
        with exactly_once(
            consumer, producer, lambda *_: None, poll_timeout_ms=3_600_000
        ) as transactions:
            for _ in transactions:
                threading.Timer(0.05, transactions.stop).start()


def test_closed_is_closed_and_a_producer_of_the_callers_own_stays(servers: str, topic: str) -> None:
    fill(servers, topic, 1)
    with (
        Producer(servers, transactional_id=topic) as producer,
        consumer_of(servers, topic) as consumer,
    ):
        consumer.subscribe([topic])
        loop = exactly_once(consumer, producer, lambda records, transaction: None)
        assert len(next(loop).records) == 1
        loop.close()
        loop.close()
        with pytest.raises(IllegalStateError, match="closed"):
            next(loop)
        with producer.transaction() as transaction:
            transaction.send(f"{topic}-out", b"still here")


def test_it_takes_what_the_asyncio_one_takes() -> None:
    theirs = inspect.signature(fencepost_client.exactly_once).parameters
    mine = inspect.signature(blocking.exactly_once).parameters
    assert [(each.name, each.default) for each in mine.values()] == [
        (each.name, each.default) for each in theirs.values()
    ]
