"""Waits of clients above a quota last as long when the system's clock is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pytest
from fencepost_broker.config import Settings
from fencepost_broker.network.client_quotas import ClientQuotas
from fencepost_broker.network.connection_rates import ConnectionRates
from fencepost_broker.network.muted_connections import MutedConnections
from fencepost_broker.observability.rates import Windows
from fencepost_broker.server.clock import StateClock

from tests.machine.controller.cluster import Cluster

NOW_MS = 10_000_000
STEPS_MS = [-3_600_000, 3_600_000]


@pytest.mark.parametrize("by_ms", STEPS_MS)
def test_a_listener_accepts_again_after_as_long(by_ms: int) -> None:
    settings = Settings().with_overrides({"max.connection.creation.rate": "1"})
    rates = ConnectionRates(settings, ClientQuotas(Cluster().image.client_quotas, Windows()))
    [listener] = [each.name for each in settings.endpoints]
    waits = [rates.wait_ms(listener, NOW_MS) for _ in range(30)]
    rates.jumped(by_ms)
    assert waits[-1] <= rates.wait_ms(listener, NOW_MS + by_ms) <= waits[-1] + 1_000


@pytest.mark.parametrize("by_ms", STEPS_MS)
def test_a_muted_connection_is_unmuted_after_as_long(by_ms: int) -> None:
    clock = StateClock(manual=True, at_ms=NOW_MS)
    muted = MutedConnections(_Clock(clock))
    muted.mute(_Connection(), 700)
    muted.jumped(by_ms)
    assert muted.deadline_ms() == NOW_MS + by_ms + 700


class _Clock:
    runs = False

    def __init__(self, clock: StateClock) -> None:
        self.now_ms = clock.now_ms

    def call_later(self, delay_ms: int, call: Callable[[], object]) -> NoReturn:
        raise AssertionError


class _Connection:
    def mute(self, on_end: Callable[[], None]) -> bool:
        del on_end
        return True

    def unmute(self) -> None:
        raise AssertionError

    def end(self) -> None:
        raise AssertionError
