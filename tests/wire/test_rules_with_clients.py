"""Rules, as clients of others feel them: aiokafka and librdkafka, which know of no rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from fencepost_broker import Broker
from fencepost_broker.faults.rule import Touched
from fencepost_broker.server.faults import Fault, Faults

from tests.support.waiting import until
from tests.wire.other_producers import CLIENTS, Aiokafka, Client, Librdkafka
from tests.wire.scenario_harness import last_stable_offset, ours

# As for scenarios: these clients have threads of their own, so one loop will do.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

Add = Callable[[Faults[Fault], dict[str, Any]], Fault]
RETRIED: dict[str, str] = {
    "Produce": "NOT_LEADER_OR_FOLLOWER",
    "EndTxn": "COORDINATOR_NOT_AVAILABLE",
}
CHANGED: dict[str, dict[str, Any]] = {
    "Produce": {"responses[].partition_responses[].error_code": "NOT_LEADER_OR_FOLLOWER"},
    "EndTxn": {"error_code": "CONCURRENT_TRANSACTIONS"},
}
ACTS: dict[str, Add] = {
    "error": lambda faults, to: faults.error(RETRIED[to["api"]], **to),
    "error, applied": lambda faults, to: faults.error("REQUEST_TIMED_OUT", apply=True, **to),
    "drop-request": lambda faults, to: faults.drop_request(**to),
    "drop-request, reset": lambda faults, to: faults.drop_request(reset=True, **to),
    "drop-answer": lambda faults, to: faults.drop_answer(**to),
    "drop-answer, reset": lambda faults, to: faults.drop_answer(reset=True, **to),
    "delay": lambda faults, to: faults.delay(5, spread_ms=5, **to),
    "delay of the answer": lambda faults, to: faults.delay(5, what="answer", **to),
    "hold": lambda faults, to: faults.hold(**to),
    "hold of the answer": lambda faults, to: faults.hold("answer", **to),
    "blackhole": lambda faults, to: faults.blackhole(**to),
    "blackhole, one way": lambda faults, to: faults.blackhole("out", **to),
    "slow-answer": lambda faults, to: faults.slow_answer(10_000, 7, **to),
    "disconnect": lambda faults, to: faults.disconnect(**to),
    "slow-close": lambda faults, to: faults.slow_close(5, **to),
    "cut-answer": lambda faults, to: faults.cut_answer(9, **to),
    "repeat-answer": lambda faults, to: faults.repeat_answer(**to),
    "throttle": lambda faults, to: faults.throttle(5, **to),
    "change-answer": lambda faults, to: faults.change_answer(CHANGED[to["api"]], **to),
}
ENDED = ("hold", "blackhole")
"""Acts that last until the test ends them."""
QUICKLY: dict[Client, dict[str, Any]] = {
    Aiokafka: {"retry_backoff_ms": 1},
    Librdkafka: {"retry_backoff_ms": 1, "reconnect_backoff_ms": 1, "reconnect_backoff_max_ms": 10},
}


@asynccontextmanager
async def producing(client: Client, **settings: Any) -> AsyncIterator[tuple[Broker, Any]]:
    """A broker, and a producer of a client that tries again quickly."""
    async with (
        Broker(topics={"orders": 1}) as broker,
        client(broker.bootstrap, **QUICKLY[client], **settings) as producer,
    ):
        yield broker, producer


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("api", ["Produce", "EndTxn"])
async def test_a_transaction_has_one_outcome_whatever_happens_to_a_request(
    api: str, client: Client
) -> None:
    # This error of a coordinator is final for both clients, and they say that they do not know.
    names = [each for each in ACTS if (api, each) != ("EndTxn", "error, applied")]
    async with producing(client, transactional_id="payments") as (broker, producer):
        for name in names:
            fault = ACTS[name](broker.faults, {"api": api, "times": 1, "name": name})
            await producer.begin()
            sent = asyncio.ensure_future(transaction(producer, name.encode()))
            await fault.wait_until_fired()
            if name.startswith(ENDED):
                fault.remove()
            await sent
        end = await last_stable_offset(broker, {})
        found = await ours(broker.bootstrap, end, {})
        assert [each.decode() for each in found] == names
        assert broker.unfired_faults() == []


LOGIN = {
    "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN",
}  # fmt: skip
PASSWORDS: dict[Client, dict[str, str]] = {
    Aiokafka: {"sasl_plain_username": "alice", "sasl_plain_password": "secret"},
    Librdkafka: {"sasl_username": "alice", "sasl_password": "secret"},
}


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_match_is_for_the_requests_of_one_client(client: Client) -> None:
    async with Broker(topics={"orders": 2}, users={"alice": "secret", "bob": "secret"}) as broker:
        settings = {"transactional_id": "payments", "client_id": "shop", **LOGIN}
        async with client(broker.bootstrap, **settings, **PASSWORDS[client]) as producer:
            first = broker.faults.delay(0, api="Produce")
            await producer.begin()
            await transaction(producer, b"1")
            [seen] = first.requests
            at_end = [broker.faults.delay(0, api="EndTxn", **each) for each in ids(broker)]
            rules = {
                name: [broker.faults.delay(0, api="Produce", **{name: each}) for each in both]
                for name, both in matches(client, seen).items()
            }
            await producer.begin()
            await transaction(producer, b"2")
            assert [each.fired for each in at_end] == [1, 0, 1, 0]
            for name, (rule, *twins) in rules.items():
                assert (rule.fired, [each.fired for each in twins]) == (1, [0] * len(twins)), name


def matches(client: Client, seen: Touched) -> dict[str, list[Any]]:
    """What Produce requests like this one have, then what they do not have."""
    found: dict[str, list[Any]] = {
        "min_version": [seen.version],
        "max_version": [seen.version, seen.version - 1],
        "client_id": ["shop", "shops"],
        "user": ["alice", "bob"],
        "address": ["127.0.0.1", "127.0.0.2"],
        "connection": [seen.connection, "127.0.0.1:1"],
        "listener": ["SASL_PLAINTEXT"],
        "broker": [1],
        "topic": ["orders", "order"],
        "transactional_id": ["payments", "payment"],
        "where": [["acks == -1"], ["acks == 1"]],
    }
    if client is Librdkafka:  # aiokafka does not say what it is
        found["client_software"] = ["confluent-kafka-python", "aiokafka"]
    return found


def ids(broker: Broker) -> list[dict[str, Any]]:
    """The producer's id and epoch, each before one that it does not have."""
    now = broker.explain_transaction("payments")
    assert now is not None
    return [
        *({"producer_id": now.producer_id + each} for each in (0, 1)),
        *({"producer_epoch": now.producer_epoch + each} for each in (0, 1)),
    ]


async def test_a_match_is_for_a_partition() -> None:
    async with Broker(topics={"orders": 2}) as broker:
        rules = [broker.faults.delay(0, api="Produce", partition=each) for each in (0, 1)]
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap)
        async with producer:
            await producer.send_and_wait("orders", b"1", partition=1)
        assert [each.fired for each in rules] == [0, 1]


async def test_a_match_is_for_a_member_of_a_group() -> None:
    async with Broker(topics={"orders": 1}) as broker:
        groups = [broker.faults.delay(0, api="OffsetCommit", group=each) for each in ("g", "h")]
        consumer = AIOKafkaConsumer(
            "orders", bootstrap_servers=broker.bootstrap, group_id="g", enable_auto_commit=False
        )
        async with consumer:
            offsets = {TopicPartition("orders", 0): 0}
            await until(consumer.assignment)
            await consumer.commit(offsets)
            [first] = groups[0].requests
            members = [
                broker.faults.delay(0, api="OffsetCommit", member=each)
                for each in (first.request["member_id"], "another")
            ]
            await consumer.commit(offsets)
        assert [each.fired for each in (*groups, *members)] == [2, 0, 1, 0]


async def transaction(producer: Any, value: bytes) -> None:
    await producer.send(value)
    await producer.commit()
