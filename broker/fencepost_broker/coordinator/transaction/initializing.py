"""InitProducerId: a producer gets its id and epoch, and its predecessors are fenced.

The transactional id goes to Empty, with the next epoch or with a new producer id. If a transaction
is open, it goes to PrepareAbort first, with a bumped epoch that no producer gets: the request waits
for the markers and then gets the epoch after that one.

A producer that keeps the open transaction (KIP-939) may only end it. Its own id and epoch are the
next ones; the transaction goes on with those of the records that it has.
"""

from __future__ import annotations

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.init_producer_id import InitProducerIdResponse

from fencepost_broker.coordinator.transaction.commands import InitProducerId
from fencepost_broker.coordinator.transaction.context import Context
from fencepost_broker.coordinator.transaction.ending import bump_client, fence
from fencepost_broker.coordinator.transaction.model import (
    EPOCH_MAX,
    LAST_EPOCH,
    NEVER_MS,
    NO_EPOCH,
    NO_ID,
    NO_TIME,
    Transaction,
)
from fencepost_broker.coordinator.transaction.parking import park
from fencepost_broker.coordinator.transaction.refusals import refused
from fencepost_broker.coordinator.transaction.soft import EpochAskedFor
from fencepost_broker.coordinator.transaction.states import State
from fencepost_broker.metadata.decision import Decision


def init_producer_id(
    context: Context, now_ms: int, command: InitProducerId
) -> Decision[InitProducerIdResponse]:
    """Give a producer its id and epoch; if a transaction is open, abort it first."""
    error = _refusal(context, command)
    if error:
        return refused(error, command.version)
    request = command.request
    transaction = context.transactions.get(request.transactional_id or "")
    if transaction is None or transaction.state is State.DEAD:
        return _rotate(context, now_ms, command, Transaction(request.transactional_id or ""))
    if transaction.is_prepared:
        return _wait(context, command)
    if request.producer_id != NO_ID and not _is_ours(transaction, command):
        return refused(ErrorCode.PRODUCER_FENCED, command.version)
    if transaction.state is State.ONGOING and request.keep_prepared_txn:
        return _keep(context, now_ms, command, transaction)
    if transaction.state is State.ONGOING:
        decision: Decision[InitProducerIdResponse] = fence(context, now_ms, transaction)
        return _wait(context, command, decision)
    if transaction.is_exhausted and _may_have_another(transaction, request.producer_epoch):
        return _rotate(context, now_ms, command, transaction)
    return _bump(context, now_ms, command, transaction)


def _refusal(context: Context, command: InitProducerId) -> ErrorCode:
    """Return the error of a request that is invalid in every state."""
    request, settings = command.request, context.settings
    if not request.transactional_id:
        return ErrorCode.INVALID_REQUEST
    if (request.producer_id == NO_ID) != (request.producer_epoch == NO_EPOCH):
        return ErrorCode.INVALID_REQUEST
    if request.enable2_pc:
        allowed = settings.two_phase_commit_enable
        return ErrorCode.NONE if allowed else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if not 0 < request.transaction_timeout_ms <= settings.max_timeout_ms:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return ErrorCode.NONE


def _is_ours(transaction: Transaction, command: InitProducerId) -> bool:
    """Whether the request has the current producer id, or the exhausted one before it (a retry)."""
    given = command.request.producer_id
    if given == transaction.client_id:
        return True
    return (
        given == transaction.logged.previous_producer_id
        and command.request.producer_epoch >= LAST_EPOCH
    )


def _may_have_another(transaction: Transaction, epoch: int) -> bool:
    """Whether a producer with this epoch gets a new producer id when the old one is exhausted.

    A producer that was fenced by the highest epoch gets one too: no producer has that epoch.
    """
    if epoch in (NO_EPOCH, transaction.logged.producer_epoch):
        return True
    return transaction.logged.producer_epoch == EPOCH_MAX and epoch == transaction.last_epoch


def _wait(
    context: Context,
    command: InitProducerId,
    decision: Decision[InitProducerIdResponse] | None = None,
) -> Decision[InitProducerIdResponse]:
    """Park the request until the markers are written, or tell the client to retry."""
    decision = Decision() if decision is None else decision
    if context.settings.park_enable:
        return park(decision, command.request.transactional_id or "", command)
    decision.answer = refused(ErrorCode.CONCURRENT_TRANSACTIONS, command.version).answer
    return decision


def _keep(
    context: Context, now_ms: int, command: InitProducerId, transaction: Transaction
) -> Decision[InitProducerIdResponse]:
    """Give the next id and epoch to a producer that will end the open transaction (KIP-939)."""
    value = transaction.next_value(State.ONGOING, now_ms)
    error = bump_client(context, transaction, value)
    if error:
        return refused(error, command.version)
    value.transaction_partitions = transaction.logged.transaction_partitions
    if command.request.enable2_pc:
        value.transaction_timeout_ms = NEVER_MS
    answer = InitProducerIdResponse(
        producer_id=value.next_producer_id,
        producer_epoch=value.next_producer_epoch,
        ongoing_txn_producer_id=value.producer_id,
        ongoing_txn_producer_epoch=value.producer_epoch,
    )
    return Decision(answer, (context.record(transaction.transactional_id, value),))


def _rotate(
    context: Context, now_ms: int, command: InitProducerId, transaction: Transaction
) -> Decision[InitProducerIdResponse]:
    """Give a new producer id with epoch 0, to a new transactional id or after the last epoch."""
    error, producer_id = context.producer_ids.take()
    if error:
        # Like Kafka, this does not wait for a block of ids; clients retry on this error.
        return refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, command.version)
    last = command.request.producer_epoch if transaction.logged.producer_id != NO_ID else NO_EPOCH
    return _initialized(context, now_ms, command, transaction, (producer_id, 0), last)


def _bump(
    context: Context, now_ms: int, command: InitProducerId, transaction: Transaction
) -> Decision[InitProducerIdResponse]:
    """Bump the epoch; repeat the answer to a retry (KIP-360) and refuse an older epoch."""
    given, epoch = command.request.producer_epoch, transaction.logged.producer_epoch
    if given in (NO_EPOCH, epoch):
        pair, last = (transaction.logged.producer_id, epoch + 1), given
    elif given == transaction.last_epoch:
        pair, last = (transaction.logged.producer_id, epoch), given
    else:
        return refused(ErrorCode.PRODUCER_FENCED, command.version)
    return _initialized(context, now_ms, command, transaction, pair, last)


def _initialized(
    context: Context,
    now_ms: int,
    command: InitProducerId,
    transaction: Transaction,
    pair: tuple[int, int],
    last_epoch: int,
) -> Decision[InitProducerIdResponse]:
    request = command.request
    value = transaction.next_value(State.EMPTY, now_ms)
    value.producer_id, value.producer_epoch = pair
    if value.previous_producer_id == NO_ID:
        value.previous_producer_id = value.producer_id
    value.transaction_timeout_ms = (
        NEVER_MS if request.enable2_pc else request.transaction_timeout_ms
    )
    value.transaction_start_timestamp_ms = NO_TIME
    transactional_id = transaction.transactional_id
    soft = () if last_epoch == NO_EPOCH else (EpochAskedFor(transactional_id, last_epoch),)
    answer = InitProducerIdResponse(producer_id=pair[0], producer_epoch=pair[1])
    return Decision(answer, (context.record(transactional_id, value),), soft=soft)
