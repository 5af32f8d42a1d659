"""Fuzz target: any bytes as the data of each codec.

The first byte picks the codec and a small limit, the rest is the data.
"""

from __future__ import annotations

import struct
import zlib

import cramjam
import zstandard
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.compression import Compression, compress, decompress

LIMITS = [0, 1, 100, 70_000, 1 << 20, 3 << 20]


def target(data: bytes) -> None:
    """Decompress ``data`` with the codec that its first byte picks."""
    if not data:
        return
    codec = Compression(data[0] % len(Compression))
    limit = LIMITS[data[0] // len(Compression) % len(LIMITS)]
    try:
        out = decompress(codec, memoryview(data)[1:], limit)
    except RemoteProtocolError as error:
        _check(error, len(data))
        return
    assert len(out) <= limit
    assert decompress(codec, compress(codec, out), limit) == out


def _check(error: RemoteProtocolError, size: int) -> None:
    assert str(error)
    assert error.offset is None or 0 <= error.offset <= size


def _seeds() -> list[bytes]:
    text = b"".join(b"line %d of %d\n" % (number, number * number) for number in range(300))
    linked = cramjam.lz4.Compressor(level=1, content_checksum=True, block_linked=False)
    linked.compress(text)
    streams: list[tuple[Compression, bytes]] = [
        *((codec, compress(codec, text)) for codec in Compression),
        *((codec, compress(codec, b"") + compress(codec, text)) for codec in Compression),
        *((codec, compress(codec, bytes(200_000))) for codec in Compression),
        (Compression.GZIP, zlib.compress(text, 9, 31) + zlib.compress(bytes(1 << 20), 9, 31)),
        (Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(text))),
        (Compression.LZ4, bytes(linked.finish())),
        (
            Compression.ZSTD,
            zstandard.ZstdCompressor(write_content_size=False, write_checksum=True).compress(text)
            + struct.pack("<II", 0x184D2A50, 4)
            + b"skip",
        ),
    ]
    return [
        bytes([codec + len(Compression) * choice]) + packed
        for codec, packed in streams
        for choice in (1, 4)
    ]


SEEDS: list[bytes] = _seeds()
