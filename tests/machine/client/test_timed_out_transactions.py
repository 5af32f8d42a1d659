"""A producer whose transaction was aborted by its coordinator, its time being over (KIP-588)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fencepost_client import (
    AbortableTransactionError,
    FencedError,
    NetworkError,
    ProducerFencedError,
    TransactionTimedOutError,
    UnsupportedVersionError,
)
from fencepost_client.errors import error_of, timed_out_instead_of
from fencepost_client.producer.batch import Identity
from fencepost_client.producer.stages import Stage
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.procedures import Ask, Procedure
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnResponse
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from tests.machine.client.harness.transaction_manager import (
    CLASSIC,
    IMPLICIT,
    MEMBER,
    OFFSETS,
    added,
    committed,
    described,
    ended,
    initialized,
    manager,
)
from tests.machine.client.scripts import Reply, Script

FENCED = ErrorCode.PRODUCER_FENCED
TIMED_OUT: list[Reply] = [described("CompleteAbort", 1), initialized(epoch=1)]
"""Nobody but the coordinator was there; the next epoch is ours."""


def wants_more(made: TransactionManager) -> Procedure[None]:
    made.may_send("t", 1)
    return made.add_partitions()


@pytest.mark.parametrize(
    ("version", "ask", "answer"),
    [
        (CLASSIC, lambda made: made.end(commit=True), ended(FENCED)),
        (CLASSIC, wants_more, added(FENCED)),
        (CLASSIC, lambda made: made.send_offsets(OFFSETS, MEMBER), AddOffsetsToTxnResponse(0, 90)),
        (IMPLICIT, lambda made: made.end(commit=True), ended(ErrorCode.INVALID_TXN_STATE)),
        (
            IMPLICIT,
            lambda made: made.send_offsets(OFFSETS, MEMBER),
            committed(ErrorCode.INVALID_PRODUCER_EPOCH),
        ),
    ],
    ids=["end", "partitions", "group", "end-2", "offsets-2"],
)
def test_it_is_told_as_what_it_is_and_the_producer_goes_on(
    version: int, ask: Callable[[TransactionManager], Procedure[Any]], answer: Any
) -> None:
    made = manager(version)
    script = Script([answer, *TIMED_OUT])
    with pytest.raises(TransactionTimedOutError, match="transaction_timeout_ms"):
        script.play(ask(made))
    assert script.asked[1] == DescribeTransactionsRequest(["txn"])
    # Before version 2 a coordinator does not remember the epoch before its own.
    assert script.asked[2] == InitProducerIdRequest("txn", 60_000, 9, int(version == CLASSIC))
    assert made.stage is Stage.ABORTABLE_ERROR
    with pytest.raises(AbortableTransactionError):
        made.check_in_transaction()
    # The coordinator has aborted it: asked again, it would begin and abort another one.
    assert Script([]).play(made.end(commit=False)) == Identity(9, 1)
    made.begin(version)
    made.may_send("t", 0)
    if version == CLASSIC:
        Script([added(0)]).play(made.add_partitions())
    last = Script([ended(0, 9, 2)])
    last.play(made.end(commit=True))
    assert last.asked[0].producer_epoch == 1


def test_an_abort_that_comes_too_late_is_done() -> None:
    made = manager(CLASSIC)
    made.batch_failed(error_of(ErrorCode.INVALID_PRODUCER_EPOCH))
    assert Script([ended(FENCED), *TIMED_OUT]).play(made.end(commit=False)) == Identity(9, 1)
    assert made.stage is Stage.READY


@pytest.mark.parametrize("answers", [[NetworkError()], []], ids=["lost", "cancelled"])
def test_an_end_that_may_have_arrived_shows_no_epoch_that_may_be_anothers(
    answers: list[Reply],
) -> None:
    """It may be committed, and the next epoch a successor's, whose transaction was aborted."""
    made = manager(CLASSIC)
    if not answers:
        unanswered = made.end(commit=True)
        ask = next(unanswered)
        assert isinstance(ask, Ask)
        ask.build(4)
        unanswered.close()
    script = Script([*answers, ended(FENCED), described("CompleteAbort", 1), initialized(FENCED)])
    with pytest.raises(ProducerFencedError):
        script.play(made.end(commit=True))
    assert script.asked[-1] == InitProducerIdRequest("txn", 60_000, 9, 0)


@pytest.mark.parametrize("state", ["PrepareEpochFence", "PrepareAbort", "Empty"])
def test_markers_that_are_under_way_and_a_lost_answer_are_waited_for(state: str) -> None:
    """InitProducerId may be asked twice: ``Empty`` in our next epoch is from the first time."""
    made = manager(CLASSIC)
    busy = initialized(ErrorCode.CONCURRENT_TRANSACTIONS)
    script = Script(
        [ended(FENCED), NetworkError(), described(state, 1), busy, NetworkError(), TIMED_OUT[1]]
    )
    with pytest.raises(TransactionTimedOutError):
        script.play(made.end(commit=True))


@pytest.mark.parametrize(
    "looked_up",
    [
        described("Ongoing", 1),
        described("CompleteCommit", 1),
        described("CompleteAbort", 2),
        described("CompleteAbort", 0),
        described("CompleteAbort", 1, producer_id=10),
        described("Dead", 1),
        UnsupportedVersionError("before Apache Kafka 3.0"),
    ],
    ids=str,
)
def test_another_producer_is_left_alone(looked_up: Any) -> None:
    """Asked for an epoch, Kafka's coordinator would abort what another has open."""
    made = manager(CLASSIC)
    with pytest.raises(ProducerFencedError):
        Script([ended(FENCED), looked_up]).play(made.end(commit=True))
    assert made.stage is Stage.FATAL


def test_another_producer_that_comes_in_between_fences() -> None:
    made = manager(CLASSIC)
    script = Script([ended(FENCED), described("CompleteAbort", 1), initialized(FENCED)])
    with pytest.raises(ProducerFencedError):
        script.play(made.end(commit=False))
    assert made.stage is Stage.FATAL


def test_nothing_is_added_to_what_can_only_be_aborted() -> None:
    """With the next epoch it would open a transaction that nobody ends."""
    made = manager(CLASSIC)
    with pytest.raises(TransactionTimedOutError):
        Script([added(FENCED), *TIMED_OUT]).play(wants_more(made))
    with pytest.raises(AbortableTransactionError):
        Script([]).play(made.add_partitions())
    assert not made.has_to_add


def test_only_a_leaders_refusal_is_told_otherwise_behind_an_abort() -> None:
    found = timed_out_instead_of(error_of(ErrorCode.INVALID_PRODUCER_EPOCH, state="sending"))
    assert found is not None
    assert found.state == "sending"
    made = manager()
    made.batch_failed(error_of(ErrorCode.INVALID_PRODUCER_EPOCH))
    behind = made.refusal()
    assert behind is not None
    assert timed_out_instead_of(behind) is not None, "what waited behind it"
    for other in (
        ZeroDivisionError(),
        ProducerFencedError(code=ErrorCode.INVALID_PRODUCER_EPOCH),
        FencedError(code=ErrorCode.INVALID_PRODUCER_ID_MAPPING),
    ):
        assert timed_out_instead_of(other) is None
