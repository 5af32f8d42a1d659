"""What leaders ask coordinators elsewhere: what goes out together, and what answers mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fencepost_broker.coordinator.runtime.remote_verification import AskedOfCoordinators
from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    Outcome,
    VerifyPartitions,
)
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)

NONE, ABORTABLE = ErrorCode.NONE, ErrorCode.TRANSACTION_ABORTABLE
LOST = ErrorCode.NETWORK_EXCEPTION


class Brokers:
    def __init__(self) -> None:
        self.asked: list[tuple[int, Any, Callable[[Any], None]]] = []

    def ask(self, broker_id: int, message: Any, then: Callable[[Any], None]) -> None:
        self.asked.append((broker_id, message, then))

    def names(self) -> list[list[tuple[str, bool]]]:
        """Who is asked about, in each request, and whether that is all."""
        return [
            [(each.transactional_id, each.verify_only) for each in message.transactions]
            for _, message, _ in self.asked
        ]

    def answer(self, **errors: ErrorCode) -> None:
        """Answer the oldest request: partition 0 by the id's error, any other one with NONE."""
        _, message, then = self.asked.pop(0)
        results = [
            AddPartitionsToTxnResult(
                each.transactional_id,
                [
                    AddPartitionsToTxnTopicResult(
                        topic.name,
                        [
                            AddPartitionsToTxnPartitionResult(
                                number, NONE if number else errors[each.transactional_id]
                            )
                            for number in topic.partitions
                        ],
                    )
                    for topic in each.topics
                ],
            )
            for each in message.transactions
            if each.transactional_id in errors
        ]
        then(AddPartitionsToTxnResponse(results_by_transaction=results))


class Leader:
    def __init__(self, brokers: Brokers) -> None:
        self._asked = AskedOfCoordinators(brokers.ask)
        self.told: list[tuple[str, Outcome]] = []

    def enter(self, name: str, *numbers: int, at: int = 2) -> None:
        question = AddPartitions(name, 7, 0, [("t", numbers or (0,))], 4)
        self._asked.ask(at, question, lambda outcome: self.told.append((name, outcome)))

    def verify(self, name: str) -> None:
        question = VerifyPartitions(name, 7, 0, [("t", (0,))])
        self._asked.ask(2, question, lambda outcome: self.told.append((name, outcome)))


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


@pytest.fixture
def leader(brokers: Brokers) -> Leader:
    return Leader(brokers)


def test_what_comes_up_while_one_is_under_way_goes_out_together(
    leader: Leader, brokers: Brokers
) -> None:
    leader.enter("a")
    leader.enter("b")
    leader.verify("c")
    assert brokers.names() == [[("a", False)]]
    brokers.answer(a=NONE)
    assert brokers.names() == [[("b", False), ("c", True)]]
    brokers.answer(b=NONE, c=ABORTABLE)
    assert leader.told == [("a", Outcome(NONE)), ("b", Outcome(NONE)), ("c", Outcome(ABORTABLE))]
    assert not brokers.asked


def test_one_request_asks_once_about_an_id(leader: Leader, brokers: Brokers) -> None:
    for _ in range(3):
        leader.enter("a")
    for count in (1, 2, 3):
        assert brokers.names() == [[("a", False)]]
        brokers.answer(a=NONE)
        assert len(leader.told) == count
    assert not brokers.asked


def test_brokers_are_asked_side_by_side(leader: Leader, brokers: Brokers) -> None:
    leader.enter("a", at=2)
    leader.enter("b", at=3)
    assert [broker_id for broker_id, _, _ in brokers.asked] == [2, 3]


def test_partitions_may_have_answers_of_their_own(leader: Leader, brokers: Brokers) -> None:
    leader.enter("a", 0, 1)
    brokers.answer(a=ABORTABLE)
    ((_, outcome),) = leader.told
    assert (outcome.error, outcome.of("t", 0), outcome.of("t", 1)) == (ABORTABLE, ABORTABLE, NONE)


def test_no_answer_allows_nothing(leader: Leader, brokers: Brokers) -> None:
    leader.enter("a")
    leader.enter("b")
    brokers.asked.pop(0)[2](None)
    brokers.answer()  # to b, of whom it says nothing
    assert leader.told == [("a", Outcome(LOST)), ("b", Outcome(LOST))]
    leader.enter("a")
    brokers.asked.pop(0)[2](AddPartitionsToTxnResponse(error_code=31))
    assert leader.told[-1] == ("a", Outcome(ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
