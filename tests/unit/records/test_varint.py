"""Variable-length integers: known encodings, every boundary, and what no reader may accept."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fencepost_protocol.varint import (
    MAX_UVARINT,
    MAX_VARINT,
    MAX_VARLONG,
    MIN_VARINT,
    MIN_VARLONG,
    read_uvarint,
    read_uvarint_tail,
    read_varint,
    read_varlong,
    uvarint_size,
    varint_size,
    varlong_size,
    write_uvarint,
    write_varint,
    write_varlong,
)

Read = Callable[[bytes, int], tuple[int, int]]
Write = Callable[[bytearray, int], None]
Size = Callable[[int], int]

UNSIGNED: tuple[Read, Write, Size] = (read_uvarint, write_uvarint, uvarint_size)
SIGNED: tuple[Read, Write, Size] = (read_varint, write_varint, varint_size)
LONG: tuple[Read, Write, Size] = (read_varlong, write_varlong, varlong_size)

KNOWN = [
    (UNSIGNED, 0, "00"),
    (UNSIGNED, 127, "7f"),
    (UNSIGNED, 128, "80 01"),
    (UNSIGNED, 300, "ac 02"),
    (UNSIGNED, 16_383, "ff 7f"),
    (UNSIGNED, 16_384, "80 80 01"),
    (UNSIGNED, 2_097_151, "ff ff 7f"),
    (UNSIGNED, 2_097_152, "80 80 80 01"),
    (UNSIGNED, 268_435_455, "ff ff ff 7f"),
    (UNSIGNED, 268_435_456, "80 80 80 80 01"),
    (UNSIGNED, MAX_UVARINT, "ff ff ff ff 0f"),
    (SIGNED, 0, "00"),
    (SIGNED, -1, "01"),
    (SIGNED, 1, "02"),
    (SIGNED, 63, "7e"),
    (SIGNED, -64, "7f"),
    (SIGNED, 64, "80 01"),
    (SIGNED, -65, "81 01"),
    (SIGNED, 8191, "fe 7f"),
    (SIGNED, 8192, "80 80 01"),
    (SIGNED, MAX_VARINT, "fe ff ff ff 0f"),
    (SIGNED, MIN_VARINT, "ff ff ff ff 0f"),
    (LONG, 0, "00"),
    (LONG, -1, "01"),
    (LONG, 64, "80 01"),
    (LONG, -8193, "81 80 01"),
    (LONG, 1_048_575, "fe ff 7f"),
    (LONG, 1_048_576, "80 80 80 01"),
    (LONG, MAX_VARLONG, "fe ff ff ff ff ff ff ff ff 01"),
    (LONG, MIN_VARLONG, "ff ff ff ff ff ff ff ff ff 01"),
]


@pytest.mark.parametrize(("kind", "value", "encoded"), KNOWN)
def test_known_encodings(kind: tuple[Read, Write, Size], value: int, encoded: str) -> None:
    read, write, size = kind
    data = bytes.fromhex(encoded)
    out = bytearray(b"before")
    write(out, value)
    assert out == b"before" + data
    assert size(value) == len(data)
    assert read(b"??" + data + b"\xff", 2) == (value, 2 + len(data))
    for cut in range(len(data)):
        with pytest.raises(IndexError):
            read(data[:cut], 0)


@pytest.mark.parametrize(
    ("kind", "low", "high", "bits"),
    [
        (UNSIGNED, 0, MAX_UVARINT, 32),
        (SIGNED, MIN_VARINT, MAX_VARINT, 32),
        (LONG, MIN_VARLONG, MAX_VARLONG, 64),
    ],
)
def test_every_power_of_two_and_its_neighbours(
    kind: tuple[Read, Write, Size], low: int, high: int, bits: int
) -> None:
    read, write, size = kind
    for exponent in range(bits):
        for value in (1 << exponent, (1 << exponent) - 1, -(1 << exponent), -(1 << exponent) - 1):
            if low <= value <= high:
                out = bytearray()
                write(out, value)
                assert read(bytes(out), 0) == (value, len(out))
                assert size(value) == len(out)
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=str(value)):
            write(bytearray(), value)
        with pytest.raises(ValueError, match=str(value)):
            size(value)


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [
        (UNSIGNED, "ff ff ff ff 10"),
        (UNSIGNED, "80 80 80 80 80 00"),
        (SIGNED, "ff ff ff ff 1f"),
        (SIGNED, "80 80 80 80 80 01"),
        (LONG, "ff ff ff ff ff ff ff ff ff 02"),
        (LONG, "80 80 80 80 80 80 80 80 80 80 00"),
    ],
)
def test_more_bits_or_bytes_than_the_type_has(kind: tuple[Read, Write, Size], encoded: str) -> None:
    with pytest.raises(ValueError, match="bits"):
        kind[0](bytes.fromhex(encoded), 0)


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [(UNSIGNED, "80 80 80 80 00"), (SIGNED, "80 00"), (LONG, "80 80 80 80 80 80 80 80 80 00")],
)
def test_padding_within_the_byte_limit_is_taken(
    kind: tuple[Read, Write, Size], encoded: str
) -> None:
    data = bytes.fromhex(encoded)
    assert kind[0](data, 0) == (0, len(data))


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
def test_the_tail_continues_behind_the_first_byte(make: Callable[[bytes], memoryview]) -> None:
    for kind, value, encoded in KNOWN:
        data = bytes.fromhex(encoded)
        if kind is UNSIGNED and len(data) > 1:
            assert read_uvarint_tail(make(data), 1, data[0]) == (value, len(data))
