"""What a leader asks a transaction's coordinator before it writes (KIP-890).

Old producers enter partitions by themselves, and the leader only verifies that they did; newer
ones leave it to the leader. An add that comes before the last transaction's markers are there waits
for them (KIP-609), and the request with it.

    Produce           up to 11 verified, from 12 on entered
    TxnOffsetCommit   up to 4 verified, from 5 on entered
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.coordinated import (
    Later,
    Waiting,
    error_or,
    submit,
    transaction_shard,
)
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.coordinators.records import RecordFamily
from fencepost_broker.coordinators.transactions.commands import (
    AddPartitions,
    Outcome,
    VerifyPartitions,
)

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker

Partitions = Sequence[tuple[str, Sequence[int]]]
_BY_BROKER: Final = 4
"""The version of AddPartitionsToTxn in which leaders ask."""


def enter(
    broker: Broker,
    request: Request,
    transactional_id: str,
    producer: tuple[int, int],
    partitions: Partitions,
    answer: Callable[[Outcome], Pieces | None],
) -> Pieces | None:
    """Have partitions enter the transaction, then write; ``None`` when that has to wait.

    What is still needed of the request's frame then must have been copied: see ``keep_frame``.
    """
    shard = transaction_shard(broker, transactional_id)
    if shard is None:
        return answer(_nobody(broker, transactional_id))
    waiting = Waiting(broker, request, shard, transactional_id, lambda told: answer(_outcome(told)))
    command = AddPartitions(
        transactional_id, *producer, partitions, _BY_BROKER, waiting, is_known=True
    )
    return waiting.submit(command)


def enter_now(
    broker: Broker,
    transactional_id: str,
    producer: tuple[int, int],
    partitions: Partitions,
    then: Callable[[Outcome], None],
) -> Outcome | None:
    """Have partitions enter the transaction where nothing waits: the switch is off.

    ``None`` when the outcome has to be on disk first, and goes to ``then``.
    """
    command = AddPartitions(transactional_id, *producer, partitions, _BY_BROKER, is_known=True)
    return _ask_now(broker, transactional_id, command, then)


def verify(
    broker: Broker,
    request: Request,
    transactional_id: str,
    producer: tuple[int, int],
    partitions: Partitions,
    answer: Callable[[Outcome], Pieces | None],
) -> Pieces | None:
    """Whether partitions are in the transaction, then write; ``None`` when that has to wait.

    It waits for the disk alone: what is written here must not be there before what it goes by.
    """

    def later(outcome: Outcome) -> None:
        pieces = answer(outcome)
        if pieces is not None:
            request.release(pieces)

    command = VerifyPartitions(transactional_id, *producer, partitions)
    outcome = _ask_now(broker, transactional_id, command, later)
    return None if outcome is None else answer(outcome)


def _ask_now(
    broker: Broker,
    transactional_id: str,
    command: AddPartitions | VerifyPartitions,
    then: Callable[[Outcome], None],
) -> Outcome | None:
    shard = transaction_shard(broker, transactional_id)
    if shard is None:
        return _nobody(broker, transactional_id)
    told = submit(shard, command)
    if not shard.is_behind:
        return _outcome(told)
    shard.hold(Later(lambda told: then(_outcome(told))), told)
    return None


def keep_frame(request: Request) -> None:
    """Let the request have its frame for itself, since it is read again when it has waited."""
    request.frame = memoryview(bytearray(request.frame))


def _outcome(told: Any) -> Outcome:
    error = error_or(told)
    if error:
        return Outcome(error)
    assert isinstance(told, Outcome)
    return told


def _nobody(broker: Broker, transactional_id: str) -> Outcome:
    """Nobody coordinates this id here; if nobody does anywhere, no producer can have it."""
    if RecordFamily.TRANSACTIONS.value not in broker.table.by_name:
        return Outcome(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    return Outcome(broker.coordination.refusal(RecordFamily.TRANSACTIONS, transactional_id))
