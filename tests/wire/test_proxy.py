"""Unmodified clients through a proxy, and fault rules in it, with our own broker behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import confluent_kafka
import pytest
from fencepost_broker import Broker
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.server.proxy.proxy import Proxy
from fencepost_client import Admin, Consumer, Producer
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.broker import Client, RunningBroker
from tests.support.cluster import running_cluster
from tests.support.waiting import until
from tests.wire.proxy_harness import Lines, proxy_to

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def proxied(**given: Any) -> AsyncIterator[tuple[Broker, Proxy]]:
    async with Broker(topics={"orders": 2}, **given) as broker, proxy_to(broker.bootstrap) as proxy:
        yield broker, proxy


def bootstrap_of(broker: RunningBroker) -> str:
    return f"{broker.host}:{broker.port}"


# -- clients -----------------------------------------------------------------------------------


async def test_our_client_in_front_of_a_cluster() -> None:
    async with running_cluster(3) as cluster, proxy_to(bootstrap_of(cluster.broker(1))) as proxy:
        await cluster.create("t", 6)
        async with Producer(bootstrap_servers=proxy.bootstrap) as producer:
            for number in range(60):
                await producer.send("t", value=b"%d" % number, partition=number % 6)
            await producer.flush()
        async with Consumer(
            proxy.bootstrap, group_id="g", auto_offset_reset="earliest"
        ) as consumer:
            consumer.subscribe(["t"])
            seen = set()
            async for record in consumer:
                seen.add(record.value)
                if len(seen) == 60:
                    break
        async with Admin(bootstrap_servers=proxy.bootstrap) as admin:
            told = await admin.describe_cluster()
        assert {f"{each.host}:{each.port}" for each in told.brokers} == set(proxy.brokers.values())
        assert proxy.brokers.keys() == {1, 2, 3}
        assert not set(proxy.brokers.values()) & set(map(bootstrap_of, cluster.brokers))


async def test_aiokafka_commits_a_transaction_whose_answer_is_lost() -> None:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async with proxied() as (_, proxy):
        lost = proxy.faults.drop_answer(api="EndTxn", times=1)
        async with (
            AIOKafkaProducer(bootstrap_servers=proxy.bootstrap, transactional_id="tx") as producer,
            producer.transaction(),
        ):
            await producer.send("orders", b"once", partition=0)
        assert lost.fired == 1
        async with AIOKafkaConsumer(
            "orders", bootstrap_servers=proxy.bootstrap, isolation_level="read_committed",
            auto_offset_reset="earliest",
        ) as consumer:  # fmt: skip
            assert (await consumer.getone()).value == b"once"


async def test_confluent_kafka_writes_once_what_it_sends_twice() -> None:
    async with proxied() as (_, proxy):
        lost = proxy.faults.drop_answer(api="Produce", topic="orders", times=1)

        def write_and_read() -> list[bytes | None]:
            servers = {"bootstrap.servers": proxy.bootstrap}
            producer = confluent_kafka.Producer({**servers, "enable.idempotence": True})
            producer.produce("orders", b"once", partition=0)
            producer.produce("orders", b"last", partition=0)
            producer.flush()
            consumer = confluent_kafka.Consumer(
                {**servers, "group.id": "g", "auto.offset.reset": "earliest"}
            )
            consumer.subscribe(["orders"])
            found: list[bytes | None] = []
            while b"last" not in found:
                message = consumer.poll(1.0)
                if message is not None:
                    found.append(message.value())
            consumer.close()
            return found

        assert await asyncio.to_thread(write_and_read) == [b"once", b"last"]
        assert lost.fired == 1


# -- rules -------------------------------------------------------------------------------------

OWN = ErrorCode.NOT_COORDINATOR
"""What a broker without groups answers to ``BEAT``."""
BEAT = HeartbeatRequest("g", 1, "m")


async def test_requests_wait_for_the_one_that_a_rule_holds() -> None:
    async with proxied() as (_, proxy), Client(proxy.bootstrap) as client:
        held = proxy.faults.hold(api="Heartbeat", skip=2, times=1)
        asking = asyncio.create_task(client.ask_at_once([BEAT] * 6, 4))
        await until(lambda: held.held)
        assert not asking.done()
        assert held.release() == 1
        assert [each.error_code for each in await asking] == [OWN] * 6


async def test_addresses_are_changed_in_an_answer_that_a_rule_is_for() -> None:
    async with proxied() as (_, proxy), Client(proxy.bootstrap) as client:
        late = proxy.faults.delay(1, what="answer", api="Metadata")
        answer = await client.ask(MetadataRequest(topics=[]), 12)
        assert f"{answer.brokers[0].host}:{answer.brokers[0].port}" == proxy.bootstrap
        assert late.fired == 1


async def test_rules_for_one_broker_of_several() -> None:
    async with running_cluster(2) as cluster, proxy_to(bootstrap_of(cluster.broker(1))) as proxy:
        async with Client(proxy.bootstrap) as client:
            await client.ask(MetadataRequest(topics=[]), 12)
        fault = proxy.faults.error("COORDINATOR_NOT_AVAILABLE", api="Heartbeat", broker=2)
        for node_id, fired in ((1, 0), (2, 1)):
            async with Client(proxy.brokers[node_id]) as client:
                await client.ask(BEAT, 4)
            assert fault.fired == fired


async def test_topics_of_requests_that_name_them_by_id() -> None:
    async with proxied() as (_, proxy):
        fault = proxy.faults.error(
            "KAFKA_STORAGE_ERROR", api="Produce", topic="orders", min_version=13, times=1
        )
        async with Producer(bootstrap_servers=proxy.bootstrap) as producer:
            await producer.send("orders", value=b"x", partition=0)
            await producer.flush()
        assert fault.fired == 1


async def test_a_rule_that_a_proxy_cannot_carry_out_is_refused() -> None:
    async with proxied() as (_, proxy):
        with pytest.raises(RuleError, match="rule-1: while: a proxy does not know the states"):
            proxy.faults.drop_answer(api="EndTxn", while_="transaction=Ongoing")
        assert proxy.faults.list() == []


async def test_the_clients_software_is_known() -> None:
    async with proxied() as (_, proxy):
        other = proxy.faults.delay(1, api="Metadata", client_software="another")
        fault = proxy.faults.delay(1, api="Metadata", client_software="by-hand")
        async with Client(proxy.bootstrap) as client:
            await client.ask(ApiVersionsRequest("by-hand", "1"), 3)
            await client.ask(MetadataRequest(topics=[]), 12)
        assert (fault.fired, other.fired) == (1, 0)


# -- brokers -----------------------------------------------------------------------------------


async def test_a_broker_that_is_not_there_is_told() -> None:
    logs = Lines()
    async with Broker() as broker:
        upstream = broker.bootstrap
    async with proxy_to(upstream, logs) as proxy:
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            async with Client(proxy.bootstrap) as client:
                await client.ask(BEAT, 4)
        [line] = logs.told("the upstream broker cannot be reached")
        assert upstream in line["reason"]


async def test_bootstrap_servers_are_tried_in_order() -> None:
    async with Broker() as broker:
        gone = broker.bootstrap
    async with (
        Broker() as broker,
        proxy_to(f"{gone},{broker.bootstrap}") as proxy,
        Client(proxy.bootstrap) as client,
    ):
        assert (await client.ask(BEAT, 4)).error_code == OWN


async def test_logins_pass_through() -> None:
    async with proxied(users={"alice": "secret"}) as (_, proxy):
        for mechanism in ("PLAIN", "SCRAM-SHA-512"):
            async with Admin(
                bootstrap_servers=proxy.bootstrap, security_protocol="SASL_PLAINTEXT",
                sasl_mechanism=mechanism, sasl_plain_username="alice", sasl_plain_password="secret",
            ) as admin:  # fmt: skip
                assert (await admin.describe_cluster()).brokers
