"""Deadlines by key against a dictionary."""

from __future__ import annotations

from fencepost_broker.coordinator.group.timers import Timers
from hypothesis import given
from hypothesis import strategies as st

from tests.support.objects import held_bytes

KEYS = st.sampled_from("abcde")


@given(st.lists(st.tuples(KEYS, st.one_of(st.none(), st.integers(0, 20)))))
def test_the_next_is_always_the_earliest(steps: list[tuple[str, int | None]]) -> None:
    timers, naive = Timers(), dict[str, int]()
    for key, at_ms in steps:
        if at_ms is None:
            timers.cancel(key)
            naive.pop(key, None)
        else:
            timers.set(key, at_ms)
            naive[key] = at_ms
        due = timers.next()
        assert (due and due[0]) == min(naive.values(), default=None)
        assert due is None or naive[due[1]] == due[0]  # type: ignore[index]
        assert len(timers) == len(naive)
        assert timers.at(key) == naive.get(key)


def test_moving_a_deadline_on_for_ever_costs_no_memory() -> None:
    timers = Timers()
    timers.set("member", 0)
    for at_ms in range(1, 10_000):
        timers.set("member", at_ms)
    assert held_bytes(timers) < 500
    assert timers.next() == (9_999, "member")


def test_cancelled_deadlines_cost_no_memory() -> None:
    timers = Timers()
    timers.set("stays", 5)
    for number in range(10_000):
        timers.set(number, number)
        timers.cancel(number)
    assert held_bytes(timers) < 5_000
    assert timers.next() == (5, "stays")


def test_what_is_put_off_is_passed_over_until_it_is_set_or_taken_up() -> None:
    timers = Timers()
    timers.put_off()
    for at_ms, key in enumerate("abcd"):
        timers.set(key, at_ms)
    timers.put_off()
    timers.put_off()
    timers.put_off()
    assert timers.next() == (3, "d")
    timers.set("a", 10)
    timers.cancel("b")
    timers.set("d", 20)
    assert timers.next() == (10, "a")
    timers.take_up()
    assert timers.next() == (2, "c")
    timers.cancel("c")
    assert timers.next() == (10, "a")
    timers.cancel("a")
    timers.cancel("d")
    assert timers.next() is None


def test_all_deadlines_move_when_the_clock_is_set() -> None:
    timers = Timers()
    for at_ms, key in enumerate("abc"):
        timers.set(key, at_ms)
    timers.set("a", 10)
    timers.put_off()
    timers.shift(-100)
    assert timers.next() == (-98, "c")
    assert (timers.at("a"), timers.at("b")) == (-90, -99)
    timers.take_up()
    assert timers.next() == (-99, "b")
