"""A cluster whose processes meet through relays, and whose log lines are kept.

    async with relayed_cluster(3) as cluster:
        cluster.to_controller[1].cut(Cut.SWALLOW)          # broker 1 and the controller
        cluster.to_broker[1].cut(Cut.RESET, whose="broker-2-")  # broker 2 asks broker 1
        cluster.said(2, "isr-shrunk")

Clients have a listener without a relay. The controller's clock stands still until ``silence`` lets
a session end, so that a machine that stands still fences nobody.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from fencepost_broker.config import Value
from fencepost_broker.server.clock import StateClock

from tests.support.broker import QuietLog, RunningBroker
from tests.support.cluster import CONTROLLER_ID, QUICK, Cluster
from tests.support.relay import Relay
from tests.support.waiting import until


class Line(NamedTuple):
    """Something that was logged."""

    level: str
    event: str
    values: dict[str, Any]


class KeptLog(QuietLog):
    """Keeps log lines, of all areas in one list."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def of_kind(self, kind: str) -> list[dict[str, Any]]:
        """What was said of a kind of event, each time."""
        return [each.values for each in self.lines if each.values.get("kind") == kind]

    def info(self, event: str, **values: Any) -> None:
        """Keep a line."""
        self.lines.append(Line("info", event, values))

    def warning(self, event: str, **values: Any) -> None:
        """Keep a line."""
        self.lines.append(Line("warning", event, values))

    def error(self, event: str, **values: Any) -> None:
        """Keep a line."""
        self.lines.append(Line("error", event, values))


class RelayedCluster(Cluster):
    """Each broker has a relay of its own to the controller, and one that others find it behind."""

    def __init__(self, settings: Mapping[str, Value]) -> None:
        super().__init__(settings)
        self.to_controller: dict[int, Relay] = {}
        """By the broker that asks."""
        self.to_broker: dict[int, Relay] = {}
        """By the broker that is asked."""
        self.logs: dict[int, KeptLog] = {}
        self._controllers_clock = StateClock(manual=True)

    def log_of(self, node_id: int) -> KeptLog:
        """What a node says is kept, also from before it was started again."""
        return self.logs.setdefault(node_id, KeptLog())

    def clock_of(self, node_id: int) -> StateClock | None:
        """The controller's is moved by hand."""
        return self._controllers_clock if node_id == CONTROLLER_ID else None

    async def silence(self, broker_id: int) -> None:
        """Let the session of a broker end that the controller does not hear, and nobody else's."""
        clock, machine = self._controllers_clock, self.controller.controller.machine
        session_ms = self.controller.config.settings.broker_session_timeout_ms
        clock.advance(ms=session_ms - 1)
        others = {each.node_id for each in self.brokers} - {broker_id}
        now_ms = clock.now_ms()
        heard = machine._sessions
        await until(lambda: all(heard.get(each, 0) >= now_ms for each in others))
        clock.advance(ms=1)

    def said(self, node_id: int, kind: str) -> list[dict[str, Any]]:
        """What a node said of a kind of event, each time."""
        # State's events are told with the next upkeep.
        self._processes[node_id]._tell_events()
        return self.log_of(node_id).of_kind(kind)

    async def start_broker(self, broker_id: int, **more: Value) -> RunningBroker:
        """Start one, behind its relays."""
        if broker_id not in self.to_broker:
            for relays in (self.to_controller, self.to_broker):
                relays[broker_id] = Relay()
                await relays[broker_id].start()
        self.to_controller[broker_id].target_port = self._ports[CONTROLLER_ID]
        client_port = self._ports.get(broker_id, 0)
        outer, inner = self.to_controller[broker_id], self.to_broker[broker_id]
        given: dict[str, Value] = {
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{outer.port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{client_port},INNER://127.0.0.1:0",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:0,INNER://127.0.0.1:{inner.port}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT",
            "inter.broker.listener.name": "INNER",
            **more,
        }
        broker = await super().start_broker(broker_id, **given)
        inner.target_port = int(broker.process.listening[1].rpartition(":")[2])
        return broker

    async def close(self) -> None:
        """Heal all, stop all, and then the relays."""
        relays = [*self.to_controller.values(), *self.to_broker.values()]
        for relay in relays:
            relay.heal()
        await super().close()
        for relay in relays:
            await relay.close()


@asynccontextmanager
async def relayed_cluster(count: int, **settings: Value) -> AsyncIterator[RelayedCluster]:
    """As ``running_cluster``."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    cluster = RelayedCluster({**QUICK, **given})
    try:
        await cluster.start_controller()
        for broker_id in range(1, count + 1):
            await cluster.start_broker(broker_id)
        yield cluster
    finally:
        await cluster.close()
