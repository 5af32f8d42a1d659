"""Groups of real brokers, of both kinds."""

from __future__ import annotations

import pytest
from fencepost_client import (
    Admin,
    Consumer,
    FencedError,
    GroupIdNotFoundError,
    KafkaError,
    MemberToRemove,
    NewTopic,
    NonEmptyGroupError,
    OffsetAndMetadata,
    RequestMetrics,
    TopicPartition,
)
from fencepost_client.requests.procedures import GROUP, Ask, Coordinator, retry
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.index import ApiKey

from tests.sdk.harness.network import connected
from tests.support.waiting import asked_until

pytestmark = pytest.mark.asyncio


async def make(admin: Admin, topic: str) -> list[TopicPartition]:
    await admin.create_topics([NewTopic(topic, 2)])
    while topic not in await admin.list_topics():
        pass  # brokers hear of it one after the other
    return [TopicPartition(topic, 0), TopicPartition(topic, 1)]


async def test_a_classic_group_with_a_static_member(bootstrap: str, topic: str) -> None:
    group = f"{topic}-group"
    async with Admin(bootstrap) as admin:
        zero, one = await make(admin, topic)
        with pytest.raises(GroupIdNotFoundError, match=group):
            await admin.describe_groups([group])
        async with Consumer(bootstrap, group_id=group, group_instance_id="pod") as consumer:
            consumer.subscribe([topic])
            while not consumer.assignment():
                await consumer.getmany(timeout_ms=100)
            described = (await admin.describe_groups([group]))[group]
            assert (described.group_type, described.state) == ("classic", "Stable")
            assert described.protocol_type == "consumer"
            (member,) = described.members
            assert (member.group_instance_id, member.assignment) == ("pod", (zero, one))
            assert member.subscribed_topics == (topic,)
            assert member.client_id
            (listed,) = [each for each in await admin.list_groups() if each.group_id == group]
            assert (listed.state, listed.group_type.lower()) == ("Stable", "classic")
            assert listed.coordinator_id == described.coordinator_id
            with pytest.raises(NonEmptyGroupError):
                await admin.delete_groups([group])
            with pytest.raises(KafkaError, match="has members"):
                await admin.alter_group_offsets(group, {zero: 5})
            with pytest.raises(FencedError, match="'nobody'"):
                await admin.remove_group_members(group, [MemberToRemove("nobody")])
            await admin.remove_group_members(group, [MemberToRemove(group_instance_id="pod")])
            assert (await admin.describe_groups([group]))[group].members == ()
        empty = await admin.list_groups(states=["Empty"], types=["classic"])
        assert group in {each.group_id for each in empty}
        assert group not in {each.group_id for each in await admin.list_groups(types=["consumer"])}
        await admin.delete_groups([group])
        with pytest.raises(GroupIdNotFoundError, match=group):
            await admin.delete_groups([group])


async def test_offsets_of_a_group(bootstrap: str, topic: str) -> None:
    group = f"{topic}-group"
    async with Admin(bootstrap) as admin:
        zero, one = await make(admin, topic)
        assert await admin.list_group_offsets(group) == {}
        await admin.alter_group_offsets(group, {zero: 5, one: OffsetAndMetadata(6, "note")})
        both = {zero: OffsetAndMetadata(5), one: OffsetAndMetadata(6, "note")}
        assert await admin.list_group_offsets(group) == both
        assert await admin.list_group_offsets(group, [one], require_stable=True) == {one: both[one]}
        nowhere = TopicPartition(f"{topic}-nowhere", 0)
        with pytest.raises(KafkaError) as raised:
            await admin.delete_group_offsets(group, [nowhere, zero])
        assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert raised.value.outcomes[zero] is None
        assert await admin.list_group_offsets(group) == {one: both[one]}
        with pytest.raises(GroupIdNotFoundError):
            await admin.delete_group_offsets(f"{group}-none", [zero])


async def test_offsets_of_several_groups(bootstrap: str, topic: str) -> None:
    groups = [f"{topic}-{number}" for number in range(3)]
    metrics = RequestMetrics()
    async with Admin(bootstrap, metrics=metrics) as admin:
        zero, one = await make(admin, topic)
        await admin.alter_group_offsets(groups[0], {zero: 5})
        await admin.alter_group_offsets(groups[2], {zero: 6, one: 7})
        found = await admin.list_offsets_of_groups(groups)
        assert found == {
            groups[0]: {zero: OffsetAndMetadata(5)},
            groups[1]: {},
            groups[2]: {zero: OffsetAndMetadata(6), one: OffsetAndMetadata(7)},
        }
        assert metrics.of(ApiKey.OFFSET_FETCH).times_us.count == 1


async def test_a_group_of_the_new_protocol(bootstrap: str, topic: str) -> None:
    group, member_id = f"{topic}-group", "AAAAAAAAAAAAAAAAAAAAAQ"
    async with Admin(bootstrap) as admin, connected(bootstrap) as client:
        zero, one = await make(admin, topic)
        beat = ConsumerGroupHeartbeatRequest(
            group, member_id, 0, rebalance_timeout_ms=60_000, subscribed_topic_names=[topic],
            topic_partitions=[],
        )  # fmt: skip
        ask = Ask(Coordinator(GROUP, group), ApiKey.CONSUMER_GROUP_HEARTBEAT, lambda _: beat)
        described = None

        async def is_assigned() -> bool:  # Kafka takes its time
            nonlocal beat, described
            heard = retry(ask, lambda answer: answer.error_code, client.backoff())
            answer = await client.run(heard)
            beat = ConsumerGroupHeartbeatRequest(group, member_id, answer.member_epoch)
            described = (await admin.describe_groups([group]))[group]
            return bool(described.members[0].target_assignment)

        await asked_until(is_assigned)
        assert described is not None
        assert described.group_type == "consumer"
        assert described.group_epoch is not None
        (member,) = described.members
        assert member.target_assignment == (zero, one)
        assert (member.member_id, member.is_classic) == (member_id, False)
        assert member.subscribed_topics == (topic,)
        await admin.remove_group_members(group)
        assert (await admin.describe_groups([group]))[group].members == ()
        await admin.delete_groups([group])
