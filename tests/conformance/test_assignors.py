"""Assignors and what members tell, beside Apache Kafka's own in Java."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fencepost_client import TopicPartition
from fencepost_client.consumer.assignors import ASSIGNORS
from fencepost_client.consumer.group_members import Assignment, Member
from fencepost_client.consumer.group_protocol import (
    Holding,
    Subscription,
    read_subscription,
    write_subscription,
)

from tests.support.apache_kafka import LIBRARY_DIR, TOOL_JVM_FLAGS, KafkaUnavailableError, fetch

pytestmark = pytest.mark.conformance

PROGRAM = Path(__file__).parent / "assignors" / "KafkaAssignors.java"
TOPICS = ("a", "b", "c")
RACKS = ("x", "y", "z")
ROUNDS = 200
SECONDS = 120


def ask_kafka(groups: list[Any], members: list[Any]) -> Any:
    """What Kafka's own classes say to both."""
    java = shutil.which("java")
    if java is None:
        raise KafkaUnavailableError("running Kafka's assignors needs a JDK, 17 or later")
    fetch()
    result = subprocess.run(
        [java, *TOOL_JVM_FLAGS, "-cp", f"{LIBRARY_DIR}{os.sep}*", str(PROGRAM)],
        input=json.dumps({"groups": groups, "members": members}),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class Group:
    """Members with their subscriptions, as both sides get them."""

    def __init__(self, assignor: str, counts: dict[str, int]) -> None:
        self.assignor = ASSIGNORS[assignor]
        self.counts = counts
        self.racks: dict[str, list[frozenset[str]]] = {}
        self.told: dict[str, tuple[str | None, bytes]] = {}

    def add(
        self,
        name: str,
        instance: str | None,
        topics: list[str],
        last: Holding,
        rack: str | None = None,
    ) -> None:
        owned = last if self.assignor.is_cooperative else Holding((), last.generation_id)
        subscription = Subscription(tuple(topics), owned, self.assignor.user_data(last), rack)
        self.told[name] = (instance, write_subscription(subscription))

    def question(self) -> Any:
        members = [
            {"id": name, "instance": instance, "subscription": told.hex()}
            for name, (instance, told) in self.told.items()
        ]
        racks = {topic: [sorted(each) for each in found] for topic, found in self.racks.items()}
        return {
            "assignor": self.assignor.name, "counts": self.counts, "racks": racks,
            "members": members,
        }  # fmt: skip

    def ours(self) -> Assignment:
        members = []
        for name, (instance, told) in self.told.items():
            subscription = read_subscription(told)
            owned = self.assignor.owned(subscription)
            members.append(Member(name, instance, subscription.topics, owned, subscription.rack))
        return self.assignor.assign(members, self.counts, self.racks)

    def near(self, shared: Assignment) -> int:
        """How many partitions have a replica in the rack of their member."""
        return sum(
            read_subscription(self.told[name][1]).rack in self.racks[where.topic][where.partition]
            for name, told in shared.items()
            for where in told
        )


def some_topics(chance: random.Random) -> list[str]:
    return sorted(chance.sample(TOPICS, chance.randint(1, len(TOPICS))))


def some_group(
    assignor: str, chance: random.Random, *, alike: bool = False, racks: bool = False
) -> Group:
    """Members that had this and that, without two claims for the same."""
    group = Group(assignor, {topic: chance.randint(0, 7) for topic in TOPICS})
    if racks:
        if chance.random() < 0.3:  # topics with as many partitions are treated together
            group.counts = dict.fromkeys(TOPICS, chance.randint(1, 7))
        replicas = chance.randint(1, 3)
        group.racks = {
            topic: [frozenset(chance.sample(RACKS, replicas)) for _ in range(count)]
            for topic, count in group.counts.items()
        }
    free = [TopicPartition(topic, n) for topic, count in group.counts.items() for n in range(count)]
    chance.shuffle(free)
    same = some_topics(chance)
    for number in range(chance.randint(1, 6)):
        name = f"{chance.choice('mnop')}{number}"
        topics = same if alike else some_topics(chance)
        had = [free.pop() for _ in range(min(len(free), chance.randint(0, 5)))]
        had = [where for where in had if where.topic in topics]
        instance = f"static-{chance.randint(0, 9)}-{number}" if chance.random() < 0.3 else None
        rack = chance.choice((*RACKS, *RACKS, "elsewhere", None)) if racks else None
        group.add(name, instance, topics, Holding(tuple(had), 3) if had else Holding(), rack)
    return group


def as_ours(answer: Any) -> Assignment:
    return {name: [TopicPartition(*where) for where in told] for name, told in answer.items()}


def moved(group: Group, shared: Assignment) -> int:
    """How much was taken from a member that had it."""
    had = {
        name: set(group.assignor.owned(read_subscription(told)).partitions)
        for name, (_, told) in group.told.items()
    }
    return sum(len(had[name] - set(told)) for name, told in shared.items())


def test_what_is_determined_is_the_same() -> None:
    chance = random.Random(848)
    groups = [
        some_group(name, chance, racks=racks)
        for name in ("range", "roundrobin")
        for racks in (False, True)
        for _ in range(ROUNDS)
    ]
    answers = ask_kafka([group.question() for group in groups], [])["groups"]
    for group, answer in zip(groups, answers, strict=True):
        ours = {name: sorted(told) for name, told in group.ours().items()}
        assert ours == {name: sorted(told) for name, told in as_ours(answer).items()}, (
            group.question()
        )


def test_sticky_moves_no_more_than_kafkas_and_is_as_even() -> None:
    """Where members read the same topics; where not, Kafka's is less even than it could be."""
    chance = random.Random(429)
    groups = [
        some_group(name, chance, alike=True)
        for name in ("sticky", "cooperative-sticky")
        for _ in range(ROUNDS)
    ]
    answers = ask_kafka([group.question() for group in groups], [])["groups"]
    for group, answer in zip(groups, answers, strict=True):
        ours, theirs = group.ours(), as_ours(answer)
        assert moved(group, ours) == moved(group, theirs), group.question()
        # Who gets nothing yet, because another has to give it up first, is anybody's choice.
        sizes = sum if group.assignor.is_cooperative else sorted
        assert sizes(map(len, ours.values())) == sizes(map(len, theirs.values()))


def test_sticky_is_as_even_and_as_near_as_kafkas() -> None:
    chance = random.Random(881)
    groups = [some_group("sticky", chance, alike=True, racks=True) for _ in range(ROUNDS)]
    answers = ask_kafka([group.question() for group in groups], [])["groups"]
    near = theirs_near = 0
    for group, answer in zip(groups, answers, strict=True):
        ours, theirs = group.ours(), as_ours(answer)
        assert sorted(map(len, ours.values())) == sorted(map(len, theirs.values()))
        near += group.near(ours)
        theirs_near += group.near(theirs)
    assert near > 0.98 * theirs_near, "which of several near members gets what is anybody's choice"


def test_members_tell_what_kafkas_members_tell() -> None:
    some = (TopicPartition("a", 1), TopicPartition("a", 2), TopicPartition("ü", 0))
    lasts = [Holding(), Holding((), 4), Holding(some, 7)]
    cases = [(name, last) for name in ASSIGNORS for last in lasts]
    questions = [
        {
            "assignor": name,
            "topics": ["a", "ü"],
            "partitions": last.partitions,
            "generation": last.generation_id,
        }
        for name, last in cases
    ]
    answers = ask_kafka([], questions)["members"]
    for (name, last), answer in zip(cases, answers, strict=True):
        assignor = ASSIGNORS[name]
        told = write_subscription(Subscription(("a", "ü"), last, assignor.user_data(last)))
        assert told.hex() == answer, (name, last)
        if assignor.user_data(last) and last.partitions:
            assert assignor.owned(read_subscription(bytes.fromhex(answer))) == last
