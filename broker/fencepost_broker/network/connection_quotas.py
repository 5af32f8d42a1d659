"""The limits of a server's connections: in all, and from one address.

A TLS connection counts from the moment at which it is accepted, so that clients that do not
complete their handshakes cannot exceed the limits. An open connection counts against both kinds, a
handshake only against further handshakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fencepost_broker.network.connection import Connection
    from fencepost_broker.network.limits import Limits
    from fencepost_broker.observability.metrics import Metrics


class ConnectionQuotas:
    """Counts the connections of a server, and refuses those above the limits."""

    def __init__(
        self, limits: Limits, metrics: Metrics, log_of: Callable[[Connection], Any]
    ) -> None:
        """Refusals are counted in ``metrics``; ``log_of`` returns the log of a connection."""
        self.limits = limits
        self.metrics = metrics
        self._log_of = log_of
        self._open = _Counted()
        self._handshakes = _Counted()

    @property
    def handshakes(self) -> int:
        """The number of connections in a TLS handshake."""
        return len(self._handshakes.hosts)

    @property
    def open_by_listener(self) -> Counter[str]:
        """The number of open connections of each listener."""
        return Counter(each.listener for each in self._open.hosts)

    @property
    def addresses(self) -> int:
        """The number of addresses that counted connections come from."""
        return len(self._open.by_host.keys() | self._handshakes.by_host.keys())

    def begin_handshake(self, connection: Connection, address: str) -> bool:
        """Count a connection from its TLS handshake on; return whether the limits allow it."""
        connection.client_host = f"/{address}"
        if self._excess(connection, self._open, self._handshakes):
            return False
        self._handshakes.add(connection)
        return True

    def end_handshake(self, connection: Connection) -> None:
        """Note that a handshake has ended, successful or not; it may have been noted before."""
        self._handshakes.discard(connection)

    def open(self, connection: Connection) -> str | None:
        """Count a connection, in place of its handshake; return the limit that forbids it."""
        self._handshakes.discard(connection)
        excess = self._excess(connection, self._open)
        if excess is None:
            self._open.add(connection)
        return excess

    def close(self, connection: Connection) -> None:
        """Stop counting a connection; it may have been refused."""
        self._open.discard(connection)

    def _excess(self, connection: Connection, *counted: _Counted) -> str | None:
        """Return the limit that one more connection would exceed, and log it."""
        host, limits = connection.client_host, self.limits
        others = sum(len(each.hosts) for each in counted)
        of_its_address = sum(each.by_host[host] for each in counted) + 1
        if others >= limits.connections_max:
            excess, told = "too many connections", {"max_connections": others}
        elif of_its_address > limits.connections_max_of_address.get(
            host.removeprefix("/"), limits.connections_per_address_max
        ):
            excess = "too many connections from one address"
            told = {"connections": of_its_address}
        else:
            return None
        self._log_of(connection).warning(excess, **told)
        self.metrics.connections_dropped += 1
        return excess


class _Counted:
    """Connections with their clients' addresses."""

    def __init__(self) -> None:
        self.hosts: dict[Connection, str] = {}
        """A connection's address at the time at which it was counted."""
        self.by_host: Counter[str] = Counter()

    def add(self, connection: Connection) -> None:
        host = self.hosts[connection] = connection.client_host
        self.by_host[host] += 1

    def discard(self, connection: Connection) -> None:
        host = self.hosts.pop(connection, None)
        if host is not None:
            self.by_host[host] -= 1
            if not self.by_host[host]:
                del self.by_host[host]
