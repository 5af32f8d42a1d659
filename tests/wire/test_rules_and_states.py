"""What fault rules know of a broker: its partitions, and the states of transactions and groups."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_broker.faults.compiled import RuleError
from fencepost_client import Consumer, Producer, TopicPartition
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from tests.support.broker import Client
from tests.support.waiting import asked_until

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"topic": "t", "partition": 2}, "t has no partition 2, but 0 to 1"),
        ({"broker": 2}, "there is no broker 2; there is 1"),
        ({"listener": "PLAIN"}, "there is no listener 'PLAIN'; did you mean PLAINTEXT?"),
    ],
)
async def test_a_rule_for_what_is_not_there_is_refused(given: dict[str, Any], told: str) -> None:
    async with Broker(topics={"t": 2}) as broker:
        with pytest.raises(RuleError) as caught:
            broker.faults.delay(0, api="Produce", **given)
        assert told in str(caught.value)
        broker.faults.delay(0, api="Produce", topic="t", partition=1)
        broker.faults.delay(0, api="Produce", topic="later", partition=2)
        broker.faults.delay(0, api="Produce", broker=1, listener="PLAINTEXT")


async def test_a_rule_fires_while_a_transaction_is_in_a_state() -> None:
    async with Broker(topics={"t": 1}) as broker:
        prepared = broker.faults.delay(0, api="InitProducerId", while_="transaction=PrepareCommit")
        named = broker.faults.delay(0, api="Metadata", while_="transaction:x=CompleteCommit")
        hold = broker.hold_markers("x")
        async with Producer(broker.bootstrap, transactional_id="x") as producer:
            async with producer.transaction() as transaction:
                await transaction.send("t", b"1")
            assert (prepared.fired, named.fired) == (0, 0)
            async with Client(broker.bootstrap) as client:
                request = InitProducerIdRequest("x", 1000)
                await client.ask(request, 4)
                assert (prepared.fired, named.fired) == (1, 0)
                hold.release()

                async def is_complete() -> bool:
                    explained = broker.explain_transaction("x")
                    return explained is not None and explained.state == "CompleteCommit"

                await asked_until(is_complete)
                await client.ask(request, 4)
                assert prepared.fired == 1


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_rule_fires_while_a_group_is_stable(protocol: Any) -> None:
    async with Broker(topics={"t": 1}) as broker:
        stable = broker.faults.delay(0, api="OffsetCommit", while_="group=Stable")
        empty = broker.faults.delay(0, api="OffsetCommit", while_="group:g=Empty")
        async with Consumer(
            broker.bootstrap, group_id="g", group_protocol=protocol, enable_auto_commit=False
        ) as consumer:
            consumer.subscribe(["t"])
            await asked_until(lambda: _reads(consumer))
            await consumer.commit({TopicPartition("t", 0): 0})
        assert (stable.fired, empty.fired) == (1, 0)


async def _reads(consumer: Consumer) -> bool:
    await consumer.getmany(timeout_ms=10)
    return bool(consumer.assignment())
