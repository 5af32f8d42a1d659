"""The requests that clients sent last, and the live stream of events."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Annotated, Final, get_args

from fencepost_protocol.commands import did_you_mean
from msgspec import Meta, Struct

from fencepost_broker.faults.rules import LoadedRule
from fencepost_broker.server.control.events import EventHub, LogLine, Lost, Reader, cut
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import ControlContext, Route
from fencepost_broker.server.control.seen import KEPT_MAX, KIND, RequestSeen

_FAULT: Final = "fault"


class RuleFired(Struct, frozen=True, kw_only=True, tag=_FAULT):
    """A fault rule has fired on a request."""

    name: Annotated[str, Meta(description="the rule")]
    fired: Annotated[int, Meta(description="how often it has fired until now")]
    at_ms: Annotated[int, Meta(description="state time, in milliseconds since 1970")]
    api: str
    version: int
    correlation_id: int
    client_id: str | None
    connection: Annotated[str, Meta(description="the client's end, HOST:PORT")]


Event = RequestSeen | LogLine | RuleFired
"""What the stream tells."""
KINDS: Final = tuple(str(each.__struct_config__.tag) for each in get_args(Event))


class LastRequests(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the last requests to list."""

    last: Annotated[int, Meta(ge=0, le=KEPT_MAX)] = 100


class Requests(Struct, frozen=True):
    """The last requests, the oldest first."""

    seen: Annotated[int, Meta(description="how many requests came since they are kept")]
    requests: list[RequestSeen]


class WantedEvents(Struct, frozen=True, forbid_unknown_fields=True):
    """The kinds of events to read."""

    kinds: Annotated[
        str, Meta(description=f"with commas between them: {', '.join(KINDS)}; empty: all")
    ] = ""


def list_requests(context: ControlContext, wanted: LastRequests) -> Requests:
    """Return the last requests; the first call begins to keep them."""
    requests = context.requests.last(wanted.last)
    return Requests(context.requests.count, requests)


def forget_requests(context: ControlContext) -> None:
    """Forget the requests, and keep none until they are asked for again."""
    context.requests.forget()


def read_events(context: ControlContext, wanted: WantedEvents) -> Reader:
    """Return a stream of events."""
    kinds = [word.strip() for word in wanted.kinds.split(",") if word.strip()]
    for kind in kinds:
        if kind not in KINDS:
            raise ProblemError(
                HTTPStatus.BAD_REQUEST,
                f"there are no events of the kind {kind}{did_you_mean(kind, KINDS)}",
                where="query, $.kinds",
                advice=f"There are: {', '.join(KINDS)}",
            )
    reader = context.events.open(kinds)
    if reader.wants(KIND):
        reader.on_close.append(context.requests.stream())
    if reader.wants(_FAULT):
        context.process.fault_rules.on_fired = partial(_tell_fired, context.events)
    return reader


def _tell_fired(events: EventHub, rule: LoadedRule) -> None:
    if events.wants(_FAULT):
        on = rule.touched[-1]
        client_id = None if on.client_id is None else cut(on.client_id)
        event = RuleFired(
            name=rule.name, fired=rule.fired, at_ms=on.at_ms, api=on.api, version=on.version,
            correlation_id=on.correlation_id, client_id=client_id, connection=on.connection,
        )  # fmt: skip
        events.publish(event)


ROUTES: Final = (
    Route(
        "GET",
        "/v1/requests",
        list_requests,
        "the last requests of clients, with their errors; the first call begins to keep them",
        request=LastRequests,
        response=Requests,
    ),
    Route(
        "DELETE",
        "/v1/requests",
        forget_requests,
        "forget the requests, and keep none until they are asked for again",
    ),
    Route(
        "GET",
        "/v1/events",
        read_events,
        "a live stream of Server-Sent Events; a reader that is too slow is told how many it lost",
        request=WantedEvents,
        response=Event | Lost,
        errors=(HTTPStatus.SERVICE_UNAVAILABLE,),
        is_stream=True,
    ),
)
