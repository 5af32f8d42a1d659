"""Following records without reading them: the reader is the witness."""

from __future__ import annotations

import pytest
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import HEADER_SIZE, InvalidBatchError, read_header
from fencepost_protocol.records.checking import check_count, largest_timestamp_delta
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.odd_records import mutated

SIZES = st.sampled_from([0, 1, 62, 63, 64, 65, 127, 128, 8190, 8200])
pieces = st.none() | st.binary(max_size=3) | SIZES.map(bytes)


@st.composite
def batches(draw: st.DrawFn) -> bytes:
    count = draw(st.integers(1, 12))
    keys = draw(st.lists(pieces, min_size=count, max_size=count))
    values = draw(st.lists(pieces, min_size=count, max_size=count))
    times = [10_000, 10_063, 10_064, 9_936, 9_935, 18_191, 18_192, 1 << 40]
    stamps = draw(st.lists(st.sampled_from(times), min_size=count, max_size=count))
    with_headers = draw(st.sets(st.integers(0, count - 1)))
    headers = {index: [("k", b"v"), ("n", None)] for index in with_headers}
    return bytes(build_batch(keys, values, stamps, headers))


def by_reading(batch: bytes) -> int | None:
    """What the reader makes of it; ``None`` when the records are not right."""
    base = read_header(batch).base_timestamp
    try:
        records = list(iter_records(batch))
    except RemoteProtocolError:
        return None
    if [record.offset for record in records] != list(range(len(records))):
        return None
    return max(record.timestamp for record in records) - base


def by_following(batch: bytes) -> int | None:
    header = read_header(batch)
    try:
        # A view of the whole buffer is how a broker asks.
        return largest_timestamp_delta(memoryview(batch), HEADER_SIZE, header.record_count)
    except InvalidBatchError:
        return None


@settings(deadline=None)
@given(batches())
def test_right_records_are_followed_to_the_end(batch: bytes) -> None:
    assert by_following(batch) == by_reading(batch) is not None


@settings(deadline=None, max_examples=150)
@given(st.data(), batches())
def test_wrong_records_are_refused_as_the_reader_refuses_them(
    data: st.DataObject, batch: bytes
) -> None:
    body = data.draw(mutated([batch[HEADER_SIZE:]]))
    changed = bytearray(batch[:HEADER_SIZE] + body)
    changed[8:12] = (len(changed) - 12).to_bytes(4, "big")
    assert by_following(bytes(changed)) == by_reading(bytes(changed))


def test_an_error_says_where_it_is() -> None:
    batch = build_batch(None, [b"a", b"b"], 5) + b"!"
    with pytest.raises(InvalidBatchError, match="1 bytes are left behind the last record") as told:
        largest_timestamp_delta(batch, HEADER_SIZE, 2)
    assert told.value.offset == len(batch) - 1


@given(batches(), st.data())
@settings(max_examples=300)
def test_records_are_counted_as_the_reader_counts_them(batch: bytes, data: st.DataObject) -> None:
    count = read_header(batch).record_count
    claimed = data.draw(st.integers(0, count + 3))
    if claimed == count:
        check_count(memoryview(batch)[HEADER_SIZE:], claimed)
    else:
        with pytest.raises(InvalidBatchError):
            check_count(memoryview(batch)[HEADER_SIZE:], claimed)
    cut = data.draw(st.integers(1, len(batch) - HEADER_SIZE))
    with pytest.raises(InvalidBatchError):
        check_count(memoryview(batch)[HEADER_SIZE : len(batch) - cut], count)
