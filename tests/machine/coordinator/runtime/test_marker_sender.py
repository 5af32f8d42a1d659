"""The marker sender: what goes out together, what is repeated and when, what is held back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from fencepost_broker.coordinator.runtime.marker_sender import MarkerSender
from fencepost_broker.ports import ReadyList
from fencepost_protocol.errors import ErrorCode

from tests.machine.coordinator.runtime.harness import MOVED, NONE, Clock, Here, Owner, end_of


class Nobody:
    """A broker by itself."""

    are_there = False

    def leader_of(self, topic: str, number: int) -> int | None:
        raise AssertionError

    def ask(self, broker_id: int, message: Any, then: Callable[[Any], None]) -> None:
        raise AssertionError


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def here() -> Here:
    return Here()


@pytest.fixture
def sender(clock: Clock, here: Here) -> MarkerSender:
    return MarkerSender(clock, ReadyList(partial(clock.call_later, 0)), here, Nobody())


@pytest.fixture
def owner() -> Owner:
    return Owner()


def test_what_ends_in_one_turn_goes_out_together_in_the_next(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner
) -> None:
    first = end_of(1, 0, 1)
    sender.send(owner, first)
    sender.send(owner, end_of(2, 0))
    assert not here.asked
    assert clock.run() == [0]
    assert here.wanted() == [(1, "t", 0), (1, "t", 1), (2, "t", 0)]
    assert here.asked[0][0] is first
    here.answer()
    assert len(owner.told) == 3
    assert not clock.calls


def test_what_failed_is_sent_again_for_ever_and_ever_more_slowly(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner
) -> None:
    sender.send(owner, end_of(1, 0, 1))
    clock.run()
    here.answer(MOVED, but=("t", 1))
    delays = []
    for _ in range(12):
        delays += clock.run()
        assert clock.run() == [0]
        assert here.wanted() == [(1, "t", 1)]
        here.answer(MOVED)
    assert delays == [20, 40, 80, 160, 320, 640, *[1000] * 6]
    assert clock.run() == [1000]
    clock.run()
    here.answer()
    assert not clock.calls
    assert not here.asked


def test_what_is_given_up_is_not_sent_again(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner
) -> None:
    sender.send(owner, end_of(1, 0))
    clock.run()
    here.answer(ErrorCode.INVALID_PRODUCER_EPOCH)
    assert not clock.calls


def test_a_coordinator_that_cannot_write_is_told_again_and_no_marker_is_sent_again(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner
) -> None:
    owner.fails = True
    sender.send(owner, end_of(1, 0))
    clock.run()
    here.answer()
    delays = []
    for _ in range(8):
        delays += clock.run()
        assert not here.asked
    assert delays == [20, 40, 80, 160, 320, 640, 1000, 1000]
    owner.fails = False
    assert clock.run() == [1000]
    assert owner.told == [("t", 0, NONE)]
    assert not clock.calls
    assert not here.asked


def test_a_marker_is_sent_again_that_is_missed_when_the_end_can_be_written(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner
) -> None:
    """Its topic was gone, which needs no marker, and is there again."""
    owner.fails = True
    sender.send(owner, end_of(1, 0))
    clock.run()
    here.answer(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    owner.fails = False
    clock.run()
    assert clock.run() == [0]
    assert here.wanted() == [(1, "t", 0)]
    here.answer()
    assert not clock.calls


@pytest.mark.parametrize("end", ["stop", "unload"])
def test_who_is_gone_is_not_told_again(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner, end: str
) -> None:
    owner.fails = True
    sender.send(owner, end_of(1, 0))
    clock.run()
    here.answer()
    owner.fails = False
    if end == "stop":
        sender.stop()
    else:
        owner.is_loaded = False
    clock.run()
    assert not owner.told
    clock.run()
    assert not here.asked


def test_a_coordinator_that_is_gone_wants_nothing(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner
) -> None:
    sender.send(owner, end_of(1, 0))
    clock.run()
    owner.is_loaded = False
    here.answer(MOVED)
    sender.send(owner, end_of(2, 0))
    clock.run()
    assert not here.asked
    assert not clock.calls
    assert not owner.told


@pytest.mark.parametrize(
    ("hold", "free"),
    [
        ({}, []),
        ({"transactional_id": "a"}, [(2, "t", 0)]),
        ({"transactional_id": "c"}, [(1, "t", 0), (1, "t", 1), (2, "t", 0)]),
        ({"topic": "t", "partition": 0}, [(1, "t", 1)]),
        ({"topic": "u"}, [(1, "t", 0), (1, "t", 1), (2, "t", 0)]),
        ({"transactional_id": "b", "topic": "t", "partition": 0}, [(1, "t", 0), (1, "t", 1)]),
    ],
)
def test_markers_are_held_back(
    sender: MarkerSender,
    clock: Clock,
    here: Here,
    owner: Owner,
    hold: dict[str, Any],
    free: list[tuple[int, str, int]],
) -> None:
    held = sender.hold(**hold)
    sender.send(owner, end_of(1, 0, 1, name="a"))
    sender.send(owner, end_of(2, 0, name="b"))
    clock.run()
    assert (here.wanted() if here.asked else []) == free
    while here.asked:
        here.answer()
    clock.run()  # what is left finds itself held back
    assert not here.asked
    held.release()
    clock.run()
    if len(free) < 3:
        everything = {(1, "t", 0), (1, "t", 1), (2, "t", 0)}
        assert set(here.wanted()) == everything - set(free)
        here.answer()
    assert not clock.calls
    assert not here.asked


def test_one_hold_of_two_is_enough(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner
) -> None:
    first, second = sender.hold("a"), sender.hold(topic="t")
    sender.send(owner, end_of(1, 0))
    first.release()
    clock.run()
    assert not here.asked
    first.release()
    second.release()
    clock.run()
    assert here.wanted() == [(1, "t", 0)]


def test_nothing_leaves_after_the_stop(
    sender: MarkerSender, clock: Clock, here: Here, owner: Owner
) -> None:
    sender.send(owner, end_of(1, 0))
    sender.stop()
    clock.run()
    assert not here.asked
