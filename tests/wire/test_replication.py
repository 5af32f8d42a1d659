"""A broker with a follower, which the test plays: high watermarks, acks all, who is in sync."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fencepost_broker.controller.bootstrap import first_heartbeat, registration
from fencepost_broker.metadata.image.model import Endpoint
from fencepost_broker.server.clock import StateClock
from fencepost_broker.storage.log import Disk
from fencepost_protocol.errors import ErrorCode
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
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.machine.storage.harness import Faults, faulty_disk
from tests.support.broker import Client, RunningBroker, memory_disk, running_broker
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
LEADER, FOLLOWER = 1, 7
LAG_MS = 30_000
LATEST, EARLIEST, MAX_TIMESTAMP, PREFERRED = -1, -2, -3, 0


class Replicated(Client):
    """The leader of t-0, as a client sees it, and its follower."""

    def __init__(self, broker: RunningBroker, clock: StateClock) -> None:
        super().__init__(f"{broker.host}:{broker.port}")
        self.broker = broker
        self.clock = clock
        self.follower = Client(f"{broker.host}:{broker.port}")

    def place(self, *replicas: int, topic: str = "t", **configs: str) -> None:
        assigned = [CreatableReplicaAssignment(0, list(replicas))]
        items = [CreatableTopicConfig(each.replace("_", "."), configs[each]) for each in configs]
        wanted = CreatableTopic(topic, -1, -1, assigned, items)
        answer = self.broker.command(CreateTopicsRequest([wanted])).topics[0]
        assert not answer.error_code, answer.error_message

    async def send(self, acks: int = -1, timeout_ms: int = 20_000, topic: str = "t") -> Any:
        records = bytes(build_batch(None, [b"x"], 1000))
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, records)])
        request = ProduceRequest(None, acks, timeout_ms, [data])
        return (await self.ask(request, 9)).responses[0].partition_responses[0]

    async def fetch(
        self, client: Client, offset: int, replica: int = -1, topic: str = "t", version: int = 12
    ) -> Any:
        known = self.broker.server.image.topics.partition(topic, 0)
        epoch = 0 if known is None else known.leader_epoch
        partition = FetchPartition(0, epoch, offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_bytes=1 << 20, session_epoch=-1, topics=[FetchTopic(topic, partitions=[partition])]
        )
        if version < 15:
            request.replica_id = replica
        else:
            epoch = self.broker.server.image.cluster.brokers[replica].epoch
            request.replica_state = ReplicaState(replica, epoch)
            request.topics[0].topic_id = self.broker.server.image.topics.by_name[topic].topic_id
            request.topics[0].topic = ""
        return (await client.ask(request, version)).responses[0].partitions[0]

    async def follow(self, offset: int, version: int = 15) -> Any:
        return await self.fetch(self.follower, offset, FOLLOWER, version=version)

    async def latest(self) -> int:
        return int((await self.offset_of(LATEST)).offset)

    async def offset_of(self, timestamp: int, version: int = 7, replica: int = -1) -> Any:
        asked = ListOffsetsTopic("t", [ListOffsetsPartition(0, timestamp=timestamp)])
        answer = await self.follower.ask(ListOffsetsRequest(replica, topics=[asked]), version)
        return answer.topics[0].partitions[0]

    def prefer(self, *replicas: int) -> None:
        """Move the leadership of t-0 to the first of these, which are its replicas already."""
        wanted = ReassignableTopic("t", [ReassignablePartition(0, list(replicas))])
        node = self.broker.server
        assert not node.controller.command(
            AlterPartitionReassignmentsRequest(topics=[wanted])
        ).error_code
        chosen = [TopicPartitions("t", [0])]
        answer = node.controller.command(ElectLeadersRequest(PREFERRED, chosen))
        assert not answer.replica_election_results[0].partition_result[0].error_code

    def in_sync(self) -> tuple[int, ...]:
        found = self.broker.server.image.topics.partition("t", 0)
        assert found is not None
        return found.isr

    def is_waiting(self) -> bool:
        return bool(self.broker.server.table.by_name["t"].partitions[0].waiters)


@asynccontextmanager
async def replicated(disk: Disk | None = None) -> AsyncIterator[Replicated]:
    clock = StateClock(manual=True)
    settings = {"broker.session.timeout.ms": 1 << 30}
    async with running_broker(settings, clock=clock, disk=disk) as broker:
        node = broker.server
        if FOLLOWER not in node.image.cluster.brokers:
            endpoint = Endpoint("PLAINTEXT", "127.0.0.1", 1)
            introduced = registration(
                FOLLOWER, node.identity.cluster_id, b"f" * 16, [endpoint], [b"d" * 16]
            )
            assert not node.controller.command(introduced).error_code
            assert not node.controller.command(first_heartbeat(node.image, FOLLOWER)).is_fenced
        both = Replicated(broker, clock)
        try:
            yield both
        finally:
            await both.disconnect()
            await both.follower.disconnect()


async def test_acks_all_waits_for_the_follower_and_consumers_see_what_it_has() -> None:
    async with replicated() as both:
        both.place(LEADER, FOLLOWER)
        sending = asyncio.ensure_future(both.send())
        await until(both.is_waiting)
        assert await both.latest() == 0
        answer = await both.follow(0)
        assert len(answer.records)
        assert not sending.done(), "what was sent to it is not yet what it has"
        await both.follow(1)
        told = await sending
        assert (told.error_code, told.base_offset) == (0, 0)
        assert await both.latest() == 1
        seen = await both.fetch(both.follower, 0)
        assert (seen.high_watermark, bool(seen.records)) == (1, True)


async def test_acks_1_does_not_wait() -> None:
    async with replicated() as both:
        both.place(LEADER, FOLLOWER)
        assert (await both.send(acks=1)).error_code == 0
        assert await both.latest() == 0
        seen = await both.fetch(both.follower, 0)
        assert not seen.records


async def test_no_follower_in_time() -> None:
    async with replicated() as both:
        both.place(LEADER, FOLLOWER)
        assert (await both.send(timeout_ms=1)).error_code == ErrorCode.REQUEST_TIMED_OUT
        assert not both.is_waiting()


async def test_a_client_that_leaves_waits_no_longer() -> None:
    async with replicated() as both:
        both.place(LEADER, FOLLOWER)
        sending = asyncio.ensure_future(both.send())
        await until(both.is_waiting)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await both.disconnect()
        await until(lambda: not both.is_waiting())


async def test_who_lags_is_left_out_and_comes_back() -> None:
    async with replicated() as both:
        both.place(LEADER, FOLLOWER)
        sending = asyncio.ensure_future(both.send())
        await until(both.is_waiting)
        both.clock.advance(ms=LAG_MS + 1)
        assert (await sending).error_code == 0
        assert both.in_sync() == (LEADER,)
        assert await both.latest() == 1
        await both.follow(0)
        assert both.in_sync() == (LEADER,)
        await both.follow(1)
        assert both.in_sync() == (LEADER, FOLLOWER)


async def test_alone_in_sync_it_waits_for_nobody() -> None:
    async with replicated() as both:
        both.place(LEADER, FOLLOWER)
        both.clock.advance(ms=LAG_MS + 1)
        assert (await both.send(acks=1)).error_code == 0
        both.clock.advance(ms=LAG_MS + 1)
        assert both.in_sync() == (LEADER,)
        assert (await both.send()).error_code == 0
        assert await both.latest() == 2


async def test_a_new_leader_tells_no_end_below_what_its_predecessor_may_have_shown() -> None:
    async with replicated() as both:
        both.place(LEADER, FOLLOWER)
        assert (await both.send(acks=1)).error_code == 0
        both.prefer(FOLLOWER, LEADER)
        assert (await both.offset_of(LATEST)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        both.prefer(LEADER, FOLLOWER)
        for asked in (LATEST, MAX_TIMESTAMP, 5000):
            told = await both.offset_of(asked)
            assert (told.error_code, told.offset) == (ErrorCode.OFFSET_NOT_AVAILABLE, -1)
        told = await both.offset_of(LATEST, version=4)
        assert told.error_code == ErrorCode.LEADER_NOT_AVAILABLE
        assert (await both.offset_of(EARLIEST)).offset == 0
        assert (await both.offset_of(LATEST, replica=FOLLOWER)).offset == 1
        await both.follow(1)
        for asked, offset in ((LATEST, 1), (MAX_TIMESTAMP, 0), (5000, -1)):
            told = await both.offset_of(asked)
            assert (told.error_code, told.offset) == (0, offset)


async def test_a_restarted_replica_shows_no_more_than_was_replicated() -> None:
    disk = memory_disk()
    async with replicated(disk) as both:
        both.place(LEADER, FOLLOWER)
        assert (await both.send(acks=1)).error_code == 0
        await both.follow(1)
        assert (await both.send(acks=1)).error_code == 0
        assert await both.latest() == 1
    async with replicated(disk) as both:
        partition = both.broker.server.table.find("t", 0)
        assert partition is not None
        assert (partition.log.high_watermark, partition.log.log_end_offset) == (1, 2)


async def test_who_waits_for_the_disk_cuts_nobody_off_and_leads_when_it_has_room() -> None:
    faults = Faults(only=frozenset({"make_folder"}), lasting=True)
    async with replicated(faulty_disk(memory_disk(), faults)) as both:
        faults.countdown = 0
        both.place(LEADER, FOLLOWER)
        assert (await both.follow(3)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        faults.countdown = None
        both.clock.advance(seconds=2)
        partition = both.broker.server.table.find("t", 0)
        assert partition is not None
        assert not partition.log.follows_log_end
        assert (await both.send(acks=1)).error_code == 0
        assert await both.latest() == 0
        await both.follow(1)
        assert await both.latest() == 1


async def test_too_few_in_sync() -> None:
    async with replicated() as both:
        both.place(LEADER, FOLLOWER, min_insync_replicas="2")
        sending = asyncio.ensure_future(both.send(timeout_ms=100))
        await until(both.is_waiting)
        both.clock.advance(ms=LAG_MS + 1)
        assert both.in_sync() == (LEADER,)
        assert (await sending).error_code == ErrorCode.REQUEST_TIMED_OUT
        refused = await both.send()
        assert refused.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
        assert refused.log_start_offset == 0
        assert (await both.send(acks=1)).error_code == 0
        assert await both.latest() == 0
        await both.follow(2)
        assert both.in_sync() == (LEADER, FOLLOWER)
        assert await both.latest() == 2


async def test_another_broker_leads() -> None:
    async with replicated() as both:
        both.place(FOLLOWER, LEADER)
        assert (await both.send()).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        for replica, version in ((FOLLOWER, 12), (-1, 10)):
            told = await both.fetch(both.follower, 0, replica, version=version)
            assert told.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert (await both.fetch(both.follower, 0, version=11)).error_code == 0


@pytest.mark.parametrize("version", [12, 15])
async def test_a_broker_that_has_no_replica(version: int) -> None:
    async with replicated() as both:
        both.place(LEADER)
        told = await both.follow(0, version)
        assert told.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
        assert (await both.send()).error_code == 0
