"""A broker or a proxy of this process, as its control port controls it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fencepost_broker.faults.compiled import NO_STATES
from fencepost_broker.server.clock import wall_ms
from fencepost_broker.server.control.events import EventHub, LogLine, cut
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import Asked, ControlContext, Embedded, Route
from fencepost_broker.server.control.sampling import SampledRequests
from fencepost_broker.server.control.seen import RequestsSeen
from fencepost_broker.server.control.steps import TransactionSteps
from fencepost_broker.server.control.table import ROUTES

if TYPE_CHECKING:
    from fencepost_broker.faults.rules import FaultRules
    from fencepost_broker.network.watchers import Watched
    from fencepost_broker.observability.logging import LazyLogs
    from fencepost_broker.ports import Address
    from fencepost_broker.server.control.client import ControlClient
    from fencepost_broker.server.control.watching import WatchedBroker


class Controlled:
    """A broker, a controller by itself, or a proxy."""

    def __init__(self, context: ControlContext, logs: LazyLogs, node_id: int = -1) -> None:
        """``node_id`` is the broker's; a proxy has none."""
        self.events = context.events
        self._context = context
        self._logs = logs
        self._node_id = node_id

    def begin(self, port: ControlClient) -> None:
        """Begin to tell log lines."""
        self._context.port = port
        self._logs.on_line = self._tell_line

    def carry_out(self, route: Route, asked: Asked) -> Any:
        """Call the route's handler."""
        if asked.broker not in (None, self._node_id):
            raise ProblemError(
                HTTPStatus.NOT_FOUND,
                f"there is no broker {asked.broker} at this control port",
                where="query, $.broker",
                advice="Leave it out, or ask the control port of the cluster.",
            )
        if route.request is None:
            return route.handler(self._context)
        return route.handler(self._context, asked.request)

    async def close(self) -> None:
        """Watch no requests and tell no log lines any more."""
        if self._logs.on_line == self._tell_line:
            self._logs.on_line = None
        self._context.requests.close()

    def _tell_line(self, area: str, level: str, text: str, values: dict[str, Any]) -> None:
        if self.events.wants("log"):
            told = {cut(name): cut(value) for name, value in values.items() if value is not None}
            line = LogLine(wall_ms(), area, level, cut(text), told, self._node_id)
            self.events.publish(line)


def controlled_broker(
    watched: WatchedBroker, addresses: Sequence[Address], logs: LazyLogs, embedded: Embedded
) -> Controlled:
    """Return a broker or a controller; ``addresses`` are those for its clients."""
    process = watched.process
    context = ControlContext(
        ROUTES,
        watched.events,
        watched.requests,
        watched.steps,
        lambda: process.fault_rules,
        process.clock.now_ms,
        process,
        addresses,
        embedded,
    )
    return Controlled(context, logs, watched.node_id)


def controlled_proxy(clients: Watched[Any], rules: FaultRules, logs: LazyLogs) -> Controlled:
    """Return a proxy, with the requests of its clients and its fault rules."""
    events, log = EventHub(), logs.area("server")
    sampled = SampledRequests(clients, events)
    requests = RequestsSeen(sampled, events, log, lambda client: client.node_id)
    steps = TransactionSteps(
        sampled, events, lambda: rules.states, lambda client: client.node_id, lambda: None
    )
    context = ControlContext(ROUTES, events, requests, steps, lambda: rules, wall_ms)
    return Controlled(context, logs)


def controlled_recording(
    clients: Watched[Any], logs: LazyLogs, now_ms: Callable[[], int], now_ns: Callable[[], int]
) -> Controlled:
    """Return what ``clients`` are told from now on, as requests and steps of the past."""
    events = EventHub()
    requests = RequestsSeen(clients, events, logs.area("server"), lambda _: -1, now_ms, now_ns)
    requests.last(0)  # from now on they are kept
    steps = TransactionSteps(clients, events, lambda: NO_STATES, lambda _: -1, lambda: None, now_ms)
    steps.stream()
    context = ControlContext(ROUTES, events, requests, steps, _no_rules, now_ms, kind="recording")
    return Controlled(context, logs)


def _no_rules() -> FaultRules:
    raise ProblemError(
        HTTPStatus.CONFLICT, "this is a recording: nothing can be made to fail in it any more"
    )
