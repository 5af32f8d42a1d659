"""How often a rule fires, and what it remembers."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rules import Held
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest

from tests.machine.faults.harness import Rules


@pytest.mark.parametrize(
    ("given", "fires"),
    [
        ({}, "11111111"),
        ({"times": 2}, "11000000"),
        ({"skip": 3}, "00011111"),
        ({"every": 3}, "10010010"),
        ({"skip": 1, "every": 2, "times": 2}, "01010000"),
        ({"probability": 0.0}, "00000000"),
    ],
)
def test_a_rule_counts_the_requests_that_match(given: dict[str, Any], fires: str) -> None:
    rules = Rules()
    rule = rules.add(**given)
    assert "".join(str(len(rules.fired())) for _ in fires) == fires
    assert rule.fired == fires.count("1")


def test_chance_comes_from_the_seed() -> None:
    def fires(seed: int) -> list[int]:
        rules = Rules()
        rules.add(probability=0.5, seed=seed)
        return [len(rules.fired()) for _ in range(100)]

    assert fires(1) == fires(1) != fires(2)
    assert 25 < sum(fires(1)) < 75


def test_a_rule_begins_and_ends_by_state_time() -> None:
    rules = Rules()
    rule = rules.add(start_ms=100, expire_ms=200)
    assert not rules.fired()
    rules.now_ms += 100
    assert rules.fired()
    assert not rule.is_over(rules.now_ms)
    rules.now_ms += 100
    assert not rules.fired()
    assert rule.is_over(rules.now_ms)


def test_a_rule_may_wait_for_another_one() -> None:
    rules = Rules()
    rules.add(name="first", match={"api": "EndTxn"})
    rules.add(name="second", after="first")
    assert rules.fired() == []
    assert rules.fired(EndTxnRequest("x")) == ["first", "second"]
    assert rules.fired() == ["second"]


@pytest.mark.parametrize("text", ["transaction=PrepareCommit", "transaction:x=PrepareCommit"])
def test_a_rule_may_hold_for_a_state(text: str) -> None:
    rules = Rules()
    rules.add(**{"while": text})
    request = EndTxnRequest("x")
    assert rules.fired(request) == []
    rules.states.states["transaction", "x"] = "PrepareCommit"
    assert rules.fired(request) == ["rule-1"]
    assert rules.fired(EndTxnRequest("y")) == (["rule-1"] if ":" in text else [])


def test_all_rules_that_match_fire_in_their_order() -> None:
    rules = Rules()
    rules.add(name="c", match={"topic": "t"})
    rules.add(name="a")
    rules.add(name="b", match={"topic": "t"})
    request = ProduceRequest(
        None, topic_data=[TopicProduceData("t", partition_data=[PartitionProduceData(0)])]
    )
    assert rules.fired(request, 9) == ["c", "a", "b"]


def test_names_are_made_up_and_unique() -> None:
    rules = Rules()
    assert [rules.add().name, rules.add(name="rule-2").name, rules.add().name] == [
        "rule-1", "rule-2", "rule-3",
    ]  # fmt: skip
    with pytest.raises(RuleError, match="there is a rule 'rule-1' already"):
        rules.add(name="rule-1")
    with pytest.raises(KeyError, match="did you mean rule-"):
        rules.all.get("rule-9")


def test_only_apis_with_rules_are_taken() -> None:
    rules = Rules()
    assert not rules.all.takes(26)
    rules.add(name="it", match={"api": "EndTxn"})
    rules.add(name="topic", match={"topic": "t", "api": "Produce"})
    assert [rules.all.takes(key) for key in (0, 12, 26)] == [True, False, True]
    rules.all.remove("it")
    rules.all.remove("topic")
    assert not any(rules.all.takes(key) for key in range(100))


def test_a_rule_remembers_the_last_requests() -> None:
    rules = Rules()
    rule = rules.add()
    for number in range(150):
        rules.fired(EndTxnRequest("x", number))
    assert len(rule.touched) == 100
    last = rule.touched[-1]
    assert (last.api, last.version, last.client_id, last.at_ms) == ("EndTxn", 5, "c", 1_000)
    assert last.request["producer_id"] == 149


def test_a_rule_does_not_remember_secrets() -> None:
    rules = Rules()
    rule = rules.add()
    rules.fired(SaslAuthenticateRequest(b"\0alice\0secret"))
    assert b"secret".hex() not in str(rule.touched[0].request)


def test_one_waits_until_it_has_fired() -> None:
    rules = Rules()
    rule = rules.add()
    heard: list[int] = []
    rule.when_fired(2, lambda: heard.append(rule.fired))
    rule.when_fired(1, lambda: heard.append(rule.fired))
    stop = rule.when_fired(2, lambda: heard.append(-1))
    stop()
    rules.fired()
    assert heard == [1]
    rules.fired()
    assert heard == [1, 2]
    rule.when_fired(2, lambda: heard.append(9))
    assert heard == [1, 2, 9]


def test_a_rule_that_is_removed_lets_go() -> None:
    rules = Rules()
    rule = rules.add()
    went: list[str] = []
    Held(rule, lambda: went.append("a"))
    second = Held(rule, lambda: went.append("b"))
    lost = Held(rule, lambda: went.append("lost"))
    lost.forget()
    assert rule.status(0).held == 2
    second.release()
    assert went == ["b"]
    rules.all.remove(rule.name)
    assert went == ["b", "a"]
    assert rule.is_over(0)


def test_all_rules_are_added_or_none() -> None:
    rules = Rules()
    good, bad = rules.add(name="good").rule, rules.add(name="bad").rule
    rules.all.clear()
    with pytest.raises(RuleError):
        rules.all.add(good, bad, good)
    assert rules.all.loaded == []
    assert len(rules.all.add(good, bad)) == 2
