"""Columns hold what the protocol's reader gives record by record, and refuse what it refuses."""

from __future__ import annotations

import pytest
from fencepost_pipeline.columns import RECORD_SCHEMA, decode, decoding, iter_decode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import InvalidBatchError
from fencepost_protocol.records.compression import Compression, compress
from fencepost_protocol.records.control import build_end_txn_marker
from fencepost_protocol.records.writer import BatchOptions, build_batch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import fuzz_records
from tests.pipeline.harness import batches, read_one_by_one
from tests.support.odd_records import batch_of, mutated, odd_records
from tests.support.odd_records import encoded as varint

unhurried = settings(deadline=None)


@settings(max_examples=40, deadline=None)
@given(st.lists(batches(), max_size=8), st.booleans())
def test_random_batches(some: list[bytes], control: bool) -> None:
    table = decode(some, control=control)
    table.validate(full=True)
    assert table.schema.equals(RECORD_SCHEMA)
    assert table.to_pylist() == read_one_by_one(some, control=control)


@pytest.mark.parametrize("count", [1, 159, 160, 161, 400])
def test_many_batches_are_walked_side_by_side(count: int) -> None:
    """Beyond some number of batches the walk goes another way, and back as they end."""
    some = [
        bytes(build_batch(None, [bytes(i % 7 * 40)] * (1 + i % 9), 1000 + i)) for i in range(count)
    ]
    assert decode(some).to_pylist() == read_one_by_one(some)


def test_a_batch_of_more_records_than_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "ROWS_MAX", 100)
    monkeypatch.setattr(decoding, "BYTES_MAX", 4000)
    some = [
        bytes(build_batch(None, [bytes(i % 90) for i in range(n)], 5)) for n in (250, 3, 3, 260)
    ]
    parts = list(iter_decode(some))
    assert max(part.num_rows for part in parts) <= 100
    assert max(part.nbytes for part in parts) < 10_000
    assert [row for part in parts for row in part.to_pylist()] == read_one_by_one(some)


def test_control_batches_are_shown_when_asked_for() -> None:
    marker = build_end_txn_marker(
        committed=True, producer_id=7, producer_epoch=1, coordinator_epoch=3, timestamp_ms=9
    )
    assert decode([marker]).num_rows == 0
    shown = decode([marker], control=True).to_pylist()
    assert shown == read_one_by_one([marker])
    assert shown[0]["control"]


def test_only_wanted_columns_are_made() -> None:
    batch = build_batch([b"k"], [b"v"], 7)
    (part,) = iter_decode([batch], columns={"offset", "value"})
    assert part.to_pylist() == [{"offset": 0, "value": b"v"}]


def test_a_header_key_that_is_no_text_comes_with_replacement_characters() -> None:
    record = b"\0\0\0\1\1" + b"\2" + b"\4k\xff" + b"\1"
    batch = batch_of(bytes([len(record) << 1]) + record, 1, 0)
    assert decode([batch])["headers"].to_pylist() == [[{"key": "k\ufffd", "value": None}]]


def test_a_record_with_very_many_headers() -> None:
    headers = [(str(number), None if number % 3 else b"v" * (number % 5)) for number in range(1000)]
    batch = build_batch(None, [b"a", b"b", b"c"], 7, {1: headers, 2: headers[:3]})
    assert decode([batch]).to_pylist() == read_one_by_one([batch])


# --- what is refused --------------------------------------------------------------------------


def agree(some: list[bytes]) -> None:
    """The reader of single records and the columns refuse or take the same."""
    try:
        expected = read_one_by_one(some)
    except RemoteProtocolError:
        with pytest.raises(RemoteProtocolError):
            decode(some, control=True)
    else:
        assert decode(some, control=True).to_pylist() == expected


@unhurried
@given(mutated(fuzz_records.SEEDS), st.integers(1, 3))
def test_changed_batches(data: bytes, times: int) -> None:
    agree([data] * times)


@unhurried
@given(st.binary(max_size=300), st.integers(-3, 60), st.sampled_from(Compression))
def test_garbage_behind_a_valid_header(records: bytes, count: int, codec: Compression) -> None:
    agree([batch_of(compress(codec, records), count, max(count - 1, 0), int(codec))])


@settings(max_examples=100, deadline=None)
@given(st.lists(odd_records(), min_size=1, max_size=8))
def test_odd_records(records: list[bytes]) -> None:
    body = b"".join(varint(len(record), 0) + record for record in records)
    agree([batch_of(body, len(records), 3)])


@settings(max_examples=20, deadline=None)
@given(odd_records())
def test_odd_records_side_by_side(record: bytes) -> None:
    body = varint(len(record), 0) + record
    agree([batch_of(body * 2, 2, 3)] * 165)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_changed_byte_among_many_batches(data: st.DataObject) -> None:
    good = bytes(build_batch([b"k"] * 6, [bytes(70)] * 6, 5, {2: [("h", b"x")]}))
    some = [good] * 170
    place = data.draw(st.integers(0, 169))
    changed = bytearray(good)
    changed[data.draw(st.integers(61, len(good) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    some[place] = bytes(changed)
    agree(some)


def test_a_batch_that_is_not_right_is_told_of_and_left_out() -> None:
    good = [bytes(build_batch(None, [b"v%d" % i] * 3, 5, base_offset=3 * i)) for i in range(5)]
    too_few, bad_record, bad_header = bytearray(good[1]), bytearray(good[2]), bytearray(good[3])
    too_few[60] = 2
    bad_record[61 + 4] = 0x7E
    bad_header[16] = 1
    some = [good[0], bytes(too_few), bytes(bad_record), bytes(bad_header), good[4]]
    told: list[tuple[int, InvalidBatchError]] = []
    parts = list(iter_decode(some, on_error=lambda *what: told.append(what)))
    assert [row for part in parts for row in part.to_pylist()] == read_one_by_one(
        [good[0], good[4]]
    )
    assert sorted(number for number, _ in told) == [1, 2, 3]
    for number, error in told:
        with pytest.raises(InvalidBatchError) as of_reader:
            read_one_by_one([some[number]])
        assert str(error) == str(of_reader.value)


def test_a_record_count_that_the_bytes_cannot_hold_takes_no_memory() -> None:
    batch = batch_of(compress(Compression.GZIP, b"x" * 100), 2**31 - 1, 2**31 - 2, 1)
    with pytest.raises(InvalidBatchError, match="cannot hold 2147483647 records"):
        decode([batch])


def test_a_bomb_is_refused() -> None:
    batch = batch_of(compress(Compression.GZIP, bytes(10_000_000)), 1, 0, 1)
    with pytest.raises(RemoteProtocolError, match="more than"):
        decode([batch], limit=1_000_000)


def test_options_of_batches_are_columns() -> None:
    options: BatchOptions = {"producer_id": 5, "producer_epoch": 2, "base_sequence": 2**31 - 1}
    batch = build_batch(None, [b"a", b"b"], 1, **options)
    assert decode([batch])["sequence"].to_pylist() == [2**31 - 1, 0]
