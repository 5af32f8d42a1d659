"""DescribeTransactions and ListTransactions (KIP-664): what a coordinator knows.

Behaviour: ids are looked for on this broker only; an id that another broker coordinates is
answered NOT_COORDINATOR, or COORDINATOR_LOAD_IN_PROGRESS while it is being loaded.

Version notes: ListTransactions 1 filters by duration (KIP-994), 2 by a pattern (KIP-1152).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import describe_transactions as described
from fencepost_protocol.generated import list_transactions as told

from fencepost_broker.adapters.patterns import Re2Patterns
from fencepost_broker.apis.coordinated import nobody, transaction_shard
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.coordinators.records import RecordFamily
from fencepost_broker.coordinators.transactions.commands import (
    DescribeTransaction,
    ListTransactions,
)
from fencepost_broker.coordinators.transactions.describing import unknown_states

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker


def describe_transactions(broker: Broker, request: Request) -> Pieces:
    """Answer DescribeTransactions, version 0."""
    message, _ = described.DescribeTransactionsRequest.decode(
        request.frame, request.version, request.body
    )
    states = [_described(broker, name) for name in message.transactional_ids]
    return request.answer(described.DescribeTransactionsResponse(transaction_states=states))


def _described(broker: Broker, name: str) -> described.TransactionState:
    shard = transaction_shard(broker, name)
    if shard is None:
        return described.TransactionState(nobody(broker, name), name, "", 0, -1, -1, -1, [])
    state: described.TransactionState = shard.submit(DescribeTransaction(name))
    return state


def list_transactions(broker: Broker, request: Request) -> Pieces:
    """Answer ListTransactions, versions 0 to 2."""
    message, _ = told.ListTransactionsRequest.decode(request.frame, request.version, request.body)
    if broker.coordination.is_loading(RecordFamily.TRANSACTIONS):
        loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return request.answer(told.ListTransactionsResponse(error_code=loading))
    command = ListTransactions(message)
    if message.transactional_id_pattern:
        pattern, patterns = message.transactional_id_pattern, Re2Patterns()
        if patterns.problem(pattern) is not None:
            return request.answer(
                told.ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
            )
        command.matches = lambda name: bool(patterns.matching(pattern, (name,)))
    rows: list[told.TransactionState] = []
    for shard in broker.coordination.shards_of(RecordFamily.TRANSACTIONS):
        rows += shard.submit(command)
    response = told.ListTransactionsResponse(
        unknown_state_filters=unknown_states(message), transaction_states=rows
    )
    return request.answer(response)
