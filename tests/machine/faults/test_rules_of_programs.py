"""Rules that are made in Python, where no decoder looks at their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rule import DropAnswer, Rule
from fencepost_broker.server.faults import Fault, Faults

from tests.machine.faults.harness import Rules

NO_VALUE: Any = object()
"""A value that no rule takes."""


def faults_of(rules: Rules) -> Any:
    """Return the faults untyped: here, values of other types are given on purpose."""
    return Faults(lambda: rules.all, Fault, lambda call: call())


@pytest.mark.parametrize(
    ("add", "told"),
    [
        (lambda faults: faults.drop_answer(every=0), "every: Expected `int` >= 1"),
        (lambda faults: faults.drop_answer(times=-1), "times: Expected `int` >= 1"),
        (lambda faults: faults.drop_answer(times="x"), "times: Expected `int | null`, got `str`"),
        (lambda faults: faults.drop_answer(skip="x"), "skip: Expected `int`, got `str`"),
        (lambda faults: faults.drop_answer(probability=2), "probability: Expected `float` <= 1.0"),
        (
            lambda faults: faults.drop_answer(partition="0"),
            "match.partition: Expected `int | null`",
        ),
        (lambda faults: faults.drop_answer(name="lost", seed=None), "lost: seed: Expected `int`"),
        (lambda faults: faults.delay(-1), "act.ms: Expected `int` >= 0"),
        (lambda faults: faults.delay("x"), "act.ms: Expected `int`, got `str`"),
        (lambda faults: faults.hold("reply"), "act.what: Invalid enum value 'reply'"),
        (lambda faults: faults.change_answer({"x": NO_VALUE}), "type object is unsupported"),
        (
            lambda faults: faults.add(Rule(act=DropAnswer(), skip=-1)),
            "skip: Expected `int` >= 0",
        ),
    ],
)
def test_a_value_that_a_rule_cannot_have_is_refused(add: Callable[[Any], Any], told: str) -> None:
    rules = Rules()
    with pytest.raises(RuleError) as caught:
        add(faults_of(rules))
    assert told in str(caught.value)
    assert rules.all.loaded == []


def test_what_is_no_rule_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a Rule, not 'drop-answer'"):
        faults_of(Rules()).add("drop-answer")


def test_a_rule_keeps_the_values_that_it_can_have() -> None:
    rules = Rules()
    fault = faults_of(rules).drop_answer(api="Produce", times=2, probability=1, while_="group=Dead")
    assert fault.rule == rules.all.loaded[0].rule
    assert (fault.rule.times, fault.rule.while_) == (2, "group=Dead")
