"""Two brokers over the wire: what the one leads the other follows.

Each has a controller of its own here, so the test tells both who is there and who leads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fencepost_broker.controller.bootstrap import first_heartbeat, registration
from fencepost_broker.controller.model import Endpoint
from fencepost_broker.log import PartitionLog, UpperBound
from fencepost_broker.machine import Decision, MetadataRecord
from fencepost_broker.node import Node
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.topic_record import TopicRecord

from tests.support.broker import RunningBroker, running_broker

pytestmark = pytest.mark.asyncio
LEADER, FOLLOWER = 1, 7
TOPIC_ID = b"t" * 16
QUICK = {"replica.fetch.backoff.ms": 20, "broker.session.timeout.ms": 1 << 30}


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():  # noqa: ASYNC110 - whatever comes by the socket wakes nobody here
            await asyncio.sleep(0.001)


def tell(node: Node, *records: Message) -> None:
    """What a controller of both would have written down."""
    versions = {PartitionRecord: 2, PartitionChangeRecord: 2}
    node.controller.commit(
        Decision(None, tuple(MetadataRecord(each, versions.get(type(each), 0)) for each in records))
    )


def introduce(node: Node, broker_id: int, host: str, port: int) -> None:
    directory = bytes([broker_id]) * 16
    endpoint = Endpoint("PLAINTEXT", host, port)
    introduced = registration(broker_id, node.cluster_id, directory, [endpoint], [directory])
    assert not node.command(introduced).error_code
    assert not node.command(first_heartbeat(node.image, broker_id)).is_fenced


class Two:
    """A leader and a follower of t-0."""

    def __init__(self, leader: RunningBroker, follower: RunningBroker) -> None:
        self.leader = leader
        self.follower = follower
        introduce(leader.node, FOLLOWER, follower.host, follower.port)
        introduce(follower.node, LEADER, leader.host, leader.port)
        follower.node.broker_epoch = leader.node.image.brokers[FOLLOWER].epoch

    def place(self, *nodes: Node) -> None:
        for node in nodes:
            partition = PartitionRecord(
                partition_id=0, topic_id=TOPIC_ID, replicas=[LEADER, FOLLOWER], isr=[LEADER],
                leader=LEADER, leader_epoch=0, partition_epoch=0, directories=[bytes(16)] * 2,
            )  # fmt: skip
            tell(node, TopicRecord("t", TOPIC_ID), partition)

    def next_epoch(self) -> None:
        """The leader leads anew."""
        for node in (self.leader.node, self.follower.node):
            tell(node, PartitionChangeRecord(0, TOPIC_ID, leader=LEADER))

    def logs(self) -> tuple[PartitionLog, PartitionLog]:
        tables = (self.leader.node.table, self.follower.node.table)
        found = [table.find("t", 0) for table in tables]
        assert found[0] is not None
        assert found[1] is not None
        return found[0].log, found[1].log

    def are_equal(self) -> bool:
        leader, follower = map(contents, self.logs())
        return leader == follower


def contents(log: PartitionLog) -> tuple[int, int, bytes]:
    result = log.read(log.log_start_offset, 1 << 20, UpperBound.LOG_END, min_one_batch=True)
    data = b"".join(bytes(piece) for piece in result.pieces or ())
    return log.log_start_offset, log.high_watermark, data


@asynccontextmanager
async def two(**settings: Any) -> AsyncIterator[Two]:
    async with (
        running_broker({**QUICK, "node.id": LEADER}) as leader,
        running_broker({**QUICK, "node.id": FOLLOWER}) as follower,
    ):
        yield Two(leader, follower)


async def test_a_follower_catches_up_and_is_waited_for() -> None:
    async with two() as both:
        both.place(both.leader.node)
        await both.leader.produce("t", 0, b"before", b"too")
        both.place(both.follower.node)
        await until(lambda: both.leader.node.image.topics["t"].partitions[0].isr == (1, 7))
        await both.leader.produce("t", 0, b"acks all")
        assert both.logs()[1].log_end_offset == 3
        await until(both.are_equal)


async def test_a_follower_whose_log_went_another_way() -> None:
    async with two() as both:
        both.place(both.leader.node)
        await both.leader.produce("t", 0, b"a")
        both.place(both.follower.node)
        await until(both.are_equal)
        tell(
            both.follower.node, PartitionChangeRecord(0, TOPIC_ID, leader=FOLLOWER, isr=[FOLLOWER])
        )
        await both.follower.produce("t", 0, b"lost", b"lost too")
        tell(both.leader.node, PartitionChangeRecord(0, TOPIC_ID, leader=LEADER, isr=[LEADER]))
        both.next_epoch()
        await both.leader.produce("t", 0, b"kept")
        await until(both.are_equal)
        assert b"lost" not in contents(both.logs()[1])[2]


async def test_a_leader_whose_log_begins_later() -> None:
    async with two() as both:
        both.place(both.leader.node)
        for value in (b"a", b"b", b"c"):
            await both.leader.produce("t", 0, value)
        partition = both.leader.node.table.find("t", 0)
        assert partition is not None
        partition.log.delete_records(2)
        both.place(both.follower.node)
        await until(both.are_equal)
        assert both.logs()[1].log_start_offset == 2


async def test_a_connection_that_breaks_is_made_anew() -> None:
    async with two() as both:
        both.place(both.leader.node)
        await both.leader.produce("t", 0, b"a")
        both.place(both.follower.node)
        await until(both.are_equal)
        server = both.leader.process.server
        for connection in list(server._connections):
            assert connection.transport is not None
            connection.transport.abort()
        await both.leader.disconnect()
        await both.leader.produce("t", 0, b"b")
        await until(both.are_equal)
