"""The codecs: framing, round trips, foreign streams, garbage and bombs."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable

import cramjam
import pytest
import zstandard
from fencepost_protocol import limits
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.records.compression import Compression, compress, decompress

GZIP, SNAPPY, LZ4, ZSTD = (
    Compression.GZIP,
    Compression.SNAPPY,
    Compression.LZ4,
    Compression.ZSTD,
)
CODECS = [GZIP, SNAPPY, LZ4, ZSTD]

TEXT = b"".join(b"user-%d clicked %d;" % (i % 97, i * i) for i in range(12_000))
NOISE = random.Random(1).randbytes(200_000)
ZEROS = bytes(3 << 20)
SIZES = [0, 1, 7, 300, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 131_073, 200_000]


@pytest.mark.parametrize("codec", Compression)
@pytest.mark.parametrize("source", [TEXT, NOISE, ZEROS], ids=["text", "noise", "zeros"])
def test_round_trip(codec: Compression, source: bytes) -> None:
    for size in (*SIZES, len(source)):
        data = source[:size]
        packed = compress(codec, data)
        assert isinstance(packed, bytes)
        assert decompress(codec, packed) == data
        assert decompress(codec, memoryview(b"x" + packed)[1:]) == data
        assert decompress(codec, compress(codec, memoryview(data))) == data
        assert decompress(codec, packed, limit=size) == data


@pytest.mark.parametrize("codec", CODECS)
def test_small_data_gets_smaller(codec: Compression) -> None:
    assert len(compress(codec, TEXT)) < len(TEXT) / 2


# --- our framing ------------------------------------------------------------------------------


def test_snappy_is_framed_as_java_does() -> None:
    packed = compress(SNAPPY, TEXT[:40_000])
    assert packed[:16] == b"\x82SNAPPY\x00" + bytes([0, 0, 0, 1, 0, 0, 0, 1])
    (first,) = struct.unpack_from(">i", packed, 16)
    assert cramjam.snappy.decompress_raw_len(packed[20 : 20 + first]) == 32 * 1024
    (second,) = struct.unpack_from(">i", packed, 20 + first)
    assert 24 + first + second == len(packed)


def test_lz4_blocks_are_independent_and_have_no_checksums() -> None:
    packed = compress(LZ4, NOISE[:65_536] + TEXT[:65_537])
    assert packed[:7] == bytes.fromhex("04224d18 60 40 82")
    assert struct.unpack_from("<I", packed, 7)[0] == 0x8000_0000 | 65_536
    assert packed[-4:] == bytes(4)
    assert compress(LZ4, b"") == bytes.fromhex("04224d18 60 40 82 00000000")


def test_levels_mean_what_kafkas_settings_mean() -> None:
    for codec, weak, strong in [(GZIP, 1, 9), (LZ4, 9, 12), (ZSTD, 1, 19), (ZSTD, -5, 3)]:
        sizes = [len(compress(codec, TEXT, level)) for level in (weak, strong)]
        assert sizes[0] > sizes[1]
        for level in (weak, strong):
            assert decompress(codec, compress(codec, TEXT, level)) == TEXT
    assert compress(LZ4, TEXT, 9) == compress(LZ4, TEXT)
    assert compress(GZIP, TEXT, -1) == compress(GZIP, TEXT)
    assert compress(ZSTD, TEXT, 3) == compress(ZSTD, TEXT)
    for level in (3, 12, 17):
        strong_frame = compress(LZ4, TEXT, level)
        assert strong_frame[4] & 0x20, "independent blocks"
        assert decompress(LZ4, strong_frame) == TEXT


@pytest.mark.parametrize(
    ("codec", "level"), [(GZIP, 10), (GZIP, -2), (LZ4, 0), (LZ4, 18), (ZSTD, 23), (ZSTD, -131_073)]
)
def test_levels_out_of_range(codec: Compression, level: int) -> None:
    with pytest.raises(LocalProtocolError, match=f"{codec.name}.*{level}"):
        compress(codec, TEXT, level)


# --- what others write ------------------------------------------------------------------------

# The compressed records of one batch, each as Kafka 4.3.1's Java classes wrote them, and in plain.
PLAIN = bytes.fromhex(
    "4a000000026b3c76616c756576616c756576616c756576616c756576616c756576616c756500"
    "4800020201 3c 76616c756576616c756576616c756576616c756576616c756576616c7565 00"
)
FROM_JAVA = [
    (
        GZIP,
        "1f8b08000000000000fff362606060cab6294bcc294dc54930783030313112520400ba76585c4b000000",
    ),
    (
        SNAPPY,
        "82534e415050590000000001000000010000001b4b2c4a000000026b3c76616c7565620500140048"
        "000202017e2500",
    ),
    (
        LZ4,
        "04224d1860408220000000cf4a000000026b3c76616c75650500066f00480002020125000850616c"
        "75650000000000",
    ),
    (
        ZSTD,
        "28b52ffd0058dc0000904a000000026b3c76616c7565004800020201020048e1054b4902010000",
    ),
]


@pytest.mark.parametrize(("codec", "packed"), FROM_JAVA)
def test_what_java_writes(codec: Compression, packed: str) -> None:
    assert decompress(codec, bytes.fromhex(packed)) == PLAIN


def raw_snappy(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


def lz4_frame(data: bytes, *, linked: bool = False, checksum: bool = False) -> bytes:
    compressor = cramjam.lz4.Compressor(level=1, content_checksum=checksum, block_linked=linked)
    compressor.compress(data)
    return bytes(compressor.finish())


def lz4_with_content_size(data: bytes, claimed: int) -> bytes:
    """A frame of one stored block; the header checksum was taken from a known frame."""
    header = bytes([0x68, 0x40]) + struct.pack("<Q", claimed)
    block = struct.pack("<I", 0x8000_0000 | len(data)) + data
    return b"\x04\x22\x4d\x18" + header + bytes([xxh32(header) >> 8 & 0xFF]) + block + bytes(4)


def xxh32(data: bytes) -> int:
    """XXH32 with seed 0 of fewer than 16 bytes."""
    prime = (2_654_435_761, 2_246_822_519, 3_266_489_917, 668_265_263, 374_761_393)
    mask = 0xFFFF_FFFF
    value = prime[4] + len(data)
    words = len(data) // 4
    for word in struct.unpack_from(f"<{words}I", data):
        value = (value + word * prime[2]) & mask
        value = (value << 17 | value >> 15) * prime[3] & mask
    for byte in data[words * 4 :]:
        value = (value + byte * prime[4]) & mask
        value = (value << 11 | value >> 21) * prime[0] & mask
    value = (value ^ value >> 15) * prime[1] & mask
    value = (value ^ value >> 13) * prime[2] & mask
    return value ^ value >> 16


def zstd_frame(data: bytes, *, size: bool = True, checksum: bool = False) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=size, write_checksum=checksum).compress(data)


SKIPPABLE = struct.pack("<II", 0x184D2A53, 3) + b"abc"

FOREIGN = [
    ("gzip, several members", GZIP, compress(GZIP, TEXT[:9]) + compress(GZIP, TEXT[9:])),
    ("gzip, empty members", GZIP, compress(GZIP, b"") * 3 + compress(GZIP, TEXT)),
    ("gzip, file name in the header", GZIP, b"\x1f\x8b\x08\x08" + bytes(6) + b"name\x00"),
    ("snappy, raw", SNAPPY, raw_snappy(TEXT)),
    ("snappy, streams in a row", SNAPPY, compress(SNAPPY, TEXT[:9]) + compress(SNAPPY, TEXT[9:])),
    (
        "snappy, version with the wrong end first",
        SNAPPY,
        b"\x82SNAPPY\x00" + struct.pack("<ii", 1, 1) + compress(SNAPPY, TEXT)[16:],
    ),
    ("snappy, large chunk", SNAPPY, b""),
    ("lz4, with checksums", LZ4, lz4_frame(TEXT, checksum=True)),
    ("lz4, with block checksums", LZ4, lz4_frame(TEXT)),
    ("lz4, with content size", LZ4, lz4_with_content_size(TEXT[:60_000], 60_000)),
    ("zstd, no content size", ZSTD, zstd_frame(TEXT, size=False)),
    ("zstd, checksum", ZSTD, zstd_frame(TEXT, size=False, checksum=True)),
    (
        "zstd, several frames",
        ZSTD,
        zstd_frame(TEXT[:9]) + zstd_frame(TEXT[9:99], size=False) + zstd_frame(TEXT[99:]),
    ),
    ("zstd, skippable frames", ZSTD, SKIPPABLE + zstd_frame(TEXT) + SKIPPABLE),
    ("zstd, empty frames", ZSTD, zstd_frame(b"") * 2 + zstd_frame(TEXT) + zstd_frame(b"")),
]


def _complete(name: str, packed: bytes) -> bytes:
    if name.startswith("gzip, file name"):
        body = zlib.compress(TEXT, wbits=-15)
        return packed + body + struct.pack("<II", zlib.crc32(TEXT), len(TEXT))
    if name == "snappy, large chunk":
        block = raw_snappy(TEXT)
        return compress(SNAPPY, b"") + struct.pack(">i", len(block)) + block
    return packed


@pytest.mark.parametrize(
    ("codec", "packed"),
    [(codec, _complete(name, packed)) for name, codec, packed in FOREIGN],
    ids=[name for name, _, _ in FOREIGN],
)
def test_what_other_writers_make_of_the_formats(codec: Compression, packed: bytes) -> None:
    out = decompress(codec, packed)
    assert out == TEXT[: len(out)]
    assert len(out) in (len(TEXT), 60_000)


def test_thousands_of_empty_members_and_frames() -> None:
    for codec in (GZIP, ZSTD):
        assert decompress(codec, compress(codec, b"") * 20_000 + compress(codec, b"end")) == b"end"


# --- garbage ----------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", CODECS)
def test_a_stream_cut_anywhere_is_refused(codec: Compression) -> None:
    packed = compress(codec, TEXT[:500])
    for cut in range(len(packed)):
        if codec is SNAPPY and cut == 16:
            continue  # the header alone is the stream of nothing
        with pytest.raises(RemoteProtocolError):
            decompress(codec, packed[:cut])


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("tail", [b"\x00", b"x", b"garbage behind the end", bytes(100)])
def test_bytes_behind_the_end_are_refused(codec: Compression, tail: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        decompress(codec, compress(codec, TEXT[:500]) + tail)


GARBAGE = [
    ("gzip, wrong checksum", GZIP, compress(GZIP, b"data")[:-8] + bytes(8), "incorrect data"),
    ("gzip, nothing", GZIP, b"", "no stream"),
    ("gzip, zlib's format", GZIP, zlib.compress(b"data"), "header"),
    ("snappy, nothing", SNAPPY, b"", "0 bytes"),
    ("snappy, claims 4 GiB", SNAPPY, b"\xff\xff\xff\xff\x0f" + bytes(20), "hold 4294967295"),
    ("snappy, claims 100 MB", SNAPPY, b"\x80\xc2\xd7\x2f" + bytes(20), "hold 100000000"),
    ("snappy, no varint", SNAPPY, b"\xff" * 10, "header"),
    ("snappy, negative chunk", SNAPPY, compress(SNAPPY, b"") + b"\xff" * 8, "chunk of -1"),
    ("snappy, long chunk", SNAPPY, compress(SNAPPY, b"") + bytes([0, 0, 0, 9, 1]), "chunk of 9"),
    ("snappy, empty chunk", SNAPPY, compress(SNAPPY, b"") + bytes(4), "0 bytes"),
    ("snappy, half a second header", SNAPPY, compress(SNAPPY, b"a") + b"\x82SNAPPY\x00", "header"),
    ("snappy, bad copy", SNAPPY, b"\x05\x01\xff\xff\xff", "corrupt"),
    ("lz4, linked blocks", LZ4, lz4_frame(TEXT, linked=True), "Kafka does not read"),
    ("lz4, other magic", LZ4, b"\x02\x21\x4c\x18" + bytes(20), "start"),
    ("lz4, version 0", LZ4, bytes.fromhex("04224d18 20 40 82 00000000"), "flags"),
    ("lz4, dictionary", LZ4, bytes.fromhex("04224d18 61 40 82 00000000"), "flags"),
    ("lz4, block size 3", LZ4, bytes.fromhex("04224d18 60 30 82 00000000"), "block size"),
    ("lz4, wrong header hash", LZ4, bytes.fromhex("04224d18 60 40 83 00000000"), "header"),
    ("lz4, no room for a size", LZ4, bytes.fromhex("04224d18 68 40 82 00000000"), "within its"),
    ("lz4, wrong content size", LZ4, lz4_with_content_size(b"data", 5), "LZ4"),
    (
        "lz4, block of 65,537",
        LZ4,
        compress(LZ4, b"")[:7] + b"\x01\x00\x01\x80" + bytes(65_537 + 4),
        "a block of 65537",
    ),
    ("lz4, block checksum wrong", LZ4, lz4_frame(b"data" * 50)[:-5] + bytes(5), "Checksum"),
    ("lz4, two frames", LZ4, compress(LZ4, b"a") * 2, "should end"),
    ("zstd, nothing", ZSTD, b"", "no frame"),
    ("zstd, other magic", ZSTD, b"\x27\xb5\x2f\xfd" + bytes(20), "start"),
    ("zstd, reserved flag", ZSTD, b"\x28\xb5\x2f\xfd\x28" + bytes(20), "flags"),
    ("zstd, block type 3", ZSTD, b"\x28\xb5\x2f\xfd\x00\x00\x07\x00\x00", "type 3"),
    ("zstd, block of 2 MB", ZSTD, b"\x28\xb5\x2f\xfd\x00\x98\x03\x00\xff", "block"),
    ("zstd, claims 1 TB", ZSTD, b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 40), "within"),
    (
        "zstd, claims 1 TB for a byte",
        ZSTD,
        b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 40) + b"\x09\x00\x00a",
        "says it has 1099511627776",
    ),
    ("zstd, wrong checksum", ZSTD, zstd_frame(TEXT, checksum=True)[:-4] + b"abcd", "checksum"),
    ("zstd, no end", ZSTD, zstd_frame(TEXT)[:-1], "within a frame"),
    ("zstd, skippable frame too long", ZSTD, SKIPPABLE[:-1], "skippable"),
    ("zstd, dictionary", ZSTD, b"\x28\xb5\x2f\xfd\x01\x00\x07\x09\x00\x00a", "zstd"),
]


@pytest.mark.parametrize(
    ("codec", "packed", "reason"), [case[1:] for case in GARBAGE], ids=[c[0] for c in GARBAGE]
)
def test_garbage_is_refused_with_a_reason(codec: Compression, packed: bytes, reason: str) -> None:
    with pytest.raises(RemoteProtocolError, match=reason):
        decompress(codec, packed)


# --- bombs ------------------------------------------------------------------------------------

BOMB_SIZE = 100 << 20
CHUNK = 1 << 20


def zstd_bomb() -> bytes:
    """One frame of 800 blocks, each of which stands for 128 KiB in four bytes."""
    block = (1 << 20 | 1 << 1).to_bytes(3, "little") + b"a"
    last = (1 << 20 | 1 << 1 | 1).to_bytes(3, "little") + b"a"
    return b"\x28\xb5\x2f\xfd\x00\x38" + block * 799 + last


def lz4_bomb() -> bytes:
    compressor = cramjam.lz4.Compressor(level=1, content_checksum=False, block_linked=False)
    for _ in range(BOMB_SIZE >> 20):
        compressor.compress(bytes(1 << 20))
    return bytes(compressor.finish())


BOMBS: list[tuple[str, Compression, Callable[[], bytes]]] = [
    ("gzip", GZIP, lambda: zlib.compress(bytes(BOMB_SIZE), 9, 31)),
    ("gzip, members", GZIP, lambda: zlib.compress(bytes(1 << 20), 9, 31) * 100),
    ("snappy, raw", SNAPPY, lambda: raw_snappy(bytes(BOMB_SIZE))),
    ("snappy, chunks", SNAPPY, lambda: compress(SNAPPY, bytes(BOMB_SIZE))),
    ("lz4", LZ4, lz4_bomb),
    ("lz4, content size", LZ4, lambda: lz4_with_content_size(b"", BOMB_SIZE)),
    ("zstd", ZSTD, lambda: zstd_frame(bytes(BOMB_SIZE))),
    ("zstd, no content size", ZSTD, lambda: zstd_frame(bytes(BOMB_SIZE), size=False)),
    ("zstd, frames", ZSTD, lambda: zstd_frame(bytes(1 << 20)) * 100),
    ("zstd, frames without size", ZSTD, lambda: zstd_frame(bytes(1 << 20), size=False) * 100),
    ("zstd, blocks of one byte", ZSTD, zstd_bomb),
]


@pytest.mark.parametrize(
    ("codec", "make"), [case[1:] for case in BOMBS], ids=[case[0] for case in BOMBS]
)
@pytest.mark.parametrize("limit", [0, 1000, 2 << 20, 50 << 20])
def test_bombs_are_refused_within_the_limits_memory(
    codec: Compression, make: Callable[[], bytes], limit: int
) -> None:
    bomb = make()
    assert len(bomb) < BOMB_SIZE // 20
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError, match="MAX_DECOMPRESSED_BYTES") as refusal:
            decompress(codec, bomb, limit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert f"limit of {limit} bytes" in str(refusal.value)
    assert str(limits.MAX_DECOMPRESSED_BYTES) in str(refusal.value)
    # A growing bytearray keeps an eighth in reserve.
    assert peak <= limit + limit // 8 + 3 * CHUNK


@pytest.mark.parametrize("codec", Compression)
@pytest.mark.parametrize("source", [TEXT, NOISE, ZEROS], ids=["text", "noise", "zeros"])
def test_the_limit_is_exact(codec: Compression, source: bytes) -> None:
    for size in (1, 255, 256, 300, 65_791, 65_792, len(source)):
        data = source[:size]
        packed = compress(codec, data)
        assert decompress(codec, packed, len(data)) == data
        with pytest.raises(RemoteProtocolError, match="MAX_DECOMPRESSED_BYTES"):
            decompress(codec, packed, len(data) - 1)


def test_the_default_limit() -> None:
    packed = zlib.compress(bytes(limits.MAX_DECOMPRESSED_BYTES + 1), 9, 31)
    with pytest.raises(RemoteProtocolError, match=str(limits.MAX_DECOMPRESSED_BYTES)):
        decompress(GZIP, packed)


def test_codecs_are_imported_when_they_are_used() -> None:
    script = """
import sys
from fencepost_protocol.records import batch, columns, control, reader, rewrite, writer
from fencepost_protocol.records.compression import Compression, compress, decompress
assert decompress(Compression.GZIP, compress(Compression.GZIP, b"data")) == b"data"
assert not {"cramjam", "backports.zstd", "compression.zstd"} & set(sys.modules)
compress(Compression.ZSTD, b"data")
assert "cramjam" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)
