"""The internal logs as typed columns, from records that were encoded by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fencepost_pipeline.segments import (
    Problem,
    ProblemKind,
    Slice,
    list_segments,
    read_groups,
    read_metadata,
    read_offsets,
    read_problems,
    read_transactions,
)
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.generated.topic_record import TopicRecord
from fencepost_protocol.generated.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from fencepost_protocol.records.writer import build_batch
from fencepost_protocol.varint import write_uvarint

from tests.pipeline.harness import OFFSETS, Pair, coordinator
from tests.pipeline.logs import write_segment


def metadata(message: Message, version: int) -> Pair:
    out = bytearray()
    for number in (1, message.RECORD_TYPE, version):  # type: ignore[attr-defined]
        write_uvarint(out, number)
    message.encode(version, out)
    return None, bytes(out)


def read(tmp_path: Path, folder: str, pairs: list[Pair], reader: Any) -> Any:
    """The rows of a log with these records, and what was told."""
    keys, values = zip(*pairs, strict=True)
    write_segment(tmp_path, [bytes(build_batch(keys, values, 77))], folder=folder)
    (segment,) = list_segments([tmp_path])
    problems: list[Problem] = []
    rows: list[dict[str, Any]] = []
    for some in reader(Slice(segment, 0, segment.size), on_problem=problems.append):
        rows += some.to_pylist()
    return rows, problems


def test_transactions(tmp_path: Path) -> None:
    key = TransactionLogKey("billing-1")
    value = TransactionLogValue(
        producer_id=5,
        previous_producer_id=4,
        producer_epoch=2,
        transaction_timeout_ms=60_000,
        transaction_status=2,
        transaction_partitions=[PartitionsSchema("orders", [0, 2])],
        transaction_last_update_timestamp_ms=99,
        transaction_start_timestamp_ms=98,
        client_transaction_version=2,
    )
    pairs = [coordinator(key, value, 1), coordinator(key, None)]
    (row, deleted), problems = read(tmp_path, "__transaction_state-7", pairs, read_transactions)
    assert problems == []
    assert row == {
        "partition": 7,
        "offset": 0,
        "timestamp": 77,
        "transactional_id": "billing-1",
        "state": "PrepareCommit",
        "producer_id": 5,
        "producer_epoch": 2,
        "previous_producer_id": 4,
        "next_producer_id": -1,
        "next_producer_epoch": -1,
        "timeout_ms": 60_000,
        "partitions": [{"topic": "orders", "partition_ids": [0, 2]}],
        "updated_ms": 99,
        "started_ms": 98,
        "client_transaction_version": 2,
        "version": 1,
    }
    assert {name for name, field in deleted.items() if field is not None} == {
        "partition",
        "offset",
        "timestamp",
        "transactional_id",
    }


def test_offsets(tmp_path: Path) -> None:
    rows, problems = read(tmp_path, "__consumer_offsets-9", OFFSETS, read_offsets)
    assert problems == []
    assert [row["offset"] for row in rows] == [0, 1, 2]
    new, deleted, old = rows
    assert (new["group"], new["committed_topic"], new["committed_partition"]) == ("g", "orders", 3)
    assert (new["committed_offset"], new["committed_leader_epoch"]) == (42, 6)
    assert (new["metadata"], new["commit_timestamp"], new["version"]) == ("note", 1234, 4)
    assert new["committed_topic_id"] == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert (deleted["committed_partition"], deleted["committed_offset"]) == (3, None)
    assert (old["group"], old["committed_offset"], old["committed_topic_id"]) == ("old", 7, None)


def test_groups(tmp_path: Path) -> None:
    (row, deleted), problems = read(tmp_path, "__consumer_offsets-9", OFFSETS, read_groups)
    assert problems == []
    assert (row["group"], row["generation"], row["leader"], row["offset"]) == ("g", 4, "m1", 3)
    assert row["members"][0]["client_host"] == "/h"
    assert row["members"][0]["subscription"] == b"s"
    assert (deleted["group"], deleted["generation"]) == ("g", None)


def test_metadata(tmp_path: Path) -> None:
    pairs = [
        metadata(TopicRecord("orders", bytes(15) + b"\1"), 0),
        metadata(ProducerIdsRecord(1, 20, 5000), 0),
    ]
    (topic, block), problems = read(tmp_path, "__cluster_metadata-0", pairs, read_metadata)
    assert problems == []
    assert (topic["type"], topic["name"]) == ("TopicRecord", "orders")
    assert topic["topic_id"] == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert json.loads(topic["fields"]) == {"name": "orders", "topic_id": topic["topic_id"]}
    assert (
        block["type"],
        block["broker_id"],
        block["broker_epoch"],
        block["next_producer_id"],
    ) == (
        "ProducerIdsRecord",
        1,
        20,
        5000,
    )


@pytest.mark.parametrize(
    ("folder", "reader", "bad", "words"),
    [
        ("__transaction_state-0", read_transactions, (b"\0\0\0\5ab", b""), "TransactionLogKey"),
        ("__transaction_state-0", read_transactions, (None, b""), "without a key"),
        ("__transaction_state-0", read_transactions, (b"\0", b""), "a key of 1 bytes"),
        ("__consumer_offsets-0", read_offsets, (OFFSETS[0][0], b"\0\x63"), "OffsetCommitValue"),
        ("__consumer_offsets-0", read_groups, (OFFSETS[3][0], b""), "a value of 0 bytes"),
        ("__cluster_metadata-0", read_metadata, (None, b"\1"), "are no metadata record"),
        ("__cluster_metadata-0", read_metadata, (None, b"\2\0\0"), "frame version 2"),
        ("__cluster_metadata-0", read_metadata, (None, b"\1\x7f\0"), "type 127 is not known"),
        ("__cluster_metadata-0", read_metadata, (None, None), "without a value"),
    ],
)
def test_a_record_that_cannot_be_read_is_told(
    tmp_path: Path, folder: str, reader: Any, bad: Pair, words: str
) -> None:
    rows, (problem,) = read(tmp_path, folder, [bad], reader)
    assert rows == []
    assert (problem.kind, problem.offset) == (ProblemKind.CORRUPT, 0)
    assert words in problem.reason


def test_problems_are_a_table(tmp_path: Path) -> None:
    good = bytes(build_batch(None, [b"v"], 1))
    path = write_segment(tmp_path, [good, good[:-1] + b"\1", good[:30]])
    (segment,) = list_segments([tmp_path])
    rows = [
        row for some in read_problems(Slice(segment, 0, segment.size)) for row in some.to_pylist()
    ]
    assert [(row["kind"], row["position"]) for row in rows] == [
        ("corrupt", len(good)),
        ("torn tail", 2 * len(good)),
    ]
    assert {row["segment"] for row in rows} == {str(path)}
