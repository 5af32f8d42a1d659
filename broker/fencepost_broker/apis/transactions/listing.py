"""DescribeTransactions and ListTransactions (KIP-664): the transactions of this coordinator.

Behaviour: only this broker's transactions are searched. The answer for an id that another broker
coordinates is NOT_COORDINATOR, or COORDINATOR_LOAD_IN_PROGRESS while it is being loaded.

Fencepost's extension: a request with the tag Explain of DescribeTransactions also gets what an id
waits for. Other requests do not, and ApiVersions does not advertise it.

Version notes: ListTransactions 1 filters by duration (KIP-994), 2 by a pattern (KIP-1152).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import describe_transactions as described
from fencepost_protocol.generated import list_transactions as told

from fencepost_broker.apis.coordinator_requests import (
    Part,
    answer_when_durable,
    coordinator_error,
    error_or,
    transaction_shard,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.transaction.commands import DescribeTransaction, ListTransactions
from fencepost_broker.coordinator.transaction.describing import unknown_states
from fencepost_broker.metadata.re2_patterns import Re2Patterns

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.observability.explained import ExplainedClient

EXPLAINED_MAX: Final = 100
"""The most ids of one request that are explained: each may have a marker in every partition."""


def describe_transactions(
    context: BrokerContext, request: Request, message: described.DescribeTransactionsRequest
) -> Answer | None:
    """Answer DescribeTransactions, version 0."""
    names = message.transactional_ids

    def answer(told: list[Any]) -> Answer:
        states = [_state(*each) for each in zip(names, told, strict=True)]
        response = described.DescribeTransactionsResponse(transaction_states=states)
        if message.explain:
            response.state_time_ms = context.clock.now_ms()
            for state in states[:EXPLAINED_MAX]:
                if not state.error_code:
                    state.explanation = _explained(context, state.transactional_id)
        return response

    return answer_when_durable(request, [_described(context, name) for name in names], answer)


def _described(context: BrokerContext, name: str) -> Part:
    if not name:
        return None, ErrorCode.INVALID_REQUEST
    shard = transaction_shard(context, name)
    if shard is None:
        return None, coordinator_error(context, name)
    return shard, shard.submit(DescribeTransaction(name))


def _state(name: str, told: Any) -> described.TransactionState:
    if isinstance(told, described.TransactionState):
        return told
    error = told if isinstance(told, ErrorCode) else error_or(told)
    return described.TransactionState(error, name)


def _explained(context: BrokerContext, name: str) -> described.Explanation | None:
    # Imported here because explanations are rare, and other requests should not pay for it.
    from fencepost_broker.coordinator.runtime.explaining import Explaining, requests_behind

    found = Explaining(context.coordinators.runtime).waits_of(name)
    if found is None:
        return None
    last = context.coordinators.runtime.last_clients.of(name)
    return described.Explanation(
        found.updated_ms,
        -1 if found.times_out_ms is None else found.times_out_ms,
        -1 if found.expires_ms is None else found.expires_ms,
        found.repeats,
        [
            described.WaitingMarker(
                each.topic,
                each.partition,
                -1 if each.leader is None else each.leader,
                each.last_error,
                each.is_held,
            )
            for each in found.markers
        ],
        [
            described.WaitingRequest(key, None if client is None else _client(client))
            for key, client in requests_behind(found)
        ],
        None if last is None else _client(last),
        *(found.kept_by or ()),
    )


def _client(client: ExplainedClient) -> described.ExplainedClient:
    return described.ExplainedClient(client.client_id, client.address, client.is_connected)


def list_transactions(
    context: BrokerContext, request: Request, message: told.ListTransactionsRequest
) -> Answer | None:
    """Answer ListTransactions, versions 0 to 2."""
    if context.coordinators.runtime.is_loading(RecordFamily.TRANSACTIONS):
        loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return told.ListTransactionsResponse(error_code=loading)
    command = ListTransactions(message)
    if message.transactional_id_pattern:
        pattern, patterns = message.transactional_id_pattern, Re2Patterns()
        if patterns.problem(pattern) is not None:
            return told.ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
        command.matches = lambda name: bool(patterns.matching(pattern, (name,)))

    def answer(found: list[Any]) -> Answer:
        rows: list[told.TransactionState] = []
        for each in found:
            error = error_or(each)
            if error:
                return told.ListTransactionsResponse(error_code=error)
            rows += each
        unknown = unknown_states(message)
        return told.ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=rows)

    shards = context.coordinators.runtime.shards_of(RecordFamily.TRANSACTIONS)
    return answer_when_durable(request, [(each, each.submit(command)) for each in shards], answer)
