"""The requests that clients sent last, and the live stream of events."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from fencepost_protocol.commands import did_you_mean
from msgspec import Meta, Struct

from fencepost_broker.server.control.events import LogLine, Lost, Reader
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import ControlContext, Route
from fencepost_broker.server.control.seen import KEPT_MAX, KIND, RequestSeen

Event = RequestSeen | LogLine
"""What the stream tells; another family may add its own, with a tag each."""
KINDS: Final = tuple(str(each.__struct_config__.tag) for each in (RequestSeen, LogLine))


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
    return reader


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
