"""Administrative queries: DescribeTransactions, ListTransactions (KIP-664), ``explain``."""

from __future__ import annotations

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import describe_transactions as described
from fencepost_protocol.generated import list_transactions as told

from fencepost_broker.coordinator.transaction.commands import (
    DescribeTransaction,
    ExplainTransaction,
    ListTransactions,
)
from fencepost_broker.coordinator.transaction.context import Context
from fencepost_broker.coordinator.transaction.explanations import TransactionWaits, WaitingMarker
from fencepost_broker.coordinator.transaction.model import Transaction
from fencepost_broker.coordinator.transaction.states import NAMES, State
from fencepost_broker.metadata.decision import Decision


def describe(
    context: Context, command: DescribeTransaction
) -> Decision[described.TransactionState]:
    """Return one transactional id's row of a DescribeTransactions response."""
    transaction = context.transactions.get(command.transactional_id)
    if transaction is None:
        missing = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        return Decision(described.TransactionState(missing, command.transactional_id))
    return Decision(
        described.TransactionState(
            ErrorCode.NONE,
            transaction.transactional_id,
            NAMES[transaction.state],
            transaction.logged.transaction_timeout_ms,
            transaction.logged.transaction_start_timestamp_ms,
            transaction.logged.producer_id,
            transaction.logged.producer_epoch,
            [
                described.TopicData(topic, sorted(numbers))
                for topic, numbers in sorted(_open_partitions(transaction).items())
            ],
        )
    )


def _open_partitions(transaction: Transaction) -> dict[str, list[int]]:
    """Return the transaction's partitions; during the end, only those still without a marker."""
    if transaction.sending is not None:
        return transaction.sending.topics()
    return {topic: list(numbers) for topic, numbers in transaction.partitions.items()}


def list_transactions(
    context: Context, now_ms: int, command: ListTransactions
) -> Decision[list[told.TransactionState]]:
    """Return this partition's ids that match the filters; an unknown state matches no id."""
    request = command.request
    states = set(request.state_filters)
    producer_ids = set(request.producer_id_filters)
    longer_ms = request.duration_filter
    matches = command.matches
    return Decision(
        [
            told.TransactionState(each.transactional_id, each.logged.producer_id, NAMES[each.state])
            for each in context.transactions.values()
            if (not states or NAMES[each.state] in states)
            and (not producer_ids or each.logged.producer_id in producer_ids)
            and (longer_ms < 0 or now_ms - each.logged.transaction_start_timestamp_ms > longer_ms)
            and (matches is None or matches(each.transactional_id))
        ]
    )


def unknown_states(request: told.ListTransactionsRequest) -> list[str]:
    """Return the names in the state filter that are not states, without duplicates."""
    known = set(NAMES.values())
    return [name for name in dict.fromkeys(request.state_filters) if name not in known]


def explain(context: Context, command: ExplainTransaction) -> Decision[TransactionWaits]:
    """Return what a transactional id is waiting for."""
    transaction = context.transactions.get(command.transactional_id)
    if transaction is None:
        return Decision()
    found = TransactionWaits(
        NAMES[transaction.state],
        transaction.logged.producer_id,
        transaction.logged.producer_epoch,
        transaction.logged.transaction_last_update_timestamp_ms,
        tokens=tuple(each.token for each in transaction.parked),
    )
    found.times_out_ms = context.timers.timeout_of(transaction)
    found.expires_ms = context.timers.expiry_of(transaction)
    if transaction.is_kept and transaction.state is State.ONGOING:
        found.kept_by = transaction.client_id, transaction.client_epoch
    if transaction.sending is not None:
        found.markers = [
            WaitingMarker(topic, number, context.cluster.leader_of(topic, number), error)
            for (topic, number), error in transaction.sending.pending.items()
        ]
    return Decision(found)
