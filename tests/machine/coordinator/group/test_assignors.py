"""The server-side assignors: nobody gets too much, nothing is forgotten, little moves."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from fencepost_broker.coordinator.group.consumer.assignors import (
    Spread,
    Subscriber,
    spread_difference,
    spread_in_ranges,
    spread_uniformly,
)
from fencepost_broker.coordinator.group.consumer.target_assignment import TargetAssignment
from hypothesis import given
from hypothesis import strategies as st

TOPICS = [bytes([number]) * 16 for number in range(5)]
COUNTS = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 12), min_size=1)


@st.composite
def groups(draw: Any, *, same: bool) -> tuple[list[Subscriber], dict[bytes, int]]:
    counts = draw(COUNTS)
    topics = st.frozensets(st.sampled_from(TOPICS), min_size=1)
    common = draw(topics)
    members = []
    for number in range(draw(st.integers(1, 7))):
        subscribed = common if same else draw(topics)
        had = draw(
            st.dictionaries(st.sampled_from(TOPICS), st.frozensets(st.integers(0, 14), min_size=1))
        )
        instance = draw(st.sampled_from([None, f"i{number}"]))
        members.append(Subscriber(f"m{number}", instance, subscribed, had))
    return members, counts


def check(members: list[Subscriber], counts: dict[bytes, int], spread: Spread) -> dict[str, int]:
    """Every partition that somebody wants has one owner, who wants it. Gives the loads."""
    owners = Counter(
        (topic, number)
        for by_topic in spread.values()
        for topic, numbers in by_topic.items()
        for number in numbers
    )
    wanted = frozenset().union(*(each.topic_ids for each in members))
    expected = {
        (topic, number) for topic in wanted if topic in counts for number in range(counts[topic])
    }
    assert set(owners) == expected
    assert set(owners.values()) <= {1}
    for each in members:
        assert set(spread[each.member_id]) <= each.topic_ids
    return {name: sum(map(len, by_topic.values())) for name, by_topic in spread.items()}


@given(groups(same=True))
def test_uniform_is_even(case: tuple[list[Subscriber], dict[bytes, int]]) -> None:
    members, counts = case
    loads = check(members, counts, spread_uniformly(members, counts))
    assert max(loads.values()) - min(loads.values()) <= 1


@given(groups(same=False))
def test_uniform_cannot_be_made_more_even(
    case: tuple[list[Subscriber], dict[bytes, int]],
) -> None:
    members, counts = case
    spread = spread_uniformly(members, counts)
    loads = check(members, counts, spread)
    for giver in members:
        for topic in spread[giver.member_id]:
            for taker in members:
                if topic in taker.topic_ids:
                    assert loads[giver.member_id] - loads[taker.member_id] <= 1


@given(groups(same=True))
def test_uniform_leaves_a_good_assignment_alone(
    case: tuple[list[Subscriber], dict[bytes, int]],
) -> None:
    members, counts = case
    first = spread_uniformly(members, counts)
    for each in members:
        each.had = {topic: frozenset(numbers) for topic, numbers in first[each.member_id].items()}
    assert spread_uniformly(members, counts) == first


@given(groups(same=False))
def test_uniform_leaves_a_good_uneven_assignment_alone(
    case: tuple[list[Subscriber], dict[bytes, int]],
) -> None:
    members, counts = case
    first = spread_uniformly(members, counts)
    for each in members:
        each.had = {topic: frozenset(numbers) for topic, numbers in first[each.member_id].items()}
    assert spread_uniformly(members, counts) == first


def test_a_new_member_gets_its_share_and_nothing_else_moves() -> None:
    topic = TOPICS[0]
    had = [frozenset(range(4)), frozenset(range(4, 8)), frozenset(range(8, 12))]
    members = [
        Subscriber(f"m{number}", None, frozenset([topic]), {topic: each})
        for number, each in enumerate(had)
    ]
    members.append(Subscriber("new", None, frozenset([topic]), {}))
    spread = spread_uniformly(members, {topic: 12})
    kept = [len(spread[f"m{number}"][topic] & each) for number, each in enumerate(had)]
    assert kept == [3, 3, 3]
    assert len(spread["new"][topic]) == 3


def test_only_members_for_whom_something_may_change_are_looked_at() -> None:
    topic = TOPICS[0]
    target = TargetAssignment()
    for number in range(9):
        target.join(f"m{number}")
        target.put(f"m{number}", {topic: frozenset({2 * number, 2 * number + 1})})
    target.leave("m4")
    target.put("m4", None)
    spread = spread_difference(target, ["new"], {topic: 18})
    assert spread == {"m0": {topic: {0, 1}}, "m1": {topic: {2, 3}}, "new": {topic: {8, 9}}}


@pytest.mark.parametrize("member", ["b", "gone"])
def test_what_has_two_owners_or_none_in_the_group_is_assigned_from_scratch(member: str) -> None:
    topic = TOPICS[0]
    target = TargetAssignment()
    for each in ("a", "b"):
        target.join(each)
        target.put(each, {})
    target.put("a", {topic: frozenset({0, 1})})
    assert spread_difference(target, [], {topic: 2}) is not None
    target.put(member, {topic: frozenset({1})})
    assert spread_difference(target, [], {topic: 2}) is None


def test_a_partition_with_two_owners_and_one_without_do_not_make_up_for_each_other() -> None:
    topic = TOPICS[0]
    target = TargetAssignment()
    for each in ("a", "b"):
        target.join(each)
        target.put(each, {topic: frozenset({0})})
    target.put("gone", {topic: frozenset({1})})
    assert spread_difference(target, [], {topic: 2}) is None


@given(groups(same=False))
def test_ranges_are_runs_of_neighbours(case: tuple[list[Subscriber], dict[bytes, int]]) -> None:
    members, counts = case
    spread = spread_in_ranges(members, counts)
    check(members, counts, spread)
    for by_topic in spread.values():
        for numbers in by_topic.values():
            assert max(numbers) - min(numbers) == len(numbers) - 1


def test_ranges_go_by_instance_then_by_member() -> None:
    topic = TOPICS[0]
    members = [
        Subscriber("a", None, frozenset([topic]), {}),
        Subscriber("z", "i1", frozenset([topic]), {}),
        Subscriber("b", "i2", frozenset([topic]), {}),
    ]
    spread = spread_in_ranges(members, {topic: 5})
    assert [spread[each][topic] for each in "zba"] == [{0, 1}, {2, 3}, {4}]


def test_nobody_gets_nothing() -> None:
    assert spread_uniformly([], {}) == spread_in_ranges([], {}) == {}


def test_the_cost_is_that_of_the_partitions() -> None:
    """A thousand members and 20,000 partitions, spread anew: no quadratic work hides in there."""
    counts = {bytes([number]) * 16: 4000 for number in range(5)}
    everything = frozenset(counts)
    members = [Subscriber(f"m{number}", None, everything, {}) for number in range(1000)]
    spread = spread_uniformly(members, counts)
    assert {sum(map(len, each.values())) for each in spread.values()} == {20}
