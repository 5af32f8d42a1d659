"""The timers of a member of a consumer group."""

from __future__ import annotations

from fencepost_broker.coordinator.group.soft import SetTimer, Timer, TimerKey

MEMBER_TIMERS = (Timer.SESSION, Timer.REBALANCE, Timer.JOIN, Timer.SYNC)


def no_timers(group_id: str, member_id: str) -> list[SetTimer]:
    """Cancel all timers of a member."""
    return [SetTimer(TimerKey(timer, group_id, member_id), None) for timer in MEMBER_TIMERS]
