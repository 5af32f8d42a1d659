# Generated from schemas/records/ProducerSnapshot.json (sha256 fc231da0341ace84)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ProducerSnapshot."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    negative_length,
    too_many_elements,
)

_unpack_Ii = struct.Struct(">Ii").unpack_from
_unpack_qhiqiqiq = struct.Struct(">qhiqiqiq").unpack_from
_pack_Ii = struct.Struct(">Ii").pack
_pack_qhiqiqiq = struct.Struct(">qhiqiqiq").pack
new = object.__new__


class ProducerEntry(Fields):
    """Producers the partition remembers."""

    __slots__ = (
        "producer_id",
        "epoch",
        "last_sequence",
        "last_offset",
        "offset_delta",
        "timestamp",
        "coordinator_epoch",
        "current_txn_first_offset",
        "unknown_tagged_fields",
    )

    producer_id: int
    """Id from InitProducerId."""
    epoch: int
    """Highest epoch seen from that id; lower ones get INVALID_PRODUCER_EPOCH."""
    last_sequence: int
    """Sequence number of its last record; -1 when it has written no data in this epoch."""
    last_offset: int
    """Offset of its last data record; -1 when there is none."""
    offset_delta: int
    """Last minus first offset of its last batch, so that a repeat can be recognised."""
    timestamp: int
    """Time of its last write in ms since 1970; counts for producer.id.expiration.ms."""
    coordinator_epoch: int
    """Coordinator epoch of the last marker; -1 before the first."""
    current_txn_first_offset: int
    """Offset where its open transaction begins; -1 when none is open."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        producer_id: int = 0,
        epoch: int = 0,
        last_sequence: int = 0,
        last_offset: int = 0,
        offset_delta: int = 0,
        timestamp: int = 0,
        coordinator_epoch: int = 0,
        current_txn_first_offset: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.last_sequence = last_sequence
        self.last_offset = last_offset
        self.offset_delta = offset_delta
        self.timestamp = timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_first_offset = current_txn_first_offset
        self.unknown_tagged_fields = unknown_tagged_fields


class ProducerSnapshot(Fields):
    """File beside a log segment with the state of each producer seen on the partition, so that a
    restart need not read the whole log.
    """

    NAME: ClassVar[str] = "ProducerSnapshot"
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("crc", "producer_entries", "unknown_tagged_fields")

    crc: int
    """CRC-32C over all that follows; a mismatch makes the broker discard the file."""
    producer_entries: list[ProducerEntry]
    """Producers the partition remembers."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        crc: int = 0,
        producer_entries: list[ProducerEntry] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.crc = crc
        self.producer_entries = [] if producer_entries is MADE_ANEW else producer_entries
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ProducerSnapshot", version, 1, 1)
            out += _pack_Ii(self.crc, len(self.producer_entries))
            for producer_entry in self.producer_entries:
                out += _pack_qhiqiqiq(
                    producer_entry.producer_id,
                    producer_entry.epoch,
                    producer_entry.last_sequence,
                    producer_entry.last_offset,
                    producer_entry.offset_delta,
                    producer_entry.timestamp,
                    producer_entry.coordinator_epoch,
                    producer_entry.current_txn_first_offset,
                )
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ProducerSnapshot", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ProducerSnapshot, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ProducerSnapshot", version, 1, 1)
            size = len(buf)
            m = new(ProducerSnapshot)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.crc, n = _unpack_Ii(buf, pos)
            pos += 8
            if n < 0:
                raise negative_length(n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.producer_entries = producer_entry_list = []
            producer_entry_left = n
            while producer_entry_left:
                producer_entry_left -= 1
                producer_entry = new(ProducerEntry)
                producer_entry_list.append(producer_entry)
                producer_entry.unknown_tagged_fields = ()
                (
                    producer_entry.producer_id,
                    producer_entry.epoch,
                    producer_entry.last_sequence,
                    producer_entry.last_offset,
                    producer_entry.offset_delta,
                    producer_entry.timestamp,
                    producer_entry.coordinator_epoch,
                    producer_entry.current_txn_first_offset,
                ) = _unpack_qhiqiqiq(buf, pos)
                pos += 46
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ProducerSnapshot", version, buf, start, cause) from cause


__all__ = [
    "ProducerEntry",
    "ProducerSnapshot",
]
