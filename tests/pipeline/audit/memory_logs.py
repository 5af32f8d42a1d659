"""Log files as lists of batches that tests may change, read by the protocol's own reader."""

from __future__ import annotations

import copy
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
from fencepost_broker.metadata.log.records import decode_record
from fencepost_pipeline.audit.checks.last_stable_offset import AbortedEntry
from fencepost_pipeline.audit.checks.lost_segments import Policies
from fencepost_pipeline.audit.checks.producer_id_blocks import BlockNote
from fencepost_pipeline.audit.findings import Finding
from fencepost_protocol.crc import crc32c
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.records.batch import HEADER, BatchHeader, read_header, split_batches
from fencepost_protocol.records.control import read_control_record
from fencepost_protocol.records.reader import iter_records

Place: TypeAlias = tuple[str, int]
SEGMENT: Final = "00000000000000000000.log"
INDEX_ENTRY: Final = struct.Struct(">hqqqq")

BATCHES: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("segment", pa.string()),
        ("position", pa.int64()),
        ("size", pa.int32()),
        ("base_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("leader_epoch", pa.int32()),
        ("magic", pa.int8()),
        ("codec", pa.string()),
        ("timestamp_type", pa.int8()),
        ("base_timestamp", pa.int64()),
        ("max_timestamp", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("base_sequence", pa.int32()),
        ("last_sequence", pa.int32()),
        ("record_count", pa.int32()),
        ("transactional", pa.bool_()),
        ("control", pa.bool_()),
        ("control_type", pa.string()),
        ("coordinator_epoch", pa.int32()),
        ("crc_ok", pa.bool_()),
    ]
)
RECORDS: Final = pa.schema(
    [
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("transactional", pa.bool_()),
        ("control", pa.bool_()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
    ]
)


@dataclass
class MemoryLogs:
    """Logs by place. What is read is as :class:`fencepost_pipeline.audit.audit_run.Logs` says."""

    places: dict[Place, list[bytes]] = field(default_factory=dict)
    indexes: dict[Place, list[AbortedEntry]] = field(default_factory=dict)
    notes: list[BlockNote] | None = None
    rows_at_once: int = 10_000

    @classmethod
    def of_folder(cls, folder: Path) -> MemoryLogs:
        """All logs of a data directory."""
        logs = cls()
        for path in sorted(folder.glob("*/*.log")):
            topic, _, number = path.parent.name.rpartition("-")
            place = topic, int(number)
            held = logs.places.setdefault(place, [])
            data = path.read_bytes()
            held += [bytes(view) for header, view in split_batches(data, tolerate_partial=True)
                     if header.batch_length]  # fmt: skip
            index = path.with_suffix(".txnindex")
            if index.exists():
                logs.indexes.setdefault(place, []).extend(
                    AbortedEntry(path.name, *fields[1:])
                    for fields in INDEX_ENTRY.iter_unpack(index.read_bytes())
                )
        metadata = logs.places.pop(("__cluster_metadata", 0), None)
        if metadata is not None:
            logs.notes = list(_notes(metadata))
        return logs

    def copy(self) -> MemoryLogs:
        """One to change."""
        return copy.deepcopy(self)

    # -- what the audit reads -------------------------------------------------------------------

    def partitions(self) -> list[Place]:
        return sorted(self.places)

    def batches(self, topic: str, partition: int) -> Iterator[pa.RecordBatch]:
        rows, position = [], 0
        for batch in self.places[topic, partition]:
            rows.append(_row(topic, partition, position, batch))
            position += len(batch)
        for start in range(0, len(rows), self.rows_at_once):
            yield pa.RecordBatch.from_pylist(rows[start : start + self.rows_at_once], BATCHES)

    def records(self, topic: str, partition: int) -> Iterator[pa.RecordBatch]:
        for batch in self.places[topic, partition]:
            header = read_header(batch)
            rows = [
                {
                    "offset": record.offset,
                    "timestamp": record.timestamp,
                    "producer_id": header.producer_id,
                    "producer_epoch": header.producer_epoch,
                    "transactional": header.is_transactional,
                    "control": header.is_control,
                    "key": None if record.key is None else bytes(record.key),
                    "value": None if record.value is None else bytes(record.value),
                    "headers": [
                        {"key": name, "value": None if value is None else bytes(value)}
                        for name, value in record.headers
                    ],
                }
                for record in iter_records(batch)
            ]
            yield pa.RecordBatch.from_pylist(rows, RECORDS)

    def aborted(self, topic: str, partition: int) -> list[AbortedEntry]:
        return self.indexes.get((topic, partition), [])

    def block_notes(self) -> list[BlockNote] | None:
        return self.notes

    def policies(self) -> Policies | None:
        return None

    def problems(self) -> list[Finding]:
        return []

    # -- doctoring ------------------------------------------------------------------------------

    def headers(self, place: Place) -> list[BatchHeader]:
        """What the batches say, in order."""
        return [read_header(batch) for batch in self.places[place]]

    def patch(self, place: Place, number: int, **fields: int) -> None:
        """Change header fields of a batch, and its checksum with them."""
        self.places[place][number] = patched(self.places[place][number], **fields)

    def insert(self, place: Place, number: int, batch: bytes) -> None:
        """Put a batch in front of another; offsets behind it move on."""
        self.places[place].insert(number, batch)
        self.renumber(place)

    def remove(self, place: Place, number: int) -> None:
        """Take a batch out as if it had never been written; offsets behind it move up."""
        del self.places[place][number]
        self.renumber(place)

    def renumber(self, place: Place) -> None:
        """Offsets without holes from 0 on, and an index of aborted transactions that fits."""
        offset = 0
        for number, batch in enumerate(self.places[place]):
            self.patch(place, number, base_offset=offset)
            offset += read_header(batch).last_offset_delta + 1
        self.reindex(place)

    def reindex(self, place: Place) -> None:
        """Make the index that a broker would have written for this log."""
        self.indexes[place] = list(index_of(self.places[place]))


def patched(batch: bytes, **fields: int) -> bytes:
    header = read_header(batch)._replace(**fields)
    out = bytearray(batch)
    HEADER.pack_into(out, 0, *header)
    struct.pack_into(">I", out, 17, crc32c(memoryview(out)[21:]))
    return bytes(out)


def marker_of(batch: bytes) -> str | None:
    """commit, abort, or None."""
    header = read_header(batch)
    if not header.is_control:
        return None
    return {0: "abort", 1: "commit"}.get(read_control_record(batch).type_id, "other")


def index_of(batches: Iterable[bytes]) -> Iterator[AbortedEntry]:
    """Batch by batch, as a broker keeps its books."""
    open_from: dict[int, int] = {}
    for batch in batches:
        header = read_header(batch)
        if not header.is_transactional:
            continue
        if not header.is_control:
            open_from.setdefault(header.producer_id, header.base_offset)
            continue
        first = open_from.pop(header.producer_id, None)
        if first is not None and marker_of(batch) == "abort":
            stable = min(open_from.values(), default=header.base_offset + 1)
            yield AbortedEntry(SEGMENT, header.producer_id, first, header.base_offset, stable)


def _row(topic: str, partition: int, position: int, batch: bytes) -> dict[str, Any]:
    header = read_header(batch)
    marker = marker_of(batch)
    return {
        "topic": topic,
        "partition": partition,
        "segment": SEGMENT,
        "position": position,
        "size": len(batch),
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "leader_epoch": header.partition_leader_epoch,
        "magic": header.magic,
        "codec": "none",
        "timestamp_type": int(header.timestamp_type),
        "base_timestamp": header.base_timestamp,
        "max_timestamp": header.max_timestamp,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "record_count": header.record_count,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "control_type": marker,
        "coordinator_epoch": (
            read_control_record(batch).coordinator_epoch if marker in {"commit", "abort"} else None
        ),
        "crc_ok": crc32c(memoryview(batch)[21:]) == header.crc,
    }


def _notes(metadata: list[bytes]) -> Iterator[BlockNote]:
    for batch in metadata:
        if read_header(batch).is_control:
            continue
        for record in iter_records(batch):
            assert record.value is not None
            message = decode_record(record.value).message
            if isinstance(message, ProducerIdsRecord):
                yield BlockNote(record.offset, message.broker_id, message.next_producer_id)
