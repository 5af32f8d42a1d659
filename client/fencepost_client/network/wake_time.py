"""The time at which a timer has to fire for a deadline in whole milliseconds."""

from __future__ import annotations


def wake_time(deadline_ms: int) -> float:
    """The loop's time in seconds at which its time in whole milliseconds is past a deadline.

    It is a millisecond later than the deadline, because rounding the loop's time (a float of
    seconds) down may lose a millisecond. A timer at the deadline itself could be too early, and
    would be set to the same time again.
    """
    return (deadline_ms + 1) / 1000
