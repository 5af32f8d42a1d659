"""Batches and records that are odd or damaged."""

from __future__ import annotations

import struct

from fencepost_protocol.records.batch import HEADER_SIZE, renew_crc
from hypothesis import strategies as st

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


def batch_of(body: bytes, count: int, last_offset_delta: int, attributes: int = 0) -> bytes:
    """Any bytes behind a header that is right, as far as headers go."""
    batch = bytearray(
        struct.pack(
            ">qiibIhiqqqhii",
            5,
            HEADER_SIZE - 12 + len(body),
            0,
            2,
            0,
            attributes - (1 << 16) if attributes >> 15 else attributes,
            last_offset_delta,
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
    return bytes(batch)


def encoded(number: int, padding: int) -> bytes:
    """A zigzag number with some needless bytes."""
    number = number * 2 if number >= 0 else -number * 2 - 1
    out = bytearray()
    while number > 0x7F or padding:
        padding -= number <= 0x7F
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


@st.composite
def odd_records(draw: st.DrawFn) -> bytes:
    """A record that may be read, but that is easily read wrong, without its length."""
    paddings = st.sampled_from([0, 0, 0, 1, 2])
    content = st.sampled_from([b"", b"\x00", b"\x02", b"\x04\x80", b"\x81\x00", b"\x02v\x00"])
    body = bytearray([draw(st.sampled_from(NASTY))])
    for number in (st.integers(-2, 70), st.integers(0, 3)):
        body += encoded(draw(number), draw(paddings))
    for _ in ("key", "value"):
        data = draw(content)
        if draw(st.booleans()):
            body += encoded(len(data), draw(paddings)) + data
        else:
            body += encoded(draw(st.integers(-3, -1)), draw(paddings))
    return bytes(body + encoded(draw(st.sampled_from([0, 0, 0, 1, -1])), draw(paddings)))
