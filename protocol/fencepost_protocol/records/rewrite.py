"""What compaction does to a batch: drop records, set a delete horizon, keep an empty shell.

A delete horizon (KIP-534) cannot be patched into a batch that has records. The horizon takes the
place of the base timestamp, and the records' deltas are relative to that field; only encoding them
anew keeps their timestamps what they were. So it happens here and not in :mod:`.batch`.
"""

from __future__ import annotations

from collections.abc import Callable

from fencepost_protocol import limits
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    NO_TIMESTAMP,
    BatchHeader,
    Buffer,
    TimestampType,
    unpack_header,
)
from fencepost_protocol.records.reader import (
    Fields,
    invalid,
    left_behind,
    open_records,
    outside,
    read_fields,
)
from fencepost_protocol.records.writer import assemble, encode_record
from fencepost_protocol.varint import MAX_VARLONG, MIN_VARLONG

Keep = Callable[[int], bool]
"""Whether the record at an offset stays."""


def rewrite_batch(
    batch: Buffer,
    keep: Keep | None = None,
    *,
    delete_horizon_ms: int | None = None,
    limit: int = limits.MAX_DECOMPRESSED_BYTES,
) -> bytearray:
    """Make a batch of the records of ``batch`` for whose offsets ``keep`` says yes; all without it.

    The offsets, timestamps, producer, sequence and codec stay, and so does the last offset, even
    when its record goes: a restarting broker learns the producer's last sequence number from it. A
    horizon that the batch has stays unless a new one is given. (Kafka gives one when the batch has
    none yet, and keeps a tombstone or the marker of a transaction of which nothing else is left.)
    When no record is left, the result is :func:`empty_batch`; whether to keep that is the caller's
    choice. When all are left and no new horizon is given, the batch is copied as it is.
    """
    raw = unpack_header(batch)
    header = BatchHeader._make(raw)
    body, shift = open_records(batch, raw, limit)
    view = memoryview(body)
    retained = []
    pos = 0
    for _ in range(header.record_count):
        fields = read_fields(view, pos, shift)
        if not 0 <= fields[2] <= header.last_offset_delta:
            raise outside(fields[2], header.last_offset_delta, pos + shift)
        if keep is None or keep(header.base_offset + fields[2]):
            retained.append(fields)
        pos = fields[0]
    if pos != len(view):
        raise left_behind(len(view) - pos, pos + shift)
    if not retained:
        return empty_batch(header)
    if len(retained) == header.record_count and delete_horizon_ms is None:
        return bytearray(memoryview(batch)[: header.size_in_bytes])
    return _assemble(view, header, retained, delete_horizon_ms)


def empty_batch(header: BatchHeader) -> bytearray:
    """Make the batch without records that stands for one whose records are all gone.

    It has no codec, no horizon and no base timestamp, and otherwise says what ``header`` says.
    """
    return assemble(
        b"",
        0,
        header.last_offset_delta,
        NO_TIMESTAMP,
        header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
        control=header.is_control,
        base_offset=header.base_offset,
        partition_leader_epoch=header.partition_leader_epoch,
        timestamp_type=header.timestamp_type,
        log_append_time_ms=header.max_timestamp,
    )


def _assemble(
    view: memoryview, header: BatchHeader, retained: list[Fields], horizon: int | None
) -> bytearray:
    """Encode the retained records anew, after a header like the one they had."""
    if horizon is None:
        horizon = header.delete_horizon_ms
    if header.timestamp_type is TimestampType.LOG_APPEND_TIME:
        times = [header.max_timestamp] * len(retained)
    else:
        times = [header.base_timestamp + fields[1] for fields in retained]
    base = times[0] if horizon is None else horizon
    records = []
    for fields, time in zip(retained, times, strict=True):
        behind, _, delta, key_start, key_end, value_start, value_end, headers_start = fields
        if not MIN_VARLONG <= time - base <= MAX_VARLONG:
            raise invalid(f"timestamp {time} is too far from {base}", HEADER_SIZE)
        records.append(
            encode_record(
                time - base,
                delta,
                None if key_start < 0 else view[key_start:key_end],
                None if value_start < 0 else view[value_start:value_end],
                view[headers_start:behind],
            )
        )
    return assemble(
        b"".join(records),
        len(records),
        header.last_offset_delta,
        base,
        max(NO_TIMESTAMP, *times),
        codec=header.codec,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        transactional=header.is_transactional,
        control=header.is_control,
        base_offset=header.base_offset,
        partition_leader_epoch=header.partition_leader_epoch,
        timestamp_type=header.timestamp_type,
        log_append_time_ms=header.max_timestamp,
        has_delete_horizon=horizon is not None,
    )
