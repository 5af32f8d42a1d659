"""Parked requests, which wait for the markers of the last transaction (KIP-609).

A parked request is handled again once CompleteX is in the log. If the caller gives up first
(``GiveUp``), the answer is CONCURRENT_TRANSACTIONS; the caller decides how long to wait. A client
that disconnects changes nothing: as in Kafka, its request is carried out, and the answer is lost.
"""

from __future__ import annotations

from typing import Any, TypeVar

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.effects import Reply
from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    GiveUp,
    InitProducerId,
    Outcome,
    Resume,
)
from fencepost_broker.coordinator.transaction.context import Context
from fencepost_broker.coordinator.transaction.model import Transaction
from fencepost_broker.coordinator.transaction.refusals import refused
from fencepost_broker.coordinator.transaction.soft import Park, Unpark
from fencepost_broker.metadata.decision import Decision

Answer = TypeVar("Answer")


def park(
    decision: Decision[Answer], transactional_id: str, command: InitProducerId | AddPartitions
) -> Decision[Answer]:
    """Park a command until the end in this decision, or in progress, is complete."""
    if decision.records and not decision.soft:
        # The end needs no markers, so there is nothing to wait for.
        decision.effects = (*decision.effects, Resume(command))
    else:
        decision.soft = (*decision.soft, Park(transactional_id, command))
    return decision


def resumed(transaction: Transaction) -> tuple[Resume, ...]:
    """Return the parked commands of a transaction whose markers are all written."""
    parked = transaction.parked
    return tuple([Resume(command) for command in parked]) if parked else ()


def give_up(context: Context, command: GiveUp) -> Decision[Any]:
    """Answer a request that has waited too long; do nothing if it was answered already."""
    transaction = context.transactions.get(command.transactional_id)
    parked = transaction.parked if transaction else ()
    for waiting in parked:
        if waiting.token is command.token:
            reply = Reply(command.token, _answer(waiting, ErrorCode.CONCURRENT_TRANSACTIONS))
            soft = (Unpark(command.transactional_id, command.token),)
            return Decision(effects=(reply,), soft=soft)
    return Decision()


def all_replies(context: Context, error: ErrorCode) -> Decision[None]:
    """Answer all parked requests with an error, because this coordinator stops."""
    return Decision(
        effects=tuple(
            Reply(waiting.token, _answer(waiting, error))
            for transaction in context.transactions.values()
            for waiting in transaction.parked
        )
    )


def _answer(command: InitProducerId | AddPartitions, error: ErrorCode) -> Any:
    if isinstance(command, AddPartitions):
        return Outcome(error)
    return refused(error, command.version).answer
