"""A producer that is bound to a consumer, and what its group refuses (KIP-447)."""

from __future__ import annotations

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    AbortableTransactionError,
    CommitFailedError,
    ConfigError,
    Consumer,
    FencedInstanceIdError,
    GroupMetadata,
    Producer,
    TopicPartition,
    UnsupportedVersionError,
)
from fencepost_client.producer.stages import Stage

from tests.sdk.harness.producer import create, read

pytestmark = pytest.mark.asyncio


def consumer_of(bootstrap: str, group_id: str, instance_id: str | None = None) -> Consumer:
    return Consumer(
        bootstrap,
        group_id=group_id,
        group_instance_id=instance_id,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )


async def joined(consumer: Consumer, topic: str) -> None:
    consumer.subscribe([topic])
    while not consumer.assignment():
        await consumer.getmany(timeout_ms=100)


async def test_offsets_without_a_group(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    where = TopicPartition(topic, 0)
    async with (
        consumer_of(bootstrap, topic) as consumer,
        Producer.transactional(topic, consumer=consumer) as producer,
    ):
        await joined(consumer, topic)
        async with producer.transaction() as transaction:
            await transaction.send(topic, b"x")
            await transaction.send_offsets({where: 7})
        assert (await consumer.committed([where]))[where].offset == 7
    assert await read(bootstrap, topic) == [b"x", "COMMIT"]


async def test_a_member_that_left_commits_nothing(bootstrap: str, topic: str) -> None:
    """What KIP-447 is for: its partitions may be another's by now."""
    await create(bootstrap, topic)
    where = TopicPartition(topic, 0)
    async with consumer_of(bootstrap, topic) as gone:
        await joined(gone, topic)
        metadata = gone.group_metadata()
    async with (
        consumer_of(bootstrap, topic) as consumer,
        Producer.transactional(topic, consumer=consumer) as producer,
    ):
        await joined(consumer, topic)
        with pytest.raises(CommitFailedError):  # noqa: PT012
            async with producer.transaction() as transaction:
                await transaction.send(topic, b"lost")
                await transaction.send_offsets({where: 7}, metadata)
        assert not await consumer.committed([where])
        # Abortable: the producer goes on.
        async with producer.transaction() as transaction:
            await transaction.send_offsets({where: 8})
        assert (await consumer.committed([where]))[where].offset == 8


async def test_a_static_member_that_was_replaced_is_fenced(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    where = TopicPartition(topic, 0)
    async with (
        consumer_of(bootstrap, topic, "machine-1") as old,
        consumer_of(bootstrap, topic, "machine-1") as new,
        Producer.transactional(topic, consumer=old) as producer,
    ):
        await joined(old, topic)
        await joined(new, topic)
        with pytest.raises(FencedInstanceIdError):  # noqa: PT012
            async with producer.transaction() as transaction:
                await transaction.send(topic, b"lost")
                await transaction.send_offsets({where: 7})
        assert not await new.committed([where])


async def test_a_bare_group_id_names_what_is_wanted(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    where = TopicPartition(topic, 0)
    async with Producer(bootstrap, transactional_id=topic) as producer:
        producer.begin()
        with pytest.raises(TypeError, match=r"consumer\.group_metadata\(\)"):
            await producer.send_offsets({where: 1}, topic)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"consumer\.group_metadata\(\)"):
            await producer.send_offsets({where: 1})
        await producer.send_offsets({where: 1}, GroupMetadata(topic))
        await producer.commit()


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.ours_alone("an old broker is made by api.versions.max, a setting of ours")
async def test_a_broker_that_cannot_tell_members_apart(version: int) -> None:
    settings: dict[str, bool | int | float | str | tuple[str, ...] | None] = {
        "api.versions.max": ("TxnOffsetCommit:2",),
        "features": (f"transaction.version:{version}",),
        "group.initial.rebalance.delay.ms": 0,
    }
    where = TopicPartition("t", 0)
    async with (
        Broker(topics={"t": 1}, settings=settings) as broker,
        consumer_of(broker.bootstrap, "g") as consumer,
        Producer.transactional("x", consumer=consumer) as producer,
    ):
        await joined(consumer, "t")
        with pytest.raises(UnsupportedVersionError, match=r"2\.5"):  # noqa: PT012
            async with producer.transaction() as transaction:
                await transaction.send("t", b"")
                await transaction.send_offsets({where: 7})
        assert producer.stage is Stage.READY, "it was aborted"
        # Without a member it is as it was before KIP-447.
        async with producer.transaction() as transaction:
            await transaction.send_offsets({where: 8}, GroupMetadata("g"))
        assert (await consumer.committed([where]))[where].offset == 8


async def test_settings() -> None:
    class Stranger:
        def group_metadata(self) -> GroupMetadata:
            return GroupMetadata("g")

    with pytest.raises(ConfigError, match="bootstrap_servers"):
        Producer.transactional("x", consumer=Stranger())
    made = Producer.transactional("x", consumer=Stranger(), bootstrap_servers="localhost:1")
    assert made.transaction_timeout_ms == 10_000, "as KIP-447 has it"
    assert issubclass(CommitFailedError, AbortableTransactionError)
    bound = Producer.transactional(
        "x", consumer=consumer_of("a:1,b:2", "g"), transaction_timeout_ms=5
    )
    assert bound.bootstrap_servers == ["a:1", "b:2"]
    assert bound.transaction_timeout_ms == 5
