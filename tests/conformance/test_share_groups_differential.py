"""Apache Kafka's coordinators of share groups and ours, asked the same, must say the same.

What they write is compared, too: the records of ``__share_group_state`` and ``__consumer_offsets``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest

from tests.conformance.groups_peer import OurBroker
from tests.conformance.share_group_cases import GROUP_CASES
from tests.conformance.share_peer import SHARE_KEY, ShareSide
from tests.conformance.share_state_cases import CASES
from tests.support.apache_kafka import ApacheKafka
from tests.support.up import Up

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

SAME = {
    "group.share.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "5",
    "share.coordinator.snapshot.update.records.per.snapshot": "3",
}
Case = Callable[[ShareSide, str], Iterator[Any]]


@pytest.fixture(scope="module")
def kafka() -> Iterator[ShareSide]:
    with ApacheKafka(SAME) as running:
        yield ready(ShareSide(running))


@pytest.fixture(scope="module")
def ours() -> Iterator[ShareSide]:
    settings = [word for item in SAME.items() for word in ("-c", "=".join(item))]
    with (
        tempfile.TemporaryDirectory(prefix="fencepost-shares-") as folder,
        Up("--data-dir", folder, *settings) as broker,
    ):
        yield ready(ShareSide(OurBroker(broker.port, Path(folder))))
        broker.assert_healthy()


def ready(side: ShareSide) -> ShareSide:
    for case in (*CASES, *GROUP_CASES):
        side.wait_for(case.__name__)
        side.wait_for_state(case.__name__)
    return side


@pytest.mark.parametrize("case", [*CASES, *GROUP_CASES], ids=lambda case: case.__name__)
def test_both_say_the_same(kafka: ShareSide, ours: ShareSide, case: Case) -> None:
    steps = zip(case(kafka, case.__name__), case(ours, case.__name__), strict=True)
    for number, (theirs, mine) in enumerate(steps):
        assert ours.plain(mine) == kafka.plain(theirs), f"step {number}"
    assert ours.state_records(case.__name__) == kafka.state_records(case.__name__)
    assert ours.written(case.__name__) == kafka.written(case.__name__)


def test_keys_of_share_partitions(kafka: ShareSide, ours: ShareSide) -> None:
    topic = "AAAAAAAAAAAAAAAAAAAAAQ"
    keys = [f"g:{topic}:0", f"a:b:{topic}:3", f":{topic}:1", f"g:{topic}:x", "g:short:0", "g", ""]
    find = FindCoordinatorRequest(key_type=SHARE_KEY, coordinator_keys=keys)
    theirs, mine = (
        [each.error_code for each in side.ask(find, 6).coordinators] for side in (kafka, ours)
    )
    assert mine == theirs
