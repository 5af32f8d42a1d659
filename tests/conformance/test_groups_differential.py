"""Apache Kafka's group coordinator and ours, asked the same, must say and write the same."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conformance.groups_cases import CASES
from tests.conformance.groups_peer import Case, KafkaSide, OurSide
from tests.support.apache_kafka import ApacheKafka

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
}


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkaSide]:
    with ApacheKafka(SETTINGS) as running:
        side = KafkaSide(running)
        for case in CASES:
            side.wait_for(case.__name__)
        yield side


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_both_say_the_same(kafka: KafkaSide, case: Case) -> None:
    ours = OurSide(
        group_initial_rebalance_delay_ms=0,
        group_consumer_assignment_interval_ms=0,
        offset_fetch_pending_legacy="kafka",
    )
    steps = zip(case(kafka, case.__name__), case(ours, case.__name__), strict=True)
    for number, (theirs, mine) in enumerate(steps):
        assert ours.plain(mine) == kafka.plain(theirs), f"step {number}"
    assert ours.written(case.__name__) == kafka.written(case.__name__)
