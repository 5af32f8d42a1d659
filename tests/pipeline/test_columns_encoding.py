"""Batches of columns are, uncompressed, those of the protocol's writer byte for byte."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from fencepost_pipeline.columns import HEADERS_TYPE, decode, encode, encoding, iter_encode
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.records.batch import compute_crc, read_header
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch
from hypothesis import given, settings
from hypothesis import strategies as st

Row = tuple[bytes | None, bytes | None, int, list[tuple[str, bytes | None]] | None]

SKIPPED: Row = (b"skipped", b"", 0, [("h", b"")])

content = st.none() | st.binary(max_size=20) | st.integers(60, 9000).map(bytes)
rows_of = st.lists(
    st.tuples(
        content,
        content,
        st.sampled_from([-1, 0, 5, 1000, 1 << 41, (1 << 62) - 1]),
        st.none() | st.lists(st.tuples(st.text(max_size=3), content), max_size=3),
    ),
    min_size=1,
    max_size=200,
)


def table_of(rows: list[Row]) -> pa.Table:
    keys, values, times, headers = zip(*rows, strict=True)
    pairs = [
        None if some is None else [{"key": key, "value": value} for key, value in some]
        for some in headers
    ]
    return pa.table(
        {
            "key": pa.array(keys, pa.binary()),
            "value": pa.array(values, pa.binary()),
            "timestamp": pa.array(times, pa.int64()),
            "headers": pa.array(pairs, HEADERS_TYPE),
        }
    )


def written(rows: list[Row], **options: Any) -> bytes:
    keys, values, times, headers = zip(*rows, strict=True)
    some = {place: pairs for place, pairs in enumerate(headers) if pairs}
    return bytes(build_batch(keys, values, times, some, **options))


@settings(max_examples=40, deadline=None)
@given(rows_of, st.integers(0, 5))
def test_bytes_are_those_of_the_writer(rows: list[Row], skipped: int) -> None:
    table = table_of([SKIPPED] * skipped + rows).slice(skipped)
    batches = encode(table, max_batch_bytes=1 << 30)
    assert [bytes(batch) for batch in batches] == [written(rows)]


@settings(max_examples=40, deadline=None)
@given(rows_of, st.sampled_from(Compression), st.integers(100, 20_000))
def test_what_was_encoded_is_decoded(rows: list[Row], codec: Compression, most: int) -> None:
    batches = encode(table_of(rows), max_batch_bytes=most, codec=codec)
    for batch in batches:
        header = read_header(batch)
        assert header.codec == codec
        assert header.crc == compute_crc(batch)
        assert codec or len(batch) <= most or header.record_count == 1
    again = decode(batches).select(["key", "value", "timestamp", "headers"])
    expected = [{**row, "headers": row["headers"] or None} for row in table_of(rows).to_pylist()]
    assert again.to_pylist() == expected


def test_sequences_and_offsets_go_on_from_batch_to_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "ROWS_MAX", 7)
    rows = pa.table({"value": [bytes(50)] * 20})
    batches = list(
        iter_encode(
            rows,
            max_batch_bytes=300,
            timestamp_ms=7,
            producer_id=1,
            producer_epoch=0,
            base_sequence=2**31 - 2,
            transactional=True,
        )
    )
    again = decode([batch for batch, _ in batches])
    assert sum(count for _, count in batches) == 20
    assert again["offset"].to_pylist() == list(range(20))
    assert again["sequence"].to_pylist() == [2**31 - 2, 2**31 - 1, *range(18)]
    assert again["transactional"].to_pylist() == [True] * 20
    assert set(again["timestamp"].to_pylist()) == {7}


def test_text_and_times_are_written_too() -> None:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    rows = pa.table(
        {
            "key": pa.array(["k"], pa.string()),
            "value": pa.array(["v"], pa.large_string()),
            "timestamp": pa.array([at], pa.timestamp("us", "UTC")),
        }
    )
    (row,) = decode(encode(rows)).to_pylist()
    assert (row["key"], row["value"], row["timestamp"]) == (
        b"k",
        b"v",
        int(at.timestamp() * 1000),
    )


def test_no_rows_are_no_batches() -> None:
    assert encode(pa.table({"value": pa.array([], pa.binary())})) == []


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"value": pa.array([1])}, "column 'value' is int64"),
        ({"value": [b"v"], "timestamp": ["noon"]}, "column 'timestamp' is string"),
        ({"value": [b"v"], "timestamp": [-2]}, "-2 is no timestamp"),
        ({"value": [b"v"], "headers": ["h"]}, "column 'headers' is string"),
        (
            {"value": [b"v"], "headers": pa.array([[{"key": None, "value": b""}]], HEADERS_TYPE)},
            "a header without a key",
        ),
    ],
)
def test_columns_that_cannot_be_written(column: dict[str, Any], words: str) -> None:
    with pytest.raises(LocalProtocolError, match=words):
        encode(pa.table(column))
