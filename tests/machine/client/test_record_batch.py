"""Batches as columns, and what happens to those that cannot be read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from fencepost_client import KafkaError, RecordBatch, TopicPartition
from fencepost_client.consumer.positions import FetchedBatch, Position
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import read_header, renew_crc
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.rewrite import rewrite_batch
from fencepost_protocol.records.spans import read_spans
from fencepost_protocol.records.writer import build_batch

WHERE = TopicPartition("t", 3)


def batch_of(*values: bytes | None, base_offset: int = 0, **options: Any) -> bytearray:
    return build_batch(None, list(values), 1000, base_offset=base_offset, **options)


def standing_at(offset: int, *batches: bytes | bytearray) -> Position:
    position = Position(WHERE)
    position.seek(offset)
    for batch in batches:
        position.add(FetchedBatch(read_header(batch).next_offset, memoryview(batch)))
    return position


def take(position: Position, limit: int = 100) -> list[RecordBatch]:
    out: list[RecordBatch] = []
    taken = position.take_batches(limit, out)
    assert taken == sum(map(len, out))
    return out


def test_columns() -> None:
    built = build_batch(
        [b"k", None, b""], [b"v", b"", None], [1000, 1001, 999], {1: [("h", b"1"), ("h", None)]}
    )
    (batch,) = take(standing_at(0, built))
    assert (batch.topic, batch.partition, len(batch)) == ("t", 3, 3)
    assert list(batch.offsets) == [0, 1, 2]
    assert batch.timestamps_ms == [1000, 1001, 999]
    assert [None if key is None else bytes(key) for key in batch.keys] == [b"k", None, b""]
    assert batch.values.to_list() == [b"v", b"", None]
    assert batch.values[0:1] == [memoryview(b"v")]
    assert batch.values[-1] is None
    assert batch.values[0:2] == [memoryview(b"v"), memoryview(b"")]
    assert batch.has_headers
    assert [list(batch.headers(index)) for index in range(3)] == [
        [],
        [("h", b"1"), ("h", None)],
        [],
    ]
    assert [record.value for record in batch.to_records()] == [b"v", b"", None]
    assert batch.to_records()[1].headers == [("h", b"1"), ("h", None)]
    assert repr(batch) == "<RecordBatch t-3 0-2>"
    with pytest.raises(IndexError):
        batch.headers(3)


def test_values_are_views_of_one_buffer() -> None:
    (batch,) = take(standing_at(0, batch_of(b"one", b"two", codec=Compression.ZSTD)))
    first, second = batch.values
    assert first is not None
    assert second is not None
    assert first.obj is second.obj is batch.values.data


def test_what_is_before_the_position_is_left_out() -> None:
    position = standing_at(4, batch_of(b"3", b"4", b"5", base_offset=3))
    (batch,) = take(position)
    assert list(batch.offsets) == [4, 5]
    assert batch.values.to_list() == [b"4", b"5"]
    assert batch.timestamps_ms == [1000, 1000]
    assert position.offset == 6
    assert position.ahead_bytes == 0


def test_a_batch_with_nothing_left_behind_the_position_is_passed() -> None:
    """Compaction leaves a batch its last offset, whatever it takes out."""
    compacted = rewrite_batch(batch_of(b"a", b"b", b"c"), {0}.__contains__)
    position = standing_at(1, compacted)
    assert take(position) == []
    assert position.offset == 3


def test_headers_of_a_batch_that_is_begun_in_its_middle() -> None:
    built = build_batch(None, [b"a", b"b", b"c"], 1, {0: [("x", b"0")], 2: [("x", b"2")]})
    (batch,) = take(standing_at(1, built))
    assert [list(batch.headers(index)) for index in (0, 1)] == [[], [("x", b"2")]]
    assert list(batch.headers(-1)) == [("x", b"2")]


def test_no_batch_is_begun_behind_the_limit_and_none_is_cut() -> None:
    batches = [batch_of(b"a", b"b", base_offset=offset) for offset in (0, 2, 4)]
    position = standing_at(0, *batches)
    assert [len(batch) for batch in take(position, 3)] == [2, 2]
    assert position.offset == 4
    assert [len(batch) for batch in take(position, 3)] == [2]


def test_records_and_batches_can_be_taken_in_turn() -> None:
    position = standing_at(0, batch_of(b"0", b"1", b"2"), batch_of(b"3", base_offset=3))
    records: list[Any] = []
    position.take(1, records)
    assert [list(batch.offsets) for batch in take(position)] == [[1, 2], [3]]


def broken(base_offset: int) -> bytearray:
    """The CRC is right, the records are not."""
    batch = batch_of(b"0", b"1", base_offset=base_offset)
    batch[-3] ^= 0x40
    renew_crc(batch)
    return batch


@pytest.mark.parametrize("way", ["records", "batches"])
def test_what_cannot_be_read_is_told_behind_what_can(way: str) -> None:
    position = standing_at(0, batch_of(b"0", b"1"), broken(2), batch_of(b"4", base_offset=4))

    def count() -> int:
        if way == "batches":
            return sum(map(len, take(position)))
        records: list[Any] = []
        position.take(100, records)
        return len(records)

    assert count() == 2
    for _ in range(2):
        error, position.error = position.error, None
        assert error is not None
        assert error.code == ErrorCode.CORRUPT_MESSAGE
        assert "t-3 has a batch at or after offset 2" in str(error)
        assert "seek to 4" in str(error)
        assert position.offset == 2
        assert count() == 0, "it is not passed over"
    position.seek(4)
    position.add(FetchedBatch(5, memoryview(batch_of(b"4", base_offset=4))))
    assert count() == 1


@pytest.mark.parametrize("way", ["records", "batches", "encoded"])
def test_a_batch_with_a_wrong_crc_is_fetched_again(way: str) -> None:
    """It may have been damaged on its way."""
    damaged = batch_of(b"2", b"3", base_offset=2)
    damaged[-3] ^= 0x40
    position = standing_at(0, batch_of(b"0", b"1"), damaged, batch_of(b"4", base_offset=4))
    era = position.era
    out: list[Any] = []
    takes: dict[str, Callable[..., object]] = {
        "records": position.take,
        "batches": position.take_batches,
        "encoded": position.take_encoded,
    }
    takes[way](1000, out)
    assert len(out) == (2 if way == "records" else 1)
    assert position.error is not None
    assert "t-3 has a batch at or after offset 2" in str(position.error)
    assert "seek" not in str(position.error), "where it ends is not known"
    assert (position.offset, position.fetch_offset, position.ahead_bytes) == (2, 2, 0)
    assert position.era > era, "answers under way start after it"


def test_headers_that_cannot_be_read_are_told_when_they_are_asked_for() -> None:
    built = build_batch(None, [b"v"], 1, {0: [("name", b"v")]})
    at = built.index(b"name") - 1
    built[at] = 0x7F
    spans = read_spans(built)
    batch = RecordBatch(WHERE, spans)
    assert batch.values.to_list() == [b"v"]
    with pytest.raises(KafkaError, match="t-3 has a batch at or after offset 0"):
        batch.headers(0)


# -- Arrow ----------------------------------------------------------------------------------------


def test_arrow_that_is_missing_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (batch,) = take(standing_at(0, batch_of(b"v")))
    with pytest.raises(ImportError, match=r"pip install 'fencepost\[arrow\]'"):
        batch.to_arrow()


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("keys", [None, [b"k", b"", b"key"], [b"k", None, b"key"]])
def test_arrow(keys: list[bytes | None] | None, first: int) -> None:
    pytest.importorskip("pyarrow")
    built = build_batch(keys, [b"v" * 300, b"", b"w"], [1, 2, 3], {2: [("h", b"1"), ("i", None)]})
    (batch,) = take(standing_at(first, built))
    rows = batch.to_arrow().to_pylist()
    assert [row["offset"] for row in rows] == [0, 1, 2][first:]
    assert [row["timestamp"].timestamp() for row in rows] == [0.001, 0.002, 0.003][first:]
    assert [row["key"] for row in rows] == (keys or [None] * 3)[first:]
    assert [row["value"] for row in rows] == [b"v" * 300, b"", b"w"][first:]
    assert {(row["topic"], row["partition"]) for row in rows} == {("t", 3)}
    headers = [{"key": "h", "value": b"1"}, {"key": "i", "value": None}]
    assert [row["headers"] for row in rows] == [[], [], headers][first:]


def test_all_batches_have_one_arrow_schema() -> None:
    pa = pytest.importorskip("pyarrow")
    batches = take(
        standing_at(
            0,
            batch_of(b"v"),
            batch_of(None, base_offset=1),
            build_batch([b"k"], [b"v"], 1, {0: [("h", b"")]}, base_offset=2),
        )
    )
    table = pa.Table.from_batches([batch.to_arrow() for batch in batches])
    assert table["offset"].to_pylist() == [0, 1, 2]
    table.validate(full=True)
