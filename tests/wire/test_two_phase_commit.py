"""Two-phase commit (KIP-939): InitProducerId version 6, behind Kafka's own settings."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker.server.clock import StateClock
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

from tests.support.broker import Client, memory_disk, running_broker
from tests.wire.transaction_harness import NONE, Producer, stable_offset, state_of, until_state

pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

UNSTABLE = {"unstable.api.versions.enable": "true"}
PREPARING = UNSTABLE | {"transaction.two.phase.commit.enable": "true"}


async def initialized(
    producer: Producer, *, prepares: bool = True, keeps: bool = False
) -> InitProducerIdResponse:
    request = InitProducerIdRequest(
        producer.name, 60_000, enable2_pc=prepares, keep_prepared_txn=keeps
    )
    answer: InitProducerIdResponse = await producer.client.ask(request, 6)
    if not answer.error_code:
        producer.id, producer.epoch = answer.producer_id, answer.producer_epoch
        producer.sequences.clear()
    return answer


async def highest_version(broker: Client) -> int:
    answer = await broker.ask(ApiVersionsRequest(), 0)
    [found] = [each for each in answer.api_keys if each.api_key == ApiKey.INIT_PRODUCER_ID]
    return int(found.max_version)


async def test_version_6_is_advertised_and_served_if_unstable_versions_are() -> None:
    async with running_broker() as broker:
        assert await highest_version(broker) == 5
        with pytest.raises(asyncio.IncompleteReadError):
            await broker.ask(InitProducerIdRequest("a", 60_000), 6)
    async with running_broker(UNSTABLE) as broker:
        assert await highest_version(broker) == 6
        assert await Producer(broker).start() == NONE
        refused = await initialized(Producer(broker))
        assert refused.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    "settings", [{"kafka.release": "4.3"}, {"api.versions.max": ("InitProducerId:5",)}]
)
async def test_a_release_and_a_cap_hold_beside_the_switch(settings: dict[str, Any]) -> None:
    async with running_broker(UNSTABLE | settings) as broker:
        assert await highest_version(broker) == 5


@pytest.mark.parametrize("outcome", ["commit", "abort"])
async def test_a_successor_ends_the_transaction_that_was_prepared(outcome: str) -> None:
    disk = memory_disk()
    async with running_broker(PREPARING, topics={"t": 2}, disk=disk) as broker:
        first = Producer(broker)
        await first.start()
        await initialized(first)
        assert [await first.send(number=number) for number in (0, 1)] == [NONE, NONE]
        prepared = first.id, first.epoch
    async with running_broker(PREPARING, disk=disk) as broker:
        next_one = Producer(broker)
        answer = await initialized(next_one, keeps=True)
        kept = answer.ongoing_txn_producer_id, answer.ongoing_txn_producer_epoch
        assert kept == prepared
        assert (next_one.id, next_one.epoch) == (prepared[0], prepared[1] + 1)
        assert await state_of(broker) == "Ongoing"
        assert await next_one.send(number=0) == ErrorCode.INVALID_TXN_STATE

        first.client = broker
        assert await first.end() == ErrorCode.PRODUCER_FENCED
        assert await stable_offset(broker) == 0

        assert await next_one.end(outcome) == NONE
        await until_state(broker, f"Complete{outcome.title()}")
        assert [await stable_offset(broker, "t", number) for number in (0, 1)] == [2, 2]
        next_one.sequences.clear()
        assert await next_one.send() == NONE, "its next transaction"
        assert await next_one.end() == NONE


async def test_a_prepared_transaction_does_not_time_out() -> None:
    clock = StateClock(manual=True)
    async with running_broker(PREPARING, topics={"t": 1}, clock=clock) as broker:
        waiting, ordinary = Producer(broker, "a"), Producer(broker, "b")
        for producer in (waiting, ordinary):
            await producer.start()
            await initialized(producer, prepares=producer is waiting)
            assert await producer.send() == NONE
        clock.advance(days=6)
        await until_state(broker, "CompleteAbort", "b")
        assert await state_of(broker, "a") == "Ongoing"
        assert await waiting.end() == NONE
