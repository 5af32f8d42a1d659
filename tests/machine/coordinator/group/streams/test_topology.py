"""How many tasks a topology has, and which topics it lacks."""

from __future__ import annotations

import pytest
from fencepost_broker.coordinator.group.streams.topology import (
    Configured,
    StatusCode,
    configure,
    topology_of,
)
from fencepost_protocol.generated.streams_group_heartbeat import Subtopology

from tests.machine.coordinator.group.partition import SomeTopics
from tests.machine.coordinator.group.streams.members import internal, part, topology


def configured(*parts: Subtopology, **there: int) -> Configured:
    topics = SomeTopics()
    for name, count in {"t": 4, "u": 2, **there}.items():
        topics.create(name, count)
    return configure(topology_of(topology(*parts)), topics)


def missing(found: Configured) -> dict[str, int]:
    return {each.name: each.partitions for each in found.missing}


def test_the_largest_source_tells_the_number_of_tasks() -> None:
    found = configured(part("0", "u", "t"), part("1", "u"))
    assert (found.tasks, found.is_ready) == ({"0": 4, "1": 2}, True)


def test_a_repartition_topic_is_as_large_as_what_its_writers_read() -> None:
    chain = (
        part("0", "u", "t", sinks=["first"]),
        part("1", repartitions=[internal("first")], sinks=["second"]),
        part("2", repartitions=[internal("second")], changelogs=[internal("store")]),
    )
    found = configured(*chain)
    assert missing(found) == {"first": 4, "second": 4, "store": 4}
    assert found.tasks == {}
    found = configured(*chain, first=4, second=4, store=4)
    assert (found.tasks, found.stateful) == ({"0": 4, "1": 4, "2": 4}, frozenset("2"))


def test_a_repartition_topic_may_have_a_number_of_its_own() -> None:
    fixed = internal("own", 3)
    found = configured(
        part("0", "t", sinks=["own"]), part("1", repartitions=[fixed], changelogs=[internal("s")])
    )
    assert missing(found) == {"own": 3, "s": 3}


def test_topics_that_are_read_together_have_equally_many_partitions() -> None:
    joined = part("1", "u", repartitions=[internal("r")], together=[([0], [0])])
    assert missing(configured(part("0", "t", sinks=["r"]), joined)) == {"r": 2}
    repartitions = [internal("r"), internal("q")]
    two = part("2", repartitions=repartitions, together=[([], [0, 1])])
    found = configured(part("0", "t", sinks=["r"]), part("1", "u", sinks=["q"]), two)
    assert missing(found) == {"r": 4, "q": 4}


@pytest.mark.parametrize(
    ("parts", "there", "code", "named"),
    [
        ([part("0", "no", "t")], {}, StatusCode.MISSING_SOURCE_TOPICS, "no"),
        (
            [part("0", "t", "u", together=[([0, 1], [])])],
            {},
            StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
            "t: 4, u: 2",
        ),
        (
            [part("0", "t", changelogs=[internal("s")])],
            {"s": 3},
            StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
            "s has 3 partitions, and 4",
        ),
        (
            [part("0", repartitions=[internal("r")], sinks=["r"])],
            {},
            StatusCode.INCORRECTLY_PARTITIONED_TOPICS,
            "r",
        ),
        (
            [part("0", "t", changelogs=[internal("s")])],
            {},
            StatusCode.MISSING_INTERNAL_TOPICS,
            "s",
        ),
    ],
)
def test_what_is_wrong(
    parts: list[Subtopology], there: dict[str, int], code: StatusCode, named: str
) -> None:
    found = configured(*parts, **there)
    assert found.status is not None
    assert found.status[0] is code
    assert named in found.status[1]
    assert not found.tasks


def test_positions_that_a_list_does_not_have_are_left_out() -> None:
    found = configured(part("0", "t", together=[([0, 7], [3])]))
    assert found.tasks == {"0": 4}
