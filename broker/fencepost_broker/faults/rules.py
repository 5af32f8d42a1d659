"""The fault rules of a broker: which are loaded, which requests they match, what they have done."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from fencepost_broker.apis.served import Served
from fencepost_broker.faults.compiled import (
    NO_STATES,
    Arrived,
    Compiled,
    RuleError,
    States,
    api_name,
    compile_rule,
)
from fencepost_broker.faults.paths import near_name
from fencepost_broker.faults.plain import plain
from fencepost_broker.faults.rule import Rule, Status, Touched, Verdict
from fencepost_broker.ports import Chance

RULES_MAX: Final = 10_000
TOUCHED_MAX: Final = 100
"""How many of the requests that it fired on a rule remembers."""
UNFIRED_MAX: Final = 100
"""How many removed rules that never fired are remembered."""
_PARTS: Final = 1 << 30
Counter = Callable[[Sequence[str]], Awaitable[Sequence[Verdict | None]]]
"""Counts a request that rules match, by their names, for all brokers of a cluster.

``None`` stands for a rule that the cluster does not know. It raises ``CounterError``.
"""


class CounterError(Exception):
    """The cluster cannot count now."""


def _can_do_all(rule: Rule) -> str:
    del rule
    return ""


class Held:
    """A request or an answer that a rule holds."""

    def __init__(self, rule: LoadedRule, go_on: Callable[[], None]) -> None:
        self._rule = rule
        self._go_on = go_on
        rule.holds.append(self)

    def release(self) -> None:
        """Let it go on."""
        if self in self._rule.holds:
            self._rule.holds.remove(self)
            self._go_on()

    def forget(self) -> None:
        """Note that its connection was lost."""
        if self in self._rule.holds:
            self._rule.holds.remove(self)


@dataclass(eq=False)
class Count:
    """How often a rule has matched and fired, at a broker or in a cluster."""

    rule: Rule
    chance: Chance
    matched: int = 0
    fired: int = 0

    @property
    def is_used_up(self) -> bool:
        """Whether it has fired as often as it may."""
        return self.rule.times is not None and self.fired >= self.rule.times

    def fires(self, *, after_has_fired: bool) -> bool:
        """Count a request that matches; return whether the rule fires on it.

        ``after_has_fired`` tells of the rule that ``after`` names, if any.
        """
        rule = self.rule
        if self.is_used_up or not after_has_fired:
            return False
        self.matched += 1
        number = self.matched - rule.skip
        if number <= 0 or (number - 1) % rule.every:
            return False
        if rule.probability < 1 and self.chance.randrange(_PARTS) >= rule.probability * _PARTS:
            return False
        self.fired += 1
        return True


@dataclass(eq=False)
class LoadedRule:
    """A rule, and what it has done so far."""

    rule: Rule
    compiled: Compiled
    chance: Chance
    added_ms: int
    number: int
    """Its place in the order of all rules."""
    touched: deque[Touched] = field(default_factory=lambda: deque(maxlen=TOUCHED_MAX))
    holds: list[Held] = field(default_factory=list)
    is_removed: bool = False
    is_used_up: bool = False
    """Whether it has fired in the cluster as often as it may."""
    refused: str = ""
    """Why its operation could not be performed the last time."""
    _waiting: list[tuple[int, Callable[[], None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.count = Count(self.rule, self.chance)

    @property
    def name(self) -> str:
        """Its name, which is unique."""
        return self.rule.name

    @property
    def fired(self) -> int:
        """How often it has fired here."""
        return self.count.fired

    @property
    def matched(self) -> int:
        """How many requests it has counted here."""
        return self.count.matched

    @property
    def is_unfired(self) -> bool:
        """Whether it should have fired and never did."""
        return not self.fired and not self.rule.may_stay_unfired

    def matches(self, arrived: Arrived, now_ms: int) -> bool:
        """Whether it may fire on a request, if it is not for what it has counted."""
        if self.is_over(now_ms) or now_ms < self.added_ms + self.rule.start_ms:
            return False
        return self.compiled.matches(arrived)

    def counts(self, others: Mapping[str, LoadedRule]) -> bool:
        """Count a request that it matches; return whether it fires on it."""
        after = self.rule.after
        return self.count.fires(
            after_has_fired=after is None or (after in others and others[after].fired > 0)
        )

    def counted(self, verdict: Verdict) -> bool:
        """Note what the cluster has counted; return whether it fires."""
        self.count.matched += 1
        self.count.fired += verdict.fires
        self.is_used_up = verdict.is_over
        return verdict.fires

    def is_over(self, now_ms: int) -> bool:
        """Whether it cannot fire any more."""
        rule = self.rule
        return (
            self.is_removed
            or self.is_used_up
            or self.count.is_used_up
            or (rule.expire_ms is not None and now_ms >= self.added_ms + rule.expire_ms)
        )

    def touch(self, arrived: Arrived, now_ms: int) -> None:
        """Remember a request that it fired on, and wake those that wait for it."""
        request = arrived.request
        self.touched.append(
            Touched(
                at_ms=now_ms,
                api=arrived.name,
                version=request.version,
                correlation_id=request.correlation_id,
                client_id=request.client_id,
                connection=arrived.connection,
                request=plain(arrived.shown()),
            )
        )
        waiting, self._waiting = self._waiting, []
        for count, then in waiting:
            if self.fired >= count:
                then()
            else:
                self._waiting.append((count, then))

    def when_fired(self, count: int, then: Callable[[], None]) -> Callable[[], None]:
        """Call ``then`` once it has fired so often; return what stops the waiting."""
        if self.fired >= count:
            then()
            return lambda: None
        waits = (count, then)
        self._waiting.append(waits)
        return lambda: self._waiting.remove(waits) if waits in self._waiting else None

    def release(self) -> int:
        """Let all that it holds go on, in order; return how many these are."""
        held = list(self.holds)
        for each in held:
            each.release()
        return len(held)

    def status(self, now_ms: int) -> Status:
        """Return what it has done."""
        return Status(
            name=self.name,
            fired=self.fired,
            matched=self.matched,
            held=len(self.holds),
            is_over=self.is_over(now_ms),
            refused=self.refused,
            rule=self.rule,
        )


class FaultRules:
    """All rules of a broker, in the order in which they were added."""

    def __init__(
        self,
        served: Iterable[Served],
        now_ms: Callable[[], int],
        make_chance: Callable[[int], Chance],
        states: States = NO_STATES,
        why_not: Callable[[Rule], str] = _can_do_all,
    ) -> None:
        """``why_not`` says why a rule cannot work in this place, or nothing."""
        self._served = {api_name(api): api for api in served}
        self._now_ms = now_ms
        self._make_chance = make_chance
        self.states = states
        self._why_not = why_not
        self._rules: dict[str, LoadedRule] = {}
        self._number = 0
        """The last number in a name that was made up."""
        self._added = 0
        self._by_topic: dict[int, dict[str, list[LoadedRule]]] = {}
        """The rules for one topic, by API and topic."""
        self._others: dict[int, list[LoadedRule]] = {}
        """All other rules, by API."""
        self._listeners: list[Callable[[], None]] = []
        self.counter: Counter | None = None
        """Counts for all brokers, in a cluster with a control port."""
        self.on_fired: Callable[[LoadedRule], None] = lambda _: None
        """Called when a rule has fired; the last one of its ``touched`` is the request."""
        self._removed_unfired: deque[str] = deque(maxlen=UNFIRED_MAX)

    def listen(self, call: Callable[[], None]) -> None:
        """Call this whenever rules are added or removed."""
        self._listeners.append(call)

    @property
    def loaded(self) -> list[LoadedRule]:
        """All rules that were not removed."""
        return list(self._rules.values())

    def add(self, *rules: Rule) -> list[LoadedRule]:
        """Add rules, all or none; raises ``RuleError`` for one that cannot work."""
        made: list[LoadedRule] = []
        names = set(self._rules)
        if len(names) + len(rules) > RULES_MAX:
            raise RuleError(f"there are at most {RULES_MAX} rules: remove some")
        number = self._number
        for rule in rules:
            if not rule.name:
                number += 1
                while f"rule-{number}" in names:
                    number += 1
                rule = _named(rule, f"rule-{number}")
            if rule.name in names:
                raise RuleError(
                    f"there is a rule {rule.name!r} already: remove it, or give another name"
                )
            if rule.after is not None and rule.after not in names:
                near = near_name(rule.after, names)
                raise RuleError(f"{rule.name}: after: there is no rule {rule.after!r}{near}")
            if reason := self._why_not(rule):
                raise RuleError(f"{rule.name}: {reason}")
            names.add(rule.name)
            compiled = compile_rule(rule, self._served, self.states)
            self._added += 1
            chance = self._make_chance(rule.seed)
            made.append(LoadedRule(rule, compiled, chance, self._now_ms(), self._added))
        self._number = number
        for each in made:
            self._rules[each.name] = each
            self._index(each)
        self._changed()
        return made

    def get(self, name: str) -> LoadedRule:
        """Return a rule; raises ``KeyError`` with the nearest name."""
        if name not in self._rules:
            raise KeyError(f"there is no rule {name!r}{near_name(name, self._rules)}")
        return self._rules[name]

    def remove(self, name: str) -> LoadedRule:
        """Remove a rule; what it holds goes on."""
        rule = self.get(name)
        del self._rules[name]
        self._unindex(rule)
        self._forget(rule)
        self._changed()
        rule.release()
        return rule

    def clear(self) -> None:
        """Remove all rules."""
        rules = self.loaded
        self._rules.clear()
        self._by_topic.clear()
        self._others.clear()
        for rule in rules:
            self._forget(rule)
        self._changed()
        for rule in rules:
            rule.release()

    def reset(self) -> None:
        """Remove all rules, and forget that there were any."""
        self.clear()
        self._removed_unfired.clear()

    def unfired(self) -> list[str]:
        """Return the names of rules, also of removed ones, that never fired and should have."""
        return [*self._removed_unfired, *(n for n, rule in self._rules.items() if rule.is_unfired)]

    def _forget(self, rule: LoadedRule) -> None:
        rule.is_removed = True
        if rule.is_unfired:
            self._removed_unfired.append(rule.name)

    def statuses(self) -> list[Status]:
        """Return what all rules have done."""
        now_ms = self._now_ms()
        return [each.status(now_ms) for each in self._rules.values()]

    def status(self, name: str) -> Status:
        """Return what a rule has done; raises ``KeyError``."""
        return self.get(name).status(self._now_ms())

    def takes(self, api_key: int) -> bool:
        """Whether there is a rule that requests of an API may match."""
        return api_key in self._by_topic or api_key in self._others

    def only_topics(self, api_key: int) -> bool:
        """Whether there are rules for an API, and all of them name a topic."""
        return api_key in self._by_topic and api_key not in self._others

    def topics(self, api_key: int) -> Container[str]:
        """Return the topics that rules for an API name, kept current while there are any."""
        return self._by_topic.get(api_key, ())

    def match(self, arrived: Arrived) -> list[LoadedRule]:
        """Return the rules that fire on a request, in their order.

        With a ``counter``, those that are counted may fire: ``decided`` tells.
        """
        key = arrived.request.api_key
        rules = self._others.get(key, [])
        by_topic = self._by_topic.get(key)
        if by_topic:
            found = [each for topic in arrived.topic_names for each in by_topic.get(topic, ())]
            if found:
                rules = sorted({*found, *rules}, key=attrgetter("number"))
        if not rules:
            return []
        now_ms = self._now_ms()
        return [
            each
            for each in rules
            if each.matches(arrived, now_ms)
            and (self._is_undecided(each) or self._fire(each, arrived))
        ]

    def _is_undecided(self, rule: LoadedRule) -> bool:
        return self.counter is not None and rule.rule.is_counted

    def _fire(self, rule: LoadedRule, arrived: Arrived, verdict: Verdict | None = None) -> bool:
        """Count a request that a rule matches; return whether it fires."""
        fires = rule.counts(self._rules) if verdict is None else rule.counted(verdict)
        if fires:
            rule.touch(arrived, self._now_ms())
            self.on_fired(rule)
        return fires

    async def decided(self, found: list[LoadedRule], arrived: Arrived) -> list[LoadedRule]:
        """Return the rules that fire, of those that ``match`` has found."""
        asked = [each for each in found if self._is_undecided(each)]
        if not asked or self.counter is None:
            return found
        try:
            verdicts = await self.counter([each.name for each in asked])
        except CounterError as error:
            for each in asked:
                each.refused = str(error)
            return [each for each in found if each not in asked]
        unfired = {
            each
            for each, verdict in zip(asked, verdicts, strict=True)
            if not self._fire(each, arrived, verdict)
        }
        return [each for each in found if each not in unfired]

    def _index(self, rule: LoadedRule) -> None:
        topic = rule.rule.match.topic
        for key in rule.compiled.api_keys:
            if topic is None:
                self._others.setdefault(key, []).append(rule)
            else:
                self._by_topic.setdefault(key, {}).setdefault(topic, []).append(rule)

    def _unindex(self, rule: LoadedRule) -> None:
        topic = rule.rule.match.topic
        for key in rule.compiled.api_keys:
            if topic is None:
                self._others[key].remove(rule)
                if not self._others[key]:
                    del self._others[key]
                continue
            by_topic = self._by_topic[key]
            by_topic[topic].remove(rule)
            if not by_topic[topic]:
                del by_topic[topic]
            if not by_topic:
                del self._by_topic[key]

    def _changed(self) -> None:
        for call in self._listeners:
            call()


def _named(rule: Rule, name: str) -> Rule:
    from msgspec.structs import replace

    return replace(rule, name=name)
