"""The limits of connections: in all, from one address, and while they are in a TLS handshake."""

from __future__ import annotations

from typing import Any, cast

import pytest
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.connection_quotas import ConnectionQuotas
from fencepost_broker.network.limits import Limits
from fencepost_broker.observability.metrics import Metrics

HERE, THERE = "10.0.0.1", "10.0.0.2"
ALL, OF_ONE = "too many connections", "too many connections from one address"


class Client:
    """As much of a connection as is counted."""

    def __init__(self, address: str = "") -> None:
        self.client_host = f"/{address}"


class Counted:
    """Connections that are counted by ``ConnectionQuotas``, and its log."""

    def __init__(self, **limits: Any) -> None:
        self.metrics = Metrics()
        self.logged: list[tuple[str, str, dict[str, int]]] = []
        self.quotas = ConnectionQuotas(Limits(**limits), self.metrics, self._log_of)

    def _log_of(self, connection: Connection) -> Any:
        counted = self

        class Log:
            def warning(self, event: str, **told: int) -> None:
                counted.logged.append((connection.client_host, event, told))

        return Log()

    def open(self, address: str = HERE) -> tuple[Any, str | None]:
        client = cast("Any", Client(address))
        return client, self.quotas.open(client)

    def begin(self, address: str = HERE) -> tuple[Any, bool]:
        client = cast("Any", Client())
        return client, self.quotas.begin_handshake(client, address)

    def excess(self, *addresses: str) -> list[str | None]:
        return [self.open(address)[1] for address in addresses]


def test_only_so_many_connections_are_open() -> None:
    it = Counted(connections_max=2)
    first, excess = it.open(HERE)
    assert excess is None
    assert it.excess(THERE, THERE) == [None, ALL]
    assert it.logged == [(f"/{THERE}", ALL, {"max_connections": 2})]
    assert it.metrics.connections_dropped == 1
    it.quotas.close(first)
    assert it.excess(THERE, HERE) == [None, ALL]


def test_only_so_many_connections_come_from_one_address() -> None:
    it = Counted(connections_per_address_max=1)
    first, excess = it.open(HERE)
    assert excess is None
    assert it.excess(HERE, THERE) == [OF_ONE, None]
    assert it.logged == [(f"/{HERE}", OF_ONE, {"connections": 2})]
    assert it.metrics.connections_dropped == 1
    it.quotas.close(first)
    assert it.excess(HERE, HERE) == [None, OF_ONE]


def test_an_address_may_have_a_limit_of_its_own() -> None:
    it = Counted(connections_per_address_max=1, connections_max_of_address={HERE: 2, THERE: 0})
    assert it.excess(HERE, HERE, HERE, THERE) == [None, None, OF_ONE, OF_ONE]


def test_one_that_was_refused_is_not_counted() -> None:
    it = Counted(connections_max=1)
    first, _ = it.open()
    refused, excess = it.open()
    assert excess == ALL
    it.quotas.close(refused)
    assert it.excess(HERE) == [ALL]
    it.quotas.close(first)
    it.quotas.close(first)
    assert it.excess(HERE, HERE) == [None, ALL]


def test_other_limits_hold_for_further_connections() -> None:
    it = Counted(connections_max=1)
    assert it.excess(HERE, HERE) == [None, ALL]
    it.quotas.limits = Limits(connections_max=2)
    assert it.excess(HERE, HERE) == [None, ALL]


@pytest.mark.parametrize(
    "limit", [{"connections_max": 2}, {"connections_per_address_max": 2}], ids=["all", "one"]
)
def test_a_handshake_counts_together_with_open_connections(limit: dict[str, int]) -> None:
    it = Counted(**limit)
    opened, _ = it.open()
    shaking, allowed = it.begin()
    assert allowed
    assert shaking.client_host == f"/{HERE}"
    assert not it.begin()[1]
    assert it.quotas.handshakes == 1
    assert it.metrics.connections_dropped == 1
    it.quotas.end_handshake(shaking)
    assert it.quotas.handshakes == 0
    again, allowed = it.begin()
    assert allowed
    it.quotas.end_handshake(again)
    it.quotas.close(opened)
    assert [it.begin()[1] for _ in range(3)] == [True, True, False]


def test_a_handshake_does_not_count_against_connections_that_are_open_at_once() -> None:
    it = Counted(connections_max=2)
    assert it.begin()[1]
    assert it.excess(HERE, HERE, HERE) == [None, None, ALL]


def test_a_connection_is_not_counted_twice_after_its_handshake() -> None:
    it = Counted(connections_max=2)
    shaking, _ = it.begin()
    assert it.quotas.open(shaking) is None
    assert it.quotas.handshakes == 0
    it.quotas.end_handshake(shaking)
    assert it.begin()[1]
    assert not it.begin()[1], "the open one is still counted"


def test_a_handshake_ends_although_the_address_is_not_known_any_longer() -> None:
    it = Counted(connections_per_address_max=1)
    shaking, _ = it.begin()
    shaking.client_host = "/"  # the client is gone when the connection is made
    it.quotas.open(shaking)
    it.quotas.close(shaking)
    assert it.begin()[1]


def test_an_address_without_connections_is_forgotten() -> None:
    it = Counted()
    opened = [it.open(address)[0] for address in (HERE, HERE, THERE)]
    shaking, _ = it.begin("10.0.0.3")
    assert it.quotas.addresses == 3
    it.quotas.end_handshake(shaking)
    for each in opened:
        it.quotas.close(each)
    assert it.quotas.addresses == 0
