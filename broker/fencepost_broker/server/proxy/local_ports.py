"""The local ports of a proxy, one for each broker of a cluster, and its fault rules.

Each broker of the cluster gets a local port when an answer first names it, and clients are told
this port in place of the broker's address. So clients come back through the proxy.
"""

from __future__ import annotations

import random
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Self, TypedDict

from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.config.values.endpoints import NO_HOST, PORT_MAX, is_host
from fencepost_broker.faults.rule import Rule
from fencepost_broker.faults.rules import FaultRules
from fencepost_broker.network.listeners import ListenError, name_of_this_machine
from fencepost_broker.network.recorder import Recording
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.logging import LazyLogs, Logs
from fencepost_broker.ports import Address
from fencepost_broker.server.clock import wall_ms
from fencepost_broker.server.faults import Fault, Faults
from fencepost_broker.server.process import start_soon
from fencepost_broker.server.proxy.answers import limit, move
from fencepost_broker.server.proxy.broker import ProxiedBroker
from fencepost_broker.server.proxy.context import Context
from fencepost_broker.server.proxy.port import LocalPort, listening
from fencepost_broker.server.proxy.rules import proxied, why_not

if TYPE_CHECKING:
    import ssl
    from pathlib import Path
    from types import TracebackType

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 9092
_EVERY_ADDRESS: Final = ("", "0.0.0.0", "::")  # noqa: S104 (compared, not bound)


class ProxyOptions(TypedDict, total=False):
    """The options of ``LocalPorts``, for what has more of them."""

    host: str
    port: int
    advertised_host: str | None
    to_clients: ssl.SSLContext | None
    to_brokers: ssl.SSLContext | None
    record: str | Path | None
    log_level: str
    logs: LazyLogs | None


class LocalPorts:
    """A proxy in front of a Kafka cluster, in this process and this event loop."""

    def __init__(
        self,
        upstream: str,
        *,
        host: str = DEFAULT_HOST,
        port: int = 0,
        advertised_host: str | None = None,
        to_clients: ssl.SSLContext | None = None,
        to_brokers: ssl.SSLContext | None = None,
        record: str | Path | None = None,
        log_level: str = "warning",
        logs: LazyLogs | None = None,
    ) -> None:
        """Take the cluster's bootstrap servers, ``HOST:PORT`` and more with commas.

        With a ``port``, brokers get the next higher ones; with 0, all get free ones. Clients are
        told ``advertised_host``, by default ``host``. ``to_clients`` and ``to_brokers`` are for
        TLS. With ``record``, what clients send and are answered is written to a new file. Raises
        ValueError for an address that is none, and OSError for a file that cannot be made.
        """
        self._bootstrap_servers = read_addresses(upstream)
        if not is_host(host):
            raise ValueError(f"host={host!r}: {NO_HOST}")
        self._host = host
        self._port = port
        self._advertised_host = advertised_host or (
            name_of_this_machine() if host in _EVERY_ADDRESS else host
        )
        logs = logs or LazyLogs(
            lambda: Logs(sys.stderr, wall_ms, as_json=False), LogLevels(log_level)
        )
        self._logs = logs
        self._log = logs.area("server")
        apis = proxied()
        self.fault_rules = FaultRules(apis.values(), wall_ms, random.Random, why_not=why_not)
        self.faults: Faults[Fault] = Faults(lambda: self.fault_rules, Fault, lambda call: call())
        """Faults: what happens to requests and answers that match, and how often."""
        self.clients = self._context = Context(
            self._log, apis, self.fault_rules, self._change, to_clients, to_brokers,
            None if record is None else Recording(record),
        )  # fmt: skip
        self.on_failure: Callable[[str], None] = lambda _: None
        """Never called: a proxy continues whatever happens to its brokers."""
        self._ports: list[LocalPort] = []
        self._by_address: dict[tuple[str, int], LocalPort] = {}
        self._starting: list[Awaitable[None]] = []
        self._limited: set[str] = set()

    # -- starting and stopping -------------------------------------------------------------------

    async def start(self) -> None:
        """Listen; raises ``ListenError``."""
        first = self._open(self._bootstrap_servers)
        if len(self._bootstrap_servers) == 1:
            (address,) = self._bootstrap_servers
            self._by_address[address.host, address.port] = first
        await first.serve()

    async def stop(self) -> bool:
        """Close all ports and connections."""
        for starting in self._starting:
            await starting
        for each in self._ports:
            await each.close()
        if self._context.recording is not None:
            if failure := self._context.recording.failure:
                self._log.warning("the recording is incomplete", reason=failure)
            self._context.recording.close()
        for status in self.fault_rules.statuses():
            self._log.info("a fault rule", name=status.name, fired=status.fired)
        return True

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

    def add_rules(self, rules: Iterable[Rule]) -> None:
        """Add fault rules; raises ``RuleError`` for one that a proxy cannot carry out."""
        self.fault_rules.add(*rules)

    # -- where it is -----------------------------------------------------------------------------

    @property
    def bootstrap(self) -> str:
        """``host:port`` for a client's ``bootstrap.servers``."""
        if not self._ports:
            raise RuntimeError("this proxy has no address yet: start it first")
        return self._local(self._ports[0])

    @property
    def brokers(self) -> dict[int, str]:
        """The local addresses of the brokers that are known so far, by node id."""
        return {
            each.broker.node_id: self._local(each)
            for each in self._ports
            if each.broker.node_id >= 0
        }

    def _local(self, port: LocalPort) -> str:
        return Address("", self._advertised_host, port.number).bootstrap

    # -- answers ---------------------------------------------------------------------------------

    def _change(self, api_key: int, answer: Any) -> bool:
        """Change what clients must not see in an answer; return whether there was any."""
        if api_key == ApiKey.API_VERSIONS:
            limited = limit(answer)
            for each in limited:
                if each not in self._limited:
                    self._limited.add(each)
                    self._log.warning(
                        "clients do not see a version that this proxy does not know", api=each
                    )
            return bool(limited)
        if api_key == ApiKey.METADATA:
            for topic in answer.topics:
                if topic.name:
                    self._context.topic_names[bytes(topic.topic_id)] = topic.name
        return move(api_key, answer, self._locate)

    def _locate(self, node_id: int, host: str, port: int) -> tuple[str, int]:
        """Return the local address that stands for a broker's; open its port if it is new."""
        found = self._by_address.get((host, port))
        if found is None:
            broker = Address("", host, port)
            found = self._by_address[host, port] = self._open([broker])
            self._starting.append(start_soon(found.serve()))
            self._log.info(
                "a broker has a port",
                node=node_id, broker=broker.bootstrap, port=self._local(found),
            )  # fmt: skip
        if node_id >= 0:
            found.broker.node_id = node_id
        return self._advertised_host, found.number

    def _open(self, addresses: list[Address]) -> LocalPort:
        port = LocalPort(ProxiedBroker(self._context, addresses), self._next_socket())
        self._ports.append(port)
        return port

    def _next_socket(self) -> socket.socket:
        port = self._port + len(self._ports) if self._port else 0
        try:
            return listening(self._host, port)
        except OSError as error:
            if not self._ports:
                raise ListenError(self._host, port, error) from error
            self._log.warning("the next port is not free, another one is used", port=port)
            return listening(self._host, 0)


def read_addresses(text: str) -> list[Address]:
    """Read bootstrap servers, ``HOST:PORT,HOST:PORT``; raises ValueError."""
    found = []
    for each in text.split(","):
        host, colon, port = each.strip().rpartition(":")
        if not colon or each.strip().endswith("]"):
            host, port = each.strip(), str(DEFAULT_PORT)
        host = host.removeprefix("[").removesuffix("]")
        if not host or not is_host(host) or not port.isdigit() or not 0 < int(port) <= PORT_MAX:
            raise ValueError(f"{each.strip()!r}: it must be HOST:PORT, with a port of 1 to 65535")
        found.append(Address("", host, int(port)))
    return found
