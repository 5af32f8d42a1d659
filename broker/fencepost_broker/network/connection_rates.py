"""Limits of how fast connections are opened (KIP-612).

Kafka stops accepting while a broker or a listener has too many new connections. Here they are
accepted, and their requests wait for as long, which is the same to clients. A connection from an
address that exceeds its own quota is never served; it is closed after the throttle time.
"""

from __future__ import annotations

from fencepost_broker.config import Settings
from fencepost_broker.config.tables.security import CONNECTION_RATE, names_of
from fencepost_broker.config.values.units import INT_MAX
from fencepost_broker.network.client_quotas import ClientQuotas, Quota
from fencepost_broker.observability.rates import Rate


class _Acceptor:
    """When a listener of Kafka would accept its next connection."""

    def __init__(self, limit: float | None, quotas: ClientQuotas) -> None:
        self.own = None if limit is None else Quota(limit, Rate(quotas.windows))
        self.accepts_at_ms = 0


class ConnectionRates:
    """Counts new connections, and tells how long they have to wait."""

    def __init__(self, settings: Settings, quotas: ClientQuotas) -> None:
        self._quotas = quotas
        self._all = Rate(quotas.windows)
        self._acceptors: dict[str, _Acceptor] = {}
        for endpoint in settings.endpoints:
            name = names_of(CONNECTION_RATE, endpoint.name, "")[0]
            own = settings[name] if settings.given(name) else None
            assert own is None or isinstance(own, int)
            self._acceptors[endpoint.name] = _Acceptor(own, quotas)
        between = settings.inter_broker_listener_name
        self._protected = between if len(self._acceptors) > 1 else None
        """Kafka exempts the connections of brokers from the limit of all listeners."""
        self.use(settings)

    def use(self, settings: Settings) -> None:
        """Apply another limit for all listeners together."""
        limit = settings.max_connection_creation_rate
        self._of_all = None if limit == INT_MAX else Quota(limit, self._all)
        owns = (each.own for each in self._acceptors.values())
        self.has_limits = any(each is not None for each in (self._of_all, *owns))

    def refused_for_ms(self, address: str, now_ms: int) -> int:
        """Count a connection of an address; return a throttle time if it must not be served."""
        quota = self._quotas.of_address(address, now_ms)
        if quota is None:
            return 0
        wait_ms = self._bounded(quota.charge(1, now_ms))
        if wait_ms:
            quota.take_back(1, now_ms)
        return wait_ms

    def wait_ms(self, listener: str, now_ms: int) -> int:
        """Count a connection of a listener; return how long it waits to be accepted."""
        acceptor = self._acceptors[listener]
        at_ms = max(now_ms, acceptor.accepts_at_ms)
        quotas = [acceptor.own, None if listener == self._protected else self._of_all]
        waits = [quota.charge(1, at_ms) for quota in quotas if quota is not None]
        acceptor.accepts_at_ms = at_ms + self._bounded(max(waits, default=0))
        return acceptor.accepts_at_ms - now_ms

    def jumped(self, by_ms: int) -> None:
        """Move the times at which connections are accepted: the clock was set."""
        for acceptor in self._acceptors.values():
            acceptor.accepts_at_ms += by_ms

    def _bounded(self, wait_ms: int) -> int:
        return min(wait_ms, self._quotas.windows.size_ms)
