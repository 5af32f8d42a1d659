"""Rules that a cluster counts for all its brokers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from fencepost_broker.faults.rule import Verdict
from fencepost_broker.faults.rules import CounterError
from fencepost_protocol.generated.heartbeat import HeartbeatRequest

from tests.machine.faults.harness import Rules

pytestmark = pytest.mark.asyncio
FIRES: Final = Verdict(fires=True, is_over=False)
FIRES_LAST: Final = Verdict(fires=True, is_over=True)
NOT_YET: Final = Verdict(fires=False, is_over=False)


class Cluster:
    """What counts, with answers that a test sets."""

    def __init__(self, *verdicts: Verdict | None) -> None:
        self.verdicts = list(verdicts)
        self.asked: list[list[str]] = []

    async def count(self, names: Sequence[str]) -> list[Verdict | None]:
        self.asked.append([*names])
        return [self.verdicts.pop(0) for _ in names]


async def fired(rules: Rules) -> list[str]:
    """The names of the rules that fire on a request."""
    arrived = rules.arrived(HeartbeatRequest("g", 1, "m"))
    found = rules.all.match(arrived)
    return [each.name for each in await rules.all.decided(found, arrived)]


async def test_the_cluster_says_which_rules_fire() -> None:
    rules, cluster = Rules(), Cluster(NOT_YET, FIRES, FIRES, FIRES_LAST)
    rules.all.counter = cluster.count
    rules.add(name="second", skip=1)
    always = rules.add(name="always")
    twice = rules.add(name="twice", times=2)
    assert await fired(rules) == ["always", "twice"]
    assert await fired(rules) == ["second", "always", "twice"]
    assert cluster.asked == [["second", "twice"]] * 2
    assert (twice.fired, twice.matched, len(twice.touched)) == (2, 2, 2)
    assert always.fired == 2


async def test_a_rule_that_is_over_in_the_cluster_is_not_asked_about() -> None:
    rules, cluster = Rules(), Cluster(FIRES_LAST)
    rules.all.counter = cluster.count
    rule = rules.add(times=5)
    assert await fired(rules)
    assert not await fired(rules)
    assert len(cluster.asked) == 1
    assert rule.is_over(rules.now_ms)


async def test_a_rule_that_the_cluster_does_not_know_is_counted_here() -> None:
    rules, cluster = Rules(), Cluster(None, None)
    rules.all.counter = cluster.count
    rules.add(name="own", skip=1)
    assert not await fired(rules)
    assert await fired(rules) == ["own"]


async def test_a_rule_does_not_fire_while_the_cluster_cannot_count() -> None:
    async def count(names: Sequence[str]) -> list[Verdict | None]:
        raise CounterError("it is gone")

    rules = Rules()
    rules.all.counter = count
    rule = rules.add(name="once", times=1)
    rules.add(name="always")
    assert await fired(rules) == ["always"]
    assert (rule.fired, rule.refused) == (0, "it is gone")


async def test_without_a_cluster_nothing_is_asked() -> None:
    rules = Rules()
    rules.add(name="once", times=1)
    assert await fired(rules) == ["once"]
    assert not await fired(rules)
