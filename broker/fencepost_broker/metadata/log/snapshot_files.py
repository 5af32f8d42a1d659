"""Snapshots of the cluster's metadata: files beside the metadata log, in KRaft's format (KIP-630).

A file is named by the offset after the last record that it stands for, and by that record's leader
epoch. It holds batches as a log does: a header record, the records that lead an empty image to that
state, a footer record. It is put in place whole and durable, or not at all.

Two are kept, and the log from the older one on: if the newer one cannot be read, nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from fencepost_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from fencepost_protocol.records.batch import crc_is_valid, split_batches
from fencepost_protocol.records.control import ControlType, build_control_batch
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.log.records import decode_record, encode_record
from fencepost_broker.storage.log import CorruptFileError, Disk

KEPT: Final = 2
_BATCH_BYTES: Final = 1 << 20
_NAME: Final = r"(?a)([0-9]{20})-([0-9]{10})\.checkpoint"


class Snapshot(NamedTuple):
    """A snapshot's file."""

    end_offset: int
    """The offset after the last record that it stands for."""
    epoch: int
    path: str


def find_snapshots(disk: Disk, folder: str) -> list[Snapshot]:
    """Return all snapshots, the latest first."""
    found = []
    for name, _, is_folder in disk.list_folder(folder):
        match = None if is_folder else re.fullmatch(_NAME, name)
        if match is not None:
            found.append(Snapshot(int(match[1]), int(match[2]), f"{folder}/{name}"))
    return sorted(found, reverse=True)


def snapshot_path(folder: str, end_offset: int, epoch: int) -> str:
    """Return the path of a snapshot's file."""
    return f"{folder}/{end_offset:020d}-{epoch:010d}.checkpoint"


def write_snapshot(
    disk: Disk, folder: str, records: Iterable[MetadataRecord], end_offset: int, epoch: int,
    timestamp_ms: int,
) -> Snapshot:  # fmt: skip
    """Write a snapshot; ``timestamp_ms`` is that of the last record that it stands for."""
    path = snapshot_path(folder, end_offset, epoch)
    disk.write(path, _encode(records, epoch, timestamp_ms), durable=True)
    return Snapshot(end_offset, epoch, path)


def read_snapshot_file(disk: Disk, snapshot: Snapshot) -> list[MetadataRecord]:
    """Return its records; raises ``CorruptFileError`` if it is not whole."""
    data = disk.read(snapshot.path)
    if data is None:
        raise CorruptFileError(snapshot.path, "it is not there")
    try:
        return _decode(memoryview(data))
    except RemoteProtocolError as error:
        raise CorruptFileError(snapshot.path, str(error)) from error


def snapshot_is_whole(disk: Disk, snapshot: Snapshot) -> bool:
    """Whether all batches of a snapshot are there, without reading their records."""
    try:
        _batches(memoryview(disk.read(snapshot.path) or b""))
    except RemoteProtocolError:
        return False
    return True


def _batches(data: memoryview) -> list[memoryview]:
    """Return the batches between header and footer, after a check of their CRCs."""
    batches: list[memoryview] = []
    are_control: list[bool] = []
    for header, batch in split_batches(data):
        if not crc_is_valid(batch):
            raise RemoteProtocolError(f"a wrong checksum in the batch at {header.base_offset}")
        are_control.append(header.is_control)
        batches.append(batch)
    if not (are_control[1:] and are_control[0] and are_control[-1]):
        raise RemoteProtocolError("its header or its footer is missing")
    return [batch for batch, is_control in zip(batches, are_control, strict=True) if not is_control]


def _decode(data: memoryview) -> list[MetadataRecord]:
    return [_record(each.value) for batch in _batches(data) for each in iter_records(batch)]


def _record(value: memoryview | None) -> MetadataRecord:
    if value is None:
        raise RemoteProtocolError("a record without a value")
    return decode_record(value)


def _encode(records: Iterable[MetadataRecord], epoch: int, timestamp_ms: int) -> bytes:
    header, footer = bytearray(), bytearray()
    SnapshotHeaderRecord(0, timestamp_ms).encode(0, header)
    SnapshotFooterRecord(0).encode(0, footer)
    out = build_control_batch(
        [(ControlType.SNAPSHOT_HEADER, bytes(header))], timestamp_ms, partition_leader_epoch=epoch
    )
    offset = 1
    values: list[bytes] = []
    size = 0
    for record in records:
        values.append(bytes(encode_record(record)))
        size += len(values[-1])
        if size >= _BATCH_BYTES:
            out += _batch(values, timestamp_ms, offset, epoch)
            offset += len(values)
            values, size = [], 0
    if values:
        out += _batch(values, timestamp_ms, offset, epoch)
        offset += len(values)
    out += build_control_batch(
        [(ControlType.SNAPSHOT_FOOTER, bytes(footer))],
        timestamp_ms,
        base_offset=offset,
        partition_leader_epoch=epoch,
    )
    return bytes(out)


def _batch(values: list[bytes], timestamp_ms: int, offset: int, epoch: int) -> bytearray:
    return build_batch(None, values, timestamp_ms, base_offset=offset, partition_leader_epoch=epoch)
