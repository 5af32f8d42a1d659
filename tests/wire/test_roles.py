"""A controller and brokers, each a process as far as they know: all they say is on the wire."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_broker.config import Value
from fencepost_broker.metadata.image.changes import Changes
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.replication.replica_manager import ReplicaManager
from fencepost_broker.server.errors import BrokerFailedError
from fencepost_broker.storage.log import StorageError, UpperBound
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import incremental_alter_configs as changes
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest
from fencepost_protocol.generated.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_acls import DescribeAclsRequest
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.unregister_broker import UnregisterBrokerRequest

from tests.support.broker import Client, RunningBroker
from tests.support.cluster import CONTROLLER_ID, Cluster, running_cluster
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
TOPIC, BROKER, BROKER_LOGGER, GROUP = 2, 4, 8, 32


def contents(broker: RunningBroker, topic: str, number: int) -> bytes:
    partition = broker.server.table.find(topic, number)
    assert partition is not None
    result = partition.log.read(0, 1 << 20, UpperBound.HIGH_WATERMARK, min_one_batch=True)
    return b"".join(bytes(piece) for piece in result.pieces or ())


def controller_client(cluster: Cluster) -> Client:
    return Client(cluster.controller.addresses[0].bootstrap)


async def test_a_topic_is_spread_over_the_brokers_and_written_where_it_is_led() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", 4)
        leaders = await cluster.leaders("t")
        assert sorted(leaders) == [1, 1, 2, 2]
        for number, leader in enumerate(leaders):
            await cluster.broker(leader).produce("t", number, b"value")
            assert ("t", number) not in cluster.broker(3 - leader).server.log_manager.logs
        answer = await cluster.broker(2).ask(MetadataRequest([]), 12)
        assert [(each.node_id, each.port) for each in answer.brokers] == [
            (1, cluster.broker(1).port), (2, cluster.broker(2).port),
        ]  # fmt: skip


async def test_all_replicas_have_what_was_acknowledged() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", 2, factor=2)
        for number, leader in enumerate(await cluster.leaders("t")):
            assert await cluster.broker(leader).produce("t", number, b"one", b"two") == 0
            follower = cluster.broker(3 - leader).server.table.find("t", number)
            assert follower is not None
            assert follower.log.log_end_offset == 2


async def test_another_replica_leads_when_the_leader_dies() -> None:
    async with running_cluster(2, broker_session_timeout_ms=1500) as cluster:
        await cluster.create("t", 1, factor=2)
        (leader,) = await cluster.leaders("t")
        other = 3 - leader
        await cluster.broker(leader).produce("t", 0, b"kept")
        await cluster.die(leader)
        partition = cluster.broker(other).server.table.find("t", 0)
        assert partition is not None
        await until(lambda: partition.leads)
        assert cluster.controller.image.topics.by_name["t"].partitions[0].isr == (other,)
        assert await cluster.leaders("t") == [other]
        assert await cluster.broker(other).produce("t", 0, b"went on") == 1
        assert b"kept" in contents(cluster.broker(other), "t", 0)
        # It comes back with nothing, catches up, and counts again.
        await cluster.start_broker(leader)
        await until(
            lambda: set(cluster.controller.image.topics.by_name["t"].partitions[0].isr) == {1, 2}
        )
        assert await cluster.broker(other).produce("t", 0, b"to both") == 2
        await until(lambda: b"to both" in contents(cluster.broker(leader), "t", 0))
        assert b"kept" in contents(cluster.broker(leader), "t", 0)


async def test_who_stops_hands_over_first() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", 1, factor=2)
        (leader,) = await cluster.leaders("t")
        await cluster.stop(leader)
        assert cluster.controller.image.cluster.brokers[leader].fenced, (
            "long before its session is over"
        )
        assert cluster.controller.image.topics.by_name["t"].partitions[0].leader == 3 - leader
        again = await cluster.start_broker(leader)
        assert not cluster.controller.image.cluster.brokers[leader].fenced
        assert (
            again.server.registration.epoch
            == cluster.controller.image.cluster.brokers[leader].epoch
        )


async def test_what_clients_want_of_the_controller_is_passed_on() -> None:
    async with running_cluster(2) as cluster:
        answer = await cluster.create("t", 1)
        assert answer.topics[0].num_partitions == 1
        assert answer.topics[0].configs
        configs = AlterConfigsResource(2, "t", [AlterableConfig("retention.ms", "12345")])
        altered = await cluster.broker(2).ask(AlterConfigsRequest([configs]), 2)
        assert not altered.responses[0].error_code
        await until(lambda: "t" in cluster.broker(1).server.table.by_name)
        images = [each.server.image for each in cluster.brokers]
        await until(lambda: all(each.configs.of_topic("t") for each in images))
        deleted = await cluster.broker(2).ask(DeleteTopicsRequest([DeleteTopicState("t")]), 6)
        assert not deleted.responses[0].error_code
        await until(lambda: all("t" not in each.server.table.by_name for each in cluster.brokers))


async def test_loggers_are_the_brokers_and_what_is_beside_them_is_passed_on() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t")
        broker = cluster.broker(2)
        resources = [
            changes.AlterConfigsResource(kind, name, [changes.AlterableConfig(key, 0, value)])
            for kind, name, key, value in (
                (TOPIC, "t", "retention.ms", "12345"),
                (BROKER_LOGGER, "2", "server", "DEBUG"),
                (TOPIC, "absent", "retention.ms", "12345"),
                (BROKER_LOGGER, "1", "server", "DEBUG"),
            )
        ]
        answer = await broker.ask(changes.IncrementalAlterConfigsRequest(resources), 1)
        assert [
            (each.error_code, each.resource_type, each.resource_name) for each in answer.responses
        ] == [
            (ErrorCode.NONE, TOPIC, "t"),
            (ErrorCode.NONE, BROKER_LOGGER, "2"),
            (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, TOPIC, "absent"),
            (ErrorCode.INVALID_REQUEST, BROKER_LOGGER, "1"),
        ]
        assert broker.server.log_levels.told()["server"] == "debug"
        assert cluster.controller.log_levels.told()["server"] != "debug"
        assert cluster.controller.image.configs.of_topic("t") == {"retention.ms": "12345"}
        only = changes.IncrementalAlterConfigsRequest(resources[3:])
        answer = await broker.ask(only, 1)
        assert [each.error_code for each in answer.responses] == [ErrorCode.INVALID_REQUEST]


async def test_a_controller_describes_its_own_settings_and_those_of_the_cluster() -> None:
    """KIP-919: tools ask it with --bootstrap-controller. The codes are those of Apache Kafka."""
    authorizer: dict[str, Value] = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    asked = [
        (TOPIC, "t"), (TOPIC, "absent"), (BROKER, str(CONTROLLER_ID)), (BROKER, "1"), (GROUP, "g"),
        (BROKER_LOGGER, str(CONTROLLER_ID)),
    ]  # fmt: skip
    async with running_cluster(1, **authorizer) as cluster, controller_client(cluster) as client:
        await cluster.create("t")
        configs = AlterConfigsResource(TOPIC, "t", [AlterableConfig("retention.ms", "12345")])
        await client.ask(AlterConfigsRequest([configs]), 2)
        resources = [DescribeConfigsResource(*each) for each in asked]
        answer = await client.ask(DescribeConfigsRequest(resources), 4)
        told = [{each.name: each.value for each in result.configs} for result in answer.results]
        assert [(each.error_code, bool(each.configs)) for each in answer.results] == [
            (ErrorCode.NONE, True),
            (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, False),
            (ErrorCode.NONE, True),
            (ErrorCode.INVALID_REQUEST, False),
            (ErrorCode.NONE, True),
            (ErrorCode.NONE, True),
        ]
        assert told[0]["retention.ms"] == "12345"
        assert told[2]["process.roles"] == "controller"
        creation = AclCreation(TOPIC, "t", 3, "User:alice", "*", 3, 3)
        [made] = (await client.ask(CreateAclsRequest([creation]), 3)).results
        assert not made.error_code
        [found] = (await client.ask(DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3)).resources
        assert (found.resource_name, found.acls[0].principal) == ("t", "User:alice")


async def test_a_broker_is_forgotten_by_way_of_another() -> None:
    async with running_cluster(2) as cluster:
        await cluster.die(2)
        assert 2 in cluster.controller.image.cluster.brokers
        answer = await cluster.broker(1).ask(UnregisterBrokerRequest(2), 0)
        assert not answer.error_code
        assert 2 not in cluster.controller.image.cluster.brokers
        answer = await cluster.broker(1).ask(UnregisterBrokerRequest(2), 0)
        assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


async def test_the_quorum_is_told_with_its_observers() -> None:
    async with running_cluster(2) as cluster:
        part = DescribeQuorumRequestPartitionData(0)
        request = DescribeQuorumRequest(
            [DescribeQuorumRequestTopicData("__cluster_metadata", [part])]
        )
        end = cluster.controller.image.next_offset
        await until(
            lambda: (
                {o.end_offset for o in cluster.controller.controller.observers.values()} == {end}
            )
        )
        told = (await cluster.broker(1).ask(request, 2)).topics[0].partitions[0]
        assert (told.leader_id, told.high_watermark) == (CONTROLLER_ID, end)
        assert [each.replica_id for each in told.current_voters] == [CONTROLLER_ID]
        assert {each.replica_id: each.log_end_offset for each in told.observers} == {1: end, 2: end}


async def test_producer_ids_come_in_blocks_and_no_two_brokers_have_the_same() -> None:
    async with running_cluster(2) as cluster:
        ids = []
        for broker in cluster.brokers:
            for _ in range(3):
                answer = await broker.ask(InitProducerIdRequest(None), 4)
                assert not answer.error_code
                ids.append(answer.producer_id)
        assert len(set(ids)) == 6
        assert {each // 1000 for each in ids} == {0, 1}
        assert cluster.controller.image.producer_ids.latest.next_producer_id == 2000


async def test_who_may_have_producer_ids_and_how_many() -> None:
    """Blocks are given to those who are named, and who takes many is told to wait (KIP-730)."""
    limits: dict[str, Any] = {
        "controller.producer.ids.brokers": "1",
        "controller.producer.ids.rate": 0.5,
    }
    async with running_cluster(1, **limits) as cluster, controller_client(cluster) as controller:
        with pytest.raises(
            BrokerFailedError, match=r"add it to .* controller.producer.ids.brokers"
        ):
            await cluster.start_broker(2)
        epochs = {
            number: each.epoch for number, each in cluster.controller.image.cluster.brokers.items()
        }
        refused = await controller.ask(AllocateProducerIdsRequest(2, epochs[2]), 0)
        assert refused.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        answer = await cluster.broker(1).ask(InitProducerIdRequest(None), 4)
        assert not answer.error_code, "its first block came when it began"
        told = [await controller.ask(AllocateProducerIdsRequest(1, epochs[1]), 0) for _ in range(2)]
        assert [each.error_code for each in told] == [0, 0]
        assert 0 < told[0].throttle_time_ms < told[1].throttle_time_ms
        assert cluster.controller.image.producer_ids.latest.next_producer_id == 3000


async def test_topics_that_are_asked_for_are_made_and_found_the_next_time() -> None:
    async with running_cluster(2) as cluster:
        broker = cluster.broker(1)
        request = MetadataRequest([MetadataRequestTopic(name="wanted")], True)
        answer = await broker.ask(request, 12)
        assert answer.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        await until(lambda: "wanted" in broker.server.image.topics.by_name)
        find = FindCoordinatorRequest(coordinator_keys=["g"])
        answer = await broker.ask(find, 4)
        assert answer.coordinators[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        await until(lambda: "__consumer_offsets" in broker.server.image.topics.by_name)
        answer = await broker.ask(find, 4)
        assert answer.coordinators[0].node_id in {1, 2}


async def test_the_controller_may_be_away() -> None:
    """Brokers go on, what needs it waits, and nothing that it has decided is lost."""
    async with running_cluster(2) as cluster:
        await cluster.create("t", 2)
        leaders = await cluster.leaders("t")
        await cluster.stop(CONTROLLER_ID)
        await cluster.broker(leaders[0]).produce("t", 0, b"meanwhile")
        creating = asyncio.ensure_future(cluster.create("later"))
        await cluster.start_controller()
        await creating
        assert set(cluster.controller.image.topics.by_name) == {"t", "later"}
        epochs = {each.node_id: each.server.registration.epoch for each in cluster.brokers}
        assert epochs == {
            each.broker_id: each.epoch for each in cluster.controller.image.cluster.brokers.values()
        }


class Broken(MetadataPublisher):
    """A part with a bug."""

    is_broken = True

    def on_decision(self, changes: Changes, decision: Any) -> None:
        if self.is_broken:
            raise ZeroDivisionError


async def test_who_cannot_carry_out_what_was_decided_ends_and_says_so() -> None:
    async with running_cluster(2) as cluster:
        broker = cluster.broker(2)
        why: list[str] = []
        broker.process.on_failure = why.append

        async def create(name: str) -> None:
            request = CreateTopicsRequest(topics=[CreatableTopic(name, 1, 1)])
            await cluster.broker(1).ask(request, 7)

        broken = Broken()
        broker.server.publishers.add(broken)
        await create("t")
        await until(lambda: bool(why))
        (told,) = why
        assert told.startswith("broker 2 stops: it could not apply a decision")
        assert "ZeroDivisionError" in told
        assert "start it again" in told
        # It goes on with nothing that comes behind what it lacks a part of.
        broken.is_broken = False
        await create("later")
        await until(lambda: "later" in cluster.broker(1).server.image.topics.by_name)
        assert "later" not in broker.server.image.topics.by_name
        assert why == [told]


async def test_who_cannot_carry_it_out_at_its_start_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running_cluster(1) as cluster:
        await cluster.create("t")

        def fail(replicas: ReplicaManager, changes: Changes) -> None:
            raise StorageError("make", "t-0", "no space left")

        monkeypatch.setattr(ReplicaManager, "on_changes", fail)
        with pytest.raises(OSError, match=r"could not apply .* no space left"):
            await cluster.start_broker(2)


async def test_what_is_only_in_a_snapshot_is_read_from_it() -> None:
    """Behind two snapshots the log begins later than a new broker does."""
    settings = {"metadata_log_max_record_bytes_between_snapshots": 1}
    async with running_cluster(1, **settings) as cluster:
        for number in range(4):
            await cluster.create(f"t{number}", 2)
            controller = cluster.controller
            controller.maintain(controller.context.clock.now_ms())
        assert cluster.controller.metadata_log.log.log_start_offset > 0
        late = await cluster.start_broker(2)
        assert set(late.server.image.topics.by_name) == {"t0", "t1", "t2", "t3"}
        assert set(late.server.table.by_name) == set(late.server.image.topics.by_name)
        await until(lambda: late.server.image == cluster.controller.image)


async def test_a_broker_of_another_cluster_is_not_taken_in() -> None:
    async with running_cluster(1) as cluster:
        with pytest.raises(OSError, match="INCONSISTENT_CLUSTER_ID"):
            await cluster.start_broker(2, **{"cluster.id": "A" * 22})


async def test_the_controllers_port_tells_controllers() -> None:
    async with running_cluster(1) as cluster, controller_client(cluster) as client:
        answer = await client.ask(DescribeClusterRequest(endpoint_type=2), 1)
        assert (answer.controller_id, answer.cluster_id) == (
            CONTROLLER_ID, cluster.broker(1).server.identity.cluster_id,
        )  # fmt: skip
        answer = await client.ask(DescribeClusterRequest(endpoint_type=1), 1)
        assert answer.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE


async def test_a_controller_in_a_brokers_process_is_joined_and_handed_over_when_it_stops() -> None:
    """``process.roles=broker,controller`` with a listener for brokers, as in Kafka."""
    settings: dict[str, Any] = {
        "controller.listener.names": "CONTROLLER",
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:0",
        "default.replication.factor": 2,
    }
    async with Broker(settings=settings) as first:
        assert first.controller is not None
        joining: dict[str, Any] = {
            "process.roles": "broker",
            "node.id": 2,
            "controller.quorum.bootstrap.servers": first.controller,
            "broker.heartbeat.interval.ms": 100,
            "replica.fetch.wait.max.ms": 50,
        }
        async with Broker(settings=joining) as second, Client(second.bootstrap) as client:
            topic = CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(0, [1, 2])])
            answer = await client.ask(CreateTopicsRequest(topics=[topic]), 7)
            assert not answer.topics[0].error_code
            request = DescribeQuorumRequest(
                [
                    DescribeQuorumRequestTopicData(
                        "__cluster_metadata", [DescribeQuorumRequestPartitionData(0)]
                    )
                ]
            )
            for bootstrap in (first.bootstrap, second.bootstrap, first.controller):
                async with Client(bootstrap) as asking:
                    answer = await asking.ask(request, 2)
                    (listener,) = answer.nodes[0].listeners
                    assert f"{listener.host}:{listener.port}" == first.controller
                    quorum = answer.topics[0].partitions[0]
                    assert [each.replica_id for each in quorum.current_voters] == [1]
                    assert [each.replica_id for each in quorum.observers] == [2]
            wanted = MetadataRequest([MetadataRequestTopic(name="t")])
            await first.stop()
            answer = await client.ask(wanted, 12)
            assert [each.leader_id for each in answer.topics[0].partitions] == [2]
