"""The bound of all requests that are in memory: who is admitted, who waits, who takes too long."""

from __future__ import annotations

import pytest
from fencepost_broker.network.queued_bytes import PERIODS_MAX, UNLIMITED, QueuedBytes

pytestmark = pytest.mark.asyncio


class Receiver:
    """A connection with a frame."""

    def __init__(self, queued: QueuedBytes, size: int) -> None:
        self.queued = queued
        self.size = size
        self.is_on = False
        self.dropped = ""

    def ask(self, here: int = 0) -> bool:
        self.is_on = self.queued.admit(self, self.size, here)
        return self.is_on

    def let_on(self) -> None:
        self.is_on = True

    def drop(self, reason: str) -> None:
        self.dropped = reason
        self.queued.leave(self)


def queue(most: int = 100) -> QueuedBytes:
    return QueuedBytes(most, lambda is_full: None)


async def test_whole_frames_are_counted_up_to_the_bound() -> None:
    queued = queue()
    first, second, third = (Receiver(queued, size) for size in (60, 40, 1))
    assert first.ask()
    assert second.ask()
    assert not third.ask()
    assert (queued.count, queued.waiting) == (100, 1)
    queued.leave(second)
    assert third.is_on
    assert (queued.count, queued.waiting) == (61, 0)


async def test_they_are_let_on_in_order() -> None:
    queued = queue()
    holder = Receiver(queued, 100)
    assert holder.ask()
    line = [Receiver(queued, size) for size in (50, 60, 10)]
    assert [each.ask() for each in line] == [False] * 3
    queued.leave(holder)
    assert [each.is_on for each in line] == [True, False, False], "the small one goes last"
    late = Receiver(queued, 5)
    assert not late.ask()
    queued.leave(line[0])
    assert [each.is_on for each in line] == [True, True, True]
    assert late.is_on


async def test_asking_again_changes_nothing() -> None:
    queued = queue()
    holder, one = Receiver(queued, 100), Receiver(queued, 10)
    holder.ask()
    assert not one.ask(here=3)
    assert not one.ask(here=3)
    assert (queued.count, queued.waiting) == (103, 1)
    queued.leave(one)
    queued.leave(one)
    assert (queued.count, queued.waiting) == (100, 0)


async def test_one_is_always_admitted() -> None:
    queued = queue()
    queued.hold(1000)
    larger = Receiver(queued, 500)
    assert larger.ask(), "what is held may wait for this very frame"
    small = Receiver(queued, 1)
    assert not small.ask()
    queued.leave(larger)
    assert small.is_on
    queued.leave(small)
    queued.hold(-1000)
    assert queued.count == 0


async def test_what_a_thread_reads_is_waited_for() -> None:
    queued = queue()
    queued.work_on(100)
    one = Receiver(queued, 1)
    assert not one.ask()
    queued.work_on(-100)
    assert one.is_on


async def test_a_beginning_that_came_with_its_size_counts_while_the_rest_waits() -> None:
    queued = queue()
    holder, one = Receiver(queued, 90), Receiver(queued, 50)
    holder.ask()
    assert not one.ask(here=20)
    assert queued.count == 110
    queued.leave(holder)
    assert one.is_on
    assert queued.count == 50


async def test_beginnings_keep_no_frame_waiting() -> None:
    queued = queue()
    slow, quick = Receiver(queued, 50), Receiver(queued, 50)
    slow.ask()
    quick.ask()
    line = [Receiver(queued, 50) for _ in range(3)]
    for each in line:
        each.ask(here=40)
    queued.leave(quick)
    assert [each.is_on for each in line] == [True, False, False]


async def test_thousands_that_wait_are_let_on_at_once() -> None:
    queued = queue(1_000_000)
    holder = Receiver(queued, 1_000_000)
    holder.ask()
    line = [Receiver(queued, 10) for _ in range(20_000)]
    for each in line:
        each.ask(here=4)
    queued.leave(holder)
    assert all(each.is_on for each in line)
    assert queued.count == 200_000


async def test_a_slow_frame_ends_when_others_wait_for_it() -> None:
    queued = queue()
    slow, quick, one = Receiver(queued, 60), Receiver(queued, 40), Receiver(queued, 70)
    slow.ask()
    quick.ask()
    for _ in range(3 * PERIODS_MAX):
        queued.end_period()
    assert one.ask() is False
    for _ in range(PERIODS_MAX):
        queued.end_period()
        queued.leave(quick)
        assert not quick.ask(), "each of its frames begins anew, in the line"
    assert not slow.dropped
    queued.end_period()
    assert "a frame of 60 bytes" in slow.dropped
    assert "queued.max.request.bytes" in slow.dropped
    assert one.is_on
    assert not one.dropped


async def test_no_frame_is_too_slow_while_none_waits() -> None:
    queued = queue()
    slow = Receiver(queued, 60)
    slow.ask()
    for _ in range(3 * PERIODS_MAX):
        queued.end_period()
    assert not slow.dropped


async def test_there_may_be_no_bound() -> None:
    queued = queue(UNLIMITED)
    assert all(Receiver(queued, 1 << 31).ask() for _ in range(1000))
