"""The fault rules of a whole cluster: what counts for all its brokers together."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec.structs import replace

from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rule import Rule, Status, Verdict
from fencepost_broker.faults.rules import Count
from fencepost_broker.ports import Chance


class ClusterRules:
    """Which rules all brokers have, and what these have done in all of them together."""

    def __init__(
        self, make_chance: Callable[[int], Chance], has_fired: Callable[[str], Awaitable[bool]]
    ) -> None:
        """``has_fired`` asks the brokers that run whether a rule has fired."""
        self._make_chance = make_chance
        self._has_fired = has_fired
        self.rules: dict[str, Rule] = {}
        """The rules that brokers have; one that is started gets them."""
        self.names: set[str] = set()
        """The names of all rules that there were since the last ``clear``."""
        self._counts: dict[str, Count] = {}
        """What the whole cluster has counted, for the rules that are counted."""
        self._past: dict[str, list[Status]] = {}
        """What rules had done in brokers that were stopped or killed, by the rules' names."""

    def named(self, rules: Iterable[Rule]) -> list[Rule]:
        """Give names to rules that have none, so that all brokers have the same ones.

        Raises ``RuleError`` for a name that a rule has already.
        """
        rules = list(rules)
        names = {*self.rules, *(each.name for each in rules)}
        numbers = itertools.count(1)
        named = []
        for rule in rules:
            if rule.name in self.rules:
                raise RuleError(
                    f"there is a rule {rule.name!r} already: remove it, or give another name"
                )
            if not rule.name:
                name = next(each for n in numbers if (each := f"rule-{n}") not in names)
                names.add(name)
                rule = replace(rule, name=name)
            named.append(rule)
        return named

    def expect(self, rules: Iterable[Rule]) -> None:
        """Count for rules that are about to be added to the brokers."""
        for each in rules:
            if each.is_counted:
                self._counts[each.name] = Count(each, self._make_chance(each.seed))

    def added(self, rules: Iterable[Rule]) -> None:
        """Note rules that all brokers that run have now."""
        for each in rules:
            self.rules[each.name] = each
            self.names.add(each.name)

    def forget(self, name: str) -> None:
        """Forget a rule, and what it has done."""
        for known in (self.rules, self._counts, self._past):
            known.pop(name, None)

    def clear(self) -> None:
        """Forget all rules."""
        for known in (self.rules, self._counts, self._past):
            known.clear()

    def ended(self, statuses: Iterable[Status]) -> None:
        """Note what the rules of a broker have done, before it ends."""
        for each in statuses:
            self._past.setdefault(each.name, []).append(replace(each, held=0, is_over=True))

    def sum(self, rule: Rule, statuses: Iterable[Status]) -> Status:
        """Return what a rule has done in all brokers, also in those that have ended."""
        found = [*statuses, *self._past.get(rule.name, ())]
        fired = sum(each.fired for each in found)
        is_used_up = rule.times is not None and fired >= rule.times
        return Status(
            name=rule.name,
            fired=fired,
            matched=sum(each.matched for each in found),
            held=sum(each.held for each in found),
            is_over=is_used_up or (bool(found) and all(each.is_over for each in found)),
            refused=next((each.refused for each in found if each.refused), ""),
            rule=rule,
        )

    async def count(self, names: Iterable[str]) -> Sequence[Verdict | None]:
        """Count a request that rules match, for all brokers; ``None``: it is a broker's own."""
        return [await self._verdict(each) for each in names]

    async def _verdict(self, name: str) -> Verdict | None:
        count = self._counts.get(name)
        if count is None:
            return None
        after = count.rule.after
        fires = count.fires(after_has_fired=after is None or await self._fired_before(after))
        return Verdict(fires=fires, is_over=count.is_used_up)

    async def _fired_before(self, name: str) -> bool:
        """Whether a rule has fired at any broker."""
        if name in self._counts:
            return self._counts[name].fired > 0
        if any(each.fired for each in self._past.get(name, ())):
            return True
        return await self._has_fired(name)
