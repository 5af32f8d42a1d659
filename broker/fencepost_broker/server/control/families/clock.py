"""State time: what the broker believes the time is, for all that changes because time passes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from fencepost_broker.config.values.units import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from fencepost_broker.server.clock import STEP_MS_MAX, StepError
from fencepost_broker.server.control.cluster import Cluster, GoneError
from fencepost_broker.server.control.in_cluster import all_processes
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import Asked, ControlContext, Route

_Part: TypeAlias = Annotated[float, Meta(ge=-STEP_MS_MAX, le=STEP_MS_MAX)]


class Clock(Struct, frozen=True):
    """State time."""

    now_ms: Annotated[int, Meta(description="in milliseconds since 1970")]
    manual: Annotated[bool, Meta(description="whether it stands still unless it is advanced")]
    next_deadline_ms: Annotated[
        int | None, Meta(description="when something is due next; null: nothing is")
    ]


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far to move state time: the sum of the fields."""

    days: _Part = 0
    hours: _Part = 0
    minutes: _Part = 0
    seconds: _Part = 0
    ms: Annotated[int, Meta(ge=-STEP_MS_MAX, le=STEP_MS_MAX)] = 0

    @property
    def whole_ms(self) -> int:
        """All of it in milliseconds."""
        parts = self.days * DAY_MS, self.hours * HOUR_MS, self.minutes * MINUTE_MS
        return self.ms + round(sum(parts) + self.seconds * SECOND_MS)


def get_clock(context: ControlContext) -> Clock:
    """Return state time."""
    clock = context.clock
    return Clock(clock.now_ms(), clock.is_manual, clock.next_deadline_ms())


async def advance_clock(context: ControlContext, step: Step) -> Clock:
    """Move state time forward, and do what becomes due."""
    if step.whole_ms <= 0:
        raise _refused(
            "the sum of days, hours, minutes, seconds and ms must be above 0, up to 100 years"
        )
    try:
        await context.clock.advance_in_turns(ms=step.whole_ms)
    except StepError as error:
        raise _refused(str(error)) from None
    return get_clock(context)


def jump_clock(context: ControlContext, step: Step) -> Clock:
    """Set the clock forward, or back by negative numbers; no time passes by that."""
    if not step.whole_ms:
        raise _refused("the sum of days, hours, minutes, seconds and ms must not be 0")
    try:
        context.clock.jump(ms=step.whole_ms)
    except StepError as error:
        raise _refused(str(error)) from None
    return get_clock(context)


def _refused(why: str) -> ProblemError:
    advice = 'Send, for example, {"days": 8}; to set the clock back, {"seconds": -5} to jump.'
    return ProblemError(HTTPStatus.BAD_REQUEST, why, where="body", advice=advice)


def pause_clock(context: ControlContext) -> Clock:
    """Let state time stand still until it is resumed; it can be moved."""
    context.clock.pause()
    return get_clock(context)


def resume_clock(context: ControlContext) -> Clock:
    """Let state time run on from where it stands."""
    context.clock.resume()
    return get_clock(context)


async def _clock_of_cluster(cluster: Cluster, route: Route, asked: Asked) -> Clock:
    """Return the time of one process, with the first deadline of any broker."""
    answers: dict[int, Clock] = await cluster.ask_all(cluster.running, route, asked)
    brokers = [answers[each] for each in cluster.running_brokers if each in answers]
    due = [each.next_deadline_ms for each in brokers if each.next_deadline_ms is not None]
    first = next(iter(answers.values()))
    return Clock(first.now_ms, first.manual, min(due, default=None))


async def _advance_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Clock:
    """Advance the brokers, and set the controller's clock.

    Heartbeats come at the pace of the machine's time, so that a controller that is advanced would
    fence all brokers.
    """
    members = cluster.processes.members
    set_forward = replace(asked, target="/v1/clock/jump")
    calls = [
        cluster.ask(each, route, set_forward if "controller" in members[each].roles else asked)
        for each in cluster.running
    ]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    for each in answers:
        if isinstance(each, BaseException) and not isinstance(each, GoneError):
            raise each
    clocks = [each for each in answers if isinstance(each, Clock)]
    if not clocks:
        raise GoneError("all processes that were asked")
    return clocks[-1]


ROUTES: Final = (
    Route(
        "GET",
        "/v1/clock",
        get_clock,
        "state time",
        response=Clock,
        in_cluster=_clock_of_cluster,
    ),
    Route(
        "POST",
        "/v1/clock/advance",
        advance_clock,
        "move state time forward; what becomes due is done before the answer",
        request=Step,
        response=Clock,
        in_cluster=_advance_in_cluster,
    ),
    Route(
        "POST",
        "/v1/clock/jump",
        jump_clock,
        "set the clock forward or back, as an operator sets it; no time passes by that",
        request=Step,
        response=Clock,
        in_cluster=all_processes,
    ),
    Route(
        "POST",
        "/v1/clock/pause",
        pause_clock,
        "let state time stand still",
        response=Clock,
        in_cluster=all_processes,
    ),
    Route(
        "POST",
        "/v1/clock/resume",
        resume_clock,
        "let state time run on",
        response=Clock,
        in_cluster=all_processes,
    ),
)
