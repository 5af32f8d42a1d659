"""Transactions whose coordinator, group and partitions are with different brokers (KIP-890)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from fencepost_broker.apis.produce.partition_verification import Polling
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_client import (
    Consumer,
    ConsumerRecord,
    Producer,
    Transaction,
    exactly_once,
)
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.describe_transactions import (
    DescribeTransactionsRequest,
    TransactionState,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from tests.support.broker import Client, RunningBroker
from tests.support.slow_coordinators import code_of, committed, fetch_offsets
from tests.support.spread import Spread, spread
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
NONE = ErrorCode.NONE
ABORTABLE = ErrorCode.TRANSACTION_ABORTABLE
GROUPS, TRANSACTIONS = RecordFamily.GROUPS, RecordFamily.TRANSACTIONS


class SlowLinks:
    """Links whose answers wait until they are let go."""

    def __init__(self, node: BrokerServer) -> None:
        make = node.coordinators.peers._make_links
        assert make is not None
        self._links = make()
        self.answered: list[Callable[[], None]] = []
        self.is_slow = True
        node.coordinators.peers._make_links = lambda: self

    def ask(self, broker_id: int, message: Message, then: Callable[[Any], None]) -> None:
        def come(answer: Any) -> None:
            if self.is_slow:
                self.answered.append(lambda: then(answer))
            else:
                then(answer)

        self._links.ask(broker_id, message, come)

    def drop(self, broker_id: int) -> None:
        self._links.drop(broker_id)


class LateLinks(SlowLinks):
    """Links whose questions leave when they are let go."""

    def __init__(self, node: BrokerServer) -> None:
        super().__init__(node)
        self.asked: list[Callable[[], None]] = []
        self.is_late = self.is_slow = False

    def ask(self, broker_id: int, message: Message, then: Callable[[Any], None]) -> None:
        def leave() -> None:
            super(LateLinks, self).ask(broker_id, message, then)

        if self.is_late:
            self.asked.append(leave)
        else:
            leave()


def end_of(broker: RunningBroker, topic: str = "t", number: int = 0) -> tuple[int, int]:
    """Last stable offset and high watermark."""
    partition = broker.server.table.find(topic, number)
    assert partition is not None
    return partition.log.last_stable_offset, partition.log.high_watermark


def soon(broker: RunningBroker, request: Message, version: int) -> asyncio.Task[Any]:
    """Ask on a connection of its own."""

    async def ask() -> Any:
        async with Client(f"{broker.host}:{broker.port}") as client:
            return await client.ask(request, version)

    return asyncio.ensure_future(ask())


async def test_what_is_written_enters_the_transaction_and_gets_its_markers() -> None:
    async with spread() as at:
        assert len({at.leader.port, at.coordinator.port, at.of_group.port}) == 3
        who = await at.begin()
        for round_ in range(3):
            assert code_of(await at.leader.ask(at.sent(who), 12)) is NONE
            assert code_of(await at.of_group.ask(at.offsets(who, round_), 5)) is NONE
            who = await at.end(who)
            # Before the markers are there: the next one waits for them.
        await at.ended()
        assert end_of(at.leader) == (6, 6), "three records, three markers"
        answer = await at.of_group.ask(fetch_offsets(at.group_id), 8)
        assert committed(answer) == [(2, 0)]


async def test_what_is_aborted_does_not_count() -> None:
    async with spread() as at:
        who = await at.begin()
        assert code_of(await at.leader.ask(at.sent(who), 12)) is NONE
        assert code_of(await at.of_group.ask(at.offsets(who, 5), 5)) is NONE
        assert end_of(at.leader) == (0, 1)
        await at.end(who, commit=False)
        await at.ended()
        assert end_of(at.leader) == (2, 2)
        assert not (await at.of_group.ask(fetch_offsets(at.group_id), 8)).groups[0].topics


async def test_old_producers_are_verified() -> None:
    async with spread() as at:
        who = await at.begin()
        assert code_of(await at.leader.ask(at.sent(who), 11)) is ABORTABLE
        assert code_of(await at.leader.ask(at.sent(who), 9)) is ErrorCode.INVALID_TXN_STATE
        assert code_of(await at.of_group.ask(at.offsets(who, 5), 4)) is ABORTABLE
        assert end_of(at.leader) == (0, 0)
        assert code_of(await at.coordinator.ask(at.entered(who), 3)) is NONE
        assert code_of(await at.leader.ask(at.sent(who), 11)) is NONE
        stranger = who[0] + 1, who[1]
        mapping = ErrorCode.INVALID_PRODUCER_ID_MAPPING
        assert code_of(await at.leader.ask(at.sent(stranger), 11)) is mapping
        assert code_of(await at.leader.ask(at.sent(stranger), 12)) is mapping


async def test_where_a_newer_epoch_was_seen_no_coordinator_is_asked() -> None:
    async with spread(broker_session_timeout_ms=600_000) as at:
        who = await at.begin()
        assert code_of(await at.leader.ask(at.sent(who), 12)) is NONE
        assert code_of(await at.of_group.ask(at.offsets(who, 5), 5)) is NONE
        await at.end(who)
        await at.ended()
        leader, of_group = at.leader, at.of_group
        await at.cluster.die(at.coordinator.node_id)
        fenced = ErrorCode.INVALID_PRODUCER_EPOCH
        for version in (9, 11, 12):
            assert code_of(await leader.ask(at.sent(who), version)) is fenced
        for version in (3, 4, 5):
            assert code_of(await of_group.ask(at.offsets(who, 5), version)) is fenced


async def test_too_few_in_sync_count_behind_what_the_coordinator_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with spread(factor=2) as at:
        who = await at.begin()
        monkeypatch.setattr(LeaderState, "has_too_few", True)
        assert code_of(await at.leader.ask(at.sent(who), 11)) is ABORTABLE
        monkeypatch.setattr(LeaderState, "has_too_few", False)
        assert code_of(await at.coordinator.ask(at.entered(who), 3)) is NONE
        monkeypatch.setattr(LeaderState, "has_too_few", True)
        assert code_of(await at.leader.ask(at.sent(who), 11)) is ErrorCode.NOT_ENOUGH_REPLICAS


async def test_brokers_without_a_replica_do_not_answer_for_it() -> None:
    async with spread(count=2) as at:
        who = await at.begin()
        assert at.coordinator is not at.leader
        marker = WritableTxnMarker(*who, False, [WritableTxnMarkerTopic("t", [0])], 0)
        told = await at.coordinator.ask(WriteTxnMarkersRequest([marker]), 1)
        assert code_of(told) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        about = DescribeProducersRequest([TopicRequest("t", [0])])
        told = await at.coordinator.ask(about, 0)
        assert code_of(told) is ErrorCode.NOT_LEADER_OR_FOLLOWER
        told = await at.leader.ask(DescribeTransactionsRequest([at.transactional_id]), 0)
        [state] = told.transaction_states
        elsewhere = ErrorCode.NOT_COORDINATOR
        assert state == TransactionState(elsewhere, at.transactional_id), "zeros, as in Kafka"


async def test_partitions_that_are_not_there_are_told_before_the_coordinator() -> None:
    async with spread(count=2) as at:
        who = await at.begin()
        topics = [AddPartitionsToTxnTopic("t", [0, 9])]
        added = AddPartitionsToTxnRequest([], at.transactional_id, *who, topics)
        asked = [AddPartitionsToTxnTransaction(at.transactional_id, *who, True, topics)]
        verified = AddPartitionsToTxnRequest(asked)
        expected = [ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        for broker in (at.coordinator, at.leader):
            answer = await broker.ask(added, 3)
            [topic] = answer.results_by_topic_v3_and_below
            assert [each.partition_error_code for each in topic.results_by_partition] == expected
            answer = await broker.ask(verified, 4)
            [topic] = answer.results_by_transaction[0].topic_results
            assert [each.partition_error_code for each in topic.results_by_partition] == expected


async def test_each_partition_has_its_own_answer() -> None:
    async with spread(count=2, partitions=4) as at:
        who = await at.begin()
        assert code_of(await at.coordinator.ask(at.entered(who), 3)) is NONE
        here = [number for number in range(4) if at.leader_of("t", number) == at.leader_id]
        assert len(here) == 2
        answer = await at.leader.ask(at.sent(who, *range(4)), 11)
        told = {each.index: each.error_code for each in answer.responses[0].partition_responses}
        moved = ErrorCode.NOT_LEADER_OR_FOLLOWER
        other = {number: ABORTABLE if number in here else moved for number in range(4)}
        assert told == {**other, 0: NONE}


async def test_a_marker_that_comes_before_the_answer_ends_what_was_verified() -> None:
    """Or a record would be written into a transaction that is over, and nobody would end it."""
    async with spread(count=2) as at:
        who = await at.begin()
        assert code_of(await at.coordinator.ask(at.entered(who), 3)) is NONE
        links = SlowLinks(at.leader.server)
        writes = soon(at.leader, at.sent(who), 11)
        await until(lambda: len(links.answered) == 1)
        topics = [WritableTxnMarkerTopic("t", [0])]
        marker = WritableTxnMarker(*who, False, topics, 0)
        assert code_of(await at.leader.ask(WriteTxnMarkersRequest([marker]), 1)) is NONE
        links.answered.pop()()
        assert code_of(await writes) is ErrorCode.INVALID_TXN_STATE
        assert end_of(at.leader) == (1, 1), "the marker"


@pytest.mark.parametrize("writes_offsets", [True, False])
async def test_the_last_transactions_marker_may_come_while_the_question_is_on_its_way(
    writes_offsets: bool,
) -> None:
    """The coordinator was not asked before all markers were there, so it has nothing against it."""
    async with spread() as at:
        who = await at.begin()
        broker = at.of_group if writes_offsets else at.leader
        links = LateLinks(broker.server)
        version = 5 if writes_offsets else 12
        first = at.offsets(who, 5) if writes_offsets else at.sent(who)
        assert code_of(await broker.ask(first, version)) is NONE
        hold = at.coordinator.coordinators.sender.hold()
        after = await at.end(who)
        links.is_late = True
        second = at.offsets(after, 6) if writes_offsets else at.sent(after)
        writes = soon(broker, second, version)
        await until(lambda: len(links.asked) == 1)
        hold.release()
        await at.ended()
        links.is_late = False
        links.asked.pop()()
        assert code_of(await writes) is NONE


async def test_the_coordinator_may_come_here_while_its_markers_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The marker has taken what was verified before, so it is verified anew, now at home."""
    async with spread(count=2, factor=2) as at:
        who = await at.begin()
        leader, before = at.leader, at.coordinator.node_id
        assert code_of(await leader.ask(at.sent(who), 12)) is NONE
        hold = at.coordinator.coordinators.sender.hold()
        after = await at.end(who)
        again: list[Callable[[], None]] = []
        call_later = leader.server.context.clock.call_later

        def held(wait_ms: int, what: Callable[[], None]) -> Any:
            is_poll = isinstance(getattr(what, "__self__", None), Polling)
            return again.append(what) if is_poll else call_later(wait_ms, what)

        monkeypatch.setattr(leader.server.context.clock, "call_later", held)
        writes = soon(leader, at.sent(after), 12)
        await until(lambda: len(again) == 1)
        hold.release()
        await at.ended()
        await at.cluster.stop(before)
        await until(lambda: at.coordinator is leader)
        coordination = leader.coordinators
        await until(lambda: coordination.shard(TRANSACTIONS, at.transactional_id) is not None)
        again.pop()()
        assert code_of(await writes) is NONE


@pytest.mark.parametrize("parks", [True, False])
async def test_writing_waits_for_the_last_transactions_markers(parks: bool) -> None:
    settings: dict[str, Any] = {"transaction_park_enable": parks} | (
        {} if parks else {"add_partitions_to_txn_retry_backoff_max_ms": 60_000}
    )
    async with spread(**settings) as at:
        who = await at.begin()
        assert code_of(await at.leader.ask(at.sent(who), 12)) is NONE
        hold = at.coordinator.coordinators.sender.hold()
        after = await at.end(who)
        writes = soon(at.leader, at.sent(after), 12)
        await until(lambda: at.leader.process.socket_server.parked_count == 1)
        assert code_of(await at.leader.ask(at.entered(after), 3)) is not NONE, "others go on"
        assert not writes.done()
        hold.release()
        assert code_of(await writes) is NONE
        assert end_of(at.leader) == (2, 3)


async def test_writing_waits_no_longer_than_it_may() -> None:
    async with spread(transaction_park_max_ms=20, count=2) as at:
        who = await at.begin()
        assert code_of(await at.leader.ask(at.sent(who), 12)) is NONE
        at.coordinator.coordinators.sender.hold()
        after = await at.end(who)
        answer = await at.leader.ask(at.sent(after), 12)
        assert code_of(answer) is ErrorCode.CONCURRENT_TRANSACTIONS


async def test_a_coordinator_that_is_away_is_told_as_one_to_wait_for() -> None:
    async with spread(broker_session_timeout_ms=600_000) as at:
        who = await at.begin()
        leader, of_group = at.leader, at.of_group
        await at.cluster.die(at.coordinator.node_id)
        wait = ErrorCode.NOT_ENOUGH_REPLICAS
        assert code_of(await leader.ask(at.sent(who), 12)) is wait
        assert code_of(await leader.ask(at.sent(who), 11)) is wait
        loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert code_of(await of_group.ask(at.offsets(who, 5), 5)) is loading
        assert end_of(leader) == (0, 0)


async def test_the_next_leader_gets_the_markers_when_one_dies_before_them() -> None:
    async with spread(factor=2, broker_session_timeout_ms=1500) as at:
        who = await at.begin()
        assert code_of(await at.leader.ask(at.sent(who), 12)) is NONE
        hold = at.coordinator.coordinators.sender.hold()
        await at.end(who)
        dead = at.leader_id
        await at.cluster.die(dead)
        hold.release()
        await until(lambda: at.leader_of("t", 0) != dead)
        await at.ended()
        await until(lambda: end_of(at.leader) == (2, 2))


async def test_the_next_coordinator_writes_the_markers_when_one_dies_before_them() -> None:
    async with spread(factor=2, broker_session_timeout_ms=1500) as at:
        who = await at.begin()
        assert code_of(await at.leader.ask(at.sent(who), 12)) is NONE
        at.coordinator.coordinators.sender.hold()
        await at.end(who)
        before = at.coordinator.node_id
        await at.cluster.die(before)
        number = partition_of(at.transactional_id, 3)
        await until(lambda: at.leader_of(TRANSACTIONS.value, number) != before)
        await until(lambda: end_of(at.leader) == (2, 2))
        await at.ended()


async def test_a_transaction_goes_on_at_the_next_coordinator() -> None:
    async with spread(factor=2) as at:
        who = await at.begin()
        assert code_of(await at.leader.ask(at.sent(who), 12)) is NONE
        await at.cluster.stop(at.coordinator.node_id)
        request = at.offsets(who, 5)
        while code_of(await at.of_group.ask(request, 5)) is not NONE:
            pass
        await at.end(who)
        await at.ended()
        await until(lambda: end_of(at.leader) == (2, 2))
        assert committed(await at.of_group.ask(fetch_offsets(at.group_id), 8)) == [(5, 0)]


def reader(at: Spread, group_id: str, **options: Any) -> Consumer:
    return Consumer(
        at.bootstrap,
        group_id=group_id,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **options,
    )


async def test_exactly_once_over_three_brokers() -> None:
    """Each input makes one output, where offsets, transactions and records are apart."""
    async with spread() as at:
        await at.cluster.create("out", 3)
        async with Producer(at.bootstrap) as producer:
            for number in range(20):
                await producer.send("t", str(number).encode())
        done: list[bytes] = []

        async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
            for record in records:
                assert record.value is not None
                await transaction.send("out", record.value, key=record.value)

        async def copy() -> None:
            async with exactly_once(consumer, producer, handler) as loop:
                async for _ in loop:
                    pass

        async def collect() -> None:
            async with reader(at, "readers") as outputs:
                outputs.subscribe(["out"])
                async for record in outputs:
                    done.append(record.value or b"")
                    if len(done) == 20:
                        return

        consumer = reader(at, at.group_id, max_poll_records=4)
        producer = Producer(at.bootstrap, transactional_id=at.transactional_id)
        async with consumer:
            consumer.subscribe(["t"])
            task = asyncio.ensure_future(copy())
            await collect()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert sorted(done) == sorted(str(number).encode() for number in range(20))


async def test_another_client_over_three_brokers() -> None:
    async with spread() as at:
        producer = AIOKafkaProducer(
            bootstrap_servers=at.bootstrap, transactional_id=at.transactional_id
        )
        await producer.start()
        try:
            for number in range(5):
                async with producer.transaction():
                    await producer.send_and_wait("t", b"%d" % number)
                    offsets = {TopicPartition("t", 0): number}
                    await producer.send_offsets_to_transaction(offsets, at.group_id)
        finally:
            await producer.stop()
        await at.ended()
        assert end_of(at.leader) == (10, 10)
        answer = await at.of_group.ask(fetch_offsets(at.group_id), 8)
        assert committed(answer) == [(4, 0)]
