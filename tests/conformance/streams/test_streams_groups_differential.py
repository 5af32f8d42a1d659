"""Apache Kafka's coordinator of streams groups and ours, asked the same, must say the same.

What they write to ``__consumer_offsets`` is compared, too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.groups_peer import OurBroker
from tests.conformance.streams.group_cases import GROUP_CASES, StreamsSide
from tests.support.apache_kafka import ApacheKafka
from tests.support.up import Up

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

SAME = {
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "5",
}
Case = Callable[[StreamsSide, str], Iterator[Any]]


@pytest.fixture(scope="module")
def kafka() -> Iterator[StreamsSide]:
    with ApacheKafka(SAME) as running:
        yield ready(StreamsSide(running))


@pytest.fixture(scope="module")
def ours() -> Iterator[StreamsSide]:
    settings = [word for item in SAME.items() for word in ("-c", "=".join(item))]
    with (
        tempfile.TemporaryDirectory(prefix="fencepost-streams-") as folder,
        Up("--data-dir", folder, *settings) as broker,
    ):
        yield ready(StreamsSide(OurBroker(broker.port, Path(folder))))
        broker.assert_healthy()


def ready(side: StreamsSide) -> StreamsSide:
    for case in GROUP_CASES:
        side.wait_for(case.__name__)
    return side


@pytest.mark.parametrize("case", GROUP_CASES, ids=lambda case: case.__name__)
def test_both_say_the_same(kafka: StreamsSide, ours: StreamsSide, case: Case) -> None:
    steps = zip(case(kafka, case.__name__), case(ours, case.__name__), strict=True)
    for number, (theirs, mine) in enumerate(steps):
        assert ours.plain(mine) == kafka.plain(theirs), f"step {number}"
    assert ours.written(case.__name__) == kafka.written(case.__name__)
