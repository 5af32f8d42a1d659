"""Coordinators with ``fsync=always``: who waits for the disk, and who for whom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

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
    slow,
)
from tests.support.syncs import Syncs, controlled_syncs

pytestmark = pytest.mark.asyncio


@pytest.fixture
def syncs() -> Iterator[Syncs]:
    with controlled_syncs() as syncs:
        yield syncs


# --- waiting -----------------------------------------------------------------------------------


async def test_nothing_is_synced_in_the_loop(tmp_path: Path, syncs: Syncs) -> None:
    async with slow(tmp_path, syncs) as it:
        await it.begin("warm")  # takes a block of producer ids, which the controller decides on
        who = await it.begin()
        syncs.in_loop = syncs.count = 0
        assert code_of(await it.client.ask(sent(who), 12)) is NONE
        assert code_of(await it.client.ask(offsets_in(who, 5), 5)) is NONE
        ended = await it.client.ask(EndTxnRequest("x", *who, True), 5)
        who = ended.producer_id, ended.producer_epoch
        assert code_of(await it.client.ask(sent(who), 12)) is NONE, "the markers are written"
        assert code_of(await it.client.ask(commit(3, "alone"), 8)) is NONE
        assert syncs.in_loop == 0
        assert syncs.count >= 8
        assert committed(await it.client.ask(fetch_offsets(), 8)) == [(5, 0)]


async def test_decisions_that_come_meanwhile_share_the_next_flush(
    tmp_path: Path, syncs: Syncs
) -> None:
    async with slow(tmp_path, syncs) as it:
        await it.begin()
        syncs.count = 0
        it.stand_still()
        waiting = [it.soon(InitProducerIdRequest("one", 60_000), 4)]
        await it.all_wait(*waiting)
        waiting += [it.soon(InitProducerIdRequest(f"{at}", 60_000), 4) for at in range(8)]
        await it.all_wait(*waiting)
        it.go_on()
        answers = [await each for each in waiting]
        assert all(code_of(each) is NONE for each in answers)
        assert len({each.producer_id for each in answers}) == 9
        assert syncs.count == 2


READS = [
    (DescribeTransactionsRequest(["x"]), 0),
    (DescribeTransactionsRequest(["unknown", "x"]), 0),
    (ListTransactionsRequest(), 0),
    (add((-1, -1), 0), 3),  # refused, because of what is known
    (EndTxnRequest("x", -1, -1, True), 3),
    (InitProducerIdRequest("x", 60_000, 77, 7), 4),
    (AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction("x", 7, 7, True, [])]), 4),
    (AddOffsetsToTxnRequest("x", 7, 7, "g"), 3),
]


@pytest.mark.parametrize(("request_", "version"), READS)
async def test_whoever_goes_by_a_transaction_waits_until_it_is_on_disk(
    tmp_path: Path, syncs: Syncs, request_: Message, version: int
) -> None:
    async with slow(tmp_path, syncs) as it:
        it.stand_still()
        begins = it.soon(InitProducerIdRequest("x", 60_000), 4)
        await it.all_wait(begins)
        reads = it.soon(request_, version)
        await it.all_wait(begins, reads)
        assert await it.end_of("t") == 0, "others are served"
        it.go_on()
        assert code_of(await begins) is NONE
        await reads


GROUP_READS = [
    (fetch_offsets(), 8),
    (OffsetFetchRequest("g", None), 5),
    (DescribeGroupsRequest(["g", "nobody"]), 5),
    (ConsumerGroupDescribeRequest(["g"]), 1),
    (ListGroupsRequest(), 4),
    (HeartbeatRequest("g", 1, "nobody"), 4),
    (LeaveGroupRequest("g", members=[MemberIdentity("nobody")]), 4),
    (SyncGroupRequest("g", 1, "nobody", None, "consumer", "any", []), 5),
    (join(), 7),
    (ConsumerGroupHeartbeatRequest("g", "nobody", 7), 1),
    (DeleteGroupsRequest(["nobody"]), 2),
    (OffsetDeleteRequest("nobody", []), 0),
]


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize(("request_", "version"), GROUP_READS)
async def test_whoever_goes_by_a_group_waits_until_it_is_on_disk(
    tmp_path: Path, syncs: Syncs, request_: Message, version: int, *, fails: bool
) -> None:
    async with slow(tmp_path, syncs) as it:
        it.stand_still()
        commits = it.soon(commit(7), 8)
        await it.all_wait(commits)
        reads = it.soon(request_, version)
        await it.all_wait(commits, reads)
        syncs.fails = fails
        it.go_on()
        wrote, read = await commits, await reads
        assert code_of(wrote) is (LOST if fails else NONE)
        if fails:
            assert code_of(read) is LOST, read
        elif isinstance(request_, OffsetFetchRequest) and version == 8:
            assert committed(read) == [(7, 0)]


async def test_members_of_a_group_hear_together_what_is_on_disk(
    tmp_path: Path, syncs: Syncs
) -> None:
    async with slow(tmp_path, syncs) as it:
        ids = [(await it.client.ask(join(), 7)).member_id for _ in range(2)]
        joining = [it.soon(join(each), 7) for each in ids]
        joined = [await each for each in joining]
        generation = joined[0].generation_id
        assert generation == joined[1].generation_id
        leader = joined[0].leader
        (follower,) = set(ids) - {leader}
        follows = it.soon(SyncGroupRequest("g", generation, follower, None, "consumer", "any"), 5)
        await it.all_wait(follows)
        it.stand_still()
        given = [SyncGroupRequestAssignment(each, each.encode()) for each in ids]
        leads = it.soon(
            SyncGroupRequest("g", generation, leader, None, "consumer", "any", given), 5
        )
        await it.all_wait(follows, leads)
        beats = it.soon(HeartbeatRequest("g", generation, follower), 4)
        await it.all_wait(follows, leads, beats)
        it.go_on()
        assert (await follows).assignment == follower.encode()
        assert (await leads).assignment == leader.encode()
        assert code_of(await beats) is NONE
