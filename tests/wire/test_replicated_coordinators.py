"""Coordinators whose partitions have followers: what waits for them, what moves with a leader."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from tests.support.broker import Client, RunningBroker
from tests.support.slow_coordinators import (
    LOST,
    NONE,
    add,
    code_of,
    commit,
    committed,
    fetch_offsets,
    join,
    offsets_in,
    sent,
    state_of,
)
from tests.support.two_brokers import FOLLOWER, LEADER, Two, id_of, tell, two
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
BOTH = (LEADER, FOLLOWER)


def soon(broker: RunningBroker, request: Message, version: int) -> asyncio.Task[Any]:
    """Ask on a connection of its own."""

    async def ask() -> Any:
        async with Client(f"{broker.host}:{broker.port}") as client:
            return await client.ask(request, version)

    return asyncio.ensure_future(ask())


async def all_wait(broker: RunningBroker, *tasks: asyncio.Task[Any]) -> None:
    """All of these have arrived, and none is answered."""
    server = broker.process.socket_server
    await until(lambda: server.parked_count == len(tasks) or any(each.done() for each in tasks))
    assert not any(each.done() for each in tasks)


def place(both: Two, *topics: str) -> None:
    """Topics whose follower counts as in sync and does not follow yet."""
    for topic in topics:
        both.place(both.leader.server, topic=topic, in_sync=BOTH)


def follow(both: Two, *topics: str) -> None:
    for topic in topics:
        both.place(both.follower.server, topic=topic, in_sync=BOTH)


def move(both: Two, *topics: str) -> None:
    for topic in topics:
        both.let_lead(FOLLOWER, topic=topic)


async def test_a_commit_is_told_when_the_follower_has_it() -> None:
    async with two() as both:
        place(both, OFFSETS, "t")
        leader = both.leader
        tells = soon(leader, commit(5), 8)
        await all_wait(leader, tells)
        reads = soon(leader, fetch_offsets(), 8)
        await all_wait(leader, tells, reads)
        follow(both, OFFSETS, "t")
        assert code_of(await tells) is NONE
        assert committed(await reads) == [(5, 0)]
        assert both.logs(OFFSETS)[1].log_end_offset == both.logs(OFFSETS)[0].high_watermark
        await until(lambda: both.are_equal(OFFSETS))


async def test_a_coordinator_that_is_none_any_more_tells_nothing_that_may_be_lost() -> None:
    async with two() as both:
        place(both, OFFSETS, "t")
        leader = both.leader
        tells = soon(leader, commit(5), 8)
        await all_wait(leader, tells)
        both.let_lead(FOLLOWER, leader.server, topic=OFFSETS)
        assert code_of(await tells) is LOST
        assert code_of(await leader.ask(fetch_offsets(), 8)) is LOST
        assert not leader.coordinators.shards


async def test_what_was_committed_moves_with_the_leader() -> None:
    async with two() as both:
        place(both, OFFSETS, "t")
        follow(both, OFFSETS, "t")
        assert code_of(await both.leader.ask(commit(5), 8)) is NONE
        assert code_of(await both.follower.ask(fetch_offsets(), 8)) is LOST
        move(both, OFFSETS, "t")
        assert committed(await both.follower.ask(fetch_offsets(), 8)) == [(5, 0)]
        assert code_of(await both.leader.ask(fetch_offsets(), 8)) is LOST
        assert code_of(await both.follower.ask(commit(6), 8)) is NONE, "the other one follows"
        await until(lambda: both.are_equal(OFFSETS))


async def test_members_that_wait_are_sent_to_the_next_coordinator() -> None:
    async with two({"group.initial.rebalance.delay.ms": 60_000}) as both:
        place(both, OFFSETS, "t")
        follow(both, OFFSETS, "t")
        joins = soon(both.leader, join(), 3)
        await all_wait(both.leader, joins)
        move(both, OFFSETS, "t")
        assert code_of(await joins) is LOST


async def test_followers_that_do_not_come_are_waited_for_no_longer() -> None:
    async with two({"offsets.commit.timeout.ms": 20}) as both:
        place(both, OFFSETS, "t")
        told = await both.leader.ask(commit(5), 8)
        assert code_of(told) is ErrorCode.COORDINATOR_NOT_AVAILABLE
        follow(both, OFFSETS, "t")
        await until(lambda: both.are_equal(OFFSETS))
        assert committed(await both.leader.ask(fetch_offsets(), 8)) == [(5, 0)]


async def begin(both: Two) -> tuple[int, int]:
    place(both, TRANSACTIONS, OFFSETS, "t")
    follow(both, TRANSACTIONS, OFFSETS, "t")
    answer = await both.leader.ask(InitProducerIdRequest("x", 60_000), 4)
    assert code_of(answer) is NONE
    return answer.producer_id, answer.producer_epoch


async def test_a_transaction_over_two_brokers() -> None:
    async with two() as both:
        who = await begin(both)
        assert code_of(await both.leader.ask(sent(who), 12)) is NONE
        assert code_of(await both.leader.ask(offsets_in(who, 5), 5)) is NONE
        ended = await both.leader.ask(EndTxnRequest("x", *who, True), 5)
        assert code_of(ended) is NONE
        assert committed(await both.leader.ask(fetch_offsets(), 8)) == [(5, 0)]
        await until(lambda: all(map(both.are_equal, (TRANSACTIONS, OFFSETS, "t"))))
        assert await state_of(both.leader) == "CompleteCommit"


async def test_the_next_coordinator_writes_the_markers() -> None:
    async with two() as both:
        who = await begin(both)
        both.leader.coordinators.sender.hold()
        assert code_of(await both.leader.ask(sent(who), 12)) is NONE
        assert code_of(await both.leader.ask(EndTxnRequest("x", *who, True), 5)) is NONE
        assert await state_of(both.leader) == "PrepareCommit"
        assert code_of(await both.leader.ask(add((who[0], who[1] + 1), 0), 3)) is not NONE
        move(both, TRANSACTIONS, "t")
        log = both.logs()[1]
        await until(lambda: log.last_stable_offset == 2)
        assert await state_of(both.follower) == "CompleteCommit"


async def test_no_marker_leaves_before_the_follower_knows_that_the_transaction_ends() -> None:
    async with two() as both:
        leader = both.leader
        for topic in (TRANSACTIONS, "t"):
            both.place(leader.server, topic=topic, in_sync=[LEADER])
        begun = await leader.ask(InitProducerIdRequest("x", 60_000), 4)
        who = begun.producer_id, begun.producer_epoch
        assert code_of(await leader.ask(sent(who), 12)) is NONE
        tell(leader.server, PartitionChangeRecord(0, id_of(TRANSACTIONS), isr=[*BOTH]))
        ends = soon(leader, EndTxnRequest("x", *who, True), 5)
        await all_wait(leader, ends)
        partition = leader.server.table.find("t", 0)
        assert partition is not None
        for _ in range(5):
            assert code_of(await leader.ask(WriteTxnMarkersRequest([]), 1)) is NONE
        assert partition.log.log_end_offset == 1, "the record alone"
        follow(both, TRANSACTIONS)
        assert code_of(await ends) is NONE
        await until(lambda: partition.log.last_stable_offset == 2)


def marker(producer_id: int = 7) -> Message:
    topics = [WritableTxnMarkerTopic("t", [0])]
    return WriteTxnMarkersRequest([WritableTxnMarker(producer_id, 0, True, topics, 0)])


async def test_a_marker_is_there_when_the_follower_has_it() -> None:
    async with two() as both:
        place(both, "t")
        tells = soon(both.leader, marker(), 1)
        await all_wait(both.leader, tells)
        follow(both, "t")
        assert code_of(await tells) is NONE
        assert both.logs()[1].log_end_offset == 1
        assert code_of(await both.leader.ask(marker(), 1)) is NONE


async def test_a_marker_that_may_be_lost_is_written_again_elsewhere() -> None:
    async with two() as both:
        place(both, "t")
        tells = soon(both.leader, marker(), 1)
        await all_wait(both.leader, tells)
        both.let_lead(FOLLOWER, both.leader.server)
        assert code_of(await tells) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert code_of(await both.leader.ask(marker(), 1)) is ErrorCode.NOT_LEADER_OR_FOLLOWER


async def test_a_marker_needs_no_wait_where_nobody_else_is_in_sync() -> None:
    async with two() as both:
        both.place(both.leader.server, in_sync=[LEADER])
        assert code_of(await both.leader.ask(marker(), 1)) is NONE
