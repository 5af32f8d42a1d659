"""The requests that clients sent last, and the live stream of events."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Final, get_args

from fencepost_protocol.commands import did_you_mean
from fencepost_protocol.generated.index import APIS
from msgspec import Meta, Struct

from fencepost_broker.faults.rules import LoadedRule
from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.events import BrokerId, EventHub, LogLine, Lost, Reader, cut
from fencepost_broker.server.control.frames import FRAME_BYTES_MAX
from fencepost_broker.server.control.in_cluster import all_brokers
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import Asked, ControlContext, Route
from fencepost_broker.server.control.seen import KEPT_MAX, KIND, RequestSeen
from fencepost_broker.server.control.steps import KEPT_MAX as STEPS_MAX
from fencepost_broker.server.control.steps import KIND as STEP
from fencepost_broker.server.control.steps import TransactionStep

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
    broker: BrokerId = -1


Event = RequestSeen | LogLine | RuleFired | TransactionStep
"""What the stream tells."""
KINDS: Final = tuple(str(each.__struct_config__.tag) for each in get_args(Event))


class LastRequests(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the last requests to list."""

    last: Annotated[int, Meta(ge=0, le=KEPT_MAX)] = 100


class Requests(Struct, frozen=True):
    """The last requests, the oldest first."""

    seen: Annotated[int, Meta(description="how many requests came since they are kept")]
    requests: list[RequestSeen]


class LastSteps(Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the last steps to list."""

    last: Annotated[int, Meta(ge=0, le=STEPS_MAX)] = STEPS_MAX


class Steps(Struct, frozen=True):
    """The last steps of transactions, the oldest first."""

    steps: list[TransactionStep]


class RequestNumber(Struct, frozen=True, forbid_unknown_fields=True):
    """The number of a request."""

    number: int


class RequestBytes(Struct, frozen=True):
    """A request and its answer, with a name for each byte; without the four bytes of their size."""

    api: str
    version: int
    request: Annotated[bytes, Meta(description=f"the first {FRAME_BYTES_MAX} bytes, in base64")]
    request_tree: dict[str, Any]
    answer: Annotated[bytes, Meta(description="the same for the answer; empty: there is none")]
    answer_tree: dict[str, Any] | None


class WantedEvents(Struct, frozen=True, forbid_unknown_fields=True):
    """The kinds of events to read."""

    kinds: Annotated[
        str, Meta(description=f"with commas between them: {', '.join(KINDS)}; empty: all")
    ] = ""


def list_requests(context: ControlContext, wanted: LastRequests) -> Requests:
    """Return the last requests; the first call begins to keep them."""
    requests = context.requests.last(wanted.last)
    return Requests(context.requests.count, requests)


def list_steps(context: ControlContext, wanted: LastSteps) -> Steps:
    """Return the last steps of transactions; there are some only while a stream wants them."""
    return Steps(context.steps.last(wanted.last))


def dissect_request(context: ControlContext, named: RequestNumber) -> RequestBytes:
    """Return the bytes of a request that is kept, and what they mean."""
    frames = context.requests.frames.find(named.number)
    if frames is None:
        raise ProblemError(
            HTTPStatus.NOT_FOUND,
            f"the bytes of request {named.number} are not kept",
            where="path, $.number",
            advice="The last requests are kept after the first GET /v1/requests; bytes with"
            " passwords or tokens never are.",
        )
    return RequestBytes(
        APIS[frames.api_key][0],
        frames.version,
        frames.request,
        frames.request_tree,
        frames.answer,
        frames.answer_tree,
    )


def forget_requests(context: ControlContext) -> None:
    """Forget the requests, and keep none until they are asked for again."""
    context.requests.forget()


def read_events(context: ControlContext, wanted: WantedEvents) -> Reader:
    """Return a stream of events."""
    kinds = _kinds(wanted)
    reader = context.events.open(kinds)
    if reader.wants(KIND):
        reader.on_close.append(context.requests.stream())
    if reader.wants(STEP):
        reader.on_close.append(context.steps.stream())
    if reader.wants(_FAULT):
        rules = context.fault_rules
        rules.on_fired = partial(_tell_fired, context.events, rules.states.node_id)
    return reader


def _kinds(wanted: WantedEvents) -> list[str]:
    """Return the kinds of events to read; raises ``ProblemError`` for one that there is not."""
    kinds = [word.strip() for word in wanted.kinds.split(",") if word.strip()]
    for kind in kinds:
        if kind not in KINDS:
            raise ProblemError(
                HTTPStatus.BAD_REQUEST,
                f"there are no events of the kind {kind}{did_you_mean(kind, KINDS)}",
                where="query, $.kinds",
                advice=f"There are: {', '.join(KINDS)}",
            )
    return kinds


def _tell_fired(events: EventHub, node_id: int, rule: LoadedRule) -> None:
    if events.wants(_FAULT):
        on = rule.touched[-1]
        client_id = None if on.client_id is None else cut(on.client_id)
        event = RuleFired(
            name=rule.name, fired=rule.fired, at_ms=on.at_ms, api=on.api, version=on.version,
            correlation_id=on.correlation_id, client_id=client_id, connection=on.connection,
            broker=node_id,
        )  # fmt: skip
        events.publish(event)


async def _last_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Requests:
    answers = await cluster.ask_all(cluster.running_brokers, route, asked)
    found = [each for answer in answers.values() for each in answer.requests]
    found.sort(key=lambda each: each.at_ms)
    last = asked.request.last
    return Requests(sum(each.seen for each in answers.values()), found[-last:] if last else [])


async def _steps_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Steps:
    answers = await cluster.ask_all(cluster.running_brokers, route, asked)
    found = [each for answer in answers.values() for each in answer.steps]
    found.sort(key=lambda each: each.at_ms)
    return Steps(found[-asked.request.last :] if asked.request.last else [])


async def _events_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> Reader:
    del route
    _kinds(asked.request)
    return await cluster.open_stream(asked, cluster.running)


ROUTES: Final = (
    Route(
        "GET",
        "/v1/requests",
        list_requests,
        "the last requests of clients, with their errors; the first call begins to keep them",
        request=LastRequests,
        response=Requests,
        in_cluster=_last_in_cluster,
    ),
    Route(
        "GET",
        "/v1/requests/{number}/bytes",
        dissect_request,
        "the bytes of one of the last requests and of its answer, with a name for each",
        request=RequestNumber,
        response=RequestBytes,
        errors=(HTTPStatus.NOT_FOUND,),
    ),
    Route(
        "DELETE",
        "/v1/requests",
        forget_requests,
        "forget the requests, and keep none until they are asked for again",
        in_cluster=all_brokers(),
    ),
    Route(
        "GET",
        "/v1/steps",
        list_steps,
        "the last steps of transactions that streams of events were told",
        request=LastSteps,
        response=Steps,
        in_cluster=_steps_in_cluster,
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
        in_cluster=_events_in_cluster,
    ),
)
