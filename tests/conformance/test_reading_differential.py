"""Apache Kafka and our broker are asked for offsets, records and epochs, such as there are and not.

Nothing differs on purpose: an isolation level that does not exist, and a negative size of what is
there to be read, are UNKNOWN_SERVER_ERROR in Kafka, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch

from tests.support.apache_kafka import ApacheKafka, KafkaUnavailableError
from tests.support.up import Up, Wire
from tests.support.waiting import polled

pytestmark = pytest.mark.conformance

TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "gzip": {"compression_type": "gzip"},
    "empty": {},
    "compacted": {"cleanup_policy": "compact"},
}
TIME = 1_760_000_000_000
TIMES = (-1, -2, -3, -4, -5, -7, -100, 0, *(TIME + each for each in (0, 10, 11, 20, 25, 30, 31)))
LED_LATER = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER)


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    try:
        with ApacheKafka() as running:
            yield running
    except KafkaUnavailableError as error:
        pytest.skip(str(error))


def prepare(client: Wire) -> None:
    for name, configs in TOPICS.items():
        client.create(name, 2, **configs)
    batches = [
        build_batch([b"k"] * 3, [b"a", b"b", b"c"], [TIME + 10, TIME + 30, TIME + 20], codec=codec)
        for codec in (Compression.NONE, Compression.LZ4)
    ]
    for name in ("plain", "gzip"):
        for batch in batches:
            while error := client.produce(name, batch).error_code:
                assert error in LED_LATER
    for name in ("empty", "compacted"):
        answer = polled(
            lambda: None if (now := offset_of(client, name, -1))[0] in LED_LATER else now  # noqa: B023
        )
        assert answer is not None
        assert not answer[0]


def offset_of(
    client: Wire, topic: str, timestamp: int, isolation: int = 0, epoch: int = -1, number: int = 0
) -> tuple[int, ...]:
    wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(number, epoch, timestamp)])
    answer = client.ask(ListOffsetsRequest(-1, isolation, [wanted]), 7).topics[0].partitions[0]
    return answer.error_code, answer.timestamp, answer.offset, answer.leader_epoch


def fetched(
    client: Wire, topic: str, offset: int, *, bytes_max: int = 1 << 20, of_partition: int = 1 << 20,
    **partition: int,
) -> tuple[Any, ...]:  # fmt: skip
    wanted = FetchPartition(0, fetch_offset=offset, partition_max_bytes=of_partition)
    for name, value in partition.items():
        setattr(wanted, name, value)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=bytes_max,
        topics=[FetchTopic(topic, partitions=[wanted])],
    )  # fmt: skip
    answer = client.ask(request, 12)
    assert not answer.error_code
    data = answer.responses[0].partitions[0]
    return (
        data.error_code, data.high_watermark, data.last_stable_offset, data.log_start_offset,
        len(data.records or b""), data.diverging_epoch, data.current_leader,
        data.aborted_transactions,
    )  # fmt: skip


def end_of_epoch(client: Wire, epoch: int, current: int) -> tuple[int, ...]:
    wanted = OffsetForLeaderTopic("plain", [OffsetForLeaderPartition(0, current, epoch)])
    answer = client.ask(OffsetForLeaderEpochRequest(-2, [wanted]), 4).topics[0].partitions[0]
    return answer.error_code, answer.leader_epoch, answer.end_offset


def deleted(client: Wire, topic: str, offset: int) -> tuple[int, ...]:
    wanted = DeleteRecordsTopic(topic, [DeleteRecordsPartition(0, offset)])
    answer = client.ask(DeleteRecordsRequest([wanted], 1000), 2).topics[0].partitions[0]
    return answer.error_code, answer.low_watermark


def answers(client: Wire) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """What a broker says to each question, with the question."""
    for topic in ("plain", "gzip", "empty"):
        for at in TIMES:
            for isolation in (0, 1):
                label = f"offset of {topic} at {at}, isolation {isolation}"
                yield label, offset_of(client, topic, at, isolation)
    yield "offset of nothing", offset_of(client, "nope", -1)
    yield "offset of no partition", offset_of(client, "plain", -1, number=7)
    for epoch in (0, 5):
        yield f"offset in epoch {epoch}", offset_of(client, "plain", -1, epoch=epoch)
    yield from reads(client, "all")
    yield from impossible(client)
    for epoch in (-1, 0, 1, 5):
        for current in (-1, 0, 1):
            yield f"end of epoch {epoch} in {current}", end_of_epoch(client, epoch, current)
    for topic in ("plain", "empty", "compacted", "nope"):
        for offset in (2, 1, 100, -1, -2, 0):
            yield f"delete of {topic} up to {offset}", deleted(client, topic, offset)
    yield from reads(client, "what is left")
    for at in (-1, -2, -3, -4, TIME):
        yield f"offset at {at} after deletion", offset_of(client, "plain", at)


def reads(client: Wire, label: str) -> Iterator[tuple[str, tuple[Any, ...]]]:
    for offset in (-5, -1, 0, 1, 2, 5, 6, 7, 100):
        yield f"fetch of {label} at {offset}", fetched(client, "plain", offset)
        for epoch in (-1, 0, 7):
            found = fetched(client, "plain", offset, last_fetched_epoch=epoch)
            yield f"fetch of {label} at {offset} after epoch {epoch}", found
    for size in (0, 10, 100):
        yield f"fetch of {size} bytes of {label}", fetched(client, "plain", 0, bytes_max=size)
        found = fetched(client, "plain", 0, of_partition=size)
        yield f"fetch of {size} bytes of a partition of {label}", found
    for epoch in (0, 3):
        found = fetched(client, "plain", 6, current_leader_epoch=epoch)
        yield f"fetch of {label} in epoch {epoch}", found
    yield f"fetch of no partition of {label}", fetched(client, "plain", 0, partition=9)
    yield f"fetch of nothing of {label}", fetched(client, "nope", 0)
    yield f"fetch of what is empty of {label}", fetched(client, "empty", 0)


def everything_at(
    client: Wire, isolation: int, topic: str, version: int, epoch: int, bytes_max: int = 1 << 20
) -> tuple[Any, ...]:
    """A whole answer to a Fetch of two partitions, with or without a session."""
    wanted = [FetchPartition(each, partition_max_bytes=1 << 20) for each in (0, 1)]
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, max_bytes=bytes_max, isolation_level=isolation,
        session_epoch=epoch, topics=[FetchTopic(topic, partitions=wanted)],
    )  # fmt: skip
    answer = client.ask(request, version)
    found = [
        (
            each.topic, data.partition_index, data.error_code, data.high_watermark,
            data.last_stable_offset, data.log_start_offset, len(data.records or b""),
            data.aborted_transactions,
        )
        for each in answer.responses
        for data in each.partitions
    ]  # fmt: skip
    return answer.error_code, answer.session_id == 0, found


def impossible(client: Wire) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """What no client asks for."""
    for isolation in (2, 7, -1, 127):
        for topic in ("plain", "empty", "nope"):
            for version, epoch in ((4, -1), (12, -1), (12, 0)):
                if topic == "nope" and not epoch:
                    continue
                label = f"fetch {version} of {topic} in epoch {epoch}, isolation {isolation}"
                yield label, everything_at(client, isolation, topic, version, epoch)
            for at in (-1, -2, TIME):
                label = f"offset of {topic} at {at}, isolation {isolation}"
                yield label, offset_of(client, topic, at, isolation)
        label = f"offset of no partition, isolation {isolation}"
        yield label, offset_of(client, "plain", -1, isolation, number=9)
    for size in (-1, -5, -(2**31)):
        for topic, offset in (("plain", 0), ("plain", 6), ("plain", 100), ("empty", 0)):
            found = fetched(client, topic, offset, of_partition=size)
            yield f"fetch of {size} bytes of {topic} at {offset}", found
        found = everything_at(client, 0, "plain", 12, -1, bytes_max=size)
        yield f"fetch of {size} bytes", found


def test_the_same_answers(kafka: ApacheKafka) -> None:
    with Up() as broker, broker.connect() as ours, Wire(kafka.port) as theirs:
        prepare(ours)
        prepare(theirs)
        found = list(zip(answers(ours), answers(theirs), strict=True))
        broker.assert_healthy()
    wrong = [f"{ours}, Kafka {theirs[1]}" for ours, theirs in found if ours != theirs]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(found)} differ:", *wrong])
