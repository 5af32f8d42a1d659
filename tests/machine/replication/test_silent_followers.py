"""Followers that a new leader has not heard of yet."""

from __future__ import annotations

from fencepost_broker.replication.silent_followers import GIVE_UP_MS, LOOK_MS, SilentFollowers

WANTED_MS = 500


class Fetch:
    """One that waits, and comes to an end."""

    def __init__(self, error: Exception | None = None) -> None:
        self.is_over = False
        self.heard: Exception | None = None
        self._error = error

    def time_is_over(self) -> None:
        self.is_over = True
        if self._error is not None:
            raise self._error

    def failed(self, error: Exception) -> None:
        self.heard = error


def test_a_fetch_that_waits_is_answered_when_its_sender_is_to_follow_more() -> None:
    unheard: SilentFollowers[str] = SilentFollowers()
    fetches = {7: Fetch(), 8: Fetch(), 9: Fetch()}
    for broker_id, fetch in fetches.items():
        unheard.park(broker_id, fetch)
    unheard.unpark(8, fetches[8])
    unheard.begin("t-0", (7, 8), 0)
    assert [fetch.is_over for fetch in fetches.values()] == [True, False, False]


def test_what_one_runs_into_keeps_no_other_waiting() -> None:
    unheard: SilentFollowers[str] = SilentFollowers()
    broken, whole = Fetch(RuntimeError("a waiter")), Fetch()
    unheard.park(7, broken)
    unheard.park(8, whole)
    unheard.begin("t-0", (7, 8), 0)
    assert str(broken.heard) == "a waiter"
    assert whole.is_over


def test_fetches_wait_for_a_moment_until_all_is_asked_for() -> None:
    unheard: SilentFollowers[str] = SilentFollowers()
    unheard.begin("t-0", (7,), 0)
    unheard.begin("t-1", (7,), 0)
    assert unheard.wait_ms(7, WANTED_MS, 0) == LOOK_MS
    assert unheard.wait_ms(7, 1, 0) == 1
    assert unheard.wait_ms(8, WANTED_MS, 0) == WANTED_MS
    unheard.heard(7, "t-0")
    assert unheard.wait_ms(7, WANTED_MS, 0) == LOOK_MS
    unheard.heard(7, "t-1")
    assert unheard.wait_ms(7, WANTED_MS, 0) == WANTED_MS


def test_what_is_led_no_more_is_not_waited_for() -> None:
    unheard: SilentFollowers[str] = SilentFollowers()
    unheard.begin("t-0", (7,), 0)
    unheard.forget("t-0")
    assert unheard.wait_ms(7, WANTED_MS, 0) == WANTED_MS


def test_who_never_asks_does_not_fetch_without_waiting_for_good() -> None:
    unheard: SilentFollowers[str] = SilentFollowers()
    unheard.begin("t-0", (7,), 0)
    unheard.begin("t-1", (7,), GIVE_UP_MS)
    assert unheard.wait_ms(7, WANTED_MS, GIVE_UP_MS) == LOOK_MS
    assert unheard.wait_ms(7, WANTED_MS, 2 * GIVE_UP_MS) == WANTED_MS
