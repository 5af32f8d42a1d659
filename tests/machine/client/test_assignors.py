"""Assignors: what Kafka's examples say, and what holds for every group (Hypothesis)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest
from fencepost_client import ConfigError, TopicPartition
from fencepost_client.consumer.assignors import (
    ASSIGNORS,
    assign_round_robin,
    assignors_of,
)
from fencepost_client.consumer.group_members import Assignment, Member
from fencepost_client.consumer.group_protocol import Holding
from fencepost_client.consumer.range_assignor import assign_range
from fencepost_client.consumer.sticky_assignor import assign_cooperative_sticky, assign_sticky
from hypothesis import given, settings
from hypothesis import strategies as st

TOPICS = ("a", "b", "c")


def short(assignment: Assignment) -> dict[str, list[str]]:
    return {name: [f"{t}{p}" for t, p in parts] for name, parts in assignment.items()}


def holding(*names: str, generation_id: int = 1) -> Holding:
    return Holding(tuple(TopicPartition(name[0], int(name[1:])) for name in names), generation_id)


def test_range_is_kafkas() -> None:
    members = [
        Member("z", None, ("a", "b")),
        Member("y", "static-2", ("a", "b")),
        Member("x", "static-1", ("a",)),
    ]
    assert short(assign_range(members, {"a": 4, "b": 3, "c": 9}, {})) == {
        "x": ["a0", "a1"],
        "y": ["a2", "b0", "b1"],
        "z": ["a3", "b2"],
    }


def test_round_robin_goes_on_with_the_next_member_at_the_next_topic() -> None:
    members = [Member("y", None, ("a", "b")), Member("x", None, ("a",))]
    assert short(assign_round_robin(members, {"a": 3, "b": 2, "c": 9}, {})) == {
        "x": ["a0", "a2"],
        "y": ["a1", "b0", "b1"],
    }


def test_of_two_claims_the_later_generation_counts() -> None:
    members = [
        Member("x", None, ("a",), holding("a0", "a1", generation_id=3)),
        Member("y", None, ("a",), holding("a1", "a0", generation_id=2)),
    ]
    assert short(assign_sticky(members, {"a": 4}, {})) == {"x": ["a0", "a1"], "y": ["a2", "a3"]}


def test_two_claims_of_one_generation_are_both_wrong() -> None:
    members = [
        Member("x", None, ("a",), holding("a0", "a3")),
        Member("y", None, ("a",), holding("a2", "a3")),
    ]
    assert short(assign_sticky(members, {"a": 4}, {})) == {"x": ["a0", "a1"], "y": ["a2", "a3"]}


def test_who_has_one_more_than_others_keeps_it() -> None:
    members = [
        Member("x", None, ("a",), holding("a0", "a1")),
        Member("y", None, ("a",), holding("a2", "a3", "a4")),
    ]
    assert short(assign_sticky(members, {"a": 5}, {})) == {
        "x": ["a0", "a1"],
        "y": ["a2", "a3", "a4"],
    }


def test_passing_on_through_others_makes_it_even() -> None:
    """x has nobody with less among the readers of its topic but y, who can pass on to z."""
    members = [
        Member("x", None, ("a",), holding("a0", "a1", "a2")),
        Member("y", None, ("a", "b"), holding("b0", "b1")),
        Member("z", None, ("b",), holding("b2")),
    ]
    shared = assign_sticky(members, {"a": 3, "b": 3}, {})
    assert [len(parts) for parts in shared.values()] == [2, 2, 2]


def test_cooperative_gives_to_nobody_what_another_has_to_give_up() -> None:
    members = [
        Member("x", None, ("a",), holding("a0", "a1", "a2")),
        Member("y", None, ("a",)),
    ]
    assert short(assign_cooperative_sticky(members, {"a": 4}, {})) == {
        "x": ["a0", "a1"],
        "y": ["a3"],
    }


def test_java_class_names_are_names_and_others_are_refused() -> None:
    java = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
    assert assignors_of([java, "range"]) == (ASSIGNORS["cooperative-sticky"], ASSIGNORS["range"])
    with pytest.raises(ConfigError, match="'ranges' is not an assignor"):
        assignors_of(["ranges"])
    with pytest.raises(ConfigError, match="no assignor is given"):
        assignors_of([])


# -- what holds for every group ----------------------------------------------------------------

ROUNDS_MAX = 5
"""Two are enough, unless members own what they do not ask for any more."""

counts_of = st.fixed_dictionaries({topic: st.integers(0, 7) for topic in TOPICS})
topics_of = st.sets(st.sampled_from(TOPICS)).map(lambda topics: tuple(sorted(topics)))


@st.composite
def members_of(draw: st.DrawFn, *, alike: bool = False) -> list[Member]:
    names = draw(st.lists(st.sampled_from("mnopqrs"), unique=True, min_size=1))
    claims = st.lists(
        st.builds(TopicPartition, st.sampled_from(TOPICS), st.integers(0, 8)), max_size=8
    )
    same = draw(topics_of.filter(bool))
    return [
        Member(
            name,
            draw(st.none() | st.just(f"static-{name}")),
            same if alike else draw(topics_of),
            Holding(tuple(draw(claims)), draw(st.integers(-1, 3))),
        )
        for name in names
    ]


def check_whole(members: Iterable[Member], counts: Mapping[str, int], shared: Assignment) -> None:
    """Everything that is read has one reader, who asked for it."""
    topics_of_member = {member.member_id: member.topics for member in members}
    assert shared.keys() == topics_of_member.keys()
    given_out = [(where, name) for name, parts in shared.items() for where in parts]
    for where, name in given_out:
        assert where.topic in topics_of_member[name]
    read = {topic for topics in topics_of_member.values() for topic in topics}
    assert sorted(where for where, _ in given_out) == [
        TopicPartition(topic, number)
        for topic in sorted(read)
        for number in range(counts.get(topic, 0))
    ]


def settled(members: Iterable[Member], shared: Assignment, generation_id: int) -> list[Member]:
    return [
        replace(member, owned=Holding(tuple(shared[member.member_id]), generation_id))
        for member in members
    ]


@settings(max_examples=50)
@given(members_of(), counts_of, st.sampled_from(["range", "roundrobin", "sticky"]))
def test_all_is_shared_once(members: list[Member], counts: dict[str, int], name: str) -> None:
    shared = ASSIGNORS[name].assign(members, counts, {})
    check_whole(members, counts, shared)
    assert ASSIGNORS[name].assign(reversed(members), counts, {}) == shared


@settings(max_examples=50)
@given(members_of(), counts_of)
def test_sticky_is_even_and_stays_as_it_is(members: list[Member], counts: dict[str, int]) -> None:
    shared = assign_sticky(members, counts, {})
    for more in members:
        for less in members:
            if len(shared[more.member_id]) >= len(shared[less.member_id]) + 2:
                topics = {where.topic for where in shared[more.member_id]}
                assert topics.isdisjoint(less.topics)
    assert assign_sticky(settled(members, shared, 5), counts, {}) == shared


@settings(max_examples=50)
@given(members_of(alike=True), counts_of, st.data())
def test_who_stays_keeps_what_it_has(
    members: list[Member], counts: dict[str, int], data: st.DataObject
) -> None:
    before = assign_sticky(members, counts, {})
    members = settled(members, before, 5)
    left = data.draw(st.lists(st.sampled_from(members), min_size=1, unique=True))
    after = assign_sticky(left, counts, {})
    for member in left:
        assert set(before[member.member_id]) <= set(after[member.member_id])
    new = Member("new", None, members[0].topics)
    grown = assign_sticky([*members, new], counts, {})
    for member in members:
        assert set(grown[member.member_id]) <= set(before[member.member_id])


@settings(max_examples=50)
@given(members_of(), counts_of)
def test_cooperative_rounds_end_at_what_sticky_says_and_nothing_has_two_readers(
    members: list[Member], counts: dict[str, int]
) -> None:
    before, shared = members, assign_cooperative_sticky(members, counts, {})
    for _ in range(ROUNDS_MAX):
        for member in before:
            for where in set(shared[member.member_id]) - set(member.owned.partitions):
                assert not [each for each in before if where in each.owned.partitions]
        before = settled(before, shared, 5)
        if shared == (shared := assign_cooperative_sticky(before, counts, {})):
            break
    check_whole(members, counts, shared)
    assert assign_sticky(before, counts, {}) == shared
