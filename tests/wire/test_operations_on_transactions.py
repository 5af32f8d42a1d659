"""Operations on transactions and producers, as their clients feel them."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker import Broker, StateClock
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.coordinator.transaction.machine import TransactionCoordinator
from fencepost_broker.operations import (
    AbortHangingTransaction,
    BumpProducerEpoch,
    ExpireTransactionalId,
    FenceProducer,
    ForgetProducer,
    HoldMarkers,
    MarkersNow,
    OperationRefusedError,
    ReleaseMarkers,
    TimeOutTransaction,
)
from fencepost_broker.server.operations import perform
from fencepost_client import Producer, TransactionTimedOutError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from tests.support.broker import RunningBroker, running_broker
from tests.support.coordinators import assert_as_logged
from tests.wire import transaction_harness as raw
from tests.wire.transaction_harness import KAFKAS_WAY, NONE, stable_offset, state_of, until_state

pytestmark = pytest.mark.asyncio


def shard_of_a(broker: RunningBroker) -> Shard:
    shard = broker.coordinators.shard(RecordFamily.TRANSACTIONS, "a")
    assert shard is not None
    return shard


async def producer_in_a_transaction(broker: RunningBroker) -> raw.Producer:
    producer = raw.Producer(broker)
    assert await producer.start() is NONE
    assert await producer.send() is NONE
    return producer


async def test_what_is_no_operation_is_refused() -> None:
    given: Any = "TimeOutTransaction"
    async with running_broker() as broker:
        with pytest.raises(TypeError, match="'TimeOutTransaction' is no operation: give one of"):
            await perform(broker.server, given)


async def test_a_timed_out_transaction_is_aborted_and_its_producer_is_fenced() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await producer_in_a_transaction(broker)
        now = await perform(broker.server, TimeOutTransaction(transactional_id="a"))
        assert (now.state, now.producer_epoch) == ("PrepareAbort", 1)
        await until_state(broker, "CompleteAbort")
        assert await producer.send() is ErrorCode.INVALID_PRODUCER_EPOCH
        assert await stable_offset(broker) == 2
        assert_as_logged(broker.coordinators)


async def test_it_is_the_same_as_when_the_time_has_come() -> None:
    """The records in the log are those of the timeout."""
    written = []
    for by_operation in (True, False):
        clock = StateClock(manual=True)
        async with running_broker(topics={"t": 1}, clock=clock) as broker:
            await producer_in_a_transaction(broker)
            clock.advance(ms=59_999)
            if by_operation:
                await perform(broker.server, TimeOutTransaction(transactional_id="a"))
            clock.advance(ms=1)
            await until_state(broker, "CompleteAbort")
            shard = shard_of_a(broker)
            assert isinstance(shard.machine, TransactionCoordinator)
            state = shard.machine.durable()["a"]
            written.append((state[:7], shard.partition.log.log_end_offset))
    assert written[0] == written[1]


async def test_a_client_hears_that_its_transaction_has_timed_out() -> None:
    async with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, transactional_id="a") as producer,
    ):
        producer.begin()
        await producer.send_and_wait("t", b"lost")
        await broker.perform(TimeOutTransaction(transactional_id="a"))
        with pytest.raises(TransactionTimedOutError):
            await producer.commit()
        await producer.abort()
        async with producer.transaction() as transaction:
            await transaction.send("t", b"written again")


async def test_a_fenced_producer_ends_and_its_open_transaction_is_aborted() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await producer_in_a_transaction(broker)
        now = await perform(broker.server, FenceProducer(transactional_id="a"))
        assert now.state == "PrepareAbort"
        await until_state(broker, "Empty")  # the successor has its epoch
        assert await producer.end() is ErrorCode.PRODUCER_FENCED
        assert await producer.initialize(own=True) is ErrorCode.PRODUCER_FENCED
        again = await perform(broker.server, FenceProducer(transactional_id="a"))
        assert again.producer_epoch == 3
        assert_as_logged(broker.coordinators)


async def test_a_producer_is_fenced_without_waiting_for_markers_too() -> None:
    async with running_broker(KAFKAS_WAY, topics={"t": 1}) as broker:
        await producer_in_a_transaction(broker)
        await perform(broker.server, HoldMarkers())
        now = await perform(broker.server, FenceProducer(transactional_id="a"))
        assert now.state == "PrepareAbort"
        with pytest.raises(OperationRefusedError, match="CONCURRENT_TRANSACTIONS; try again"):
            await perform(broker.server, FenceProducer(transactional_id="a"))


async def test_a_producer_whose_epoch_is_bumped_may_ask_for_the_new_one() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await producer_in_a_transaction(broker)
        with pytest.raises(OperationRefusedError, match=r"in Ongoing.*has not ended"):
            await perform(broker.server, BumpProducerEpoch(transactional_id="a"))
        assert await producer.end() is NONE
        await until_state(broker, "CompleteCommit")
        now = await perform(broker.server, BumpProducerEpoch(transactional_id="a", epoch=32766))
        assert (now.state, now.producer_epoch) == ("Empty", 32766)
        assert await producer.send() is ErrorCode.INVALID_PRODUCER_EPOCH
        assert await producer.initialize(own=True) is NONE
        assert producer.epoch == 32766
        with pytest.raises(OperationRefusedError, match="above 32766 and at most 32766"):
            await perform(broker.server, BumpProducerEpoch(transactional_id="a"))
        before = producer.id
        assert await producer.initialize() is NONE  # the epochs of this producer id are used up
        assert (producer.id != before, producer.epoch) == (True, 0)
        assert_as_logged(broker.coordinators)


async def test_an_expired_id_is_unknown() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await producer_in_a_transaction(broker)
        with pytest.raises(OperationRefusedError, match="does not expire"):
            await perform(broker.server, ExpireTransactionalId(transactional_id="a"))
        assert await producer.end() is NONE
        await until_state(broker, "CompleteCommit")
        now = await perform(broker.server, ExpireTransactionalId(transactional_id="a"))
        assert now.state == "Dead"
        listed = await broker.ask(ListTransactionsRequest(), 0)
        assert listed.transaction_states == []
        assert await producer.add(0) is ErrorCode.INVALID_PRODUCER_ID_MAPPING
        assert_as_logged(broker.coordinators)


async def test_a_partition_forgets_a_producer() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await producer_in_a_transaction(broker)
        forget = ForgetProducer(topic="t", partition=0, producer_id=producer.id)
        with pytest.raises(OperationRefusedError, match="open in t-0, from offset 0 on"):
            await perform(broker.server, forget)
        await producer.end()
        await until_state(broker, "CompleteCommit")
        assert (await perform(broker.server, forget)).producer_ids == []
        with pytest.raises(OperationRefusedError, match=r"knows no producer id .* knows none"):
            await perform(broker.server, forget)
        # The first batch of the next transaction has to begin at 0.
        producer.sequences["t", 0] = 5
        assert await producer.send() is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


async def test_a_hanging_transaction_is_aborted_in_its_partition() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await producer_in_a_transaction(broker)
        abort = AbortHangingTransaction(topic="t", partition=0, producer_id=producer.id)
        assert await stable_offset(broker) == 0
        assert (await perform(broker.server, abort)).last_stable_offset == 2
        assert await stable_offset(broker) == 2
        assert await state_of(broker) == "Ongoing"  # its coordinator knows nothing of it
        with pytest.raises(OperationRefusedError, match="no transaction open in t-0"):
            await perform(broker.server, abort)


async def test_markers_are_held_and_released() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = await producer_in_a_transaction(broker)
        assert await perform(broker.server, HoldMarkers(topic="t")) == MarkersNow(holds=1)
        await perform(broker.server, HoldMarkers(transactional_id="b"))
        assert await producer.end() is NONE
        assert await state_of(broker) == "PrepareCommit"
        with pytest.raises(OperationRefusedError, match="no hold on markers"):
            await perform(broker.server, ReleaseMarkers(topic="t", partition=0))
        assert await perform(broker.server, ReleaseMarkers(topic="t")) == MarkersNow(holds=1)
        await until_state(broker, "CompleteCommit")
        assert await perform(broker.server, ReleaseMarkers()) == MarkersNow(holds=0)


async def test_a_name_that_is_unknown_is_refused_with_the_nearest_one() -> None:
    async with running_broker(topics={"orders": 2}) as broker:
        with pytest.raises(OperationRefusedError, match="transactional id 'a'; there is none"):
            await perform(broker.server, FenceProducer(transactional_id="a"))
        await raw.Producer(broker, "payments").start()
        with pytest.raises(OperationRefusedError, match="did you mean 'payments'"):
            await perform(broker.server, TimeOutTransaction(transactional_id="paymnts"))
        with pytest.raises(OperationRefusedError, match=r"in Empty.*has no open transaction"):
            await perform(broker.server, TimeOutTransaction(transactional_id="payments"))
        with pytest.raises(OperationRefusedError, match="no topic 'order'; did you mean 'orders'"):
            await perform(broker.server, HoldMarkers(topic="order"))
        with pytest.raises(
            OperationRefusedError, match="no partition 2; its partitions are 0 to 1"
        ):
            await perform(broker.server, ForgetProducer(topic="orders", partition=2, producer_id=1))


async def test_a_broker_that_does_not_run_performs_nothing() -> None:
    with pytest.raises(RuntimeError, match="is not running"):
        await Broker().perform(ReleaseMarkers())


async def test_what_a_log_refuses_is_refused() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        await producer_in_a_transaction(broker)
        shard = shard_of_a(broker)
        shard.partition.follow()  # another broker leads the partition, and nobody has said so yet
        with pytest.raises(OperationRefusedError, match="log refuses the records"):
            await perform(broker.server, TimeOutTransaction(transactional_id="a"))
        shard.partition.lead(None)
