"""Small batches with records of one size: read by one call, and no other batch is taken for one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import HEADER_SIZE
from fencepost_protocol.records.regular import read_regular
from fencepost_protocol.records.writer import build_batch

from tests.unit.records.readers import Plain, by_columns, by_spans, one_by_one

BASE_MS = 1_700_000_000_000
SIZES = [
    (None, b"value"),
    (None, None),
    (b"", b""),
    (b"k", None),
    (b"key", bytes(62)),
    (b"key", bytes(300)),
]


def built(key: bytes | None, value: bytes | None, count: int = 5) -> bytes:
    times = [BASE_MS + number % 3 for number in range(count)]
    return bytes(build_batch([key] * count, [value] * count, times, {}))


def outcome(read: Callable[[bytes], list[Plain]], batch: bytes) -> list[Plain] | str:
    try:
        return read(batch)
    except RemoteProtocolError:
        return "refused"


@pytest.mark.parametrize(("key", "value"), SIZES)
@pytest.mark.parametrize("count", [1, 2, 64])
def test_records_of_one_size(key: bytes | None, value: bytes | None, count: int) -> None:
    batch = built(key, value, count)
    assert read_regular(batch, count) is not None
    assert by_columns(batch) == one_by_one(batch)
    assert by_columns(batch)[0] == (0, BASE_MS, key, value, [])


@pytest.mark.parametrize(("key", "value"), SIZES)
def test_a_byte_that_is_different_is_noticed(key: bytes | None, value: bytes | None) -> None:
    batch = bytearray(built(key, value))
    for place in range(HEADER_SIZE, len(batch)):
        was = batch[place]
        for byte in {0, 1, 2, 3, 0x7F, 0x80, 0xFF, was ^ 1, was ^ 2, was ^ 0x80}:
            batch[place] = byte
            changed = bytes(batch)
            assert outcome(by_columns, changed) == outcome(one_by_one, changed), (place, byte)
        batch[place] = was


def test_a_batch_as_long_as_the_last_one_may_have_another_form() -> None:
    """The form of the last batch of a length is tried first."""
    alike = [(None, bytes(20)), (b"ab", bytes(18)), (b"", bytes(20)), (b"abcd", bytes(16))]
    batches = [built(key, value) for key, value in alike]
    assert len(set(map(len, batches))) == 1
    for _ in range(2):
        for (key, value), batch in zip(alike, batches, strict=True):
            assert by_columns(batch) == by_spans(batch) == one_by_one(batch)
            assert by_columns(batch)[0] == (0, BASE_MS, key, value, [])


def test_a_null_value_may_have_a_length_of_two_bytes() -> None:
    batch = bytes(built(None, b"v")).replace(b"\x02v", b"\x81\x00")
    assert by_columns(batch) == one_by_one(batch)
    assert by_columns(batch)[0] == (0, BASE_MS, None, None, [])


def test_others_are_for_other_readers() -> None:
    assert read_regular(built(None, b"value", 65), 65) is None
    assert read_regular(built(None, b"value"), 4) is None
    assert read_regular(built(bytes(64), b"value"), 5) is None
    late = build_batch(None, [b"value"] * 2, [BASE_MS, BASE_MS + 64], {})
    assert read_regular(bytes(late), 2) is None
    assert by_columns(bytes(late)) == one_by_one(bytes(late))
    various = build_batch(None, [b"1", b"22", b"333"], [BASE_MS] * 3, {})
    assert read_regular(bytes(various), 3) is None
