"""Quotas of replication: when they are exceeded, and which replicas wait then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from fencepost_broker.config import Settings
from fencepost_broker.config.values.units import LONG_MAX
from fencepost_broker.observability.rates import Rate, Windows
from fencepost_broker.replication.quotas import ReplicationQuotas
from fencepost_broker.storage.log import LogConfig

from tests.machine.replication.pair import BACKOFF_MS, Pair, append

RATE_NAME = "follower.replication.throttled.rate"


class Clock:
    def __init__(self) -> None:
        self.ms = 1000

    def now_ms(self) -> int:
        return self.ms


class Throttling:
    """A pair of logs whose follower has a quota of one byte per second."""

    def __init__(self) -> None:
        self.clock: Any = Clock()
        self.listeners: list[Any] = []
        config: Any = SimpleNamespace(settings=Settings(), listen=self.listeners.append)
        self.quotas = ReplicationQuotas(7, config, cast("Any", self.clock))
        self.pair = Pair(self.quotas)

    def limit(self, rate: int, replicas: tuple[str, ...]) -> None:
        for use in self.listeners:
            use(Settings().with_overrides({RATE_NAME: rate}))
        log = self.pair.log
        log.configure(log.config._replace(follower_replication_throttled_replicas=replicas))


def test_a_rate_counts_from_the_first_window_on() -> None:
    """Unlike a client's, it does not allow for the time before that; as Kafka's SimpleRate."""
    rate = Rate(Windows())
    rate.add(1000, 0)
    assert not rate.exceeds(1000, 0)
    rate.add(1, 0)
    assert rate.exceeds(1000, 0)
    assert rate.exceeds(1000, 1000)
    assert not rate.exceeds(1000, 1001)
    assert not Rate(Windows()).exceeds(0, 0)


def test_without_a_limit_there_is_no_quota() -> None:
    throttling = Throttling()
    found = []
    for rate in (LONG_MAX, 0, LONG_MAX):
        throttling.limit(rate, ())
        found.append((throttling.quotas.follower is None, throttling.quotas.leader is None))
    assert found == [(True, True), (False, True), (True, True)]


@pytest.mark.parametrize(
    ("replicas", "throttled"),
    [((), ()), (("*",), (0, 1, 2)), (("1:7", "02:07", "0:8"), (1, 2))],
)
def test_replicas_of_a_topic(replicas: tuple[str, ...], throttled: tuple[int, ...]) -> None:
    throttling = Throttling()
    throttling.limit(1, ())
    quota, config = (
        throttling.quotas.follower,
        LogConfig(follower_replication_throttled_replicas=replicas),
    )
    assert quota is not None
    assert tuple(each for each in range(3) if quota.throttles(config, each)) == throttled


@pytest.mark.parametrize("replicas", [("*",), ("0:7",), ("0:8",), ()])
def test_a_follower_that_lags_waits_until_the_clock_has_moved(replicas: tuple[str, ...]) -> None:
    throttling = Throttling()
    pair = throttling.pair
    throttling.limit(1, replicas)
    append(pair.leader, b"a")
    data = pair.answer(pair.asked())
    data.high_watermark = 2  # another follower has more
    pair.take(data)
    pair.wire_ms += BACKOFF_MS
    if replicas in {("0:8",), ()}:
        assert pair.request() is not None
        return
    assert pair.request() is None
    throttling.clock.ms += 3_600_000
    assert pair.request() is None, "it asks again after the back-off"
    pair.wire_ms += BACKOFF_MS
    assert pair.request() is not None


def test_a_follower_in_sync_is_not_slowed_down() -> None:
    throttling = Throttling()
    pair = throttling.pair
    throttling.limit(1, ("*",))
    for _ in range(3):
        append(pair.leader, b"a")
        pair.take(pair.answer(pair.asked()))
    assert throttling.quotas.follower is not None
    assert throttling.quotas.follower.is_exceeded()
