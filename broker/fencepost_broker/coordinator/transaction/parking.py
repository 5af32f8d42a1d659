"""KIP-609: a request that comes too early waits for the last transaction's markers.

It is handled anew when CompleteX is in the log, and answered then; or, when its caller says that
it has waited long enough, with CONCURRENT_TRANSACTIONS. How long that is, is a matter of wire time
and of the caller. A client that goes away meanwhile changes nothing: as in Kafka, its request is
carried out, and only the answer finds nobody.
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
    """Let a command wait behind this decision; none of the markers may already be there."""
    if decision.records and not decision.soft:
        # Ended without markers: there is nothing to wait for.
        decision.effects = (*decision.effects, Resume(command))
    else:
        decision.soft = (*decision.soft, Park(transactional_id, command))
    return decision


def resumed(transaction: Transaction) -> tuple[Resume, ...]:
    """What goes on once the markers are there."""
    return tuple(Resume(command) for command in transaction.parked)


def give_up(context: Context, command: GiveUp) -> Decision[Any]:
    """Answer a request that has waited too long; one that was answered already is not there."""
    transaction = context.transactions.get(command.transactional_id)
    parked = transaction.parked if transaction else ()
    for waiting in parked:
        if waiting.token is command.token:
            reply = Reply(command.token, _answer(waiting, ErrorCode.CONCURRENT_TRANSACTIONS))
            soft = (Unpark(command.transactional_id, command.token),)
            return Decision(effects=(reply,), soft=soft)
    return Decision()


def all_replies(context: Context, error: ErrorCode) -> Decision[None]:
    """Answer all that waits, because it will not be answered here any more."""
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
