"""Apache Kafka takes over groups and offsets from our log, and we take them over from its."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fencepost_broker.coordinator.records import encode_batch
from fencepost_broker.metadata.decision import Decision
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup

from tests.conformance.groups_cases import CASES
from tests.conformance.groups_peer import KafkaSide, OurSide, Side, read_log
from tests.support.apache_kafka import ApacheKafka

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "1",
}
OUR_SETTINGS = {
    "group_initial_rebalance_delay_ms": 0,
    "group_consumer_assignment_interval_ms": 0,
    "offset_fetch_pending_legacy": "kafka",
}


@pytest.fixture
def kafka() -> Iterator[ApacheKafka]:
    with ApacheKafka(SETTINGS) as running:
        yield running


def our_side(theirs: KafkaSide) -> OurSide:
    """Our machine, at the same time and with the same topics."""
    ours = OurSide(**OUR_SETTINGS)
    ours.partition.now_ms = int(time.time() * 1000)
    ours.partition.topics.ids.update(theirs.topic_ids)
    return ours


def told(side: Side) -> dict[str, Any]:
    """All that an administrator can see of groups and offsets."""
    side.exact = True
    seen: dict[str, Any] = {}
    for listed in side.ask(ListGroupsRequest()).groups:
        group = listed.group_id
        offsets = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
        described: Any = DescribeGroupsRequest([group])
        if listed.group_type == "consumer":
            described = ConsumerGroupDescribeRequest([group])
        answers = (listed, side.ask(described), side.ask(offsets, 9))
        seen[group] = [side.plain(answer) for answer in answers]
    return seen


def play(side: Side) -> None:
    """Everything that the differential run does, for what it leaves behind."""
    for case in CASES:
        for _ in case(side, case.__name__):
            pass


def test_we_take_over_from_kafka(kafka: ApacheKafka) -> None:
    theirs = KafkaSide(kafka)
    for case in CASES:
        theirs.wait_for(case.__name__)
    play(theirs)
    kafka.restart()  # what is not in the log is forgotten on both sides
    theirs.wait_for("g")
    ours = our_side(theirs)
    ours.names = theirs.names
    log = kafka.data_dir / "__consumer_offsets-0"
    for record in read_log(log.glob("*.log")):
        ours.partition.replay(record)
    ours.partition.restart()
    assert told(ours) == told(theirs)


def test_kafka_takes_over_from_us(kafka: ApacheKafka) -> None:
    theirs = KafkaSide(kafka)
    ours = our_side(theirs)
    play(ours)
    ours.partition.restart()
    expected = told(ours)
    assert len(expected) > 5
    kafka.stop()
    log = kafka.data_dir / "__consumer_offsets-0"
    for path in log.iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    (log / f"{0:020}.log").write_bytes(our_log(ours))
    dumped = kafka.run_tool(
        "org.apache.kafka.tools.DumpLogSegments",
        "--offsets-decoder",
        "--files",
        log / f"{0:020}.log",
    )
    assert dumped.count("| offset: ") == ours.partition.next_offset
    kafka.start()
    theirs.wait_for("g")
    theirs.names = ours.names
    assert told(theirs) == expected


def our_log(ours: OurSide) -> bytes:
    content, offset = bytearray(), 0
    decisions: list[Decision[Any]] = [each for each in ours.partition.decisions if each.records]
    for decision in decisions:
        batch = encode_batch(decision.records, ours.partition.now_ms)
        struct.pack_into(">q", batch, 0, offset)
        content += batch
        offset += len(decision.records)
    return bytes(content)
