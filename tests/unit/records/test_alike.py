"""Records that are laid out alike, which are taken many at once, and odd ones among them."""

from __future__ import annotations

import pytest
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import HEADER_SIZE, InvalidBatchError

from tests.unit.records.readers import READERS, Headers, Plain, Reader, batch_of, both, record

ODD_ONES: list[tuple[str, int, bytes | None, bytes | None, Headers]] = [
    ("other key", 7, b"odd", b"value", []),
    ("other value", 7, b"key", b"odd__", []),
    ("sizes exchanged", 7, b"value", b"key", []),
    ("null key", 7, None, b"keyvalue", []),
    ("null value", 7, b"keyvalue", None, []),
    ("longer value", 7, b"key", b"longer value", []),
    ("value of two length bytes", 7, b"key", bytes(64), []),
    ("headers in the same size", 7, b"key", b"v", [("h", b"v")]),
    ("headers", 7, b"key", b"value", [("h", b"v")]),
    ("time of two bytes", 99, b"key", b"value", []),
    ("time of two bytes in the same size", 99, b"key", b"valu", []),
    ("time of nine bytes", 1 << 60, b"key", b"value", []),
]


@both
@pytest.mark.parametrize(
    ("time", "key", "value", "headers"), [odd[1:] for odd in ODD_ONES], ids=[o[0] for o in ODD_ONES]
)
def test_one_record_that_differs_among_many_alike(
    read: Reader, time: int, key: bytes | None, value: bytes | None, headers: Headers
) -> None:
    """Wherever it stands: records of one shape are taken many at once."""
    usual: list[Plain] = [(number, 1007, b"key", b"value", []) for number in range(400)]
    encoded = [record(number, 7, b"key", b"value") for number in range(400)]
    for at in (0, 1, 31, 32, 33, 63, 64, 95, 96, 97, 128, 129, 200, 223, 224, 225, 300, 398, 399):
        expected = usual.copy()
        expected[at] = (at, 1000 + time, key, value, headers)
        records = encoded.copy()
        records[at] = record(at, time, key, value, headers)
        assert read(batch_of(b"".join(records), 400)) == expected


@both
@pytest.mark.parametrize(
    ("time", "key", "value", "headers"), [odd[1:] for odd in ODD_ONES], ids=[o[0] for o in ODD_ONES]
)
def test_one_record_that_differs_among_a_few_alike(
    read: Reader, time: int, key: bytes | None, value: bytes | None, headers: Headers
) -> None:
    """These are compared as a whole."""
    for at in (0, 1, 10, 18, 19):
        expected: list[Plain] = [(number, 1007, b"key", b"value", []) for number in range(20)]
        expected[at] = (at, 1000 + time, key, value, headers)
        records = [record(number, 7, b"key", b"value") for number in range(20)]
        records[at] = record(at, time, key, value, headers)
        assert read(batch_of(b"".join(records), 20)) == expected


@pytest.mark.parametrize("key", [None, b"", b"k"])
@pytest.mark.parametrize("value", [None, b"", b"v", bytes(62)], ids=["null", "empty", "1", "62"])
@pytest.mark.parametrize("time", [3, 300])
def test_whatever_byte_is_changed_readers_agree(
    key: bytes | None, value: bytes | None, time: int
) -> None:
    whole = batch_of(b"".join(record(delta, time, key, value) for delta in range(5)), 5)
    for at in range(HEADER_SIZE, len(whole)):
        for flipped in (0x01, 0x02, 0x7F, 0x80, 0xFF):
            changed = bytearray(whole)
            changed[at] ^= flipped
            outcomes = [outcome(read, bytes(changed)) for read in READERS]
            assert outcomes[0] == outcomes[1] == outcomes[2], f"byte {at} ^ {flipped}"


def outcome(read: Reader, batch: bytes) -> list[Plain] | None:
    try:
        return read(batch)
    except RemoteProtocolError:
        return None


@both
@pytest.mark.parametrize("size", [0, 1, 60, 70, 9000])
@pytest.mark.parametrize("key", [None, b"", b"key", bytes(64)])
def test_many_alike(read: Reader, size: int, key: bytes | None) -> None:
    """With offset deltas of one, two and three bytes, and gaps between them."""
    for step, count in ((1, 150), (1, 31), (1, 32), (1, 64), (1, 65), (70, 200), (9000, 100)):
        expected: list[Plain] = [
            (delta, 1000 + delta % 60, key, bytes([delta % 256]) * size, [])
            for delta in range(0, count * step, step)
        ]
        records = b"".join(
            record(offset, time - 1000, key, value) for offset, time, key, value, _ in expected
        )
        batch = batch_of(records, count, last_delta=count * step)
        assert read(batch) == expected
        if not size:
            continue
        # A count that lies, which only shows at the end of what is alike.
        for lie in (count - 1, count + 1, count + 40):
            with pytest.raises(InvalidBatchError):
                read(batch_of(records, lie, last_delta=count * step))
