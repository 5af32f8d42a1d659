"""The admin against real brokers."""

from __future__ import annotations

import pytest
from fencepost_client import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    Admin,
    ConfigError,
    FatalError,
    IllegalStateError,
    NewPartitions,
    NewTopic,
    OffsetOutOfRangeError,
    Producer,
    RequestTimedOutError,
    TopicAlreadyExistsError,
    TopicPartition,
    UnknownTopicOrPartitionError,
)
from fencepost_client.requests.procedures import Pause, Procedure

from tests.sdk.harness.network import connected

pytestmark = pytest.mark.asyncio


async def test_topics_from_beginning_to_end(bootstrap: str, topic: str) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 2, configs={"retention.ms": "60000"})])
        with pytest.raises(TopicAlreadyExistsError, match=topic):
            await admin.create_topics([NewTopic(topic)])
        while topic not in await admin.describe_topics():
            pass  # brokers hear of it one after the other
        described = (await admin.describe_topics([topic]))[topic]
        assert [part.partition for part in described.partitions] == [0, 1]
        assert described.partitions[0].leader == described.partitions[0].replicas[0]
        await admin.create_partitions({topic: 3})
        while len(described.partitions) != 3:
            described = (await admin.describe_topics())[topic]
        assert not described.is_internal
        await admin.delete_topics([topic])
        listed = True
        while listed:  # brokers hear of it one after the other
            listed = topic in await admin.describe_topics()
        with pytest.raises(UnknownTopicOrPartitionError, match=topic):
            await admin.describe_topics([topic])
        with pytest.raises(UnknownTopicOrPartitionError):
            await admin.delete_topics([topic])


async def test_a_trial_creates_nothing(bootstrap: str, topic: str) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic)], validate_only=True)
        assert topic not in await admin.describe_topics()
        with pytest.raises(FatalError, match="INVALID_PARTITIONS"):
            await admin.create_topics([NewTopic(topic, 0)])
        with pytest.raises(FatalError, match="INVALID_CONFIG"):
            await admin.create_topics([NewTopic(topic, configs={"no.such.setting": "1"})])


async def test_offsets(bootstrap: str, topic: str) -> None:
    async with Admin(bootstrap) as admin, Producer(bootstrap) as producer:
        await admin.create_topics([NewTopic(topic, 2)])
        await producer.send_and_wait(topic, b"", partition=1, timestamp_ms=5000)
        zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
        ends = await admin.list_offsets({zero: LATEST, one: LATEST})
        assert (ends[zero].offset, ends[one].offset) == (0, 1)
        assert (await admin.list_offsets({one: EARLIEST}))[one].offset == 0
        assert (await admin.list_offsets({one: 5001}, read_committed=True))[one].offset == -1
        assert await admin.list_group_offsets(topic, [zero, one]) == {}


async def test_offsets_of_every_kind_and_records_that_are_deleted(
    bootstrap: str, topic: str
) -> None:
    where = TopicPartition(topic, 0)
    async with Admin(bootstrap) as admin, Producer(bootstrap) as producer:
        await admin.create_topics([NewTopic(topic, 1)])
        for timestamp_ms in (1000, 3000, 2000):
            await producer.send_and_wait(topic, b"", timestamp_ms=timestamp_ms)

        async def offset(time_ms: int) -> tuple[int, int]:
            found = (await admin.list_offsets({where: time_ms}))[where]
            return found.offset, found.timestamp_ms

        assert await offset(1500) == (1, 3000)
        assert await offset(MAX_TIMESTAMP) == (1, 3000)
        assert await offset(EARLIEST_LOCAL) == (0, -1)
        assert await offset(LATEST_TIERED) == (-1, -1)
        assert await admin.delete_records({where: 2}) == {where: 2}
        assert await offset(EARLIEST) == (2, -1)
        assert await admin.delete_records({where: -1}) == {where: 3}
        with pytest.raises(OffsetOutOfRangeError, match=f"{topic}-0") as raised:
            await admin.delete_records({where: 9})
        assert raised.value.outcomes == {where: raised.value}
        nowhere = TopicPartition(topic, 7)
        with pytest.raises(UnknownTopicOrPartitionError, match=f"{topic}-7"):
            await admin.delete_records({nowhere: 0})
        assert await admin.elect_leaders([where]) == {where: False}
        assert await admin.elect_leaders() == {}
        with pytest.raises(UnknownTopicOrPartitionError):
            await admin.elect_leaders([nowhere])


async def test_replicas_move_to_brokers_that_there_are(bootstrap: str, topic: str) -> None:
    here, nowhere = TopicPartition(topic, 0), TopicPartition(topic, 7)
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic)])
        (broker,) = (await admin.describe_cluster()).brokers
        stay = {here: [broker.broker_id]}
        await admin.alter_partition_reassignments(stay, allow_replication_factor_change=False)
        assert await admin.list_partition_reassignments() == {}
        assert await admin.list_partition_reassignments([here, nowhere]) == {}
        with pytest.raises(FatalError, match="INVALID_REPLICA_ASSIGNMENT") as raised:
            await admin.alter_partition_reassignments({here: [77]})
        assert list(raised.value.outcomes) == [here]
        with pytest.raises(FatalError, match="NO_REASSIGNMENT_IN_PROGRESS"):
            await admin.alter_partition_reassignments({here: None})


async def test_many_topics_some_of_which_cannot_be(bootstrap: str, topic: str) -> None:
    names = [f"{topic}-{number}" for number in range(3)]
    async with Admin(bootstrap) as admin:
        made = await admin.create_topics([NewTopic(names[0], 2), NewTopic(names[1], 1)])
        assert (made[names[0]].partitions, made[names[0]].replication_factor) == (2, 1)
        assert made[names[0]].configs["cleanup.policy"] == "delete"
        with pytest.raises(TopicAlreadyExistsError) as raised:
            await admin.create_topics([NewTopic(name, 1) for name in names])
        outcomes = raised.value.outcomes
        assert isinstance(outcomes[names[0]], TopicAlreadyExistsError)
        assert outcomes[names[2]].partitions == 1
        while not set(names) <= set(listed := await admin.list_topics()):
            pass  # brokers hear of it one after the other
        assert listed[names[0]].topic_id == made[names[0]].topic_id
        with pytest.raises(FatalError, match="INVALID_PARTITIONS"):
            await admin.create_partitions({names[0]: 1})
        with pytest.raises(FatalError, match="INVALID_REPLICA_ASSIGNMENT"):
            await admin.create_partitions({names[0]: NewPartitions(3, [[77]])})
        await admin.create_partitions({names[0]: 5}, validate_only=True)
        await admin.delete_topics([made[names[0]].topic_id, names[1], names[2]])


async def test_calls_that_cannot_be_say_why(bootstrap: str) -> None:
    admin = Admin.from_config({"bootstrap.servers": bootstrap, "client.id": "me"})
    with pytest.raises(IllegalStateError, match="not started"):
        await admin.describe_topics()
    with pytest.raises(ConfigError, match=r"mean client\.id"):
        Admin.from_config({"bootstrap.servers": bootstrap, "clientid": "me"})


async def test_time_that_is_over_says_what_was_in_the_way(bootstrap: str) -> None:
    def never() -> Procedure[None]:
        yield Pause(60_000, UnknownTopicOrPartitionError("The brokers have not heard of it."))

    async with connected(bootstrap) as client:
        with pytest.raises(RequestTimedOutError, match="have not heard of it") as raised:
            await client.run(never(), 50)
        assert isinstance(raised.value.__cause__, UnknownTopicOrPartitionError)
