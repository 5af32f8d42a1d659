"""A broker or a proxy of this process, as its control port controls it."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fencepost_broker.server.clock import wall_ms
from fencepost_broker.server.control.events import EventHub, LogLine, cut
from fencepost_broker.server.control.problems import ProblemError
from fencepost_broker.server.control.routes import Asked, ControlContext, Embedded, Route
from fencepost_broker.server.control.seen import RequestsSeen
from fencepost_broker.server.control.steps import TransactionSteps
from fencepost_broker.server.control.table import ROUTES

if TYPE_CHECKING:
    from fencepost_broker.faults.rules import FaultRules
    from fencepost_broker.network.watchers import Watched
    from fencepost_broker.observability.logging import LazyLogs
    from fencepost_broker.ports import Address
    from fencepost_broker.server.control.client import ControlClient
    from fencepost_broker.server.process import BrokerProcess


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
    process: BrokerProcess, addresses: Sequence[Address], logs: LazyLogs, embedded: Embedded
) -> Controlled:
    """Return a broker or a controller; ``addresses`` are those for its clients."""
    events, log = EventHub(), process.logs.area("server")
    node_id = process.server.identity.node_id
    is_broker = "broker" in process.settings.process_roles
    context = ControlContext(
        ROUTES,
        events,
        RequestsSeen(process.socket_server, events, log, lambda _: node_id),
        TransactionSteps(
            process.socket_server,
            events,
            lambda: process.fault_rules.states,
            lambda _: node_id,
            lambda: process.broker.coordinators if is_broker else None,
        ),
        lambda: process.fault_rules,
        process.clock.now_ms,
        process,
        addresses,
        embedded,
    )
    return Controlled(context, logs, node_id)


def controlled_proxy(clients: Watched[Any], rules: FaultRules, logs: LazyLogs) -> Controlled:
    """Return a proxy, with the requests of its clients and its fault rules."""
    events, log = EventHub(), logs.area("server")
    requests = RequestsSeen(clients, events, log, lambda client: client.node_id)
    steps = TransactionSteps(
        clients, events, lambda: rules.states, lambda client: client.node_id, lambda: None
    )
    context = ControlContext(ROUTES, events, requests, steps, lambda: rules, wall_ms)
    return Controlled(context, logs)
