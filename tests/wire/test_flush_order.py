"""Coordinators with ``fsync=always``: the order of logs, and what goes wrong meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker.network.connection import Connection
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from tests.support.broker import Client
from tests.support.objects import count_alive
from tests.support.slow_coordinators import (
    LOST,
    NONE,
    add,
    code_of,
    commit,
    committed,
    fetch_offsets,
    offsets_in,
    sent,
    slow,
    state_of,
)
from tests.support.syncs import Syncs, controlled_syncs

pytestmark = pytest.mark.asyncio


@pytest.fixture
def syncs() -> Iterator[Syncs]:
    with controlled_syncs() as syncs:
        yield syncs


# --- the order of logs -------------------------------------------------------------------------


@pytest.mark.parametrize("parks", [True, False])
async def test_what_enters_a_transaction_is_written_behind_its_entry(
    tmp_path: Path, syncs: Syncs, *, parks: bool
) -> None:
    """TV2: a record must not be there whose transaction no coordinator knows of."""
    async with slow(tmp_path, syncs, **{"transaction.park.enable": parks}) as it:
        who = await it.begin()
        offsets_end = await it.end_of("__consumer_offsets")
        for request, version in ((sent(who), 12), (offsets_in(who, 4), 5)):
            it.stand_still()
            syncs.count = 0
            waiting = it.soon(request, version)
            await it.all_wait(waiting)
            assert await it.end_of("t") == int(version == 5)
            assert await it.end_of("__consumer_offsets") == offsets_end
            it.go_on()
            assert code_of(await waiting) is NONE
            assert syncs.count >= 2
        assert await it.end_of("__consumer_offsets") == offsets_end + 1


@pytest.mark.parametrize("fails", [False, True])
async def test_what_was_entered_a_moment_ago_is_verified_behind_the_flush(
    tmp_path: Path, syncs: Syncs, *, fails: bool
) -> None:
    async with slow(tmp_path, syncs) as it:
        who = await it.begin()
        it.stand_still()
        waiting = [it.soon(add(who, 0), 3)]
        await it.all_wait(*waiting)
        waiting.append(it.soon(sent(who), 11))
        await it.all_wait(*waiting)
        waiting.append(it.soon(offsets_in(who, 4), 3))
        await it.all_wait(*waiting)
        assert await it.end_of("t") == 0
        syncs.fails = fails
        it.go_on()
        codes = [code_of(await each) for each in waiting]
        if fails:
            assert codes == [LOST, ErrorCode.NOT_ENOUGH_REPLICAS, LOST]
        else:
            assert codes == [NONE, NONE, ErrorCode.INVALID_TXN_STATE]
        assert await it.end_of("t") == int(not fails)


async def test_markers_leave_when_the_outcome_is_on_disk(tmp_path: Path, syncs: Syncs) -> None:
    async with slow(tmp_path, syncs) as it:
        who = await it.begin()
        assert code_of(await it.client.ask(sent(who), 12)) is NONE
        it.stand_still()
        ends = it.soon(EndTxnRequest("x", *who, True), 3)
        await it.all_wait(ends)
        for _ in range(5):
            assert await it.end_of("t") == 1
        it.go_on()
        assert code_of(await ends) is NONE
        async with asyncio.timeout(60):
            while await it.end_of("t", isolation=1) != 2:
                pass


async def test_an_end_is_complete_when_its_markers_are_on_disk(
    tmp_path: Path, syncs: Syncs
) -> None:
    async with slow(tmp_path, syncs) as it:
        who = await it.begin()
        assert code_of(await it.client.ask(sent(who), 12)) is NONE
        hold = it.broker.hold_markers("x")
        assert code_of(await it.client.ask(EndTxnRequest("x", *who, True), 3)) is NONE
        states = await it.end_of("__transaction_state")
        it.stand_still()
        hold.release()
        async with asyncio.timeout(60):
            while await it.end_of("t") != 2:
                pass
        for _ in range(5):
            assert await it.end_of("__transaction_state") == states
        it.go_on()
        async with asyncio.timeout(60):
            while await it.end_of("__transaction_state") != states + 1:
                pass


@pytest.mark.parametrize("fails", [False, True])
async def test_offsets_in_an_open_transaction_wait_for_their_own_log(
    tmp_path: Path, syncs: Syncs, *, fails: bool
) -> None:
    async with slow(tmp_path, syncs) as it:
        who = await it.begin()
        assert code_of(await it.client.ask(offsets_in(who, 4), 5)) is NONE
        it.stand_still()
        commits = it.soon(offsets_in(who, 5), 5)
        await it.all_wait(commits)
        syncs.fails = fails
        it.go_on()
        assert code_of(await commits) is (LOST if fails else NONE)


async def test_offsets_that_a_marker_brought_are_told_when_it_is_on_disk(
    tmp_path: Path, syncs: Syncs
) -> None:
    async with slow(tmp_path, syncs) as it:
        who = await it.begin()
        assert code_of(await it.client.ask(offsets_in(who, 4), 5)) is NONE
        it.stand_still()
        topics = [WritableTxnMarkerTopic("__consumer_offsets", [0])]
        marker = WritableTxnMarker(*who, True, topics, 0, 0)
        writes = it.soon(WriteTxnMarkersRequest([marker]), 1)
        await it.all_wait(writes)
        reads = it.soon(fetch_offsets(), 8)
        await it.all_wait(writes, reads)
        it.go_on()
        assert code_of(await writes) is NONE
        assert committed(await reads) == [(4, 0)]


async def test_a_marker_that_does_not_get_to_the_disk_says_so(tmp_path: Path, syncs: Syncs) -> None:
    async with slow(tmp_path, syncs) as it:
        it.stand_still()
        topics = [WritableTxnMarkerTopic("t", [0, 1]), WritableTxnMarkerTopic("nowhere", [0])]
        marker = WritableTxnMarker(1, 0, False, topics, 0, 0)
        writes = it.soon(WriteTxnMarkersRequest([marker]), 1)
        await it.all_wait(writes)
        syncs.fails = True
        it.go_on()
        (result,) = (await writes).markers
        storage, unknown = ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        codes = [each.error_code for topic in result.topics for each in topic.partitions]
        assert codes == [storage, storage, unknown]


async def test_what_waited_for_markers_is_answered_behind_its_own_flush(
    tmp_path: Path, syncs: Syncs
) -> None:
    async with slow(tmp_path, syncs) as it:
        who = await it.begin()
        assert code_of(await it.client.ask(sent(who), 12)) is NONE
        hold = it.broker.hold_markers("x")
        assert code_of(await it.client.ask(EndTxnRequest("x", *who, True), 3)) is NONE
        begins = it.soon(InitProducerIdRequest("x", 60_000), 4)
        await it.all_wait(begins)
        records = await it.end_of("__transaction_state")
        process = it.broker._process
        assert process is not None
        log = process.broker.table.by_name["t"].partitions[0].log
        log.flush_at_offset = 1 << 60  # markers need not wait, so that only the coordinator does
        it.stand_still()
        hold.release()
        async with asyncio.timeout(60):
            while await it.end_of("__transaction_state") < records + 2:
                pass
        await it.all_wait(begins)
        it.go_on()
        answer = await begins
        assert (answer.error_code, answer.producer_epoch) == (NONE, who[1] + 1)


# --- what goes wrong ---------------------------------------------------------------------------


async def test_an_outcome_that_may_not_be_on_disk_is_nobodys(
    tmp_path: Path, syncs: Syncs, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not the producer's, not a reader's, and no marker goes out; a restart looks at the log."""
    async with slow(tmp_path, syncs) as it:
        who = await it.begin()
        assert code_of(await it.client.ask(sent(who), 12)) is NONE
        it.stand_still()
        waiting = [it.soon(EndTxnRequest("x", *who, True), 5)]
        await it.all_wait(*waiting)
        asked: list[tuple[Message, int]] = [
            (DescribeTransactionsRequest(["x"]), 0), (ListTransactionsRequest(), 0),
            (InitProducerIdRequest("x", 60_000), 4), (sent(who, 1), 12), (add(who, 1), 3),
            (EndTxnRequest("x", *who, True), 5),
        ]  # fmt: skip
        for count, each in enumerate(asked[:3], 2):
            waiting.append(it.soon(*each))
            await it.until_parked(count)
        syncs.fails = True
        it.go_on()
        assert [code_of(await each) for each in waiting] == [LOST] * 4
        syncs.fails = False
        for request, version in (asked[0], asked[2], asked[4], asked[5]):
            assert code_of(await it.client.ask(request, version)) is LOST
        assert not (await it.client.ask(ListTransactionsRequest(), 0)).transaction_states
        process = it.broker._process
        assert process is not None
        (partition,) = process.broker.table.by_name["__transaction_state"].partitions
        process.broker.coordinators.runtime.begin_to_lead(partition)  # its leader epoch has changed
        assert code_of(await it.client.ask(*asked[0])) is LOST
        assert await it.end_of("t") == 1, "no marker"
    assert "its coordinator is unavailable until this broker is restarted" in (
        capsys.readouterr().err
    )
    async with slow(tmp_path, syncs) as it:
        async with asyncio.timeout(60):
            while await state_of(it.client) != "CompleteCommit":
                pass
        assert await it.end_of("t", isolation=1) == 2


async def test_a_connection_that_is_lost_meanwhile_is_let_go(tmp_path: Path, syncs: Syncs) -> None:
    async with slow(tmp_path, syncs) as it:
        connections = count_alive(Connection)
        it.stand_still()
        leaver = Client(it.broker.bootstrap)
        begins = asyncio.ensure_future(leaver.ask(InitProducerIdRequest("x", 60_000), 4))
        await it.all_wait(begins)
        begins.cancel()
        await leaver.disconnect()
        await it.until_parked(0)
        it.go_on()
        assert await state_of(it.client) == "Empty", "it is carried out all the same"
        assert count_alive(Connection) == connections


async def test_a_broker_that_stops_tells_what_is_on_disk(tmp_path: Path, syncs: Syncs) -> None:
    async with slow(tmp_path, syncs) as it:
        it.stand_still()
        commits = it.soon(commit(7), 8)
        begins = it.soon(InitProducerIdRequest("x", 60_000), 4)
        await it.all_wait(commits, begins)
        stops = asyncio.ensure_future(it.broker.stop())
        await asyncio.sleep(0)
        assert not any(each.done() for each in (commits, begins))
        it.go_on()
        assert code_of(await commits) is NONE
        assert code_of(await begins) is NONE
        assert await stops
    async with slow(tmp_path, syncs) as it:
        assert committed(await it.client.ask(fetch_offsets(), 8)) == [(7, 0)]
        assert await state_of(it.client) == "Empty"


async def test_a_broker_that_may_not_wait_tells_nobody(tmp_path: Path, syncs: Syncs) -> None:
    """The flush ends behind the connections; what was decided is in the log all the same."""
    async with slow(tmp_path, syncs, **{"shutdown.timeout.ms": 0}) as it:
        it.stand_still()
        commits = it.soon(commit(7), 8)
        await it.all_wait(commits)
        stops = asyncio.ensure_future(it.broker.stop())
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await commits
        it.go_on()
        assert await stops
    async with slow(tmp_path, syncs) as it:
        assert committed(await it.client.ask(fetch_offsets(), 8)) == [(7, 0)]
