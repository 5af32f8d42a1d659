"""What aiokafka and librdkafka do as producers in scenarios of transactions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import confluent_kafka
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import UnknownProducerId
from fencepost_broker import Broker
from fencepost_broker.operations import EPOCH_MAX, BumpProducerEpoch
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.places import broker_for
from fencepost_broker.server.scenarios.scenario import play
from fencepost_broker.server.scenarios.wire import Connection

pytestmark = pytest.mark.asyncio
READ_S = 20.0


@pytest.mark.parametrize("client", ["aiokafka", "librdkafka"])
async def test_a_lost_answer_to_a_commit_has_one_outcome(client: str) -> None:
    async with Broker(topics={"orders": 1}) as broker:
        lost = broker.faults.drop_answer(api="EndTxn", times=1)
        await COMMITS[client](broker.bootstrap)
        async with Connection(broker) as connection:
            ends = await connection.offsets()
    assert (lost.fired, ends) == (1, {"last_stable_offset": 2, "end_offset": 2})


@pytest.mark.parametrize("client", ["aiokafka", "librdkafka"])
async def test_producers_wait_for_the_next_producer_ids(client: str) -> None:
    async with Broker(topics={"orders": 1}) as broker:
        slow = broker.faults.error("COORDINATOR_LOAD_IN_PROGRESS", api="InitProducerId", times=2)
        await COMMITS[client](broker.bootstrap)
        async with Connection(broker) as connection:
            assert (slow.fired, await connection.end_offset(committed=True)) == (2, 2)


@pytest.mark.parametrize("client", ["aiokafka", "librdkafka"])
async def test_producers_go_on_with_the_next_coordinator(client: str) -> None:
    scenario = SCENARIOS["coordinator-dies-in-prepare-commit"]
    async with broker_for(scenario) as broker:
        await play(scenario, broker)
        await COMMITS[client](broker.bootstrap)
        async with Connection(broker) as connection:
            assert await connection.end_offset(committed=True) == 4


@pytest.mark.parametrize("client", ["aiokafka", "librdkafka"])
async def test_a_producer_with_used_up_epochs_gets_another_producer_id(client: str) -> None:
    async with Broker(topics={"orders": 1}) as broker:
        await COMMITS[client](broker.bootstrap)
        used_up = BumpProducerEpoch(transactional_id="payments", epoch=EPOCH_MAX)
        before = await broker.perform(used_up)
        await COMMITS[client](broker.bootstrap)
        told = broker.explain_transaction("payments")
        assert told is not None
        assert told.producer_id != before.producer_id


async def test_aiokafka_raises_unknown_producer_id_and_librdkafka_sends_again() -> None:
    def send(bootstrap: str) -> None:
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True}
        )
        for _ in range(2):
            producer.produce("orders", b"paid")
            assert producer.flush(READ_S) == 0

    async with Broker(topics={"orders": 1}) as broker:
        old = broker.faults.error("UNKNOWN_PRODUCER_ID", api="Produce", skip=1, times=1)
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap, enable_idempotence=True
        ) as producer:
            await producer.send_and_wait("orders", b"paid")
            with pytest.raises(UnknownProducerId):
                await producer.send_and_wait("orders", b"paid")
        old.remove()
        again = broker.faults.error("UNKNOWN_PRODUCER_ID", api="Produce", skip=1, times=1)
        await asyncio.to_thread(send, broker.bootstrap)
        async with Connection(broker) as connection:
            assert (again.fired, await connection.end_offset()) == (1, 3)


async def _aiokafka_commits(bootstrap: str) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id="payments")
    await producer.start()
    try:
        async with producer.transaction():
            await producer.send_and_wait("orders", b"paid")
    finally:
        await producer.stop()


def _librdkafka_commits(bootstrap: str) -> None:
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": bootstrap, "transactional.id": "payments"}
    )
    producer.init_transactions(READ_S)
    producer.begin_transaction()
    producer.produce("orders", b"paid")
    producer.commit_transaction(READ_S)


COMMITS: dict[str, Callable[[str], Awaitable[None]]] = {
    "aiokafka": _aiokafka_commits,
    "librdkafka": lambda bootstrap: asyncio.to_thread(_librdkafka_commits, bootstrap),
}
