"""Two brokers over the wire: what the one leads the other follows."""

from __future__ import annotations

import pytest

from tests.support.two_brokers import FOLLOWER, LEADER, contents, two
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio


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
        both.let_lead(FOLLOWER, both.follower.node, in_sync=[FOLLOWER])
        await both.follower.produce("t", 0, b"lost", b"lost too")
        both.let_lead(LEADER, both.leader.node, in_sync=[LEADER])
        both.let_lead(LEADER)
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
