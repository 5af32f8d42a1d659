"""The records that a member of a share group has acquired, out of a broker's answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fencepost_protocol.records.batch import CONTROL_FLAG, crc_is_valid, split_raw, verify_crc
from fencepost_protocol.records.reader import iter_records

from fencepost_client.types import Headers, TopicPartition


class ShareRecord(NamedTuple):
    """A record as a share consumer reads it."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    delivery_count: int = 1
    """How often the record has been delivered, this time included."""


class Acquired(NamedTuple):
    """A range of offsets that was acquired."""

    first: int
    last: int
    delivery_count: int


def acquired_records(where: TopicPartition, data: Any) -> tuple[list[ShareRecord], list[int]]:
    """Return the acquired records of a partition, and the acquired offsets without a record.

    ``data`` is the partition's part of a ShareFetch answer. Raises an error for invalid bytes.
    """
    ranges = sorted(
        Acquired(each.first_offset, each.last_offset, each.delivery_count)
        for each in data.acquired_records
    )
    counts = {
        offset: each.delivery_count
        for each in ranges
        for offset in range(each.first, each.last + 1)
    }
    found: list[ShareRecord] = []
    for record in _records(data.records or b""):
        count = counts.pop(record.offset, None)
        if count is not None:
            found.append(
                ShareRecord(
                    *where,
                    record.offset,
                    record.timestamp,
                    None if record.key is None else bytes(record.key),
                    None if record.value is None else bytes(record.value),
                    record.headers,
                    count,
                )
            )
    return found, sorted(counts)


def _records(records: Any) -> Iterator[Any]:
    for header, batch in split_raw(records, tolerate_partial=True):
        if not crc_is_valid(batch):
            verify_crc(batch)  # which says what is wrong
        if not header[5] & CONTROL_FLAG:
            yield from iter_records(batch)
