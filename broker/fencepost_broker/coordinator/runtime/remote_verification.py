"""AddPartitionsToTxn requests from partition leaders to coordinators in other brokers (KIP-890).

Each broker has one request in flight, because it would answer several in sequence anyway. Further
questions wait and are sent together in the next request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)

from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    Outcome,
    VerifyPartitions,
)

Question = AddPartitions | VerifyPartitions
Told = Callable[[Outcome], None]
Ask = Callable[[int, Message, Callable[[Any], None]], None]


class _Asked(NamedTuple):
    question: Question
    then: Told


class AskedOfCoordinators:
    """Sends questions to the coordinators in other brokers and batches them by broker."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._waiting: dict[int, deque[_Asked]] = {}
        """Questions that wait for a request in flight; a broker without one has no entry."""

    def ask(self, broker_id: int, question: Question, then: Told) -> None:
        """Send a question; ``then`` is called with the outcome later, never during this call.

        NETWORK_EXCEPTION means no answer: the partitions may or may not have been added.
        """
        asked = _Asked(question, then)
        waiting = self._waiting.get(broker_id)
        if waiting is None:
            self._waiting[broker_id] = deque()
            self._send(broker_id, [asked])
        else:
            waiting.append(asked)

    def _send(self, broker_id: int, batch: Sequence[_Asked]) -> None:
        transactions = [_transaction(each.question) for each in batch]

        def answered(answer: AddPartitionsToTxnResponse | None) -> None:
            self._go_on(broker_id)
            _tell(batch, answer)

        self._ask(broker_id, AddPartitionsToTxnRequest(transactions), answered)

    def _go_on(self, broker_id: int) -> None:
        """Send the waiting questions, at most one for each transactional id."""
        waiting = self._waiting.pop(broker_id)
        if not waiting:
            return
        batch: dict[str, _Asked] = {}
        left: deque[_Asked] = deque()
        for asked in waiting:
            if batch.setdefault(asked.question.transactional_id, asked) is not asked:
                left.append(asked)  # the response identifies transactions by their ids
        self._waiting[broker_id] = left
        self._send(broker_id, list(batch.values()))


def _transaction(question: Question) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        question.transactional_id,
        question.producer_id,
        question.producer_epoch,
        isinstance(question, VerifyPartitions),
        [AddPartitionsToTxnTopic(topic, list(numbers)) for topic, numbers in question.topics],
    )


def _tell(batch: Sequence[_Asked], answer: AddPartitionsToTxnResponse | None) -> None:
    if answer is None or answer.error_code:
        code = ErrorCode.NETWORK_EXCEPTION if answer is None else ErrorCode(answer.error_code)
        for asked in batch:
            asked.then(Outcome(code))
        return
    results = {each.transactional_id: each for each in answer.results_by_transaction}
    for asked in batch:
        result = results.get(asked.question.transactional_id)
        each = {
            (topic.name, partition.partition_index): ErrorCode(partition.partition_error_code)
            for topic in (() if result is None else result.topic_results)
            for partition in topic.results_by_partition
        }
        asked.then(_outcome(asked.question, each))


def _outcome(question: Question, each: dict[tuple[str, int], ErrorCode]) -> Outcome:
    """Return the partitions' errors, as one error if all are equal."""
    asked = [(topic, number) for topic, numbers in question.topics for number in numbers]
    # A partition that is missing in the response counts as unanswered.
    codes = {where: each.get(where, ErrorCode.NETWORK_EXCEPTION) for where in asked}
    kinds = set(codes.values())
    if len(kinds) <= 1:
        return Outcome(next(iter(kinds), ErrorCode.NONE))
    return Outcome(next(code for code in codes.values() if code), codes)
