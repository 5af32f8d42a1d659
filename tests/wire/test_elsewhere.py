"""Partitions and coordinators that are another broker's, of which there is only the metadata."""

from __future__ import annotations

import pytest
from fencepost_broker.controller.bootstrap import first_heartbeat, registration
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.model import Endpoint
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.topic_record import TopicRecord

from tests.support.broker import RunningBroker, running_broker

pytestmark = pytest.mark.asyncio
HERE, THERE = 1, 7
TOPIC_ID = b"t" * 16
SETTINGS = {"node.id": HERE, "broker.session.timeout.ms": 1 << 30}


def tell(broker: RunningBroker, *records: Message) -> None:
    versions = {PartitionRecord: 2, PartitionChangeRecord: 2}
    written = (MetadataRecord(each, versions.get(type(each), 0)) for each in records)
    broker.decider.commit(Decision(None, tuple(written)))


def introduce(broker: RunningBroker) -> None:
    directory = bytes([THERE]) * 16
    endpoint = Endpoint("PLAINTEXT", "there.example", 1234)
    asked = registration(
        THERE, broker.server.identity.cluster_id, directory, [endpoint], [directory], "r"
    )
    assert not broker.command(asked).error_code
    assert not broker.command(first_heartbeat(broker.server.image, THERE)).is_fenced


def partition(number: int, broker_id: int) -> PartitionRecord:
    return PartitionRecord(
        partition_id=number, topic_id=TOPIC_ID, replicas=[broker_id], isr=[broker_id],
        leader=broker_id, leader_epoch=0, partition_epoch=0, directories=[bytes(16)],
    )  # fmt: skip


async def test_metadata_names_all_brokers_and_only_replicas_here_have_logs() -> None:
    async with running_broker(SETTINGS) as broker:
        introduce(broker)
        tell(broker, TopicRecord("t", TOPIC_ID), partition(0, THERE), partition(1, HERE))
        answer = await broker.ask(MetadataRequest([MetadataRequestTopic(name="t")]), 12)
        assert [(each.node_id, each.host, each.port, each.rack) for each in answer.brokers] == [
            (HERE, broker.host, broker.port, None),
            (THERE, "there.example", 1234, "r"),
        ]
        assert [each.leader_id for each in answer.topics[0].partitions] == [THERE, HERE]
        assert ("t", 0) not in broker.server.log_manager.logs
        await broker.produce("t", 1, b"mine")
        with pytest.raises(AssertionError):
            await broker.produce("t", 0, b"not mine")


async def test_a_fenced_broker_is_not_named() -> None:
    async with running_broker(SETTINGS) as broker:
        introduce(broker)
        epoch = broker.server.image.cluster.brokers[THERE].epoch
        asleep = first_heartbeat(broker.server.image, THERE)
        asleep.want_fence, asleep.broker_epoch = True, epoch
        assert broker.command(asleep).is_fenced
        answer = await broker.ask(MetadataRequest([]), 12)
        assert [each.node_id for each in answer.brokers] == [HERE]


async def test_a_replica_that_comes_and_goes() -> None:
    async with running_broker(SETTINGS) as broker:
        introduce(broker)
        tell(broker, TopicRecord("t", TOPIC_ID), partition(0, THERE))
        tell(broker, PartitionChangeRecord(0, TOPIC_ID, replicas=[HERE], isr=[HERE], leader=HERE))
        assert await broker.produce("t", 0, b"mine now") == 0
        assert ("t", 0) in broker.server.log_manager.logs
        tell(broker, PartitionChangeRecord(0, TOPIC_ID, replicas=[THERE], isr=[THERE], leader=7))
        assert ("t", 0) not in broker.server.log_manager.logs
        with pytest.raises(AssertionError):
            await broker.produce("t", 0, b"no longer")
        tell(broker, PartitionChangeRecord(0, TOPIC_ID, replicas=[HERE], isr=[HERE], leader=HERE))
        assert await broker.produce("t", 0, b"a new one") == 0


async def test_who_leads_its_partition_coordinates_a_group() -> None:
    async with running_broker(SETTINGS) as broker:
        introduce(broker)
        led = [partition(0, HERE), partition(1, THERE)]
        tell(broker, TopicRecord("__consumer_offsets", TOPIC_ID), *led)
        groups = ["a", "b", "c", "d"]
        answer = await broker.ask(FindCoordinatorRequest(coordinator_keys=groups), 4)
        found = {each.key: each.node_id for each in answer.coordinators}
        assert found == {each: (HERE, THERE)[partition_of(each, 2)] for each in groups}
        assert set(found.values()) == {HERE, THERE}
        tell(broker, PartitionChangeRecord(1, TOPIC_ID, leader=-1))
        answer = await broker.ask(FindCoordinatorRequest(coordinator_keys=groups), 4)
        assert {each.error_code for each in answer.coordinators if found[each.key] == THERE} == {
            ErrorCode.COORDINATOR_NOT_AVAILABLE
        }
