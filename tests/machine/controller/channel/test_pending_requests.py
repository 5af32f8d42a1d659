"""What a broker asks its controller while that is away, on a clock that the test moves."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.controller.channel.pending_requests import (
    LOSSES_MAX,
    PendingRequest,
    PendingRequests,
)
from fencepost_protocol.generated.describe_quorum import DescribeQuorumRequest

LIMIT_MS = 60_000


def asked(
    outbox: PendingRequests, give_up_ms: int | None = None
) -> tuple[PendingRequest, list[Any]]:
    heard: list[Any] = []
    question = PendingRequest(DescribeQuorumRequest(), heard.append, give_up_ms)
    outbox.put(question)
    return question, heard


def test_questions_go_out_in_order_and_are_answered() -> None:
    outbox = PendingRequests()
    first, heard = asked(outbox)
    second, _ = asked(outbox)
    assert (outbox.take(), outbox.take(), outbox.take()) == (first, second, None)
    outbox.answered(first, "yes", 0)
    assert heard == ["yes"]


def test_without_a_limit_it_waits_for_ever_and_is_asked_once() -> None:
    outbox = PendingRequests()
    question, heard = asked(outbox)
    assert outbox.deadline() is None
    outbox.expire(1 << 40)
    assert not heard
    assert outbox.take() is question
    outbox.answered(question, None, 1 << 40)
    assert heard == [None]
    assert not len(outbox), "whoever asked knows whether the same may be asked twice"


def test_with_a_limit_it_hears_when_its_time_is_over() -> None:
    outbox = PendingRequests()
    _, patient = asked(outbox)
    _, heard = asked(outbox, LIMIT_MS)
    assert outbox.deadline() == LIMIT_MS
    outbox.expire(LIMIT_MS - 1)
    assert not heard
    outbox.expire(LIMIT_MS)
    assert (heard, patient) == ([None], [])
    assert (len(outbox), outbox.deadline()) == (1, None)


def test_with_a_limit_it_is_asked_again_before_what_came_later() -> None:
    outbox = PendingRequests()
    question, heard = asked(outbox, LIMIT_MS)
    assert outbox.take() is question
    later, _ = asked(outbox)
    outbox.answered(question, None, 30_000)
    assert not heard
    assert (outbox.take(), outbox.take()) == (question, later)
    outbox.answered(question, "yes", LIMIT_MS + 1)
    assert heard == ["yes"], "an answer that comes late is one"


def test_what_is_lost_together_goes_out_again_in_the_same_order() -> None:
    outbox = PendingRequests()
    questions = [asked(outbox, LIMIT_MS)[0] for _ in range(3)]
    for question in questions:
        assert outbox.take() is question
    later, _ = asked(outbox, LIMIT_MS)
    for question in questions:
        outbox.answered(question, None, 0)
    assert [outbox.take() for _ in range(4)] == [*questions, later]


def test_one_under_way_hears_when_its_time_is_over_and_nothing_later() -> None:
    outbox = PendingRequests()
    question, heard = asked(outbox, LIMIT_MS)
    outbox.take()
    assert outbox.deadline() == LIMIT_MS
    outbox.expire(LIMIT_MS)
    assert (heard, outbox.deadline()) == ([None], None)
    outbox.answered(question, "yes", LIMIT_MS + 1)
    assert heard == [None]


@pytest.mark.parametrize("is_under_way", [True, False])
def test_what_nobody_waits_for_any_more_is_let_go_and_not_asked(is_under_way: bool) -> None:
    outbox = PendingRequests()
    question, heard = asked(outbox, LIMIT_MS)
    if is_under_way:
        outbox.take()
    question.withdraw()
    assert (question.message, len(outbox), outbox.deadline()) == (None, 0, None)
    if is_under_way:
        outbox.answered(question, None, 0)
    assert outbox.take() is None
    outbox.expire(LIMIT_MS)
    outbox.close()
    assert not heard


def test_one_that_is_lost_when_its_time_is_over_is_not_asked_again() -> None:
    outbox = PendingRequests()
    question, heard = asked(outbox, LIMIT_MS)
    outbox.take()
    outbox.answered(question, None, LIMIT_MS)
    assert heard == [None]
    assert not len(outbox)


def test_at_the_end_all_hear_and_nothing_comes_back() -> None:
    outbox = PendingRequests()
    under_way, lost = asked(outbox, LIMIT_MS)
    outbox.take()
    _, waiting = asked(outbox, LIMIT_MS)
    outbox.close()
    outbox.answered(under_way, None, 0)
    assert (lost, waiting) == ([None], [None])


def test_what_the_controller_does_not_survive_is_not_asked_for_ever() -> None:
    outbox = PendingRequests()
    question, heard = asked(outbox, LIMIT_MS)
    for _ in range(LOSSES_MAX):
        assert not heard
        assert outbox.take() is question
        outbox.answered(question, None, 0)
    assert (heard, len(outbox)) == ([None], 0)


def test_who_cannot_be_told_keeps_nobody_else_from_it() -> None:
    def fail(_: Any) -> None:
        raise ZeroDivisionError

    outbox = PendingRequests()
    outbox.put(PendingRequest(DescribeQuorumRequest(), fail, LIMIT_MS))
    _, heard = asked(outbox, LIMIT_MS)
    with pytest.raises(ZeroDivisionError):
        outbox.expire(LIMIT_MS)
    assert outbox.deadline() == LIMIT_MS
    outbox.expire(LIMIT_MS)
    assert heard == [None]
