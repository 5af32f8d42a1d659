"""Transactions that register what they will touch (KIP-609), against ours; Kafka's refusal."""

from __future__ import annotations

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    GroupMetadata,
    InvalidGroupIdError,
    Producer,
    TopicPartition,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from fencepost_client.network.connections import Connections
from fencepost_client.producer.preregistration import FEATURE
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

from tests.sdk.harness.producer import create, read
from tests.support.broker import Client

pytestmark = pytest.mark.asyncio
T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


async def committed(broker: Broker, group_id: str) -> int:
    topics = [OffsetFetchRequestTopics("t", partition_indexes=[0])]
    asked = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id, topics=topics)], require_stable=True
    )
    async with Client(broker.bootstrap) as client:
        answer = await client.ask(asked, 8)
    return int(answer.groups[0].topics[0].partitions[0].committed_offset)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.ours_alone("KIP-609: Apache Kafka does not have it")
async def test_only_what_was_written_gets_markers(version: int) -> None:
    settings = {"features": (f"transaction.version:{version}",)}
    async with (
        Broker(topics={"t": 3}, settings=settings) as broker,
        Producer(broker.bootstrap, transactional_id="x") as producer,
    ):
        for number in range(2):
            async with producer.transaction(partitions=[T0, T1], group_id="g") as transaction:
                await transaction.send("t", b"%d" % number, partition=1)
                await transaction.send_offsets({T0: number}, GroupMetadata("g"))
        assert await read(broker.bootstrap, "t", 1) == [b"0", "COMMIT", b"1", "COMMIT"]
        assert await read(broker.bootstrap, "t", 0) == [], "no marker where nothing was written"
        assert await committed(broker, "g") == 1
        # Aborted, all that was registered gets a marker.
        with pytest.raises(ZeroDivisionError):
            async with producer.transaction(partitions=[T2]):
                raise ZeroDivisionError
        assert await read(broker.bootstrap, "t", 2) == ["ABORT"]
        # The next one is not restricted.
        async with producer.transaction() as transaction:
            await transaction.send("t", b"free", partition=0)
        assert await read(broker.bootstrap, "t", 0) == [b"free", "COMMIT"]


@pytest.mark.ours_alone("KIP-609: Apache Kafka does not have it")
async def test_what_was_not_registered_is_refused_and_the_rest_goes_on() -> None:
    async with (
        Broker(topics={"t": 3, "other": 1}) as broker,
        Producer(broker.bootstrap, transactional_id="x", batch_size=200) as producer,
    ):
        async with producer.transaction(partitions=[T1], group_id="g") as transaction:
            with pytest.raises(UnknownTopicOrPartitionError, match="t-2"):
                await transaction.send("t", b"", partition=2)
            with pytest.raises(UnknownTopicOrPartitionError, match="other"):
                await transaction.send("other", b"")
            with pytest.raises(InvalidGroupIdError, match="'g'"):
                await transaction.send_offsets({T0: 1}, GroupMetadata("another"))
            # Without a key and a partition it goes where it may.
            for number in range(20):
                await transaction.send("t", b"%050d" % number)
        found = await read(broker.bootstrap, "t", 1)
        assert found == [*(b"%050d" % number for number in range(20)), "COMMIT"]
        assert await read(broker.bootstrap, "t", 0) == []


@pytest.mark.ours_alone("KIP-609: Apache Kafka does not have it")
async def test_nothing_is_sent_before_the_transaction_before_is_complete() -> None:
    """The registration waits at the broker (KIP-609's parking), and the record with it."""
    async with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, transactional_id="x", linger_ms=0) as producer,
    ):
        hold = broker.hold_markers("x")
        async with producer.transaction(partitions=[T0]) as transaction:
            await transaction.send("t", b"first")
        producer.begin(partitions=[T0])
        delivery = await producer.send("t", b"second")
        assert await read(broker.bootstrap, "t", until_ended=False) == [b"first"]
        hold.release()
        assert (await delivery).offset == 2
        await producer.commit()
        assert await read(broker.bootstrap, "t") == [b"first", "COMMIT", b"second", "COMMIT"]


@pytest.mark.ours_alone("KIP-609: Apache Kafka does not have it")
async def test_a_broker_without_it_says_so_and_the_producer_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    level = Connections.feature
    monkeypatch.setattr(
        Connections, "feature", lambda own, name: 0 if name == FEATURE else level(own, name)
    )
    async with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, transactional_id="x") as producer,
    ):
        await refused(producer, "t")


@pytest.mark.conformance
@pytest.mark.kafka_alone("what a broker without KIP-609 says")
async def test_apache_kafka_does_not_have_it(request: pytest.FixtureRequest, topic: str) -> None:
    bootstrap = request.getfixturevalue("apache_kafka").bootstrap
    await create(bootstrap, topic)
    async with Producer(bootstrap, transactional_id=topic) as producer:
        await refused(producer, topic)


async def refused(producer: Producer, topic: str) -> None:
    with pytest.raises(UnsupportedVersionError, match="KIP-609"):
        producer.begin(partitions=[TopicPartition(topic, 0)])
    with pytest.raises(UnsupportedVersionError, match="KIP-609"):
        async with producer.transaction(group_id="g"):
            pytest.fail("it has begun")
    async with producer.transaction() as transaction:
        await transaction.send(topic, b"without")
