"""Three brokers where a test lays down who leads what, of Apache Kafka or ours.

Replicas are placed by hand, those of the coordinators' topics, too. Where the only other replica is
a broker that never was up, ``hold`` lets nothing in that all in sync must have: so the markers of a
transaction are out for as long as a test likes, and a coordinator cannot write. (Not so a group's:
Kafka writes there first, and then waits.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from fencepost_broker.coordinator.hashing import partition_of
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fencepost_protocol.records.writer import build_batch

from tests.conformance.controller_peer import Side, broker_registration
from tests.support.broker import Client
from tests.support.waiting import asked_until

NEVER_UP = 9
TRANSACTIONS, GROUPS = "__transaction_state", "__consumer_offsets"
Places = Sequence[list[int]]
"""Replicas of each partition, the leader first."""
INTERNAL: Mapping[str, Places] = {
    TRANSACTIONS: ([1, 2], [2, 3], [3, 1], [1, NEVER_UP]),
    GROUPS: ([1, 2], [2, 3], [3, 1]),
}
SETTINGS = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "4",
}
"""Kafka's coordinators count partitions before the topics are there."""
OF_TOPIC = 2
FEATURE = "transaction.version"
LATEST_VERSION = 2
SAFE_DOWNGRADE = 2
UPGRADE = 1
LATEST = -1
NOT_HERE = {ErrorCode.NOT_COORDINATOR, ErrorCode.NOT_LEADER_OR_FOLLOWER}
COME_AGAIN = {
    *NOT_HERE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}
Where = tuple[str, int]


class PlacedCluster:
    """Three brokers, their controller, and who leads what."""

    def __init__(self, clients: Mapping[int, Client], controller: Client) -> None:
        self.clients = clients
        self.controller = controller
        self.replicas: dict[Where, list[int]] = {}
        """The leader first."""

    @property
    def any_broker(self) -> Client:
        """Who is asked what any broker can answer."""
        return self.clients[1]

    def leader_of(self, where: Where) -> int:
        """Who leads a partition, or coordinates what is in it."""
        return self.replicas[where][0]

    async def prepare(self) -> None:
        """Have the coordinators' topics, and the broker that is never up."""
        told = await self.any_broker.ask(MetadataRequest(topics=[]), 12)
        side = Side()
        side.cluster_id = told.cluster_id
        registered = await self.controller.ask(broker_registration(side, NEVER_UP), 4)
        assert not registered.error_code
        await self.create(INTERNAL, CreatableTopicConfig("cleanup.policy", "compact"))

        coordinators = [where for where in self.replicas if where[0] == TRANSACTIONS]

        async def all_give_ids() -> bool:  # one that has just started may have none yet
            return not any([await self._writes(where) for where in coordinators])

        await asked_until(all_give_ids)

    async def create(self, topics: Mapping[str, Places], *configs: CreatableTopicConfig) -> None:
        """Have topics, all partitions of which are led."""
        asked = [
            CreatableTopic(
                name, -1, -1,
                [CreatableReplicaAssignment(*each) for each in enumerate(replicas)],
                list(configs),
            )
            for name, replicas in topics.items()
        ]  # fmt: skip
        made = await self.any_broker.ask(CreateTopicsRequest(asked, 30_000), 7)
        assert not any(each.error_code for each in made.topics), made
        wheres = {
            (name, number): list(replicas)
            for name, places in topics.items()
            for number, replicas in enumerate(places)
        }
        self.replicas |= wheres
        await self._all_know(wheres)
        for where in wheres:
            await self._serves(where)

    # -- who leads ------------------------------------------------------------------------------

    async def move(self, where: Where, to: int) -> None:
        """Have another replica lead, and wait until all know and it does."""
        topic, number = where
        before = self.leader_of(where)
        replicas = [to, *(each for each in self.replicas[where] if each != to)]
        moves = [ReassignableTopic(topic, [ReassignablePartition(number, replicas)])]
        told = await self.any_broker.ask(AlterPartitionReassignmentsRequest(topics=moves), 1)
        assert not told.responses[0].partitions[0].error_code
        elected = ElectLeadersRequest(0, [TopicPartitions(topic, [number])])
        told = await self.any_broker.ask(elected, 2)
        assert not told.replica_election_results[0].partition_result[0].error_code
        self.replicas[where] = replicas
        await self._all_know([where])
        await self._serves(where)

        async def is_given_up() -> bool:
            return await self._state_of(where, before) in NOT_HERE

        await asked_until(is_given_up)

    async def _all_know(self, wheres: Iterable[Where]) -> None:
        """Each broker has heard who leads these partitions."""
        wanted = {where: self.leader_of(where) for where in wheres}
        request = MetadataRequest([MetadataRequestTopic(name=topic) for topic, _ in wanted])

        async def is_so() -> bool:
            for client in self.clients.values():
                answer = await client.ask(request, 12)
                leads = {
                    (topic.name, each.partition_index): each.leader_id
                    for topic in answer.topics
                    for each in topic.partitions
                }
                if any(leads.get(where) != leader for where, leader in wanted.items()):
                    return False
            return True

        await asked_until(is_so)

    async def _serves(self, where: Where) -> None:
        """Its leader answers for a partition."""

        async def is_so() -> bool:
            return await self._state_of(where, self.leader_of(where)) not in COME_AGAIN

        await asked_until(is_so)

    async def _state_of(self, where: Where, broker_id: int) -> ErrorCode:
        """What a broker says when it is asked about a partition, or about an id or group in it."""
        topic, number = where
        client = self.clients[broker_id]
        if topic == TRANSACTIONS:
            request = DescribeTransactionsRequest([name_in(where, "probe")])
            return ErrorCode((await client.ask(request, 0)).transaction_states[0].error_code)
        if topic == GROUPS:
            groups = [OffsetFetchRequestGroup(name_in(where, "probe"))]
            answer = await client.ask(OffsetFetchRequest(groups=groups), 8)
            return ErrorCode(answer.groups[0].error_code)
        topics = [ListOffsetsTopic(topic, [ListOffsetsPartition(number, timestamp=LATEST)])]
        answer = await client.ask(ListOffsetsRequest(-1, topics=topics), 8)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    # -- what keeps markers out -----------------------------------------------------------------

    async def hold(self, topic: str) -> None:
        """Let nothing into the partition whose other replica is never up: the last one."""
        await self._require_in_sync(topic, 2)

    async def release(self, topic: str) -> None:
        """Let all in again."""
        await self._require_in_sync(topic, 1)

    async def _require_in_sync(self, topic: str, replicas: int) -> None:
        setting = [AlterableConfig("min.insync.replicas", 0, str(replicas))]
        resources = [AlterConfigsResource(OF_TOPIC, topic, setting)]
        told = await self.any_broker.ask(IncrementalAlterConfigsRequest(resources), 1)
        assert not told.responses[0].error_code

        number = max(number for name, number in self.replicas if name == topic)

        async def is_so() -> bool:
            return (await self._writes((topic, number)) is ErrorCode.NONE) is (replicas == 1)

        await asked_until(is_so)

    async def _writes(self, where: Where) -> ErrorCode:
        """What is said when something is written that all in sync must have."""
        topic, number = where
        client = self.clients[self.leader_of(where)]
        if topic == TRANSACTIONS:
            answer = await client.ask(InitProducerIdRequest(name_in(where, "probe"), 60_000), 4)
            return ErrorCode(answer.error_code)
        records = bytes(build_batch(None, [b"x"], 1000))
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(number, records)])
        answer = await client.ask(ProduceRequest(None, -1, 5000, [data]), 9)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code)

    # -- which protocol -------------------------------------------------------------------------

    async def set_version(self, level: int) -> None:
        """Set the transaction version, and wait until all brokers have heard of it."""
        how = UPGRADE if level == LATEST_VERSION else SAFE_DOWNGRADE
        update = FeatureUpdateKey(FEATURE, level, upgrade_type=how)
        told = await self.any_broker.ask(UpdateFeaturesRequest(feature_updates=[update]), 1)
        assert not told.error_code, told

        async def all_know() -> bool:
            for client in self.clients.values():
                answer = await client.ask(ApiVersionsRequest("test", "1"), 3)
                levels = {each.name: each.max_version_level for each in answer.finalized_features}
                if levels.get(FEATURE) != level:
                    return False
            return True

        await asked_until(all_know)


def name_in(where: Where, prefix: str) -> str:
    """An id or group that belongs to this partition of its coordinators' topic."""
    topic, number = where
    names = (f"{prefix}-{each}" for each in count())
    return next(each for each in names if partition_of(each, len(INTERNAL[topic])) == number)
