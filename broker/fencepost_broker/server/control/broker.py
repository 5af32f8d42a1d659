"""A broker, as its control port controls it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fencepost_broker.server.clock import wall_ms
from fencepost_broker.server.control.events import EventHub, LogLine, cut
from fencepost_broker.server.control.problems import not_found
from fencepost_broker.server.control.routes import Asked, ControlContext, Embedded, Route
from fencepost_broker.server.control.seen import RequestsSeen
from fencepost_broker.server.control.table import ROUTES

if TYPE_CHECKING:
    from fencepost_broker.observability.logging import LazyLogs
    from fencepost_broker.ports import Address
    from fencepost_broker.server.process import BrokerProcess


class ControlledBroker:
    """A broker, or a controller by itself."""

    def __init__(
        self,
        process: BrokerProcess,
        addresses: Sequence[Address],
        logs: LazyLogs,
        embedded: Embedded,
    ) -> None:
        """``addresses`` are those of the broker for its clients."""
        self.events = EventHub()
        self._logs = logs
        self._node_id = process.server.identity.node_id
        self._requests = RequestsSeen(
            process.socket_server, self.events, process.logs.area("server"), self._node_id
        )
        self._context = ControlContext(
            ROUTES,
            self.events,
            self._requests,
            lambda: process.fault_rules,
            process.clock.now_ms,
            process,
            addresses,
            embedded,
        )

    def begin(self) -> None:
        """Begin to tell log lines."""
        self._logs.on_line = self._tell_line

    def carry_out(self, route: Route, asked: Asked) -> Any:
        """Call the route's handler."""
        if asked.broker not in (None, self._node_id):
            known = [str(self._node_id)]
            raise not_found("broker", str(asked.broker), known, where="query, $.broker")
        if route.request is None:
            return route.handler(self._context)
        return route.handler(self._context, asked.request)

    async def close(self) -> None:
        """Watch no requests and tell no log lines any more."""
        if self._logs.on_line == self._tell_line:
            self._logs.on_line = None
        self._requests.close()

    def _tell_line(self, area: str, level: str, text: str, values: dict[str, Any]) -> None:
        if self.events.wants("log"):
            told = {cut(name): cut(value) for name, value in values.items() if value is not None}
            line = LogLine(wall_ms(), area, level, cut(text), told, self._node_id)
            self.events.publish(line)
