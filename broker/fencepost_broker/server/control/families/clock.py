"""State time: what the broker believes the time is, for all that changes because time passes."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from msgspec import Meta, Struct

from fencepost_broker.config.values.units import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import ControlContext, Route

STEP_MS_MAX: Final = 100 * 365 * DAY_MS


class Clock(Struct, frozen=True):
    """State time."""

    now_ms: Annotated[int, Meta(description="in milliseconds since 1970")]
    manual: Annotated[bool, Meta(description="whether it stands still unless it is advanced")]


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far to move state time: the sum of the fields."""

    days: Annotated[float, Meta(ge=0)] = 0
    hours: Annotated[float, Meta(ge=0)] = 0
    minutes: Annotated[float, Meta(ge=0)] = 0
    seconds: Annotated[float, Meta(ge=0)] = 0
    ms: Annotated[int, Meta(ge=0)] = 0

    @property
    def whole_ms(self) -> int:
        """All of it in milliseconds."""
        parts = self.days * DAY_MS, self.hours * HOUR_MS, self.minutes * MINUTE_MS
        return self.ms + round(sum(parts) + self.seconds * SECOND_MS)


def get_clock(context: ControlContext) -> Clock:
    """Return state time."""
    return Clock(context.clock.now_ms(), context.clock.is_manual)


def advance_clock(context: ControlContext, step: Step) -> Clock:
    """Move state time forward, and do what becomes due."""
    if not 0 < step.whole_ms <= STEP_MS_MAX:
        raise ProblemError(
            HTTPStatus.BAD_REQUEST,
            "the sum of days, hours, minutes, seconds and ms must be above 0, up to 100 years",
            where="body",
            advice='Send, for example, {"days": 8}.',
        )
    context.clock.advance(ms=step.whole_ms)
    return get_clock(context)


ROUTES: Final = (
    Route("GET", "/v1/clock", get_clock, "state time", response=Clock),
    Route(
        "POST",
        "/v1/clock/advance",
        advance_clock,
        "move state time forward; what becomes due is done before the answer",
        request=Step,
        response=Clock,
    ),
)
