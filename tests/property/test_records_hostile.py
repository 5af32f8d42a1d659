"""Whatever a peer sends is either read or refused with ``RemoteProtocolError``.

The fuzz targets say what "read" has to mean. Here they get garbage, valid inputs with bytes changed
or cut out, and the numbers that most often break a parser in the places where numbers are.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from fencepost_protocol.records.batch import HEADER_SIZE, renew_crc
from fencepost_protocol.records.compression import Compression, compress
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import fuzz_decompress, fuzz_records

Target = Callable[[bytes], None]

NASTY = [0, 1, 2, 0x7F, 0x80, 0x81, 0xFE, 0xFF]


def mutated(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """A valid input with up to eight changes."""

    @st.composite
    def draw_one(draw: st.DrawFn) -> bytes:
        data = bytearray(draw(st.sampled_from(seeds)))
        for _ in range(draw(st.integers(1, 8))):
            if not data:
                break
            pos = draw(st.integers(0, len(data) - 1))
            match draw(st.integers(0, 4)):
                case 0:
                    data[pos] = draw(st.sampled_from(NASTY))
                case 1:
                    data[pos] ^= 1 << draw(st.integers(0, 7))
                case 2:
                    del data[pos : pos + draw(st.integers(1, 9))]
                case 3:
                    data[pos:pos] = draw(st.binary(min_size=1, max_size=9))
                case _:
                    del data[pos:]
        return bytes(data)

    return draw_one()


@given(mutated(fuzz_records.SEEDS))
def test_changed_batches(data: bytes) -> None:
    fuzz_records.target(data)
    fuzz_records.target(fuzz_records.with_valid_crc(data))


@given(mutated(fuzz_decompress.SEEDS))
def test_changed_compressed_data(data: bytes) -> None:
    fuzz_decompress.target(data)


@given(st.binary(max_size=400))
def test_garbage(data: bytes) -> None:
    fuzz_records.target(data)
    fuzz_decompress.target(data)
    for codec in Compression:
        fuzz_decompress.target(bytes([codec + 5 * 4]) + data)


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
    body = compress(codec, records)
    batch = bytearray(
        struct.pack(
            ">qiibIhiqqqhii",
            5,
            HEADER_SIZE - 12 + len(body),
            0,
            2,
            0,
            attributes - (1 << 16) if attributes >> 15 else attributes,
            count - 1,
            1000,
            2000,
            -1,
            -1,
            -1,
            count,
        )
        + body
    )
    renew_crc(batch)
    fuzz_records.target(bytes(batch))


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
