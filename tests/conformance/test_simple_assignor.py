"""The assignor of share groups beside Apache Kafka's own in Java: the numbers are the same."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from fencepost_broker.coordinator.group.share.assignor import assign

from tests.support.apache_kafka import LIBRARY_DIR, TOOL_JVM_FLAGS, KafkaUnavailableError, fetch

pytestmark = pytest.mark.conformance

PROGRAM = Path(__file__).parent / "assignors" / "KafkaSimpleAssignor.java"
ROUNDS = 300
SECONDS = 120
Spread: TypeAlias = Mapping[str, Mapping[str, list[int]]]


def a_group(rng: random.Random) -> Any:
    counts = {str(topic): rng.randrange(1, 6) for topic in range(1, rng.randrange(2, 5))}
    have_all = rng.random() < 0.7
    members = {}
    for number in range(rng.randrange(1, 12)):
        topics = [each for each in counts if have_all or rng.random() < 0.6]
        had = {
            topic: [each for each in range(count) if rng.random() < 0.3]
            for topic, count in counts.items()
        }
        members[f"m{number}"] = {"topics": topics, "had": had}
    return {"counts": counts, "members": members}


def ask_kafka(groups: list[Any]) -> list[Spread]:
    java = shutil.which("java")
    if java is None:
        raise KafkaUnavailableError("running Kafka's assignor needs a JDK, 17 or later")
    fetch()
    result = subprocess.run(
        [java, *TOOL_JVM_FLAGS, "-cp", f"{LIBRARY_DIR}{os.sep}*", str(PROGRAM)],
        input=json.dumps(groups),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    told: list[Spread] = json.loads(result.stdout)
    return told


def ours(group: Any) -> Spread:
    members = group["members"]
    spread = assign(
        {name: [each.encode() for each in it["topics"]] for name, it in members.items()},
        {
            name: {topic.encode(): frozenset(had) for topic, had in it["had"].items()}
            for name, it in members.items()
        },
        {topic.encode(): range(count) for topic, count in group["counts"].items()},
    )
    return {
        name: {topic.decode(): sorted(numbers) for topic, numbers in mine.items()}
        for name, mine in spread.items()
    }


def sizes(spread: Spread) -> list[int]:
    """How many partitions the members have, the least first."""
    return sorted(sum(map(len, mine.values())) for mine in spread.values() if mine)


def sharing(spread: Spread) -> Counter[tuple[str, int]]:
    """How many members each partition has."""
    return Counter(
        (topic, number)
        for mine in spread.values()
        for topic, numbers in mine.items()
        for number in numbers
    )


def kept(group: Any, spread: Spread) -> int:
    """How many partitions members have that they had before."""
    return sum(
        len(set(numbers) & set(group["members"][name]["had"][topic]))
        for name, mine in spread.items()
        for topic, numbers in mine.items()
    )


@pytest.mark.slow
def test_the_numbers_are_those_of_kafka() -> None:
    rng = random.Random(11)
    groups = [a_group(rng) for _ in range(ROUNDS)]
    try:
        answers = ask_kafka(groups)
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    kept_by = Counter[str]()
    alike = 0
    for group, theirs in zip(groups, answers, strict=True):
        mine = ours(group)
        assert mine == ours(group)
        for name, by_topic in mine.items():
            assert set(by_topic) <= set(group["members"][name]["topics"])
        if len({tuple(each["topics"]) for each in group["members"].values()}) == 1:
            alike += 1
            assert (sizes(mine), sharing(mine)) == (sizes(theirs), sharing(theirs)), group
        else:
            wanted = {topic for each in group["members"].values() for topic in each["topics"]}
            every = {(topic, at) for topic in wanted for at in range(group["counts"][topic])}
            assert sharing(mine).keys() == every, group
            in_topics: dict[str, set[int]] = {}
            for (topic, _), count in sharing(mine).items():
                in_topics.setdefault(topic, set()).add(count)
            assert all(len(counts) == 1 for counts in in_topics.values()), group
        kept_by.update(ours=kept(group, mine), theirs=kept(group, theirs))
    assert alike > ROUNDS / 2
    assert kept_by["ours"] >= kept_by["theirs"]
