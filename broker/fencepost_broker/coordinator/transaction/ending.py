"""The end of a transaction: by its producer, by its timeout, or by the producer's successor.

PrepareX is written first, and the producer gets its answer. Then the markers are sent. After the
last acknowledgement CompleteX is written. An end without partitions needs no markers: one decision
has both records.
"""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.transaction_log import TransactionLogValue

from fencepost_broker.coordinator.effects import Tell
from fencepost_broker.coordinator.transaction.commands import (
    CLIENT_VERSION_EPOCH_BUMP,
    CLIENT_VERSION_OLD,
    EndTxn,
    SendMarkers,
)
from fencepost_broker.coordinator.transaction.context import Context
from fencepost_broker.coordinator.transaction.model import (
    EPOCH_MAX,
    LAST_EPOCH,
    NO_EPOCH,
    NO_ID,
    Partitions,
    Transaction,
    listed,
)
from fencepost_broker.coordinator.transaction.states import State, may_follow
from fencepost_broker.metadata.decision import Decision

_NO_ERROR: Final = ErrorCode.NONE
_ONGOING: Final = State.ONGOING
_PREPARE_COMMIT: Final = State.PREPARE_COMMIT
_PREPARE_ABORT: Final = State.PREPARE_ABORT
_COMPLETE_COMMIT: Final = State.COMPLETE_COMMIT
_COMPLETE_ABORT: Final = State.COMPLETE_ABORT
_FENCED_CODE_FROM: Final = 2
"""PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)."""
_EPOCH_BUMP_FROM: Final = 5
"""From this version on, every end bumps the epoch (KIP-890)."""


def end_txn(context: Context, now_ms: int, command: EndTxn) -> Decision[EndTxnResponse]:
    """Decide a transaction's outcome, unless it is decided already."""
    request, bumps = command.request, command.version >= _EPOCH_BUMP_FROM
    if not request.transactional_id:
        return _refused(ErrorCode.INVALID_REQUEST)
    if bumps and not context.cluster.transaction_version():
        return _refused(ErrorCode.UNSUPPORTED_VERSION)
    transaction = context.transactions.get(request.transactional_id)
    if transaction is None:
        return _refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if bumps and transaction.is_prepared:
        # The ids are not compared: the end may have chosen a new producer id, not yet in effect.
        return _refused(ErrorCode.CONCURRENT_TRANSACTIONS)
    is_ongoing = transaction.state is _ONGOING
    is_retry = bumps and not is_ongoing and _is_retry(transaction, request)
    if transaction.client_id != request.producer_id and not is_retry:
        return _refused(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if transaction.client_epoch != request.producer_epoch and not is_retry:
        fenced = command.version >= _FENCED_CODE_FROM
        return _refused(ErrorCode.PRODUCER_FENCED if fenced else ErrorCode.INVALID_PRODUCER_EPOCH)
    if is_ongoing:
        return _prepare(context, now_ms, transaction, request, bumps=bumps)
    if transaction.is_prepared:
        return _refused(ErrorCode.CONCURRENT_TRANSACTIONS)
    if bumps and not is_retry:
        if request.committed:
            return _refused(ErrorCode.INVALID_TXN_STATE)
        return _prepare(context, now_ms, transaction, request, bumps=True)
    # The first answer may be lost, so a repeated request succeeds; the opposite outcome fails.
    outcome = _COMPLETE_COMMIT if request.committed else _COMPLETE_ABORT
    if transaction.state is not outcome:
        return _refused(ErrorCode.INVALID_TXN_STATE)
    if not bumps:
        return Decision(EndTxnResponse())
    return Decision(
        EndTxnResponse(0, 0, transaction.logged.producer_id, transaction.logged.producer_epoch)
    )


def _refused(error: ErrorCode) -> Decision[EndTxnResponse]:
    return Decision(EndTxnResponse(error_code=error))


def _is_retry(transaction: Transaction, request: EndTxnRequest) -> bool:
    """Whether the request has the epoch from before the last end or fence of this transaction.

    If that was the last epoch of its producer id, the next epoch is 0 of a new id. The epoch that
    only fences belongs to no producer, so a fenced producer does not get it as an answer.
    """
    if transaction.state not in (_COMPLETE_COMMIT, _COMPLETE_ABORT):
        return False
    epoch = transaction.logged.producer_epoch
    if request.producer_id == transaction.logged.producer_id:
        return request.producer_epoch == epoch - 1 and epoch != EPOCH_MAX
    return (
        request.producer_id == transaction.logged.previous_producer_id
        and request.producer_epoch == LAST_EPOCH
        and epoch == 0
    )


# --- PrepareX ---------------------------------------------------------------------------------


def _prepare(
    context: Context,
    now_ms: int,
    transaction: Transaction,
    request: EndTxnRequest,
    *,
    bumps: bool,
) -> Decision[EndTxnResponse]:
    tells: tuple[Tell, ...] = ()
    partitions = transaction.partitions
    if request.topics is not None:
        written = _written(transaction, request)
        if written is None:
            return _refused(ErrorCode.INVALID_TXN_STATE)
        partitions, tells = _with_left_out(context, transaction, written)
    state = _PREPARE_COMMIT if request.committed else _PREPARE_ABORT
    value = transaction.next_value(state, now_ms)
    if transaction.state is not _ONGOING:
        value.transaction_start_timestamp_ms = now_ms
    if bumps:
        error = _bump(context, transaction, value)
        if error:
            return _refused(error)
        if value.next_producer_id == NO_ID:
            answer = EndTxnResponse(0, 0, value.producer_id, value.producer_epoch)
        else:
            next_epoch = max(value.next_producer_epoch, 0)
            answer = EndTxnResponse(0, 0, value.next_producer_id, next_epoch)
        value.client_transaction_version = CLIENT_VERSION_EPOCH_BUMP
    else:
        answer = EndTxnResponse()
        if transaction.is_kept:
            value.next_producer_id = transaction.client_id
            value.next_producer_epoch = transaction.client_epoch
        value.client_transaction_version = CLIENT_VERSION_OLD
    decision = _prepared(context, now_ms, transaction, value, partitions, answer)
    if tells:
        decision.effects = (*decision.effects, *tells)
    return decision


def _bump(context: Context, transaction: Transaction, value: TransactionLogValue) -> ErrorCode:
    """Bump the epoch; after the last one, reserve a producer id that CompleteX will switch to."""
    epoch = value.producer_epoch
    if transaction.is_kept:
        value.producer_epoch = epoch + 1
        return bump_client(context, transaction, value)
    if epoch >= EPOCH_MAX:
        return ErrorCode.PRODUCER_FENCED  # no producer ever gets this epoch
    if epoch >= LAST_EPOCH:
        error, producer_id = context.producer_ids.take()
        if error:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        value.next_producer_id = producer_id
    value.producer_epoch = epoch + 1
    return _NO_ERROR


def bump_client(
    context: Context, transaction: Transaction, value: TransactionLogValue
) -> ErrorCode:
    """Bump the epoch of the producer of a transaction that is kept, apart from the markers'."""
    producer_id, epoch = transaction.client_id, transaction.client_epoch
    error = ErrorCode.NONE
    if epoch >= LAST_EPOCH:
        error, producer_id = context.producer_ids.take()
        epoch = NO_EPOCH
    value.next_producer_id, value.next_producer_epoch = producer_id, epoch + 1
    return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if error else ErrorCode.NONE


def _written(transaction: Transaction, request: EndTxnRequest) -> Partitions | None:
    """Return the partitions that were written (KIP-609); ``None`` if one was never added."""
    written: Partitions = {}
    for topic in request.topics or ():
        registered = transaction.partitions.get(topic.name)
        if registered is None or any(each not in registered for each in topic.partitions):
            return None
        if topic.partitions:
            written[topic.name] = written.get(topic.name, {}) | dict.fromkeys(topic.partitions)
    return written


def _with_left_out(
    context: Context, transaction: Transaction, written: Partitions
) -> tuple[Partitions, tuple[Tell, ...]]:
    """Add the partitions that the client wrote to and did not list.

    Without a marker, consumers of such a partition would wait for ever.
    """
    holds = context.cluster.holds_transaction
    producer = transaction.logged.producer_id, transaction.logged.producer_epoch
    tells = []
    for topic, numbers in transaction.partitions.items():
        for number in numbers:
            if number in written.get(topic, ()) or not holds(topic, number, *producer):
                continue
            written = written | {topic: written.get(topic, {}) | {number: None}}
            text = (
                f"{transaction.transactional_id}: EndTxn leaves out {topic}-{number}, which holds"
                " records of this transaction; it gets its marker all the same"
            )
            tells.append(Tell("partition-left-out", text, unexpected=True))
    return written, tuple(tells)


def _prepared(
    context: Context,
    now_ms: int,
    transaction: Transaction,
    value: TransactionLogValue,
    partitions: Partitions,
    answer: EndTxnResponse | None = None,
) -> Decision[Any]:
    """Write PrepareX and send the markers; without partitions, write CompleteX as well."""
    transactional_id = transaction.transactional_id
    value.transaction_partitions = listed(transaction, partitions)
    record = context.record(transactional_id, value)
    if not partitions:
        after = Transaction(transactional_id)
        after.take(value)
        return Decision(answer, (record, completion(context, now_ms, after)))
    send = SendMarkers(
        transactional_id,
        value.producer_id,
        value.producer_epoch,
        value.transaction_status == _PREPARE_COMMIT,
        context.coordinator_epoch,
        value.client_transaction_version,
        pending_of(partitions),
    )
    return Decision(answer, (record,), (send,), (send,))


def pending_of(partitions: Partitions) -> dict[tuple[str, int], ErrorCode]:
    """Return the initial ``SendMarkers.pending``: every partition, none with an error."""
    return {
        (topic, number): _NO_ERROR for topic, numbers in partitions.items() for number in numbers
    }


def fence(context: Context, now_ms: int, transaction: Transaction) -> Decision[Any]:
    """Abort an open transaction and fence its producer (PrepareEpochFence).

    No producer ever gets the highest epoch, so there is always one left to fence with.
    """
    assert may_follow(transaction.state, State.PREPARE_EPOCH_FENCE)
    assert may_follow(State.PREPARE_EPOCH_FENCE, _PREPARE_ABORT)
    value = transaction.next_value(_PREPARE_ABORT, now_ms)
    value.producer_epoch = min(transaction.logged.producer_epoch + 1, EPOCH_MAX)
    if transaction.is_kept:
        value.next_producer_id = transaction.client_id
        value.next_producer_epoch = min(transaction.client_epoch + 1, EPOCH_MAX)
    value.client_transaction_version = CLIENT_VERSION_OLD
    if context.cluster.transaction_version() >= CLIENT_VERSION_EPOCH_BUMP:
        value.client_transaction_version = CLIENT_VERSION_EPOCH_BUMP
        if transaction.is_exhausted and not transaction.is_kept:
            # The successor gets a new producer id; if none is available now, it gets one later.
            error, producer_id = context.producer_ids.take()
            value.next_producer_id = NO_ID if error else producer_id
    return _prepared(context, now_ms, transaction, value, transaction.partitions)


def completion(context: Context, now_ms: int, transaction: Transaction) -> Any:
    """Return the CompleteX record."""
    is_commit = transaction.state is _PREPARE_COMMIT
    state = _COMPLETE_COMMIT if is_commit else _COMPLETE_ABORT
    value = transaction.next_value(state, now_ms)
    value.transaction_partitions = []
    logged = transaction.logged
    if logged.next_producer_id != NO_ID:
        value.producer_id = logged.next_producer_id
        value.producer_epoch = max(logged.next_producer_epoch, 0)
        if transaction.is_kept:
            value.previous_producer_id = logged.previous_producer_id
    return context.record(transaction.transactional_id, value)
