"""Batches that a producer should not send, one by one and by the topic that they are sent to.

Where ``is_believed``, our broker takes the batch as it takes good ones if it is told not to walk
records (see ``fencepost_broker/storage/log/validation.py``). Where ``is_kept_by_kafka``, Kafka
stores what no reader can make sense of, or numbers records anew; ours refuses it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
    CODEC_MASK,
    CONTROL_FLAG,
    LOG_APPEND_TIME_FLAG,
    renew_crc,
)
from fencepost_protocol.records.compression import Compression, compress
from fencepost_protocol.records.writer import build_batch

HOUR_MS = 3_600_000
_COUNT, _LAST_DELTA, _HEADER = 57, 23, 61

TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "compacted": {"cleanup.policy": "compact"},
    "zstd": {"compression.type": "zstd"},
    "raw": {"compression.type": "uncompressed"},
    "stamped": {"message.timestamp.type": "LogAppendTime"},
    "bounded": {
        "message.timestamp.before.max.ms": str(HOUR_MS),
        "message.timestamp.after.max.ms": str(HOUR_MS),
    },
    "bounded-stamped": {
        "message.timestamp.type": "LogAppendTime",
        "message.timestamp.before.max.ms": str(HOUR_MS),
        "message.timestamp.after.max.ms": str(HOUR_MS),
    },
    "small": {"max.message.bytes": "500"},
}


@dataclass
class Case:
    """One batch for one topic."""

    label: str
    topic: str
    records: bytes
    is_believed: bool = False
    is_kept_by_kafka: bool = False
    is_counted: bool = False
    """Compressed records are counted, however many there are, unless no records are walked."""

    @property
    def count(self) -> int:
        """How many records the header says there are."""
        count: int = struct.unpack_from(">i", self.records, _COUNT)[0]
        return count


def cases(now_ms: int) -> Iterator[Case]:
    """All of them."""
    yield from _codecs(now_ms)
    yield from _counts(now_ms)
    yield from _sizes(now_ms)
    yield from _kinds(now_ms)
    yield from _timestamps(now_ms)
    yield from _keys(now_ms)
    yield from _single_records(now_ms)


def batch(now_ms: int, count: int = 3, codec: Compression = Compression.NONE) -> bytearray:
    """A batch that nobody objects to, wherever keys are not asked for."""
    return build_batch(None, [b"value"] * count, now_ms, codec=codec)


def changed(records: bytearray, position: int, layout: str, value: int) -> bytes:
    """The batch with another number in its header, and a CRC that fits."""
    struct.pack_into(layout, records, position, value)
    renew_crc(records)
    return bytes(records)


def with_body(records: bytearray, body: bytes) -> bytes:
    """The batch's header before other records, with the length and CRC that fit."""
    made = records[:_HEADER] + body
    struct.pack_into(">i", made, 8, len(made) - 12)
    renew_crc(made)
    return bytes(made)


def with_attributes(records: bytearray, attributes: int) -> bytes:
    return changed(records, ATTRIBUTES_OFFSET, ">h", attributes)


def _codecs(now_ms: int) -> Iterator[Case]:
    for topic in ("plain", "zstd", "raw"):
        for codec in range(8):
            yield Case(
                f"plain records that claim codec {codec}",
                topic,
                with_attributes(batch(now_ms), codec & CODEC_MASK),
                0 < codec < 5 and (topic == "plain" or (topic, codec) == ("zstd", 4)),
            )
    for codec in list(Compression)[1:]:
        whole = batch(now_ms, codec=codec)
        body = bytes(whole[_HEADER:])
        for topic in ("plain", "raw"):
            believed = topic == "plain"
            yield Case(f"{codec.name} as it should be", topic, bytes(whole))
            yield Case(f"{codec.name} cut short", topic, with_body(whole, body[:-3]), believed)
            garbage = b"\x55" * len(body)
            yield Case(f"{codec.name} garbage", topic, with_body(whole, garbage), believed)
            yield Case(f"{codec.name} of nothing", topic, with_body(whole, b""), believed)
    plain = bytes(batch(now_ms)[_HEADER:])
    snappy = batch(now_ms, codec=Compression.SNAPPY)
    block = bytes(compress(Compression.SNAPPY, plain))[20:]
    for topic in ("plain", "raw"):
        yield Case("snappy as one raw block", topic, with_body(snappy, block))
    gzip = batch(now_ms, codec=Compression.GZIP)
    for topic in ("plain", "raw"):
        twice = zlib.compress(plain, wbits=31) + zlib.compress(b"", wbits=31)
        yield Case("gzip in two members", topic, with_body(gzip, twice))


def _counts(now_ms: int) -> Iterator[Case]:
    for codec in (Compression.NONE, Compression.GZIP):
        for topic in ("plain", "compacted", "raw"):
            keys: list[bytes | None] | None = [b"k"] * 3 if topic == "compacted" else None

            def made() -> bytearray:
                return build_batch(keys, [b"value"] * 3, now_ms, codec=codec)  # noqa: B023

            for count in (-1, 0, 1, 2, 4, 1_000, (1 << 31) - 1):
                records = changed(made(), _COUNT, ">i", count)
                yield Case(f"{codec.name}, count {count} for 3", topic, records)
            for delta in (-1, 0, 1, 3, (1 << 31) - 1):
                records = changed(made(), _LAST_DELTA, ">i", delta)
                yield Case(f"{codec.name}, last delta {delta} for 2", topic, records)
            for count in (1, 2, 4, 50, 1_000, (1 << 31) - 1):
                both = made()
                struct.pack_into(">i", both, _LAST_DELTA, count - 1)
                records = changed(both, _COUNT, ">i", count)
                # Where the header alone does not show it.
                believed = topic == "plain" and (codec > 0 or count < 50)
                believed = believed or (topic == "raw" and codec == 0 and count < 50)
                yield Case(
                    f"{codec.name}, {count} for 3", topic, records, believed, is_counted=codec > 0
                )


def _sizes(now_ms: int) -> Iterator[Case]:
    whole = bytes(batch(now_ms))
    yield Case("a byte behind the batch", "plain", whole + b"\0")
    yield Case("17 zeros behind the batch", "plain", whole + bytes(17))
    yield Case("100 zeros behind the batch", "plain", whole + bytes(100))
    yield Case("half a batch behind the batch", "plain", whole + whole[:40])
    yield Case("a second batch", "plain", whole + whole)
    yield Case("the batch without its last byte", "plain", whole[:-1])
    yield Case("half a header", "plain", whole[:30])
    yield Case("nothing", "plain", b"")
    for length in (-1, 0, 48, len(whole), len(whole) - 13, (1 << 31) - 1):
        yield Case(f"length {length}", "plain", whole[:8] + struct.pack(">i", length) + whole[12:])
    yield Case("too large", "small", bytes(build_batch(None, [bytes(600)], now_ms)))
    for label, body in (
        ("garbage for records", b"\xff" * 30),
        ("a record that is longer than the batch", b"\x7f" + bytes(20)),
        ("bytes behind the last record", whole[_HEADER:] + bytes(7)),
    ):
        yield Case(
            label, "plain", with_body(batch(now_ms, 1 if label[0] == "a" else 3), body), True
        )


def _kinds(now_ms: int) -> Iterator[Case]:
    for magic in (-1, 0, 1, 3, 5, 127):
        whole = batch(now_ms)
        struct.pack_into(">b", whole, 16, magic)
        yield Case(f"magic {magic}", "plain", bytes(whole))
    crc = batch(now_ms)
    crc[17] ^= 1
    yield Case("a wrong CRC", "plain", bytes(crc))
    yield Case("a control batch", "plain", with_attributes(batch(now_ms), CONTROL_FLAG))
    yield Case("a base offset", "plain", changed(batch(now_ms), 0, ">q", 5))
    yield Case("a negative base offset", "plain", changed(batch(now_ms), 0, ">q", -5))
    for attributes in (0x40, 0x80, 0x4000):
        yield Case(
            f"attributes {attributes:#x}", "plain", with_attributes(batch(now_ms), attributes)
        )


def _timestamps(now_ms: int) -> Iterator[Case]:
    old, late = now_ms - 2 * HOUR_MS, now_ms + 2 * HOUR_MS
    for topic in ("plain", "bounded", "bounded-stamped", "stamped"):
        yield Case("timestamps two hours late", topic, bytes(batch(late)))
        yield Case("timestamps two hours old", topic, bytes(batch(old)))
        yield Case("no timestamps", topic, bytes(batch(-1)))
        negative = batch(0)
        struct.pack_into(">qq", negative, 27, -5, -5)
        renew_crc(negative)
        yield Case("negative timestamps", topic, bytes(negative))
        mixed = build_batch(None, [b"a", b"b", b"c"], [now_ms, late, old])
        yield Case("one late, one old", topic, bytes(mixed))
        claimed = with_attributes(batch(now_ms), LOG_APPEND_TIME_FLAG)
        yield Case("log append time claimed", topic, claimed)
        low = changed(batch(late), 35, ">q", now_ms)
        yield Case("late, and the header says now", topic, low, topic == "plain")


def _keys(now_ms: int) -> Iterator[Case]:
    keys: list[list[bytes | None]] = [[b"a", None, b"c"], [None, None, None], [b"a", b"b", b""]]
    for each in keys:
        for codec in (Compression.NONE, Compression.ZSTD):
            made = build_batch(each, [b"value"] * 3, now_ms, codec=codec)
            yield Case(f"keys {each}, {codec.name}", "compacted", bytes(made))


def record(delta: int, tail: bytes = b"\x01\x02v\x00", time: int = 0, more: int = 0) -> bytes:
    """A record as it is encoded, with small numbers; ``more`` is added to its length."""
    content = bytes([0, time << 1, delta << 1]) + tail
    return bytes([(len(content) + more) << 1]) + content


def _single_records(now_ms: int) -> Iterator[Case]:
    """Three records, one or all of which are not as they should be."""
    first, last = record(0), record(2)
    numbered = {
        "offset deltas 0, 2, 1": first + last + record(1),
        "offset deltas 0, 0, 0": first * 3,
        "offset deltas 1, 2, 3": record(1) + last + record(3),
        "offset deltas 0, 1, 60": first + record(1) + record(60),
    }
    out_of_range = list(numbered)[2:]
    sized = {
        "a length that is too small": first + record(1, more=-1) + last,
        "a length that is too large": first + record(1, more=1) + last,
    }
    others = {
        "a value that is too long": first + record(1, b"\x01\x0av\x00") + last,
        "a key that is too long": first + record(1, b"\x0av\x00\x00") + last,
        "a negative number of headers": first + record(1, b"\x01\x02v\x01") + last,
        "more headers than there are": first + record(1, b"\x01\x02v\x04\x02k\x02v") + last,
        "a header without a key": first + record(1, b"\x01\x02v\x02\x01\x02v") + last,
        "fewer headers than there are": first + record(1, b"\x01\x02v\x00\x02k\x02v") + last,
        "nothing": b"",
        "zeros": bytes(24),
        "ones": b"\x01" * 24,
    }
    right = {
        "attributes of a record": first + b"\x0e\x55" + record(1)[2:] + last,
        "a late record that the header does not know": first + record(1, time=9) + last,
    }
    for topic in ("plain", "stamped", "zstd"):
        for codec in (Compression.NONE, Compression.GZIP):
            for label, body in (numbered | sized | others | right).items():
                packed = body if codec is Compression.NONE else bytes(compress(codec, body))
                yield Case(
                    f"{codec.name}, {label}",
                    topic,
                    with_body(batch(now_ms, codec=codec), packed),
                    is_believed=topic == "plain"
                    or (topic == "stamped" and (label != "nothing" or codec > 0)),
                    is_kept_by_kafka=(label in out_of_range and codec is Compression.NONE)
                    or (label in sized and codec is Compression.GZIP and topic != "zstd")
                    or (label in numbered and topic == "zstd"),
                )
