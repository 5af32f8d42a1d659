"""Apache Kafka's coordinators of share groups and ours, asked the same, must say the same.

What they write is compared, too: the records of ``__share_group_state`` and ``__consumer_offsets``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.coordinator.share.machine import ShareCoordinator
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records

from tests.conformance.groups_peer import OurBroker
from tests.conformance.share_group_cases import GROUP_CASES
from tests.conformance.share_peer import SHARE_KEY, ShareSide, share_log
from tests.conformance.share_state_cases import CASES
from tests.machine.coordinator.group.partition import SomeTopics
from tests.support.apache_kafka import ApacheKafka, run_tool
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


def test_our_machine_has_the_state_that_kafka_tells_of_its_log(kafka: ShareSide) -> None:
    machine = ShareCoordinator(SomeTopics())
    for record in share_log(kafka.kafka.data_dir):
        machine.replay(record)
    told = {
        key: kafka.summary(key[0], key[2])
        for key in machine.state
        if key[1] == kafka.topic_ids["t"]
    }
    assert len(told) > 5
    for key, row in told.items():
        state = machine.state[key]
        assert (row.state_epoch, row.leader_epoch, row.start_offset) == (
            state.state_epoch,
            state.leader_epoch,
            state.start_offset,
        ), key
        assert row.delivery_complete_count == state.delivery_complete_count, key


@pytest.mark.parametrize(
    ("topic", "decoder"),
    [
        ("__share_group_state", "--share-group-state-decoder"),
        ("__consumer_offsets", "--offsets-decoder"),
    ],
)
def test_kafkas_tool_reads_our_records(
    ours: ShareSide, topic: str, decoder: str, tmp_path: Path
) -> None:
    logs = (each.read_bytes() for each in ours.kafka.data_dir.glob(f"{topic}-*/*.log"))
    copy = tmp_path / f"{0:020}.log"
    copy.write_bytes(max(logs, key=len))
    dumped = run_tool("org.apache.kafka.tools.DumpLogSegments", decoder, "--files", copy)
    count = sum(
        len(list(iter_records(batch))) for _, batch in split_batches(memoryview(copy.read_bytes()))
    )
    assert dumped.count(' payload: {"version"') + dumped.count(" payload: <DELETE>") == count > 0
