"""Transactions of real brokers: described, fenced, and ended where they hang."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from fencepost_client import (
    LATEST,
    Admin,
    ConfigResource,
    FatalError,
    FencedError,
    KafkaError,
    NewTopic,
    Producer,
    ResourceKind,
    TopicPartition,
    TransactionalIdNotFoundError,
    TransactionKeptOpenError,
    TransactionListing,
)
from fencepost_protocol.errors import ErrorCode

from tests.support.broker import Client
from tests.wire.transaction_harness import Producer as RawProducer

pytestmark = pytest.mark.asyncio
EVERYWHERE = ConfigResource(ResourceKind.BROKER, "")
VERIFICATION = "transaction.partition.verification.enable"


async def test_an_open_transaction_is_described_and_fenced(bootstrap: str, topic: str) -> None:
    where, transactional_id = TopicPartition(topic, 0), f"{topic}-id"
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 1)])
        with pytest.raises(TransactionalIdNotFoundError, match=transactional_id):
            await admin.describe_transactions([transactional_id])
        async with Producer(bootstrap, transactional_id=transactional_id) as producer:
            producer.begin()
            await (await producer.send(topic, b"1", partition=0))
            found: list[TransactionListing] = []
            while not found:  # it has to be older than a millisecond
                found = await admin.list_transactions(
                    states=["Ongoing"], pattern=f"{topic}.*", longer_than_ms=0
                )
            (listed,) = found
            assert listed.transactional_id == transactional_id
            told = (await admin.describe_transactions([transactional_id]))[transactional_id]
            assert (told.state, told.partitions) == ("Ongoing", (where,))
            assert told.coordinator_id == listed.coordinator_id
            assert told.duration_ms is not None
            (known,) = (await admin.describe_producers([where]))[where]
            assert (known.producer_id, known.start_offset) == (told.producer_id, 0)
            assert known.producer_id == listed.producer_id
            assert await admin.find_hanging_transactions([where], older_than_ms=-10_000) == []
            fenced = (await admin.fence_producers([transactional_id]))[transactional_id]
            assert fenced.producer_epoch > told.producer_epoch
            with pytest.raises(FencedError):
                await producer.commit()
        after = (await admin.describe_transactions([transactional_id]))[transactional_id]
        assert (after.state in {"Empty", "CompleteAbort"}, after.partitions) == (True, ())
        with pytest.raises(FatalError, match="INVALID_REQUEST"):
            await admin.list_transactions(states=["Ongoin"])
        with pytest.raises(FatalError, match="INVALID_REGULAR_EXPRESSION"):
            await admin.list_transactions(pattern="(")
        with pytest.raises(KafkaError, match="no broker 77"):
            await admin.describe_producers([where], broker_id=77)


async def until_done(ask: Callable[[], Awaitable[ErrorCode]]) -> None:
    """Kafka's coordinators and new leaders take their time."""
    while await ask() is not ErrorCode.NONE:
        pass


async def test_what_hangs_is_found_and_ended(bootstrap: str, topic: str) -> None:
    zero, one = TopicPartition("t", 0), TopicPartition("t", 1)
    async with Admin(bootstrap) as admin, Client(bootstrap) as client:
        await admin.alter_configs({EVERYWHERE: {VERIFICATION: "false"}})
        await admin.create_topics([NewTopic("t", 2)])

        async def unheard() -> ErrorCode:
            return await lost.send(number=1, version=11)

        kept, lost = RawProducer(client, f"{topic}-kept"), RawProducer(client, f"{topic}-lost")
        await until_done(kept.start)
        await until_done(kept.send)
        await until_done(lost.start)
        while not await admin.find_hanging_transactions([zero, one]):
            await until_done(unheard)  # its coordinator never hears of it
        (hanging,) = await admin.find_hanging_transactions()
        assert (hanging.partition, hanging.transactional_id) == (one, f"{topic}-lost")
        assert hanging.producer_id == lost.id
        marker = hanging.marker._replace(partition=zero, producer_id=kept.id)
        with pytest.raises(TransactionKeptOpenError, match=f"{topic}-kept"):
            await admin.abort_transaction(marker)

        async def offset(*, read_committed: bool) -> int:
            found = await admin.list_offsets({one: LATEST}, read_committed=read_committed)
            return found[one].offset

        assert await offset(read_committed=True) == 0
        await admin.abort_transaction(hanging.marker)
        assert await offset(read_committed=True) == await offset(read_committed=False)
        assert await admin.find_hanging_transactions() == []
        await admin.alter_configs({EVERYWHERE: {VERIFICATION: None}})
        await admin.delete_topics(["t"])
        await admin.fence_producers([f"{topic}-kept"])
