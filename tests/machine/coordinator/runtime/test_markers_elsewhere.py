"""The marker sender where other brokers lead: an end in parts, one request at a time to each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from fencepost_broker.coordinator.runtime.marker_sender import MarkerSender
from fencepost_broker.ports import ReadyList
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.write_txn_markers import WriteTxnMarkersResponse

from tests.machine.coordinator.runtime.harness import (
    MOVED,
    NONE,
    Brokers,
    Clock,
    Here,
    Owner,
    end_of,
)

HERE = None


class Others:
    """Other brokers, which answer when they are told to."""

    are_there = True

    def __init__(self) -> None:
        self.leaders: dict[int, int | None] = {}
        """By partition of topic t."""
        self.asked: dict[int, Brokers] = {}

    def leader_of(self, topic: str, number: int) -> int | None:
        assert topic == "t"
        return self.leaders.get(number)

    def ask(self, broker_id: int, message: Any, then: Callable[[Any], None]) -> None:
        self[broker_id].ask(message, 2, then)

    def __getitem__(self, broker_id: int) -> Brokers:
        return self.asked.setdefault(broker_id, Brokers())

    def lose(self, broker_id: int) -> None:
        """The connection is gone."""
        self[broker_id].asked.pop(0)[1](None)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def here() -> Here:
    return Here()


@pytest.fixture
def others() -> Others:
    return Others()


@pytest.fixture
def sender(clock: Clock, here: Here, others: Others) -> MarkerSender:
    return MarkerSender(clock, ReadyList(partial(clock.call_later, 0)), here, others)


@pytest.fixture
def owner() -> Owner:
    return Owner()


def test_each_leader_gets_its_own_part(
    sender: MarkerSender, clock: Clock, here: Here, others: Others, owner: Owner
) -> None:
    others.leaders = {0: HERE, 1: 2, 2: 3, 3: 2}
    end = end_of(1, 0, 1, 2, 3)
    sender.send(owner, end)
    clock.run()
    assert here.wanted() == [(1, "t", 0)]
    assert others[2].wanted() == [(1, "t", 1), (1, "t", 3)]
    assert others[3].wanted() == [(1, "t", 2)]
    marker = others[3].asked[0][0].markers[0]
    assert (marker.producer_epoch, marker.transaction_result) == (1, True)
    assert (marker.coordinator_epoch, marker.transaction_version) == (7, 2)
    here.answer()
    others[2].answer()
    clock.run()
    assert list(end.pending) == [("t", 2)]
    assert not here.asked
    assert not others[2].asked, "what is there, or under way, goes out no more"
    others[3].answer()
    assert not end.pending


def test_what_comes_up_meanwhile_waits_for_the_answer(
    sender: MarkerSender, clock: Clock, others: Others, owner: Owner
) -> None:
    others.leaders = {0: 2}
    sender.send(owner, end_of(1, 0))
    clock.run()
    sender.send(owner, end_of(2, 0))
    sender.send(owner, end_of(3, 0))
    clock.run()
    assert len(others[2].asked) == 1
    others[2].answer()
    clock.run()
    assert others[2].wanted() == [(2, "t", 0), (3, "t", 0)]


def test_a_marker_without_a_result_is_sent_again(
    sender: MarkerSender, clock: Clock, others: Others, owner: Owner
) -> None:
    others.leaders = {0: 2}
    sender.send(owner, end_of(1, 0))
    clock.run()
    others[2].asked.pop()[1](WriteTxnMarkersResponse([]))
    assert clock.run() == [20]


def test_a_producers_next_end_waits_for_its_own_request(
    sender: MarkerSender, clock: Clock, others: Others, owner: Owner
) -> None:
    others.leaders = {0: 2, 5: 2}
    sender.send(owner, end_of(1, 0))
    sender.send(owner, end_of(1, 5))
    clock.run()
    assert others[2].wanted() == [(1, "t", 0)]
    clock.run()
    others[2].answer()
    clock.run()
    assert others[2].wanted() == [(1, "t", 5)]


def test_a_part_follows_its_leader(
    sender: MarkerSender, clock: Clock, others: Others, owner: Owner
) -> None:
    others.leaders = {0: 2, 1: 3}
    sender.send(owner, end_of(1, 0, 1))
    clock.run()
    others[2].answer(MOVED)
    others.leaders[0] = 3
    assert clock.run() == [20]
    clock.run()
    assert others[3].wanted() == [(1, "t", 1)], "one at a time"
    others[3].answer()
    clock.run()
    assert others[3].wanted() == [(1, "t", 0)]


def test_who_waits_behind_a_broker_that_is_lost_goes_to_the_next_leader(
    sender: MarkerSender, clock: Clock, others: Others, owner: Owner
) -> None:
    others.leaders = {0: 2}
    first, second = end_of(1, 0), end_of(2, 0)
    sender.send(owner, first)
    clock.run()
    sender.send(owner, second)
    clock.run()
    others.leaders = {0: 3}
    others.lose(2)
    assert owner.told == [("t", 0, ErrorCode.NETWORK_EXCEPTION)], "so that it can be explained"
    assert sorted(clock.run()) == [0, 20]
    assert others[3].wanted() == [(2, "t", 0)]
    others[3].answer()
    clock.run()
    others[3].answer()
    assert not first.pending
    assert not second.pending
    assert not others[2].asked


def test_parts_are_held_back_one_by_one(
    sender: MarkerSender, clock: Clock, others: Others, owner: Owner
) -> None:
    others.leaders = {0: 2, 1: 3}
    hold = sender.hold(partition=0)
    end = end_of(1, 0, 1)
    sender.send(owner, end)
    clock.run()
    assert not others[2].asked
    others[3].answer(NONE)
    clock.run()
    hold.release()
    clock.run()
    others[2].answer()
    assert not end.pending
