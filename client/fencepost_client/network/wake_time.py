"""When a timer has to fire for a deadline in whole milliseconds to be over."""

from __future__ import annotations


def wake_time(deadline_ms: int) -> float:
    """The loop's time, in seconds, from which on its time in whole milliseconds is past a deadline.

    A millisecond later: at the deadline itself, the loop's time (a float of seconds) may be a
    millisecond less when it is made whole. A timer would then find that it has come too early, and
    be set to the same instant again.
    """
    return (deadline_ms + 1) / 1000
