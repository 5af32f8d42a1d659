"""The fault rules of a cluster in a program: each of its brokers has them, and they count together.

The rules of its control port, if it has one, are the same ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from fencepost_broker.faults.cluster import ClusterRules
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.paths import near_name

if TYPE_CHECKING:
    from fencepost_broker.faults.rule import Rule, Status, Touched
    from fencepost_broker.faults.rules import Held, LoadedRule
    from fencepost_broker.server.embedded.broker import Broker


class RulesOfBrokers:
    """The rules that all brokers have, for ``Cluster.faults``."""

    def __init__(self, brokers: Callable[[], Mapping[int, Broker]]) -> None:
        """``brokers`` returns those that run."""
        self._brokers = brokers
        self.of_cluster = ClusterRules(random.Random, self._has_fired)
        """What counts for all of them together."""
        self._fired_in_ended: set[str] = set()
        self.waits: list[Wait] = []
        """Those that wait for firings."""

    # -- brokers that start and end --------------------------------------------------------------

    def started(self, broker: Broker) -> None:
        """Give a broker the rules of the others."""
        rules = broker.fault_rules()
        rules.counter = self.of_cluster.count
        for each in self.of_cluster.rules.values():
            with suppress(RuleError):  # its partition, say, does not exist any more
                rules.add(each)
        for wait in list(self.waits):
            wait.look()

    def ends(self, broker: Broker) -> None:
        """Note what the rules of a broker have done, before it ends."""
        statuses = broker.faults.list()
        self.of_cluster.ended(statuses)
        self._fired_in_ended.update(each.name for each in statuses if each.fired)

    async def _has_fired(self, name: str) -> bool:
        return any(each.fired for each in self.loaded(name))

    def loaded(self, name: str) -> list[LoadedRule]:
        """Return a rule as the brokers have it that run."""
        found = []
        for broker in self._brokers().values():
            with suppress(KeyError):
                found.append(broker.fault_rules().get(name))
        return found

    def status(self, rule: Rule) -> Status:
        """Return what a rule has done in all brokers."""
        found = []
        for broker in self._brokers().values():
            with suppress(KeyError):
                found.append(broker.fault_rules().status(rule.name))
        return self.of_cluster.sum(rule, found)

    # -- what ``Faults`` uses --------------------------------------------------------------------

    def add(self, *rules: Rule) -> list[RuleOfBrokers]:
        """Add rules, all or none; raises ``RuleError`` for one that cannot work."""
        named = self.of_cluster.named(rules)
        brokers = self._brokers()
        if not brokers:
            raise RuntimeError("no broker of this cluster is running")
        self.of_cluster.expect(named)
        added = []
        try:
            for broker in brokers.values():
                broker.fault_rules().add(*named)
                added.append(broker)
        except BaseException:
            for each in named:
                self.of_cluster.forget(each.name)
                for broker in added:
                    broker.fault_rules().remove(each.name)
            raise
        self.of_cluster.added(named)
        return [RuleOfBrokers(self, each) for each in named]

    def get(self, name: str) -> RuleOfBrokers:
        """Return a rule; raises ``KeyError`` with the nearest name."""
        known = self.of_cluster.rules
        if name not in known:
            raise KeyError(f"there is no rule {name!r}{near_name(name, known)}")
        return RuleOfBrokers(self, known[name])

    def remove(self, name: str) -> None:
        """Remove a rule; what it holds goes on."""
        self.of_cluster.forget(name)
        for broker in self._brokers().values():
            with suppress(KeyError):
                broker.fault_rules().remove(name)

    def clear(self) -> None:
        """Remove all rules."""
        self.of_cluster.clear()
        for broker in self._brokers().values():
            broker.fault_rules().clear()

    def statuses(self) -> list[Status]:
        """Return what all rules have done."""
        return [self.status(each) for each in list(self.of_cluster.rules.values())]

    def reset(self) -> None:
        """Remove all rules, and forget that there were any."""
        self.clear()
        for broker in self._brokers().values():
            broker.fault_rules().reset()
        self.of_cluster.names.clear()
        self._fired_in_ended.clear()

    def unfired(self) -> list[str]:
        """Return the names of rules, also of removed ones, that never fired and should have.

        A rule of all brokers is among them if it fired at none.
        """
        lists = [each.unfired_faults() for each in self._brokers().values()]
        of_all = self.of_cluster.names

        def is_unfired(name: str) -> bool:
            if name not in of_all:
                return True
            return name not in self._fired_in_ended and all(name in each for each in lists)

        return list(dict.fromkeys(each for found in lists for each in found if is_unfired(each)))


class RuleOfBrokers:
    """A rule that all brokers have."""

    def __init__(self, all_of_them: RulesOfBrokers, rule: Rule) -> None:
        self._rules = all_of_them
        self.rule = rule

    @property
    def name(self) -> str:
        """Its name."""
        return self.rule.name

    @property
    def fired(self) -> int:
        """How often it has fired."""
        return self._rules.status(self.rule).fired

    @property
    def matched(self) -> int:
        """How many requests had all that the match asks for."""
        return self._rules.status(self.rule).matched

    @property
    def holds(self) -> list[Held]:
        """What it holds."""
        return [held for each in self._rules.loaded(self.name) for held in each.holds]

    @property
    def refused(self) -> str:
        """Why its operation could not be performed the last time, or ``""``."""
        return self._rules.status(self.rule).refused

    @property
    def touched(self) -> list[Touched]:
        """The last requests that it fired on, of the brokers that run."""
        found = [each for rule in self._rules.loaded(self.name) for each in rule.touched]
        return sorted(found, key=attrgetter("at_ms"))

    @property
    def is_removed(self) -> bool:
        """Whether it was removed."""
        return self.name not in self._rules.of_cluster.rules

    def release(self) -> int:
        """Let all that it holds go on; return how many these are."""
        return sum(each.release() for each in self._rules.loaded(self.name))

    def when_fired(self, count: int, then: Callable[[], None]) -> Callable[[], None]:
        """Call ``then`` once it has fired so often; return what stops the waiting."""
        wait = Wait(self._rules, self, count, then)
        wait.look()
        return wait.stop


class Wait:
    """A call that waits until a rule has fired so often in all brokers together."""

    def __init__(
        self, all_of_them: RulesOfBrokers, rule: RuleOfBrokers, count: int, then: Callable[[], None]
    ) -> None:
        self._rules = all_of_them
        self._rule = rule
        self._count = count
        self._then = then
        self._stops: list[Callable[[], None]] = []
        self._rules.waits.append(self)

    def look(self) -> None:
        """Make the call, or wait for the next firing at any broker."""
        self._forget_brokers()
        if self._rule.fired >= self._count:
            self.stop()
            self._then()
        else:
            self._stops = [
                each.when_fired(each.fired + 1, self.look)
                for each in self._rules.loaded(self._rule.name)
            ]

    def stop(self) -> None:
        """Wait no more."""
        self._forget_brokers()
        if self in self._rules.waits:
            self._rules.waits.remove(self)

    def _forget_brokers(self) -> None:
        stops, self._stops = self._stops, []
        for each in stops:
            each()
