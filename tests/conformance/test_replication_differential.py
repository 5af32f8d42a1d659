"""Three brokers of Apache Kafka and three of ours get the same requests: the same answers.

Compared is what a leader says to followers that are none, what a follower and a broker without a
replica say to clients, who is named as leader, and what becomes of the high watermark and of acks
all while too few replicas are in sync. The brokers are in racks; broker 2 leads, 3 follows, 1 has
nothing but ``moved``. Settings of brokers are changed at the broker that is named.

Before that, transactions go over all three: ``transactions_over_brokers.txt`` has the requests.
Ours runs with ``transaction.park.enable=false``, Kafka's way.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import alter_configs, incremental_alter_configs
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.conformance import placed_cluster
from tests.conformance.many_brokers_peer import PeerOfMany
from tests.conformance.placed_cluster import PlacedCluster
from tests.conformance.transaction_peer import scripts_in
from tests.support.apache_kafka import HOST, KafkaUnavailableError, apache_cluster
from tests.support.broker import Client
from tests.support.cluster import running_cluster
from tests.support.waiting import asked_until, until

pytestmark = pytest.mark.conformance

SETTINGS = {
    "log.retention.ms": "-1",  # records here are old: nothing may depend on how long this takes
    "replica.lag.time.max.ms": "3000",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "50",
    **placed_cluster.SETTINGS,
}
PLACES = {"m": [2, 3], "alone": [2], "moved": [2, 1]}
BROKERS = (1, 2, 3)
SCRIPTS = Path(__file__).parent / "transactions_over_brokers.txt"
Answers = dict[str, Any]


class Told(NamedTuple):
    """All that three brokers say."""

    transactions: list[tuple[str, list[str]]]
    """By script."""
    answers: Answers


class Asked:
    """Three brokers, and what they answer, without what each makes up."""

    def __init__(
        self,
        bootstraps: dict[int, str],
        controller: str,
        pause: Callable[[int], Awaitable[None]],
    ) -> None:
        self.clients = {each: Client(bootstraps[each]) for each in BROKERS}
        self.controller = Client(controller)
        self.pause = pause
        self.topic_ids: dict[str, bytes] = {}
        self.answers: Answers = {}

    async def run(self) -> Told:
        try:
            await self._all_are_up()
            transactions = await self._transactions()
            await self._prepare()
            for where in BROKERS:
                await self._of_consumers(where)
                await self._of_producers(where)
            await self._of_settings(2)
            for where in BROKERS:  # later, since the leader believes them
                await self._of_followers(where)
            await self._of_a_leader_that_moved()
            await self._with_too_few_in_sync()
        finally:
            for client in (*self.clients.values(), self.controller):
                await client.disconnect()
        return Told(transactions, self.answers)

    async def _all_are_up(self) -> None:
        async def is_so() -> bool:
            answer = await self.clients[1].ask(MetadataRequest(topics=[]), 12)
            return len(answer.brokers) == len(BROKERS)

        await asked_until(is_so)

    async def _transactions(self) -> list[tuple[str, list[str]]]:
        cluster = PlacedCluster(self.clients, self.controller)
        await cluster.prepare()
        return await PeerOfMany(cluster).outcomes(scripts_in(SCRIPTS))

    async def _prepare(self) -> None:
        first = self.clients[1]
        topics = [
            CreatableTopic(
                name, -1, -1, [CreatableReplicaAssignment(0, replicas)],
                [CreatableTopicConfig("min.insync.replicas", "2")] if name == "m" else [],
            )
            for name, replicas in PLACES.items()
        ]  # fmt: skip
        made = await first.ask(CreateTopicsRequest(topics), 7)
        self.topic_ids = {each.name: each.topic_id for each in made.topics}
        for name in PLACES:
            await self._until(name, lambda told: told.leader_id == 2)

            async def is_led(name: str = name) -> bool:
                return bool((await self._produce(2, name))[0] == "NONE")

            await asked_until(is_led)

        async def follower_knows() -> bool:  # of the high watermark, with its next fetch
            return bool((await self._fetch(3, "m"))[1] == 1)

        await asked_until(follower_knows)

    async def _until(self, topic: str, is_so: Callable[[Any], bool]) -> None:
        """All brokers have heard of it."""

        async def all_know() -> bool:
            request = MetadataRequest([MetadataRequestTopic(name=topic)])
            answers = [await each.ask(request, 12) for each in self.clients.values()]
            found = [each.topics[0].partitions for each in answers]
            return all(each and is_so(each[0]) for each in found)

        await asked_until(all_know)

    # -- requests -------------------------------------------------------------------------------

    async def _fetch(
        self,
        where: int,
        topic: str,
        offset: int = 0,
        *,
        replica: int = -1,
        epoch: int = -1,
        version: int = 16,
        rack: str = "",
    ) -> tuple[Any, ...]:
        asked = FetchTopic("", self.topic_ids[topic]) if version >= 13 else FetchTopic(topic)
        asked.partitions = [FetchPartition(0, epoch, offset, partition_max_bytes=1 << 20)]
        request = FetchRequest(
            max_bytes=1 << 20, session_epoch=-1, topics=[asked], rack_id=rack, max_wait_ms=0
        )
        if version < 15:
            request.replica_id = replica
        elif replica >= 0:
            request.replica_state = ReplicaState(replica, -1)
        answer = await self.clients[where].ask(request, version)
        data = answer.responses[0].partitions[0]
        code = ErrorCode(data.error_code).name
        found = data.high_watermark, bool(data.records), data.preferred_read_replica
        return (code, *found, *_named(data, answer))

    async def _produce(
        self, where: int, topic: str, acks: int = -1, timeout_ms: int = 10_000, version: int = 11
    ) -> tuple[Any, ...]:
        records = bytes(build_batch(None, [b"x"], 1000))
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, records)])
        request = ProduceRequest(None, acks, timeout_ms, [data])
        answer = await self.clients[where].ask(request, version)
        told = answer.responses[0].partition_responses[0]
        code, said = ErrorCode(told.error_code).name, told.error_message is not None
        offsets = told.base_offset, told.log_start_offset
        return (code, *offsets, said, *_named(told, answer))

    async def _latest(self, where: int, replica: int) -> tuple[Any, ...]:
        topics = [ListOffsetsTopic("m", [ListOffsetsPartition(0, timestamp=-1)])]
        answer = await self.clients[where].ask(ListOffsetsRequest(replica, topics=topics), 6)
        told = answer.topics[0].partitions[0]
        return ErrorCode(told.error_code).name, told.offset

    # -- questions ------------------------------------------------------------------------------

    async def _of_followers(self, where: int) -> None:
        for topic in ("m", "alone"):
            for replica in (1, 2, 3, 77):
                for epoch in (-1, 0, 5):
                    for version in (12, 16):
                        label = f"{where}: {topic} to replica {replica}, epoch {epoch}, v{version}"
                        self.answers[label] = await self._fetch(
                            where, topic, replica=replica, epoch=epoch, version=version
                        )

    async def _of_consumers(self, where: int) -> None:
        for version in (10, 11, 12, 16):
            for rack in ("", "r2", "r3", "r9"):
                for offset in (0, 1, 9):
                    label = f"{where}: m to a consumer in {rack} at {offset}, v{version}"
                    self.answers[label] = await self._fetch(
                        where, "m", offset, version=version, rack=rack
                    )

    async def _of_producers(self, where: int) -> None:
        for version in (9, 11):
            label = f"{where}: alone from a producer, v{version}"
            self.answers[label] = await self._produce(where, "alone", version=version)

    async def _of_settings(self, where: int) -> None:
        """Whose settings a broker lets be changed, alone and beside what the controller decides."""
        own = "message.max.bytes"
        named = [(4, name, own) for name in ("2", "1", "77", "x", "")]
        for wanted in (*([each] for each in named), [*named, (2, "m", "retention.ms")]):
            incremental = [
                incremental_alter_configs.AlterConfigsResource(
                    kind, name, [incremental_alter_configs.AlterableConfig(key, 0, "5000")]
                )
                for kind, name, key in wanted
            ]
            legacy = [
                alter_configs.AlterConfigsResource(
                    kind, name, [alter_configs.AlterableConfig(key, "5000")]
                )
                for kind, name, key in wanted
                if kind == 2 or name
            ]
            requests: list[tuple[Any, int]] = [
                (incremental_alter_configs.IncrementalAlterConfigsRequest(incremental, True), 1),
                (alter_configs.AlterConfigsRequest(legacy, True), 2),
            ]
            for request, version in requests:
                answer = await self.clients[where].ask(request, version)
                told = [
                    (
                        each.resource_type,
                        each.resource_name,
                        ErrorCode(each.error_code).name,
                        each.error_message is not None,
                    )
                    for each in answer.responses
                ]
                label = f"{where}: {request.NAME} v{version} of {wanted}"
                # Kafka's follow no order.
                self.answers[label] = sorted(told)

    async def _of_a_leader_that_moved(self) -> None:
        """Broker 1 is made the preferred replica, and elected."""
        moves = [ReassignableTopic("moved", [ReassignablePartition(0, [1, 2])])]
        told = await self.clients[3].ask(AlterPartitionReassignmentsRequest(topics=moves), 1)
        self.answers["another order"] = told.responses[0].partitions[0].error_code
        elected = ElectLeadersRequest(0, [TopicPartitions("moved", [0])])
        told = await self.clients[3].ask(elected, 2)
        result = told.replica_election_results[0].partition_result[0]
        self.answers["an election"] = result.error_code
        await self._until("moved", lambda told: told.leader_id == 1)
        for where in BROKERS:
            for epoch in (0, 1):
                for version in (11, 16):
                    label = f"{where}: moved to a consumer of epoch {epoch}, v{version}"
                    self.answers[label] = (
                        await self._fetch(where, "moved", epoch=epoch, version=version)
                    )[0::4]
            self.answers[f"{where}: moved from a producer"] = await self._produce(where, "moved")

    async def _with_too_few_in_sync(self) -> None:
        await self.pause(3)
        self.answers["no follower in time"] = await self._produce(2, "m", timeout_ms=500)
        await self._until_alone()
        self.answers["acks all, too few"] = await self._produce(2, "m")
        self.answers["acks 1, too few"] = await self._produce(2, "m", acks=1)
        self.answers["what consumers see"] = await self._fetch(2, "m")
        self.answers["latest"] = await self._latest(2, -1)
        self.answers["latest to the follower"] = await self._latest(2, 3)

    async def _until_alone(self) -> None:
        async def is_alone() -> bool:
            request = MetadataRequest([MetadataRequestTopic(name="m")])
            answer = await self.clients[2].ask(request, 12)
            return bool(answer.topics[0].partitions[0].isr_nodes == [2])

        await asked_until(is_alone)


def _named(told: Any, answer: Any) -> tuple[Any, ...]:
    leader = told.current_leader
    leads = None if leader is None else (leader.leader_id, leader.leader_epoch)
    return leads, [(each.node_id, each.rack) for each in answer.node_endpoints]


def _is_stopped(stat: Path) -> bool:
    try:
        text = stat.read_text(encoding="ascii", errors="replace")
    except OSError:  # the thread has ended
        return True
    return text.rpartition(")")[2].split()[0] in "Tt"


def of_kafka() -> Told:
    racks = [{"broker.rack": f"r{each}"} for each in BROKERS]
    with apache_cluster(len(BROKERS), SETTINGS, racks) as brokers:

        async def pause(broker_id: int) -> None:
            process_id = brokers[broker_id - 1].process_id
            assert process_id is not None
            os.kill(process_id, signal.SIGSTOP)
            # The call returns before all threads have stopped, and one of them may fetch.
            threads = Path(f"/proc/{process_id}/task")
            await until(lambda: all(map(_is_stopped, threads.glob("*/stat"))))

        bootstraps = dict(zip(BROKERS, (each.bootstrap for each in brokers), strict=True))
        controller = f"{HOST}:{brokers[0].controller_port}"
        return asyncio.run(Asked(bootstraps, controller, pause).run())


async def of_ours() -> Told:
    given = {name.replace(".", "_"): value for name, value in SETTINGS.items()}
    async with running_cluster(0, transaction_park_enable=False, **given) as cluster:
        for each in BROKERS:
            await cluster.start_broker(each, **{"broker.rack": f"r{each}"})

        async def pause(broker_id: int) -> None:
            links = cluster.broker(broker_id).process.links
            assert links is not None
            assert links.leaders is not None
            await links.leaders.close()

        bootstraps = {each.node_id: f"{each.host}:{each.port}" for each in cluster.brokers}
        return await Asked(bootstraps, cluster.controller_bootstrap, pause).run()


@pytest.fixture(scope="module")
def both() -> tuple[Told, Told]:
    """Kafka's brokers take long to start, so all is asked in one go."""
    ours = asyncio.run(of_ours())
    try:
        return of_kafka(), ours
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def test_transactions_over_three_brokers_go_the_same_way(both: tuple[Told, Told]) -> None:
    kafka, ours = both
    assert sum(len(told) for _, told in kafka.transactions) > 500
    different = [
        f"{title}\n  Kafka {expected}\n  ours  {found}"
        for (title, told), (_, here) in zip(kafka.transactions, ours.transactions, strict=True)
        for expected, found in zip_longest(told, here)
        if expected != found
    ]
    assert not different, "\n".join([f"{len(different)} differ:", *different])


def test_three_brokers_say_the_same(both: tuple[Told, Told]) -> None:
    expected, ours = both[0].answers, both[1].answers
    assert len(expected) > 150
    different = [
        f"{label}\n  Kafka {expected[label]}\n  ours  {ours[label]}"
        for label in expected
        if ours[label] != expected[label]
    ]
    assert not different, "\n".join([f"{len(different)} of {len(expected)} differ:", *different])
