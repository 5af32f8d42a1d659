"""Two brokers over the wire: what the one leads the other follows."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_broker.replication.follower import Followed, LeaderFetcher
from fencepost_broker.replication.replicated_partitions import Replica
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchResponse
from fencepost_protocol.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.remove_topic_record import RemoveTopicRecord
from fencepost_protocol.generated.topic_record import TopicRecord

from tests.support.two_brokers import FOLLOWER, LEADER, contents, id_of, tell, two
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio


async def test_a_follower_catches_up_and_is_waited_for() -> None:
    async with two() as both:
        both.place(both.leader.server)
        await both.leader.produce("t", 0, b"before", b"too")
        both.place(both.follower.server)
        await until(
            lambda: both.leader.server.image.topics.by_name["t"].partitions[0].isr == (1, 7)
        )
        await both.leader.produce("t", 0, b"acks all")
        assert both.logs()[1].log_end_offset == 3
        await until(both.are_equal)


async def test_a_follower_whose_log_went_another_way() -> None:
    async with two() as both:
        both.place(both.leader.server)
        await both.leader.produce("t", 0, b"a")
        both.place(both.follower.server)
        await until(both.are_equal)
        both.let_lead(FOLLOWER, both.follower.server, in_sync=[FOLLOWER])
        await both.follower.produce("t", 0, b"lost", b"lost too")
        both.let_lead(LEADER, both.leader.server, in_sync=[LEADER])
        both.let_lead(LEADER)
        await both.leader.produce("t", 0, b"kept")
        await until(both.are_equal)
        assert b"lost" not in contents(both.logs()[1])[2]


async def test_a_leader_whose_log_begins_later() -> None:
    async with two() as both:
        both.place(both.leader.server)
        for value in (b"a", b"b", b"c"):
            await both.leader.produce("t", 0, value)
        partition = both.leader.server.table.find("t", 0)
        assert partition is not None
        partition.log.delete_records(2)
        both.place(both.follower.server)
        await until(both.are_equal)
        assert both.logs()[1].log_start_offset == 2


async def test_a_connection_that_breaks_is_made_anew() -> None:
    async with two() as both:
        both.place(both.leader.server)
        await both.leader.produce("t", 0, b"a")
        both.place(both.follower.server)
        await until(both.are_equal)
        server = both.leader.process.socket_server
        for connection in list(server.connections):
            assert connection.transport is not None
            connection.transport.abort()
        await both.leader.disconnect()
        await both.leader.produce("t", 0, b"b")
        await until(both.are_equal)


async def test_a_fault_of_our_own_ends_one_attempt_and_not_the_following(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults = [ValueError("of our own")]
    take = LeaderFetcher.answered

    def answered(self: LeaderFetcher, response: FetchResponse, *times: int) -> list[Followed]:
        if faults:
            raise faults.pop()
        return take(self, response, *times)

    monkeypatch.setattr(LeaderFetcher, "answered", answered)
    async with two() as both:
        both.place(both.leader.server)
        await both.leader.produce("t", 0, b"a")
        both.place(both.follower.server)
        await until(both.are_equal)
        assert not faults


async def test_a_replica_is_added_while_the_partition_is_in_use() -> None:
    async with two() as both:
        leader = both.leader
        placed = CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(0, [LEADER])])
        assert not leader.command(CreateTopicsRequest([placed])).topics[0].error_code
        await leader.produce("t", 0, b"before")
        moves = [ReassignableTopic("t", [ReassignablePartition(0, [LEADER, FOLLOWER])])]
        answer = await leader.ask(AlterPartitionReassignmentsRequest(topics=moves), 1)
        assert answer.responses[0].partitions[0].error_code == 0
        listed = await leader.ask(ListPartitionReassignmentsRequest(), 0)
        (under_way,) = listed.topics[0].partitions
        assert (under_way.adding_replicas, under_way.removing_replicas) == ([FOLLOWER], [])
        await leader.produce("t", 0, b"meanwhile")
        topic = leader.server.image.topics.by_name["t"]
        now = topic.partitions[0]
        partition = PartitionRecord(
            0, topic.topic_id, list(now.replicas), list(now.isr), leader=LEADER,
            leader_epoch=now.leader_epoch, partition_epoch=0, directories=[bytes(16)] * 2,
        )  # fmt: skip
        tell(both.follower.server, TopicRecord("t", topic.topic_id), partition)
        await until(lambda: topic.partitions[0].isr == (LEADER, FOLLOWER))
        assert topic.partitions[0].adding_replicas == ()
        await until(both.are_equal)
        assert (await leader.ask(ListPartitionReassignmentsRequest(), 0)).topics == []


async def test_what_a_follower_brought_to_a_topic_that_is_gone_by_then_is_nothing() -> None:
    """A Fetch's consequences come in the loop's next turn; the topic is deleted before that."""
    failures: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: failures.append(told))
    async with two() as both:
        node = both.leader.server
        both.place(node)
        await both.leader.produce("t", 0, b"x")
        partition = node.table.find("t", 0)
        assert partition is not None
        state = partition.replication
        assert state is not None
        follower = Replica(FOLLOWER, node.image.cluster.brokers[FOLLOWER].epoch)
        caught_up = FetchPartition(0, fetch_offset=1, partition_max_bytes=1)
        assert not node.replicas.replicated.fetched(partition, follower, caught_up)
        assert state.proposal is not None, "it is to count as in sync"
        tell(node, RemoveTopicRecord(id_of("t")))
        turn_is_over = asyncio.Event()
        node.context.clock.call_later(0, turn_is_over.set)
        await turn_is_over.wait()
        assert not failures
        assert "t" not in node.image.topics.by_name
        both.place(node, topic="u")
        await both.leader.produce("u", 0, b"goes on")
