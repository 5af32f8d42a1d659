"""The same scripts to Apache Kafka and to `fencepost up`, over the wire and with transactions.

`test_groups_differential.py` asks the machine alone; here the node around it is asked, too: which
answer waits, what a marker does, what is in the log in the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.groups_cases import CASES
from tests.conformance.groups_peer import Case, KafkaSide, OurBroker
from tests.conformance.groups_transaction_cases import TRANSACTION_CASES
from tests.conformance.groups_version_cases import VERSION_CASES
from tests.support.apache_kafka import ApacheKafka
from tests.support.up import Up

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

SAME = {
    "group.consumer.assignment.interval.ms": "0",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "5",
}
KAFKAS_WAY = {"offset.fetch.pending.legacy": "kafka", "transaction.park.enable": "false"}
"""Our two deliberate differences, switched off."""
EVERYTHING = (*CASES, *TRANSACTION_CASES, *VERSION_CASES)


@pytest.fixture(scope="module")
def kafka() -> Iterator[KafkaSide]:
    with ApacheKafka(SAME) as running:
        yield ready(KafkaSide(running))


@pytest.fixture(scope="module")
def ours() -> Iterator[KafkaSide]:
    settings = [word for item in (SAME | KAFKAS_WAY).items() for word in ("-c", "=".join(item))]
    with (
        tempfile.TemporaryDirectory(prefix="fencepost-groups-") as folder,
        Up("--data-dir", folder, *settings) as broker,
    ):
        yield ready(KafkaSide(OurBroker(broker.port, Path(folder))))
        broker.assert_healthy()


def ready(side: KafkaSide) -> KafkaSide:
    for case in EVERYTHING:
        side.wait_for(case.__name__)
    return side


@pytest.mark.parametrize("case", EVERYTHING, ids=lambda case: case.__name__)
def test_both_brokers_say_the_same(kafka: KafkaSide, ours: KafkaSide, case: Case) -> None:
    steps = zip(case(kafka, case.__name__), case(ours, case.__name__), strict=True)
    for number, (theirs, mine) in enumerate(steps):
        assert ours.plain(mine) == kafka.plain(theirs), f"step {number}"
    assert ours.written(case.__name__) == kafka.written(case.__name__)
