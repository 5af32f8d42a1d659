"""Transactions of this broker's coordinators."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest
from msgspec import Meta, Struct

from fencepost_broker.coordinator.runtime.explaining import Explaining
from fencepost_broker.observability.explained import ExplainedTransaction
from fencepost_broker.server.control.in_cluster import all_brokers, broker_that_has_it
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import ControlContext, Route

_VERSION: Final = 1


class ListedTransaction(Struct, frozen=True):
    """A transactional id and the state of its transaction."""

    transactional_id: str
    producer_id: int
    state: Annotated[str, Meta(description="Empty, Ongoing, PrepareCommit, ...")]


class Transactions(Struct, frozen=True):
    """The transactional ids that this broker coordinates."""

    transactions: list[ListedTransaction]


class TransactionName(Struct, frozen=True, forbid_unknown_fields=True):
    """A transactional id."""

    transactional_id: str


async def list_transactions(context: ControlContext) -> Transactions:
    """Return the transactional ids that this broker coordinates, sorted."""
    answer: Any = await context.ask(ListTransactionsRequest(), _VERSION)
    if answer.error_code:
        raise ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"{ErrorCode(answer.error_code).name}: the coordinator cannot answer yet",
            advice="Try again.",
        )
    return Transactions(
        sorted(
            (
                ListedTransaction(each.transactional_id, each.producer_id, each.transaction_state)
                for each in answer.transaction_states
            ),
            key=lambda each: each.transactional_id,
        )
    )


async def explain_transaction(
    context: ControlContext, named: TransactionName
) -> ExplainedTransaction:
    """Explain what a transaction waits for."""
    listed = await list_transactions(context)
    address = context.addresses[0].bootstrap
    told = Explaining(context.coordinators).transaction(named.transactional_id, address)
    if told is None:
        known = (each.transactional_id for each in listed.transactions)
        raise not_found(
            "transactional id", named.transactional_id, known, where="path, $.transactional_id"
        )
    return told


def _united(answers: Sequence[Transactions]) -> Transactions:
    found = [each for answer in answers for each in answer.transactions]
    return Transactions(sorted(found, key=lambda each: each.transactional_id))


ROUTES: Final = (
    Route(
        "GET",
        "/v1/transactions",
        list_transactions,
        "the transactional ids that this broker coordinates",
        response=Transactions,
        in_cluster=all_brokers(_united),
        errors=(HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE),
    ),
    Route(
        "GET",
        "/v1/transactions/{transactional_id}",
        explain_transaction,
        "what a transaction waits for",
        request=TransactionName,
        response=ExplainedTransaction,
        in_cluster=broker_that_has_it,
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE),
    ),
)
