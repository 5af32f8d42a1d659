"""Control batches: what the broker itself writes between an application's records.

Their records' keys are an i16 version (0) and an i16 type; what the value is depends on the type.
The end-of-transaction marker is written and read here. The values of the others, which a KRaft
quorum writes into its log and its snapshots, are messages and are given as their bytes.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Final, NamedTuple

from fencepost_protocol import limits
from fencepost_protocol.crc import crc32c
from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
    CONTROL_FLAG,
    CRC,
    CRC_OFFSET,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    NO_PARTITION_LEADER_EPOCH,
    NO_SEQUENCE,
    TRANSACTIONAL_FLAG,
    Buffer,
    unpack_header,
)
from fencepost_protocol.records.reader import invalid, iter_records
from fencepost_protocol.records.writer import BatchBuilder

_KEY: Final = struct.Struct(">hh")
_MARKER: Final = struct.Struct(">hi")
_KEY_VERSION: Final = 0
_MARKER_VERSION: Final = 0

# The one record of a marker batch: length, attributes, both deltas, key length, key, value length,
# value, header count. Only the type and the epoch vary.
_MARKER_RECORD: Final = struct.Struct(">7sh3siB")
_BEFORE_TYPE: Final = struct.pack(
    ">5Bh", (_MARKER_RECORD.size - 1) << 1, 0, 0, 0, _KEY.size << 1, _KEY_VERSION
)
_BEFORE_EPOCH: Final = struct.pack(">Bh", _MARKER.size << 1, _MARKER_VERSION)
_MARKER_BATCH: Final = struct.Struct(HEADER.format + _MARKER_RECORD.format.removeprefix(">"))
_MARKER_LENGTH: Final = _MARKER_BATCH.size - LOG_OVERHEAD
_MARKER_ATTRIBUTES: Final = TRANSACTIONAL_FLAG | CONTROL_FLAG


class ControlType(IntEnum):
    """The types of control records; a reader meets UNKNOWN for types of a later Kafka."""

    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


_ABORT: Final = ControlType.ABORT
_COMMIT: Final = ControlType.COMMIT


class ControlRecord(NamedTuple):
    """One record of a control batch."""

    offset: int
    timestamp: int
    type: ControlType
    type_id: int
    """The number that ``type`` was made of, for types that we do not know."""
    value: bytes

    @property
    def coordinator_epoch(self) -> int:
        """Of a COMMIT or ABORT marker: the epoch of the coordinator that wrote it.

        Versions above 0 begin with what version 0 has, so they are read as far as that.
        """
        try:
            version, epoch = _MARKER.unpack_from(self.value)
        except struct.error:
            raise invalid(f"a marker of {len(self.value)} bytes", HEADER_SIZE) from None
        if version < 0:
            raise invalid(f"a marker of version {version}", HEADER_SIZE)
        return int(epoch)


def build_end_txn_marker(
    *,
    committed: bool,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    timestamp_ms: int,
    base_offset: int = 0,
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH,
) -> bytearray:
    """Make the batch that ends a transaction in one partition."""
    batch = bytearray(
        _MARKER_BATCH.pack(
            base_offset,
            _MARKER_LENGTH,
            partition_leader_epoch,
            MAGIC,
            0,
            _MARKER_ATTRIBUTES,
            0,
            timestamp_ms,
            timestamp_ms,
            producer_id,
            producer_epoch,
            NO_SEQUENCE,
            1,
            _BEFORE_TYPE,
            _COMMIT if committed else _ABORT,
            _BEFORE_EPOCH,
            coordinator_epoch,
            0,
        )
    )
    CRC.pack_into(batch, CRC_OFFSET, crc32c(memoryview(batch)[ATTRIBUTES_OFFSET:]))
    return batch


def build_control_batch(
    records: list[tuple[ControlType, bytes]],
    timestamp_ms: int,
    *,
    base_offset: int = 0,
    partition_leader_epoch: int = NO_PARTITION_LEADER_EPOCH,
) -> bytearray:
    """Make a control batch of a quorum's log: not transactional, of no producer."""
    builder = BatchBuilder(size_limit=1 << 31)
    for kind, value in records:
        builder.append(_KEY.pack(_KEY_VERSION, kind), value, timestamp_ms)
    return builder.build(
        control=True, base_offset=base_offset, partition_leader_epoch=partition_leader_epoch
    )


def read_control_records(
    batch: Buffer, limit: int = limits.MAX_DECOMPRESSED_BYTES
) -> list[ControlRecord]:
    """Read all records of one control batch.

    A marker stands alone; a quorum's first batch has two records.
    """
    if not unpack_header(batch)[5] & CONTROL_FLAG:
        raise invalid("not a control batch", 0)
    records = []
    for record in iter_records(batch, limit):
        if record.key is None or record.value is None:
            raise invalid("a control record without key or value", HEADER_SIZE)
        type_id = read_control_type(record.key)
        known = ControlType.UNKNOWN <= type_id <= ControlType.KRAFT_VOTERS
        records.append(
            ControlRecord(
                record.offset,
                record.timestamp,
                ControlType(type_id) if known else ControlType.UNKNOWN,
                type_id,
                bytes(record.value),
            )
        )
    return records


def read_control_record(batch: Buffer) -> ControlRecord:
    """Read the record of a batch that has one, as a marker has."""
    records = read_control_records(batch)
    if len(records) != 1:
        raise invalid(f"{len(records)} records where one marker should be", HEADER_SIZE)
    return records[0]


def read_control_type(key: Buffer) -> int:
    """Read the type out of a control record's key, of whatever version from 0 on."""
    try:
        version, type_id = _KEY.unpack_from(key)
    except struct.error:
        raise invalid(f"a control record key of {len(key)} bytes", HEADER_SIZE) from None
    if version < 0:
        raise invalid(f"a control record key of version {version}", HEADER_SIZE)
    return int(type_id)
