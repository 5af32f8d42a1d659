"""Operations on transactions, their producers and their markers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_transactions import TransactionState
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.transaction.commands import (
    CLIENT_VERSION_OLD,
    BumpEpoch,
    DescribeTransaction,
    Expire,
    InitProducerId,
    ListTransactions,
    SendMarkers,
    TimeOut,
)
from fencepost_broker.coordinator.transaction.states import NAMES, State
from fencepost_broker.operations import (
    EPOCH_MAX,
    AbortHangingTransaction,
    BumpProducerEpoch,
    ExpireTransactionalId,
    FenceProducer,
    ForgetProducer,
    HoldMarkers,
    MarkersNow,
    OperationRefusedError,
    ProducersNow,
    ReleaseMarkers,
    TimeOutTransaction,
    TransactionNow,
)
from fencepost_broker.server.operations.lookup import described, did_you_mean, led_here, shard_of

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.marker_sender import Outcomes
    from fencepost_broker.coordinator.runtime.shard import Shard
    from fencepost_broker.replication.partition import Partition
    from fencepost_broker.server.broker_server import BrokerServer
    from fencepost_broker.storage.log.results import ProducerDescription

_INIT_VERSION: Final = 5
_PREPARED: Final = (NAMES[State.PREPARE_COMMIT], NAMES[State.PREPARE_ABORT])


def time_out(server: BrokerServer, operation: TimeOutTransaction) -> TransactionNow:
    """Abort an open transaction, and fence its producer."""
    shard, before = _found(server, operation.transactional_id)
    if not shard.submit(TimeOut(operation.transactional_id)):
        raise OperationRefusedError(
            f"{_named(before)} has no open transaction: its producer must write something first"
        )
    return _now(shard, operation.transactional_id)


def fence_producer(server: BrokerServer, operation: FenceProducer) -> TransactionNow:
    """Ask for the producer's next epoch, as another producer with this id would.

    The request waits in the coordinator for markers of an open transaction, and this does not.
    """
    shard, before = _found(server, operation.transactional_id)
    longest_ms = server.config.settings.transaction_max_timeout_ms
    timeout_ms = min(before.transaction_timeout_ms, longest_ms)
    request = InitProducerIdRequest(operation.transactional_id, timeout_ms)
    answer: InitProducerIdResponse | None = shard.submit(
        InitProducerId(request, _INIT_VERSION, _forget_answer)
    )
    now = _now(shard, operation.transactional_id)
    is_aborting = before.transaction_state == NAMES[State.ONGOING]
    if answer is not None and answer.error_code and not is_aborting:
        code = ErrorCode(answer.error_code).name
        raise OperationRefusedError(f"{_named(before)} cannot be fenced now: {code}; try again")
    return now


def _forget_answer(answer: Any) -> None:
    """Take the answer to a request that has waited."""


def bump_epoch(server: BrokerServer, operation: BumpProducerEpoch) -> TransactionNow:
    """Bump the epoch of a producer between two transactions."""
    shard, before = _found(server, operation.transactional_id)
    if not shard.submit(BumpEpoch(operation.transactional_id, operation.epoch)):
        if before.transaction_state in (NAMES[State.ONGOING], *_PREPARED):
            why = "its transaction has not ended: end it, or use fence-producer"
        else:
            why = f"a new epoch is above {before.producer_epoch} and at most {EPOCH_MAX}"
        raise OperationRefusedError(f"{_named(before)} gets no new epoch: {why}")
    return _now(shard, operation.transactional_id)


def expire_id(server: BrokerServer, operation: ExpireTransactionalId) -> TransactionNow:
    """Forget an unused transactional id."""
    shard, before = _found(server, operation.transactional_id)
    if not shard.submit(Expire(operation.transactional_id)):
        raise OperationRefusedError(
            f"{_named(before)} does not expire: its transaction has not ended; end it, or use"
            " time-out-transaction, and wait for its markers"
        )
    return _now(shard, operation.transactional_id)


def _found(server: BrokerServer, transactional_id: str) -> tuple[Shard, TransactionState]:
    shard = shard_of(server, RecordFamily.TRANSACTIONS, transactional_id)
    state = _described(shard, transactional_id)
    if state.error_code:
        known = [
            each.transactional_id
            for other in server.coordinators.runtime.shards_of(RecordFamily.TRANSACTIONS)
            for each in other.submit(ListTransactions(ListTransactionsRequest()))
        ]
        raise OperationRefusedError(
            f"broker {server.identity.node_id} knows no transactional id {transactional_id!r}"
            f"{did_you_mean(transactional_id, known)}"
        )
    return shard, state


def _described(shard: Shard, transactional_id: str) -> TransactionState:
    state: TransactionState = shard.submit(DescribeTransaction(transactional_id))
    return state


def _named(state: TransactionState) -> str:
    return f"transactional id {state.transactional_id!r} (in {state.transaction_state})"


def _now(shard: Shard, transactional_id: str) -> TransactionNow:
    state = _described(shard, transactional_id)
    if state.error_code:
        name = NAMES[State.DEAD]
        return TransactionNow(
            transactional_id=transactional_id, state=name, producer_id=-1, producer_epoch=-1
        )
    return TransactionNow(
        transactional_id=transactional_id,
        state=state.transaction_state,
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
    )


# -- producers of a partition --------------------------------------------------------------------


def forget_producer(server: BrokerServer, operation: ForgetProducer) -> ProducersNow:
    """Let a partition forget a producer without an open transaction."""
    partition = led_here(server, operation.topic, operation.partition)
    producer = _producer(partition, operation.producer_id)
    if not partition.log.forget_producer(operation.producer_id):
        start = producer.current_transaction_first_offset
        raise OperationRefusedError(
            f"producer {operation.producer_id} is not forgotten: it has a transaction open in"
            f" {_name(partition)}, from offset {start} on; end it first"
        )
    return _producers_now(partition)


async def abort_hanging(server: BrokerServer, operation: AbortHangingTransaction) -> ProducersNow:
    """Write an abort marker to a partition."""
    partition = led_here(server, operation.topic, operation.partition)
    producer = _producer(partition, operation.producer_id)
    if producer.current_transaction_first_offset < 0:
        raise OperationRefusedError(
            f"producer {operation.producer_id} has no transaction open in {_name(partition)}"
        )
    where = partition.topic, partition.number
    abort = SendMarkers(
        transactional_id="",
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        is_commit=False,
        coordinator_epoch=max(producer.coordinator_epoch, 0),
        transaction_version=CLIENT_VERSION_OLD,
        pending={where: ErrorCode.NONE},
    )
    answered: asyncio.Future[Outcomes] = asyncio.get_running_loop().create_future()
    server.coordinators.runtime.own_markers.write(abort, [where], answered.set_result)
    [(_, _, code)] = await answered
    if code is not ErrorCode.NONE:
        raise OperationRefusedError(f"{_name(partition)} takes no abort marker: {code.name}")
    return _producers_now(partition)


def _name(partition: Partition) -> str:
    return f"{partition.topic}-{partition.number}"


def _producer(partition: Partition, producer_id: int) -> ProducerDescription:
    known = {each.producer_id: each for each in partition.log.describe_producers()}
    if producer_id not in known:
        ids = ", ".join(map(str, sorted(known))) or "none"
        raise OperationRefusedError(
            f"{_name(partition)} knows no producer id {producer_id}; it knows {ids}"
        )
    return known[producer_id]


def _producers_now(partition: Partition) -> ProducersNow:
    return ProducersNow(
        topic=partition.topic,
        partition=partition.number,
        producer_ids=sorted(each.producer_id for each in partition.log.describe_producers()),
        last_stable_offset=partition.log.last_stable_offset,
    )


# -- markers -------------------------------------------------------------------------------------


def hold_markers(server: BrokerServer, operation: HoldMarkers) -> MarkersNow:
    """Hold back markers of the coordinators in this broker."""
    if operation.topic is not None:
        described(server, operation.topic, operation.partition or 0)
    sender = server.coordinators.runtime.sender
    sender.hold(operation.transactional_id, operation.topic, operation.partition)
    return MarkersNow(holds=len(sender.holds))


def release_markers(server: BrokerServer, operation: ReleaseMarkers) -> MarkersNow:
    """End the holds with these criteria, or all."""
    sender = server.coordinators.runtime.sender
    wanted = (operation.transactional_id, operation.topic, operation.partition)
    is_all = wanted == (None, None, None)
    ended = [each for each in sender.holds if is_all or each.wanted == wanted]
    if not ended:
        held = "; ".join(str(each.wanted) for each in sender.holds) or "none"
        raise OperationRefusedError(
            "no hold on markers has this transactional_id, topic and partition; the holds are:"
            f" {held}"
        )
    for each in ended:
        each.release()
    return MarkersNow(holds=len(sender.holds))
