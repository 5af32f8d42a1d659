"""Transactions over the wire: every request by hand, markers held back where that matters."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from fencepost_broker import Broker, StateClock
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client, memory_disk, running_broker
from tests.wire.transaction_harness import (
    GROUPS,
    KAFKAS_WAY,
    NONE,
    TRANSACTIONS,
    Producer,
    broker_address,
    stable_offset,
    state_of,
    until,
    until_state,
)


def settings(**given: str) -> Mapping[str, str]:
    return {name.replace("_", "."): value for name, value in given.items()}


@pytest.mark.asyncio
@pytest.mark.parametrize("produce", [9, 11, 12, 13])
@pytest.mark.parametrize("end", [1, 4, 5])
async def test_one_transaction_after_the_other(produce: int, end: int) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = Producer(broker)
        assert await producer.start() is NONE
        topic_id = broker.server.table.by_name["t"].topic_id
        for round_ in range(5):
            if produce < 12:
                assert await producer.add(0) is NONE
            if produce == 13:
                assert await send_by_id(producer, topic_id) is NONE
            else:
                assert await producer.send(version=produce) is NONE
            outcome = "abort" if round_ % 2 else "commit"
            assert await producer.end(outcome, version=end) is NONE
        await until_state(broker, "CompleteCommit")
        assert await stable_offset(broker) == 10
        assert (producer.epoch == 5) == (end == 5)


async def send_by_id(producer: Producer, topic_id: bytes) -> ErrorCode:
    sequence = producer.sequences.get(("t", 0), 0)
    records = bytes(
        build_batch(
            None, [b"x"], 1000, producer_id=producer.id, producer_epoch=producer.epoch,
            base_sequence=sequence, transactional=True,
        )
    )  # fmt: skip
    data = TopicProduceData("", topic_id, [PartitionProduceData(0, records)])
    answer = await producer.client.ask(ProduceRequest(producer.name, -1, 5000, [data]), 13)
    producer.sequences["t", 0] = sequence + 1
    return ErrorCode(answer.responses[0].partition_responses[0].error_code)


@pytest.mark.asyncio
async def test_an_end_is_answered_before_its_markers() -> None:
    async with running_broker(topics={"t": 2}) as broker:
        hold = broker.coordinators.sender.hold(topic="t", partition=1)
        producer = Producer(broker)
        await producer.start()
        assert await producer.send(number=0) is NONE
        assert await producer.send(number=1) is NONE
        assert await producer.end() is NONE
        assert await state_of(broker) == "PrepareCommit"
        await until(lambda: stable_offset(broker, number=0), 2)
        assert await stable_offset(broker, number=1) == 0
        assert await state_of(broker) == "PrepareCommit"
        hold.release()
        await until_state(broker, "CompleteCommit")
        assert await stable_offset(broker, number=1) == 2


@pytest.mark.asyncio
async def test_what_comes_too_early_waits_for_the_markers() -> None:
    async with running_broker(topics={"t": 1}) as broker, Client(broker_address(broker)) as other:
        sender = broker.coordinators.sender
        producer = Producer(broker)
        await producer.start()
        requests: list[Callable[[], Any]] = [
            producer.send,
            lambda: producer.add(0),
            producer.initialize,
        ]
        for early in requests:
            assert await producer.send() is NONE
            hold = sender.hold("a")
            assert await producer.end() is NONE
            waiting = asyncio.create_task(early())
            assert await state_of(other) == "PrepareCommit"
            assert not waiting.done()
            hold.release()
            assert await waiting is NONE
            assert await producer.end("abort") is NONE


@pytest.mark.asyncio
async def test_a_wait_has_an_end() -> None:
    async with running_broker(settings(transaction_park_max_ms="20"), topics={"t": 1}) as broker:
        producer = Producer(broker)
        await producer.start()
        await producer.send()
        hold = broker.coordinators.sender.hold()
        await producer.end()
        for early in (producer.send(), producer.add(0), producer.initialize()):
            assert await early is ErrorCode.CONCURRENT_TRANSACTIONS
        hold.release()
        await until_state(broker, "CompleteCommit")
        assert await producer.send() is NONE


@pytest.mark.asyncio
async def test_kafkas_way_is_to_answer_at_once() -> None:
    async with running_broker(KAFKAS_WAY, topics={"t": 1}) as broker:
        producer = Producer(broker)
        await producer.start()
        await producer.send()
        hold = broker.coordinators.sender.hold()
        await producer.end()
        too_early = ErrorCode.CONCURRENT_TRANSACTIONS
        assert await producer.send() is too_early
        assert await producer.add(0) is too_early
        assert await producer.initialize() is too_early
        offsets = AddOffsetsToTxnRequest("a", producer.id, producer.epoch, "g")
        assert (await broker.ask(offsets, 3)).error_code == too_early
        assert await producer.send(version=11) is ErrorCode.NOT_ENOUGH_REPLICAS
        hold.release()
        await until_state(broker, "CompleteCommit")
        assert await producer.send() is NONE


@pytest.mark.asyncio
async def test_kafkas_way_of_waiting_is_to_ask_again() -> None:
    patient = {**KAFKAS_WAY, "add.partitions.to.txn.retry.backoff.max.ms": "600000"}
    async with (
        running_broker(patient, topics={"t": 1}) as broker,
        Client(broker_address(broker)) as other,
    ):
        producer = Producer(broker)
        await producer.start()
        await producer.send()
        hold = broker.coordinators.sender.hold()
        await producer.end()
        waiting = asyncio.create_task(producer.send())
        assert await state_of(other) == "PrepareCommit"
        hold.release()
        assert await waiting is NONE
        assert await state_of(other) == "Ongoing"


@pytest.mark.asyncio
async def test_what_produce_answers() -> None:
    async with running_broker(topics={"t": 2}) as broker:
        producer = Producer(broker)
        mapping, epoch = ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_EPOCH
        producer.id, producer.epoch = 0, 0
        assert await producer.send() is mapping  # before there is any coordinator
        await producer.start()
        await producer.initialize()
        for version in (9, 11, 12):
            assert await producer.send(version=version, name="b") is mapping
            assert await producer.send(version=version, producer_id=77) is mapping
            assert await producer.send(version=version, producer_epoch=0) is epoch
            assert await producer.send(version=version, producer_epoch=5) is epoch
            no_name = await producer.send(version=version, name=None)
            assert no_name is ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        assert await producer.send(version=7) is ErrorCode.INVALID_TXN_STATE
        assert await producer.send(version=10) is ErrorCode.INVALID_TXN_STATE
        assert await producer.send(version=11) is ErrorCode.TRANSACTION_ABORTABLE
        assert await producer.send(version=12) is NONE
        # In a transaction that is open, nobody looks at the id.
        assert await producer.send(version=11, name="b") is NONE
        assert await producer.send(number=1, version=11) is ErrorCode.TRANSACTION_ABORTABLE
        plain: Any = {"transactional": False, "name": None}
        assert await producer.send(version=12, **plain) is ErrorCode.INVALID_TXN_STATE
        assert await producer.send(producer_id=-1, producer_epoch=-1, base_sequence=-1) is NONE


@pytest.mark.asyncio
async def test_verification_can_be_switched_off() -> None:
    off = settings(transaction_partition_verification_enable="false")
    async with running_broker(off, topics={"t": 1}) as broker:
        producer = Producer(broker)
        await producer.start()
        assert await producer.send(version=9) is NONE


@pytest.mark.asyncio
async def test_a_restart_goes_on_with_what_was_decided() -> None:
    disk = memory_disk()
    async with running_broker(topics={"t": 1}, disk=disk) as broker:
        one, other = Producer(broker, "one"), Producer(broker, "other")
        await one.start()
        await other.start()
        await one.send()
        await other.send()
        broker.coordinators.sender.hold()
        await one.end()
        assert await state_of(broker, "one") == "PrepareCommit"
    async with running_broker(disk=disk) as broker:
        await until_state(broker, "CompleteCommit", "one")
        assert await state_of(broker, "other") == "Ongoing"
        assert await stable_offset(broker) == 1
        one.client = other.client = broker
        assert await one.send() is NONE
        assert await other.end("abort") is NONE
        await until_state(broker, "CompleteAbort", "other")


@pytest.mark.asyncio
async def test_time_aborts_what_takes_too_long_and_forgets_what_nobody_uses() -> None:
    clock = StateClock(manual=True)
    async with Broker(topics={"t": 1}, clock=clock) as broker, Client(broker.bootstrap) as client:
        producer = Producer(client)
        await producer.start(timeout_ms=5000)
        await producer.send()
        clock.advance(ms=4999)
        assert await state_of(client) == "Ongoing"
        clock.advance(ms=1)
        await until_state(client, "CompleteAbort")
        assert await stable_offset(client) == 2
        assert await producer.send() is ErrorCode.INVALID_PRODUCER_EPOCH
        assert await producer.initialize(own=True) is NONE
        clock.advance(days=7)
        assert await state_of(client) == ""


@pytest.mark.asyncio
async def test_nobody_is_woken_while_time_stands() -> None:
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        producer = Producer(broker)
        await producer.start(timeout_ms=5000)
        await producer.send()
        clock.advance(ms=4999)  # a millisecond before: by wire time it would come again and again
        await producer.send()
        assert broker.coordinators.expiries._timer is None
        clock.advance(ms=1)
        await until_state(broker, "CompleteAbort")


@pytest.mark.asyncio
async def test_a_running_clock_wakes_the_coordinator_by_itself() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = Producer(broker)
        await producer.start(timeout_ms=30)
        await producer.send()
        await until_state(broker, "CompleteAbort")


@pytest.mark.asyncio
async def test_markers_by_hand_end_a_transaction_that_hangs() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = Producer(broker)
        await producer.start()
        await producer.send()
        topics = [WritableTxnMarkerTopic("t", [0, 7]), WritableTxnMarkerTopic("u", [0])]
        marker = WritableTxnMarker(producer.id, producer.epoch, False, topics, 0)
        answer = await broker.ask(WriteTxnMarkersRequest([marker]), 1)
        codes = [
            ErrorCode(partition.error_code)
            for topic in answer.markers[0].topics
            for partition in topic.partitions
        ]
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert codes == [NONE, unknown, unknown]
        assert await stable_offset(broker) == 2


@pytest.mark.asyncio
async def test_only_what_was_written_gets_markers() -> None:
    async with running_broker(topics={"t": 3}) as broker:
        producer = Producer(broker)
        await producer.start()
        assert await producer.add(0, 1, 2, group="g") is NONE
        assert await producer.send(number=1) is NONE
        assert await producer.end(topics=[EndTxnTopic("t", [9])]) is ErrorCode.INVALID_TXN_STATE
        assert await producer.end(topics=[EndTxnTopic("t", [0])]) is NONE
        await until_state(broker, "CompleteCommit")
        ends = [await stable_offset(broker, number=number) for number in range(3)]
        assert ends == [1, 2, 0]  # the one that was left out, but written, has its marker too


@pytest.mark.asyncio
async def test_leaders_ask_for_several_transactions_at_once() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        one, other = Producer(broker, "one"), Producer(broker, "other")
        await one.start()
        await other.start()
        await other.send()
        broker.coordinators.sender.hold()
        await other.end()
        topics = [AddPartitionsToTxnTopic("t", [0])]
        asked = [
            AddPartitionsToTxnTransaction("one", one.id, one.epoch, True, topics),
            AddPartitionsToTxnTransaction("one", one.id, one.epoch, False, topics),
            AddPartitionsToTxnTransaction("one", one.id, one.epoch, True, topics),
            AddPartitionsToTxnTransaction("other", other.id, other.epoch, False, topics),
            AddPartitionsToTxnTransaction("nobody", 1, 0, False, topics),
        ]
        answer = await broker.ask(AddPartitionsToTxnRequest(asked), 5)
        codes = [
            ErrorCode(each.topic_results[0].results_by_partition[0].partition_error_code)
            for each in answer.results_by_transaction
        ]
        assert codes == [
            ErrorCode.TRANSACTION_ABORTABLE,
            NONE,
            NONE,
            ErrorCode.CONCURRENT_TRANSACTIONS,
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ]


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", [GROUPS, TRANSACTIONS])
async def test_the_coordinators_topic_is_made_when_it_is_asked_for(kind: int) -> None:
    async with running_broker() as broker:
        answer = await broker.ask(FindCoordinatorRequest("x", kind), 2)
        assert (answer.error_code, answer.node_id) == (NONE, 1)
        assert (answer.host, answer.port) == (broker.host, broker.port)
        several = FindCoordinatorRequest(key_type=kind, coordinator_keys=["x", "y"])
        answer = await broker.ask(several, 4)
        assert [(each.key, each.port) for each in answer.coordinators] == [
            ("x", broker.port),
            ("y", broker.port),
        ]
        assert len(broker.server.table.by_name) == 1
        strange = await broker.ask(FindCoordinatorRequest("x", 9), 2)
        assert strange.error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.asyncio
async def test_without_a_coordinator_here() -> None:
    async with running_broker() as broker:
        request = InitProducerIdRequest("a", 1000)
        nobody = ErrorCode.NOT_COORDINATOR
        assert (await broker.ask(request, 4)).error_code == nobody
        assert (await broker.ask(EndTxnRequest("a", 0, 0, True), 5)).error_code == nobody
        states = await broker.ask(DescribeTransactionsRequest(["a"]), 0)
        assert states.transaction_states[0].error_code == nobody
        assert not (await broker.ask(ListTransactionsRequest(), 2)).transaction_states


@pytest.mark.asyncio
async def test_listing() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        for name in ("one", "two", "three"):
            await Producer(broker, name).start()
        await Producer(broker, "two").initialize()
        answer = await broker.ask(ListTransactionsRequest(transactional_id_pattern="t.*"), 2)
        assert {each.transactional_id for each in answer.transaction_states} == {"two", "three"}
        answer = await broker.ask(ListTransactionsRequest(["Ongoing", "Odd"]), 0)
        assert (answer.transaction_states, answer.unknown_state_filters) == ([], ["Odd"])
        answer = await broker.ask(ListTransactionsRequest(transactional_id_pattern="("), 2)
        assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


@pytest.mark.asyncio
async def test_a_program_holds_markers_back_and_asks_why_nothing_goes_on() -> None:
    async with Broker(topics={"t": 2}) as broker, Client(broker.bootstrap) as client:
        assert broker.explain_transaction("a") is None
        producer = Producer(client)
        await producer.start()
        hold = broker.hold_markers(topic="t", partition=1)
        await producer.send(number=0)
        await producer.send(number=1)
        explained = broker.explain_transaction("a")
        assert explained is not None
        assert explained.state == "Ongoing"
        assert explained.ends_in_ms is not None
        await producer.end()
        await until(lambda: stable_offset(client, number=0), 2)
        explained = broker.explain_transaction("a")
        assert explained is not None
        assert explained.state == "PrepareCommit"
        [marker] = explained.markers or []
        assert (marker.topic, marker.partition, marker.broker_id) == ("t", 1, 1)
        hold.release()
        await until_state(client, "CompleteCommit")
        assert broker.explain_transaction("nobody") is None
    with pytest.raises(RuntimeError, match="not running"):
        broker.hold_markers()
    with pytest.raises(RuntimeError, match="not running"):
        broker.explain_transaction("a")
