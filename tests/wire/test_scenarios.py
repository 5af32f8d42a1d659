"""Scenarios: what each brings about, and what unmodified clients read afterwards."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Awaitable, Callable
from typing import Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as OfAiokafka
from aiokafka.errors import MessageSizeTooLargeError
from fencepost_broker import Broker
from fencepost_broker.cli.main import main
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.scenario import Facts, play
from fencepost_broker.server.scenarios.wire import Connection
from fencepost_client import Consumer, TopicPartition

READ_S = 20.0
COMMAND = [sys.executable, "-m", "fencepost_broker", "scenario"]
FACTS: dict[str, Facts] = {
    "late-end-txn": {
        "late_end_txn": "NONE",
        "state": "CompleteCommit",
        "last_stable_offset_before": 2,
        "last_stable_offset": 4,
    },
    "late-end-txn-version-2": {
        "late_end_txn": "PRODUCER_FENCED",
        "state": "Ongoing",
        "last_stable_offset_before": 2,
        "last_stable_offset": 2,
    },
    "commit-after-time-out": {
        "commit": "INVALID_TXN_STATE",
        "state": "CompleteAbort",
        "last_stable_offset": 2,
        "end_offset": 2,
    },
    "expired-transactional-id": {"add_partitions": "INVALID_PRODUCER_ID_MAPPING", "state": ""},
    "markers-that-never-come": {
        "commit": "NONE",
        "state": "PrepareCommit",
        "last_stable_offset": 0,
        "end_offset": 2,
    },
    "unstable-offset-commit": {
        "commit": "NONE",
        "fetch": "UNSTABLE_OFFSET_COMMIT",
        "fetch_after_time_out": "UNSTABLE_OFFSET_COMMIT",
        "state": "PrepareAbort",
    },
    "hanging-transaction": {
        "late_produce": "NONE",
        "state": "CompleteAbort",
        "hangs": "yes",
        "last_stable_offset_before": 2,
        "last_stable_offset": 5,
        "end_offset": 5,
    },
    "gaps-by-compaction": {
        "records_before": 4,
        "records": 2,
        "first_offset": 2,
        "end_offset": 4,
    },
    "empty-transaction": {
        "commit": "INVALID_TXN_STATE",
        "abort": "INVALID_TXN_STATE",
        "epoch": 0,
    },
    "empty-transaction-version-2": {"commit": "INVALID_TXN_STATE", "abort": "NONE", "epoch": 2},
    "lost-commit-answer": {
        "lost_answers": 1,
        "second_answer": "NONE",
        "last_stable_offset": 2,
        "end_offset": 2,
    },
    "coordinator-dies-in-prepare-commit": {
        "commit": "NONE",
        "state_before": "PrepareCommit",
        "last_stable_offset_before": 0,
        "without_coordinator": "NOT_COORDINATOR",
        "state": "CompleteCommit",
        "last_stable_offset": 2,
        "end_offset": 2,
    },
    "self-fencing": {
        "first": "CONCURRENT_TRANSACTIONS",
        "second": "NONE",
        "late": "NONE",
        "send": "INVALID_PRODUCER_EPOCH",
    },
    "epoch-exhaustion": {
        "send": "NONE",
        "last_epoch": 32766,
        "commit": "NONE",
        "producer_id": "new",
        "epoch": 0,
        "next_send": "NONE",
    },
    "slow-producer-ids": {
        "first": "COORDINATOR_LOAD_IN_PROGRESS",
        "last": "NONE",
        "refused": 2,
        "epoch": 1,
    },
    "unknown-producer-id": {
        "log_start": 1,
        "old_broker": "UNKNOWN_PRODUCER_ID",
        "send": "NONE",
        "gap": "OUT_OF_ORDER_SEQUENCE_NUMBER",
    },
    "aborted-records-only": {"last_stable_offset": 6, "end_offset": 6},
    "log-ends-in-a-marker": {"last_stable_offset": 2, "end_offset": 2},
    "duplicate-after-lost-answer": {"lost_answers": 1, "second_answer": "NONE", "end_offset": 2},
    "no-duplicate-with-idempotence": {"lost_answers": 1, "second_answer": "NONE", "end_offset": 1},
    "out-of-order-sequence": {
        "gap": "OUT_OF_ORDER_SEQUENCE_NUMBER",
        "filled": "NONE",
        "end_offset": 2,
    },
    "large-batch-refused": {"small": "NONE", "large": "MESSAGE_TOO_LARGE", "end_offset": 1},
    "zombie-member-commits": {
        "commit": "NONE",
        "heirs_commit": "NONE",
        "zombies_commit": "UNKNOWN_MEMBER_ID",
        "offset": 3,
    },
    "static-member-replaced": {
        "heartbeat_before": "NONE",
        "heartbeat": "FENCED_INSTANCE_ID",
        "commit": "FENCED_INSTANCE_ID",
        "new_heartbeat": "NONE",
    },
    "offset-out-of-range": {
        "committed": 1,
        "log_start": 3,
        "fetch": "OFFSET_OUT_OF_RANGE",
        "fetch_at_start": "NONE",
    },
    "metadata-that-lies": {
        "first_leader": 99,
        "lies": 2,
        "leader": 1,
        "send": "NONE",
        "end_offset": 1,
    },
    "throttled-client": {
        "send": "NONE",
        "throttle_time_ms": 5000,
        "throttled": 1,
        "end_offset": 1,
    },
    "acl-taken-away": {
        "before": "NONE",
        "denied": "TOPIC_AUTHORIZATION_FAILED",
        "after": "NONE",
        "end_offset": 2,
    },
    "disk-full-at-the-leader": {
        "refused_writes": 1,
        "while_full": "KAFKA_STORAGE_ERROR",
        "end_offset_while_full": 1,
        "after": "NONE",
        "end_offset": 2,
    },
    "clock-jumps-back": {
        "state_after_an_hour": "Ongoing",
        "last_stable_offset_after_an_hour": 0,
        "state": "CompleteAbort",
        "last_stable_offset": 3,
        "end_offset": 3,
    },
    "expired-certificate": {
        "connected_client": "NONE",
        "new_connection": "certificate has expired",
        "after_renewal": "NONE",
    },
}
READABLE = {
    "late-end-txn": [b"first", b"second"],
    "late-end-txn-version-2": [b"first"],
    "commit-after-time-out": [],
    "expired-transactional-id": [b"first"],
    "markers-that-never-come": [],
    "unstable-offset-commit": [b"order"],
    "hanging-transaction": [b"plain"],
    "gaps-by-compaction": [b"shipped", b"open"],
    "empty-transaction": [b"paid"],
    "empty-transaction-version-2": [b"paid"],
    "lost-commit-answer": [b"paid"],
    "coordinator-dies-in-prepare-commit": [b"paid"],
    "self-fencing": [],
    "epoch-exhaustion": [b"last", b"next"],
    "slow-producer-ids": [b"paid"],
    "unknown-producer-id": [b"paid"],
    "aborted-records-only": [],
    "log-ends-in-a-marker": [b"0"],
    "duplicate-after-lost-answer": [b"paid", b"paid"],
    "no-duplicate-with-idempotence": [b"paid"],
    "out-of-order-sequence": [b"0", b"1"],
    "large-batch-refused": [b"x"],
    "zombie-member-commits": [b"1", b"2", b"3"],
    "static-member-replaced": [b"order"],
    "offset-out-of-range": [b"4"],
    "metadata-that-lies": [b"order"],
    "throttled-client": [b"order"],
    "acl-taken-away": [b"before", b"after"],
    "disk-full-at-the-leader": [b"before", b"after"],
    "clock-jumps-back": [b"second"],
    "expired-certificate": [b"before", b"connected", b"new"],
}
"""What a reader of committed records gets."""


def test_every_scenario_is_tried() -> None:
    assert FACTS.keys() == READABLE.keys() == SCENARIOS.keys()


@pytest.mark.asyncio
@pytest.mark.parametrize("name", SCENARIOS)
async def test_what_happens_and_what_clients_read(name: str) -> None:
    async with SCENARIOS[name].broker() as broker:
        outcome = await play(SCENARIOS[name], broker)
        assert outcome.facts == FACTS[name]
        assert len(outcome.timeline) >= 2
        async with Connection(broker) as connection:
            end = await connection.end_offset(committed=True)
        read = {each.__name__: await each(broker.bootstrap, end) for each in READERS}
    assert read == dict.fromkeys(read, READABLE[name])


# -- readers of committed records, up to the last stable offset ------------------------------------


async def ours(bootstrap: str, end: int) -> list[bytes]:
    values: list[Any] = []
    async with (
        asyncio.timeout(READ_S),
        Consumer(
            bootstrap, auto_offset_reset="earliest", isolation_level="read_committed"
        ) as consumer,
    ):
        partition = TopicPartition("orders", 0)
        consumer.assign([partition])
        while await consumer.position(partition) < end:
            values += [each.value for each in await consumer.getmany(timeout_ms=100)]
    return values


async def aiokafka(bootstrap: str, end: int) -> list[bytes]:
    values: list[Any] = []
    partition = OfAiokafka("orders", 0)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    await consumer.start()
    try:
        consumer.assign([partition])
        async with asyncio.timeout(READ_S):
            while await consumer.position(partition) < end:
                got = await consumer.getmany(timeout_ms=100)
                values += [each.value for each in got.get(partition, [])]
    finally:
        await consumer.stop()
    return values


async def librdkafka(bootstrap: str, end: int) -> list[bytes]:
    return await asyncio.to_thread(_librdkafka, bootstrap)


def _librdkafka(bootstrap: str) -> list[bytes]:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    values: list[bytes] = []
    try:
        consumer.assign([confluent_kafka.TopicPartition("orders", 0, 0)])
        while True:
            message = consumer.poll(READ_S)
            assert message is not None
            if message.error():
                assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
                return values
            values.append(message.value())
    finally:
        consumer.close()


READERS: list[Callable[[str, int], Awaitable[list[bytes]]]] = [ours, aiokafka, librdkafka]


# -- what one scenario is about --------------------------------------------------------------------


@pytest.mark.asyncio
async def test_aiokafka_is_refused_a_large_batch() -> None:
    async with (
        SCENARIOS["large-batch-refused"].broker() as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap) as producer,
    ):
        with pytest.raises(MessageSizeTooLargeError):
            await producer.send_and_wait("orders", b"x" * 2_000)


@pytest.mark.asyncio
@pytest.mark.parametrize(("idempotent", "records"), [(False, 2), (True, 1)])
async def test_librdkafka_makes_a_duplicate_unless_it_is_idempotent(
    idempotent: bool, records: int
) -> None:
    def send(bootstrap: str) -> None:
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": idempotent}
        )
        producer.produce("orders", b"paid")
        assert producer.flush(READ_S) == 0

    async with Broker(topics={"orders": 1}) as broker:
        lost = broker.faults.drop_answer(api="Produce", times=1)
        await asyncio.to_thread(send, broker.bootstrap)
        async with Connection(broker) as connection:
            assert (lost.fired, await connection.end_offset()) == (1, records)


@pytest.mark.asyncio
async def test_librdkafka_gets_no_offset_while_one_is_unstable() -> None:
    def committed(bootstrap: str, isolation: str) -> int:
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "readers", "isolation.level": isolation}
        )
        try:
            [found] = consumer.committed([confluent_kafka.TopicPartition("orders", 0)], 2)
            return int(found.offset)
        finally:
            consumer.close()

    scenario = SCENARIOS["unstable-offset-commit"]
    async with scenario.broker() as broker:
        await play(scenario, broker)
        with pytest.raises(confluent_kafka.KafkaException):
            await asyncio.to_thread(committed, broker.bootstrap, "read_committed")
        found = await asyncio.to_thread(committed, broker.bootstrap, "read_uncommitted")
        assert found == confluent_kafka.OFFSET_INVALID


# -- the command -----------------------------------------------------------------------------------


def test_run_prints_what_happened_and_what_was_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "run", "late-end-txn"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1. The producer commits its first transaction")
    assert "last_stable_offset         4" in out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "run", "aborted-records-only", "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["name"] == "aborted-records-only"
    assert outcome["facts"] == FACTS["aborted-records-only"]
    assert main(["scenario", "list", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == list(SCENARIOS)


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", "explain", "late-end-txn"]) == 0
    assert "KIP-890" in capsys.readouterr().out


@pytest.mark.slow
def test_a_broker_stays_for_clients_and_http() -> None:
    name = "hanging-transaction"
    process = subprocess.Popen(
        [*COMMAND, "run", name, "--port", "0", "--control", "0", "--json"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert (told["name"], told["facts"]) == (name, FACTS[name])
        assert _librdkafka(told["bootstrap"]) == READABLE[name]
        address = f"http://{told['control']}/v1/topics/orders/partitions/0"
        with urllib.request.urlopen(address, timeout=READ_S) as answer:
            assert json.load(answer)["last_stable_offset"] == FACTS[name]["last_stable_offset"]
        process.terminate()
        assert process.wait(READ_S) == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["explain", "late-end-txn", "--port", "0"], "--port is for run"),
        (["run", "late-end-txn", "--control", "0"], "--control needs --port"),
    ],
)
def test_options_that_do_not_fit(
    given: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scenario", *given]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("action", ["run", "explain"])
def test_an_unknown_scenario_is_refused(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenario", action, "late"]) == 2
    assert "there is no scenario 'late'; there are late-end-txn" in capsys.readouterr().err
