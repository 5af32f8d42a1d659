"""What time does to a transactional id, when its time has come or when an operator asks for it."""

from __future__ import annotations

from typing import Any

from fencepost_protocol.generated.transaction_log import TransactionLogKey

from fencepost_broker.coordinator.effects import Tell
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.coordinator.transaction.commands import BumpEpoch, Expire, TimeOut
from fencepost_broker.coordinator.transaction.context import Context
from fencepost_broker.coordinator.transaction.ending import fence
from fencepost_broker.coordinator.transaction.model import LAST_EPOCH, NO_TIME, Transaction
from fencepost_broker.coordinator.transaction.soft import EpochAskedFor
from fencepost_broker.coordinator.transaction.states import State, may_follow
from fencepost_broker.metadata.decision import Decision


def timed_out(context: Context, now_ms: int, transaction: Transaction) -> Decision[Any]:
    """Abort an open transaction whose timeout is over."""
    text = f"it was open for its timeout of {transaction.logged.transaction_timeout_ms} ms"
    return _abort(context, now_ms, transaction, text)


def time_out(context: Context, now_ms: int, command: TimeOut) -> Decision[bool]:
    """Abort an open transaction as if its timeout was over."""
    transaction = context.transactions.get(command.transactional_id)
    if transaction is None or transaction.state is not State.ONGOING:
        return Decision(answer=False)
    decision = _abort(context, now_ms, transaction, "an operator timed it out")
    decision.answer = True
    return decision


def _abort(context: Context, now_ms: int, transaction: Transaction, why: str) -> Decision[Any]:
    decision = fence(context, now_ms, transaction)
    text = f"{transaction.transactional_id}: aborted, because {why}"
    decision.effects = (*decision.effects, Tell("transaction-timed-out", text))
    return decision


def expired(transaction: Transaction) -> Decision[Any]:
    """Delete an id that was unused for too long."""
    assert may_follow(transaction.state, State.DEAD)
    return Decision(records=(LogRecord(TransactionLogKey(transaction.transactional_id), None),))


def expire(context: Context, command: Expire) -> Decision[bool]:
    """Delete an unused id as if its time was over."""
    transaction = context.transactions.get(command.transactional_id)
    if transaction is None or not may_follow(transaction.state, State.DEAD):
        return Decision(answer=False)
    decision: Decision[bool] = expired(transaction)
    decision.answer = True
    return decision


def bump_epoch(context: Context, now_ms: int, command: BumpEpoch) -> Decision[bool]:
    """Write the record of an InitProducerId by the producer itself (KIP-360), between two ends."""
    transaction = context.transactions.get(command.transactional_id)
    if transaction is None or transaction.state is State.ONGOING or transaction.is_prepared:
        return Decision(answer=False)
    before = transaction.logged.producer_epoch
    epoch = before + 1 if command.epoch is None else command.epoch
    if not before < epoch <= LAST_EPOCH:
        return Decision(answer=False)
    value = transaction.next_value(State.EMPTY, now_ms)
    value.producer_epoch = epoch
    value.transaction_start_timestamp_ms = NO_TIME
    record = context.record(command.transactional_id, value)
    soft = EpochAskedFor(command.transactional_id, before)
    return Decision(answer=True, records=(record,), soft=(soft,))
