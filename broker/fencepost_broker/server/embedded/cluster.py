"""A cluster inside a Python program: a controller and brokers, each with sockets of its own.

They talk to each other over the wire only, as processes do, and can be killed one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Final, Self

from fencepost_broker.config import Value
from fencepost_broker.server.embedded.broker import Broker

CONTROLLER_ID: Final = 100
"""The controller's node id; brokers have 1 and on."""
_SETTINGS: Final[Mapping[str, Value]] = {
    "broker.heartbeat.interval.ms": 200,
    "broker.session.timeout.ms": 2000,
    "replica.fetch.backoff.ms": 20,
    "replica.fetch.wait.max.ms": 100,
}
"""A broker that was killed is noticed after two seconds."""
_REPLICAS: Final = (
    "default.replication.factor",
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
)


class Cluster:
    """A controller and brokers, in this process and this event loop, with topics in memory.

    Options are keyword arguments:

          brokers     how many brokers; their ids are 1 and on
          topics      topics to create at the start, as for `Broker`; by default a partition has
                      up to three replicas
          settings    settings of Kafka and of Fencepost by their names, for all of them
          log_level   lowest level of log lines on standard error: "error"
    """

    def __init__(
        self,
        *,
        brokers: int = 3,
        topics: Iterable[str] | Mapping[str, int] = (),
        settings: Mapping[str, Value] | None = None,
        log_level: str = "error",
    ) -> None:
        if brokers < 1:
            raise ValueError(f"brokers={brokers}: a cluster has at least one")
        replicas = dict.fromkeys(_REPLICAS, min(brokers, 3))
        self._settings: dict[str, Value] = {**_SETTINGS, **replicas, **(settings or {})}
        self._topics = topics
        self._log_level = log_level
        self._ids = range(1, brokers + 1)
        self._nodes: dict[int, Broker] = {}
        """Those that run."""
        self._stopped: dict[int, Broker] = {}
        """Those that were stopped in order, with their records."""
        self._ports: dict[int, int] = {}

    @property
    def brokers(self) -> dict[int, Broker]:
        """The brokers that run, by id."""
        return {each: self._nodes[each] for each in self._ids if each in self._nodes}

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers, for a client's ``bootstrap.servers``."""
        if not self._ports:
            raise RuntimeError("this cluster has no addresses yet: start it first")
        return ",".join(f"127.0.0.1:{self._ports[each]}" for each in self._ids)

    # -- starting and stopping -----------------------------------------------------------------

    async def start(self) -> None:
        """Start the controller, then the brokers, and create the topics."""
        try:
            await self._start(CONTROLLER_ID, {"process.roles": "controller"})
            for broker_id in self._ids:
                # Topics come with the last one, so that all brokers get replicas.
                await self.start_broker(
                    broker_id, self._topics if broker_id == self._ids[-1] else ()
                )
        except BaseException:
            await self.stop()
            raise

    async def start_broker(
        self, broker_id: int, topics: Iterable[str] | Mapping[str, int] = ()
    ) -> None:
        """Start a broker that was stopped or killed, at its old address."""
        self._check(broker_id)
        if broker_id in self._nodes:
            raise RuntimeError(f"broker {broker_id} is already running")
        given: dict[str, Value] = {
            "process.roles": "broker",
            "controller.quorum.bootstrap.servers": self._nodes[CONTROLLER_ID].bootstrap,
        }
        await self._start(broker_id, given, topics)

    async def _start(self, node_id: int, given: Mapping[str, Value], topics: Any = ()) -> None:
        node = self._stopped.pop(node_id, None) or Broker(
            settings={**self._settings, **given, "node.id": node_id},
            port=self._ports.get(node_id, 0),
            topics=topics,
            log_level=self._log_level,
        )
        await node.start()
        self._nodes[node_id] = node
        self._ports[node_id] = node.addresses[0].port

    async def kill(self, broker_id: int) -> None:
        """End a broker at once, as a killed process ends.

        Its connections are reset, it hands over nothing, and its records are gone. The others
        notice when its session ends (``broker.session.timeout.ms``, here 2 s).
        """
        self._check_runs(broker_id)
        await self._nodes.pop(broker_id).kill()

    async def stop_broker(self, broker_id: int) -> None:
        """Stop a broker in order: others take over first, and it keeps its records."""
        self._check_runs(broker_id)
        node = self._stopped[broker_id] = self._nodes.pop(broker_id)
        await node.stop()

    async def stop(self) -> None:
        """Stop all, the controller last."""
        for node_id in sorted(self._nodes):
            await self._nodes.pop(node_id).stop()

    def _check(self, broker_id: int) -> None:
        if broker_id not in self._ids:
            raise ValueError(f"there is no broker {broker_id}: ids are 1 to {self._ids[-1]}")

    def _check_runs(self, broker_id: int) -> None:
        self._check(broker_id)
        if broker_id not in self._nodes:
            raise RuntimeError(f"broker {broker_id} is not running")

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()
