"""Whatever a peer sends is either read or refused with ``RemoteProtocolError``.

The fuzz targets say what "read" has to mean. Here they get garbage, valid inputs with bytes changed
or cut out, and the numbers that most often break a parser in the places where numbers are.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fencepost_protocol.records.compression import Compression, compress
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import fuzz_decompress, fuzz_records
from tests.support.odd_records import NASTY, batch_of, encoded, mutated, odd_records

Target = Callable[[bytes], None]

unhurried = settings(deadline=None)


@unhurried
@given(mutated(fuzz_records.SEEDS))
def test_changed_batches(data: bytes) -> None:
    fuzz_records.target(data)
    fuzz_records.target(fuzz_records.with_valid_crc(data))


@unhurried
@given(mutated(fuzz_decompress.SEEDS))
def test_changed_compressed_data(data: bytes) -> None:
    fuzz_decompress.target(data)


@unhurried
@given(st.binary(max_size=400))
def test_garbage(data: bytes) -> None:
    fuzz_records.target(data)
    fuzz_decompress.target(data)
    for codec in Compression:
        fuzz_decompress.target(bytes([codec + 5 * 4]) + data)


@unhurried
@given(
    st.binary(max_size=300),
    st.integers(-3, 60),
    st.sampled_from(Compression),
    st.integers(0, 2**16 - 1),
)
def test_garbage_behind_a_valid_header(
    records: bytes, count: int, codec: Compression, attributes: int
) -> None:
    """Garbage rarely gets past the header; here it begins behind it."""
    attributes = attributes & 0xFFF8 | codec
    fuzz_records.target(batch_of(compress(codec, records), count, count - 1, attributes))


@settings(max_examples=400, deadline=None)
@given(odd_records(), odd_records(), st.integers(32, 130), st.integers(0, 130), st.booleans())
def test_many_odd_records_of_one_size(
    usual: bytes, other: bytes, count: int, at: int, once: bool
) -> None:
    """What one reader takes one by one, the other takes many at once; they have to agree."""
    size = max(len(usual), len(other))
    alike = [encoded(size, 0) + body.ljust(size, b"\x00") for body in (usual, other)]
    records = [alike[index == at if once else index >= at] for index in range(count)]
    fuzz_records.target(batch_of(b"".join(records), count, 200))


ALIKE = {
    "numbers of one byte": b"\x00\x02\x02\x06key\x04vv\x00",
    "times and offsets of two bytes, no key": b"\x00\x82\x01\x82\x01\x01\x04vv\x00",
    "no value": b"\x00\x02\x82\x01\x02k\x01\x00",
    "lengths of two bytes": (
        b"\x00\x82\x01\x02\x80\x01" + b"k" * 64 + b"\x80\x01" + b"v" * 64 + b"\x00"
    ),
}


@pytest.mark.parametrize("body", ALIKE.values(), ids=ALIKE.keys())
def test_a_byte_changed_in_one_of_many_alike_or_in_all_from_there(body: bytes) -> None:
    alike = encoded(len(body), 0) + body
    count = 120
    fuzz_records.target(batch_of(alike * count, count, 200))
    places = [pos for pos in range(len(alike)) if pos < 14 or len(alike) - pos < 3 or 69 < pos < 74]
    for pos in places:
        for byte in {*NASTY, *range(3, 12), alike[pos] ^ 2}:
            changed = alike[:pos] + bytes([byte]) + alike[pos + 1 :]
            for at in (32, 90):
                several = [alike] * count
                several[at] = changed
                fuzz_records.target(batch_of(b"".join(several), count, 200))
                several[at:] = [changed] * (count - at)
                fuzz_records.target(batch_of(b"".join(several), count, 200))


@pytest.mark.parametrize("module", [fuzz_records, fuzz_decompress], ids=["records", "decompress"])
def test_every_byte_of_every_seed(module: object) -> None:
    """Each byte in turn becomes each of the nasty ones; each seed ends at each byte."""
    target: Target = module.target  # type: ignore[attr-defined]
    seeds: list[bytes] = module.SEEDS  # type: ignore[attr-defined]
    for seed in seeds:
        target(seed)
        for pos in range(min(len(seed), 150)):
            target(seed[:pos])
            for byte in NASTY:
                changed = bytearray(seed)
                changed[pos] = byte
                target(bytes(changed))
