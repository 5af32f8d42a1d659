"""Timeouts of groups: Kafka is waited for, our clock is moved; both say and write the same."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.conformance.groups_peer import Case, KafkaSide, OurSide
from tests.conformance.groups_timeout_cases import (
    CHECK_INTERVAL_MS,
    TIMEOUT_CASES,
    old_offsets,
    second_group_of,
)
from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "100",
    "group.consumer.min.session.timeout.ms": "100",
    "group.consumer.session.timeout.ms": "16000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.assignment.interval.ms": "0",
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": str(CHECK_INTERVAL_MS),
}
Told = tuple[list[Any], list[Any]]
"""Answers, and what is in the log in the end."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[dict[str, Told]]:
    """What Kafka does in all cases, which are waited for at the same time."""
    try:
        with ApacheKafka(SETTINGS) as running:
            sides = {case.__name__: KafkaSide(running) for case in TIMEOUT_CASES}
            for name, side in sides.items():
                side.wait_for(name)
            sides[old_offsets.__name__].wait_for(second_group_of(old_offsets.__name__))

            def play(case: Case) -> Told:
                return told(sides[case.__name__], case)

            with ThreadPoolExecutor(len(TIMEOUT_CASES)) as pool:
                yield dict(zip(sides, pool.map(play, TIMEOUT_CASES), strict=True))
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def told(side: Any, case: Case) -> Told:
    name = case.__name__
    answers = [side.plain(each) for each in case(side, name)]
    return answers, side.written(name)


@pytest.mark.parametrize("case", TIMEOUT_CASES, ids=lambda case: case.__name__)
def test_both_say_the_same(kafka: dict[str, Told], case: Case) -> None:
    ours = OurSide(
        group_initial_rebalance_delay_ms=0,
        group_min_session_timeout_ms=100,
        group_consumer_session_timeout_ms=16_000,
        group_consumer_heartbeat_interval_ms=100,
        group_consumer_assignment_interval_ms=0,
        offsets_retention_ms=60_000,
        offsets_retention_check_interval_ms=CHECK_INTERVAL_MS,
        offset_fetch_pending_legacy="kafka",
    )
    expected_answers, expected_records = kafka[case.__name__]
    answers, records = told(ours, case)
    for number, (theirs, mine) in enumerate(zip(expected_answers, answers, strict=True)):
        assert mine == theirs, f"step {number}"
    assert records == expected_records
