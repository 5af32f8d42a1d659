"""A controller that did not run for a while does not fence those whom it could not hear."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NoReturn

import pytest
from fencepost_broker.config import Settings
from fencepost_broker.controller.bootstrap import registration
from fencepost_broker.controller.channel.standstill import (
    FIRST_LOOK_MS,
    LOOKS_A_SESSION,
    READ_MS,
    BrokerStandstill,
)
from fencepost_broker.metadata.image.model import Endpoint
from fencepost_broker.server.controller_server import ControllerServer
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_protocol.generated.broker_heartbeat import BrokerHeartbeatRequest

SESSION_MS = 8000
APART_MS = SESSION_MS // LOOKS_A_SESSION
BEGIN_MS = 1_700_000_000_000


class Clock:
    """Time that moves when the test says so."""

    runs = False

    def __init__(self) -> None:
        self.ms = BEGIN_MS

    def now_ms(self) -> int:
        return self.ms

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> NoReturn:
        raise AssertionError("a controller by itself has no timers")


class Running:
    """A controller, and two brokers that it is to hear of."""

    def __init__(self, *, looks: bool = True) -> None:
        """``looks``: it was woken since the brokers are there."""
        self.clock = Clock()
        settings = Settings().with_overrides(
            {
                "process.roles": "controller",
                "controller.listener.names": "CONTROLLER",
                "listeners": "CONTROLLER://127.0.0.1:0",
                "node.id": 100,
                "broker.session.timeout.ms": SESSION_MS,
            }
        )
        self.node = ControllerServer(settings, MemoryDisk(), self.clock, random.Random(1))
        self.node.start([])
        self.epochs = {each: self._register(each) for each in (1, 2)}
        self.hear(1, 2)
        if looks:
            self.look()

    def _register(self, broker_id: int) -> int:
        identity = bytes([broker_id]) * 16
        endpoints = [Endpoint("PLAINTEXT", "localhost", 9000 + broker_id)]
        asked = registration(
            broker_id, self.node.identity.cluster_id, identity, endpoints, [identity], None
        )
        epoch: int = self.node.controller.command(asked).broker_epoch
        return epoch

    def hear(self, *broker_ids: int) -> None:
        """Heartbeats come."""
        for each in broker_ids:
            at = self.node.image.last_offset
            answer = self.node.controller.command(
                BrokerHeartbeatRequest(each, self.epochs[each], at)
            )
            assert not answer.error_code

    def look(self) -> None:
        """The process wakes the controller."""
        self.node.expire(self.clock.ms)

    def run(self, until_ms: int) -> None:
        """The process wakes the controller whenever it wants to be woken, up to a time."""
        while (due_ms := self.node.deadline_ms()) is not None and due_ms <= until_ms:
            self.clock.ms = max(due_ms, self.clock.ms)
            self.look()
        self.clock.ms = until_ms

    @property
    def fenced(self) -> set[int]:
        return {each for each, broker in self.node.image.cluster.brokers.items() if broker.fenced}


def test_what_waits_in_the_sockets_is_read_before_anybody_is_fenced() -> None:
    controller = Running()
    controller.clock.ms += 3 * SESSION_MS
    controller.look()
    assert controller.fenced == set()
    (told,) = [each for each in controller.node.take_events() if "did not run for" in each.text]
    assert told.kind == "controller-stood-still"
    assert controller.node.deadline_ms() == controller.clock.ms + READ_MS
    controller.hear(1, 2)
    controller.run(controller.clock.ms + SESSION_MS - 1)
    assert controller.fenced == set()


def test_a_look_that_comes_before_they_are_read_decides_nothing_either() -> None:
    """Retention, compaction and the like are due, too, and look once more at once."""
    controller = Running()
    controller.clock.ms += 3 * SESSION_MS
    controller.look()
    read_ms = controller.clock.ms + READ_MS
    for after_ms in (0, READ_MS - 1):
        controller.clock.ms = read_ms - READ_MS + after_ms
        controller.look()
        assert controller.fenced == set()
        assert controller.node.deadline_ms() == read_ms
    controller.hear(1)
    controller.run(read_ms + SESSION_MS - 2)
    assert controller.fenced == {2}


def test_it_may_stand_still_before_it_has_looked_for_the_first_time() -> None:
    controller = Running(looks=False)
    controller.clock.ms += 3 * SESSION_MS
    controller.look()
    controller.hear(1, 2)
    controller.run(controller.clock.ms + SESSION_MS - 1)
    assert controller.fenced == set()
    assert [each for each in controller.node.take_events() if "did not run for" in each.text]


def test_a_first_look_within_a_second_is_not_late() -> None:
    controller = Running(looks=False)
    controller.clock.ms += FIRST_LOOK_MS
    controller.look()
    assert not [each for each in controller.node.take_events() if "did not run for" in each.text]


def test_who_is_silent_is_fenced_when_its_own_time_is_over() -> None:
    controller = Running()
    silent_ms = 3 * APART_MS
    controller.run(BEGIN_MS + silent_ms)
    controller.hear(1)
    controller.clock.ms += 3 * SESSION_MS
    controller.look()
    woken_ms = controller.clock.ms
    # What went by since the look before it began to stand still counts.
    left_ms = SESSION_MS - silent_ms - APART_MS
    controller.run(woken_ms + left_ms - 1)
    assert controller.fenced == set()
    controller.hear(1)
    controller.run(woken_ms + left_ms)
    assert controller.fenced == {2}


def test_whose_session_ended_in_that_time_has_a_moment_to_be_heard() -> None:
    controller = Running()
    controller.run(BEGIN_MS + SESSION_MS - 1)
    controller.clock.ms += SESSION_MS
    controller.look()
    assert controller.fenced == set()
    controller.hear(1)
    controller.run(controller.clock.ms + APART_MS + READ_MS)
    assert controller.fenced == {2}


def test_one_that_is_always_late_fences_who_is_gone() -> None:
    controller = Running()
    looks = 0
    while controller.fenced != {2}:
        controller.clock.ms += 2 * APART_MS
        controller.hear(1)
        controller.look()
        looks += 1
        assert looks < 10 * LOOKS_A_SESSION
    assert controller.clock.ms >= BEGIN_MS + SESSION_MS


def test_a_look_that_is_a_little_late_is_no_reason() -> None:
    controller = Running()
    for _ in range(LOOKS_A_SESSION - 2):
        controller.clock.ms += APART_MS + APART_MS // 8
        controller.look()
    assert not [each for each in controller.node.take_events() if "did not run for" in each.text]
    controller.run(BEGIN_MS + SESSION_MS)
    assert controller.fenced == {1, 2}


def test_nobody_looks_while_there_is_nobody_to_wait_for() -> None:
    controller = Running()
    controller.run(BEGIN_MS + 2 * SESSION_MS)
    assert controller.fenced == {1, 2}
    assert controller.node.deadline_ms() is None


@pytest.mark.parametrize("by_ms", [-100 * SESSION_MS, 100 * SESSION_MS])
def test_a_clock_that_is_set_ends_no_session_and_prolongs_none(by_ms: int) -> None:
    controller = Running()
    controller.node.take_events()
    controller.clock.ms += by_ms
    controller.node.jumped(by_ms)
    controller.look()
    assert controller.node.take_events() == []
    controller.run(controller.clock.ms + SESSION_MS - 1)
    assert controller.fenced == set()
    controller.hear(1)
    controller.run(controller.clock.ms + SESSION_MS - 1)
    assert controller.fenced == {2}


def test_a_broker_that_runs_is_current_however_long_the_controller_is_silent() -> None:
    standstill = BrokerStandstill(SESSION_MS, 0)
    for now_ms in range(0, 10 * SESSION_MS, SESSION_MS):
        assert standstill.is_current(now_ms)


def test_a_broker_that_stood_still_is_current_again_when_it_has_read_the_metadata() -> None:
    standstill = BrokerStandstill(SESSION_MS, 0)
    before = standstill.count(0)
    wakes_ms = SESSION_MS + 1
    assert not standstill.is_current(wakes_ms)
    standstill.has_read(before)  # the controller sent it before the standstill
    assert not standstill.is_current(wakes_ms)
    standstill.has_read(standstill.count(wakes_ms))
    assert standstill.is_current(wakes_ms)
