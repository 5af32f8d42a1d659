"""Records that all readers read, and an encoder of records that shares nothing with the package."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from fencepost_protocol.records.batch import HEADER_SIZE, renew_crc
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.spans import read_spans

Headers = list[tuple[str, bytes | None]]
Plain = tuple[int, int, bytes | None, bytes | None, Headers]
"""Offset, timestamp, key, value and headers."""


def one_by_one(batch: bytes) -> list[Plain]:
    return [
        (
            record.offset,
            record.timestamp,
            None if record.key is None else bytes(record.key),
            None if record.value is None else bytes(record.value),
            record.headers,
        )
        for record in iter_records(batch)
    ]


def by_columns(batch: bytes) -> list[Plain]:
    columns = read_columns(batch)
    count = len(columns)
    assert all(0 <= index < count for index in columns.headers)
    assert all(columns.headers.values())
    return [
        (offset, timestamp, key, value, columns.headers.get(index, []))
        for index, (offset, timestamp, key, value) in enumerate(
            zip(columns.offsets, columns.timestamps, columns.keys, columns.values, strict=True)
        )
    ]


def by_spans(batch: bytes) -> list[Plain]:
    spans = read_spans(batch)
    data = spans.data
    keys = zip(spans.key_starts, spans.key_ends, strict=True)
    values = zip(spans.value_starts, spans.value_ends, strict=True)
    return [
        (
            offset,
            timestamp,
            None if key[0] < 0 else data[slice(*key)],
            None if value[0] < 0 else data[slice(*value)],
            spans.read_headers(index),
        )
        for index, (offset, timestamp, key, value) in enumerate(
            zip(spans.offsets, spans.timestamps(), keys, values, strict=True)
        )
    ]


READERS = [one_by_one, by_columns, by_spans]
Reader = Callable[[bytes], list[Plain]]
both = pytest.mark.parametrize("read", READERS, ids=["one by one", "columns", "spans"])


# --- an encoder that shares nothing with the package ------------------------------------------


def zigzag(number: int) -> bytes:
    number = number * 2 if number >= 0 else -number * 2 - 1
    out = b""
    while number > 127:
        out += bytes([number % 128 + 128])
        number //= 128
    return out + bytes([number])


def sized(data: bytes | None) -> bytes:
    return zigzag(-1) if data is None else zigzag(len(data)) + data


def record(
    delta: int,
    time: int = 0,
    key: bytes | None = None,
    value: bytes | None = b"v",
    headers: Headers | None = None,
) -> bytes:
    body = b"\x00" + zigzag(time) + zigzag(delta) + sized(key) + sized(value)
    body += zigzag(len(headers or []))
    for name, content in headers or []:
        body += sized(name.encode()) + sized(content)
    return zigzag(len(body)) + body


def batch_of(
    records: bytes,
    count: int,
    *,
    last_delta: int | None = None,
    attributes: int = 0,
    base_offset: int = 0,
    base_timestamp: int = 1000,
    max_timestamp: int = 5000,
) -> bytes:
    if last_delta is None:
        last_delta = count - 1
    batch = bytearray(
        struct.pack(
            ">qiibIhiqqqhii",
            base_offset,
            HEADER_SIZE - 12 + len(records),
            0,
            2,
            0,
            attributes,
            last_delta,
            base_timestamp,
            max_timestamp,
            -1,
            -1,
            -1,
            count,
        )
        + records
    )
    renew_crc(batch)
    return bytes(batch)
