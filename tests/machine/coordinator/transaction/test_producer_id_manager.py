"""Producer ids of one broker: blocks are asked for before they are missed (KIP-730)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fencepost_broker.coordinator.transaction.producer_id_manager import Answered, ProducerIdSource
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsResponse

LENGTH = 10


class Controller:
    """Gives blocks, or says why it does not; and a clock whose calls wait until they are made."""

    def __init__(self) -> None:
        self.asked = 0
        self.refusals: list[ErrorCode] = []
        self.error = ErrorCode.NONE
        self.throttle_ms = 0
        self.calls: list[tuple[int, Callable[[], None]]] = []
        self.waiting: list[Answered] | None = None
        """Who is not answered yet, where the controller is at the end of a wire."""

    def source(self) -> ProducerIdSource:
        return ProducerIdSource(self.allocate, self.call_later, self.refusals.append)

    def allocate(self, then: Answered) -> None:
        self.asked += 1
        if self.waiting is not None:
            self.waiting.append(then)
        else:
            then(self.answer())

    def answer(self) -> AllocateProducerIdsResponse:
        if self.error:
            return AllocateProducerIdsResponse(error_code=self.error)
        start = 100 * self.asked
        return AllocateProducerIdsResponse(self.throttle_ms, 0, start, LENGTH)

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> None:
        self.calls.append((delay_ms, call))

    def turn(self) -> list[int]:
        """Make the calls that are due, and tell after how long."""
        calls, self.calls = self.calls, []
        for _, call in calls:
            call()
        return [delay_ms for delay_ms, _ in calls]


def taken(source: ProducerIdSource, count: int) -> list[int]:
    found = [source.take() for _ in range(count)]
    assert all(error is ErrorCode.NONE for error, _ in found)
    return [each for _, each in found]


def test_the_next_block_is_there_before_the_last_one_is_used_up() -> None:
    controller = Controller()
    source = controller.source()
    assert taken(source, 9) == list(range(100, 109))
    assert (controller.asked, controller.calls) == (1, [])
    assert taken(source, 1) == [109]
    assert controller.asked == 1, "whoever takes an id does not wait for a block"
    assert controller.turn() == [0]
    assert controller.asked == 2
    assert taken(source, 10) == list(range(200, 210))
    assert controller.asked == 2


def test_a_controller_that_says_wait_is_not_asked_meanwhile() -> None:
    controller = Controller()
    controller.throttle_ms = 700
    source = controller.source()
    assert taken(source, 10) == list(range(100, 110)), "the block of that answer is of use"
    (_, _throttle_over), (_, prefetch) = controller.calls
    prefetch()
    assert source.take() == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)
    assert controller.asked == 1
    controller.throttle_ms = 0
    assert controller.turn() == [700, 0]
    assert controller.asked == 2
    assert taken(source, 1) == [200]


def test_what_fails_is_tried_again_after_a_while() -> None:
    controller = Controller()
    source = controller.source()
    taken(source, 10)
    controller.error = ErrorCode.KAFKA_STORAGE_ERROR
    assert controller.turn() == [0]
    assert controller.turn() == [50]
    assert source.take() == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)
    controller.error = ErrorCode.NONE
    assert controller.turn() == [50]
    assert controller.turn() == []
    assert taken(source, 1) == [500]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_without_a_block_clients_come_again(error: ErrorCode, told: ErrorCode) -> None:
    controller = Controller()
    controller.error = error
    source = controller.source()
    assert source.take() == (told, -1)
    controller.error = ErrorCode.NONE
    assert source.take()[0] is ErrorCode.NONE


def test_a_block_that_was_needed_at_once_is_not_asked_for_twice() -> None:
    controller = Controller()
    source = controller.source()
    taken(source, 11)
    assert controller.asked == 2
    controller.turn()
    assert controller.asked == 2
    taken(source, 9)
    source.stop()
    controller.turn()
    assert controller.asked == 2


def test_over_a_wire_nobody_waits_for_a_block() -> None:
    controller = Controller()
    controller.waiting = []
    source = controller.source()
    source.begin()
    assert source.take() == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)
    assert source.take() == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)
    assert controller.asked == 1, "one request is under way at a time"
    controller.waiting.pop()(controller.answer())
    assert taken(source, 10) == list(range(100, 110))
    assert controller.turn() == [0]
    controller.waiting.pop()(controller.answer())
    assert taken(source, 1) == [200]


def test_an_answer_that_is_lost_costs_a_block_and_no_more() -> None:
    controller = Controller()
    controller.waiting = []
    source = controller.source()
    source.begin()
    controller.waiting.pop()(None)
    assert source.take() == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)
    controller.waiting.pop()(None)
    assert controller.turn() == [50]
    assert controller.asked == 3
    controller.waiting.pop()(controller.answer())
    assert taken(source, 1) == [300]


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_who_is_not_allowed_any_says_so_once_and_asks_no_more(is_elsewhere: bool) -> None:
    controller = Controller()
    controller.error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    controller.waiting = [] if is_elsewhere else None
    source = controller.source()
    source.begin()
    if controller.waiting:
        controller.waiting.pop()(controller.answer())
    assert source.take() == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1), "another broker has some"
    assert controller.turn() == []
    assert (controller.asked, controller.refusals) == (1, [controller.error])


def test_who_is_not_allowed_any_more_uses_up_what_there_is() -> None:
    controller = Controller()
    source = controller.source()
    taken(source, 9)
    controller.error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    taken(source, 1)
    assert controller.turn() == [0]
    assert controller.turn() == []
    assert (controller.asked, controller.refusals) == (2, [controller.error])
    assert source.take() == (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1)


def test_every_other_error_is_asked_about_again_with_a_pause() -> None:
    """KIP-730: only the refusal of the sender is final."""
    for error in set(ErrorCode) - {ErrorCode.NONE, ErrorCode.CLUSTER_AUTHORIZATION_FAILED}:
        controller = Controller()
        controller.error = error
        controller.waiting = []
        source = controller.source()
        source.begin()
        controller.waiting.pop()(controller.answer())
        assert controller.turn() == [50], error
        controller.error = ErrorCode.NONE
        controller.waiting.pop()(controller.answer())
        assert taken(source, 1) == [200]
        is_the_end = error is ErrorCode.UNKNOWN_SERVER_ERROR
        assert controller.refusals == ([error] if is_the_end else [])
