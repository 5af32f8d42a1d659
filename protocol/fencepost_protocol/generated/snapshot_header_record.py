# Generated from schemas/records/SnapshotHeaderRecord.json (sha256 ae7b05c35a2b16ce)
# by python -m fencepost_protocol.codegen. Do not edit.
"""SnapshotHeaderRecord."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    unknown_version,
)
from fencepost_protocol.fields import Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    read_unknown_tags,
    write_tagged_fields,
)

_unpack_hqB = struct.Struct(">hqB").unpack_from
_pack_hq = struct.Struct(">hq").pack
new = object.__new__


class SnapshotHeaderRecord(Fields):
    """Control record that opens a metadata snapshot (KIP-630)."""

    NAME: ClassVar[str] = "SnapshotHeaderRecord"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("version", "last_contained_log_timestamp", "unknown_tagged_fields")

    version: int
    """Schema version of this record, 0."""
    last_contained_log_timestamp: int
    """Time of the newest log record covered by the snapshot, in ms since 1970."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        version: int = 0,
        last_contained_log_timestamp: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.version = version
        self.last_contained_log_timestamp = last_contained_log_timestamp
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("SnapshotHeaderRecord", version, 0, 0)
            out += _pack_hq(self.version, self.last_contained_log_timestamp)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("SnapshotHeaderRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[SnapshotHeaderRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("SnapshotHeaderRecord", version, 0, 0)
            size = len(buf)
            m = new(SnapshotHeaderRecord)
            m.version, m.last_contained_log_timestamp, n = _unpack_hqB(buf, pos)
            pos += 11
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("SnapshotHeaderRecord", version, buf, start, cause) from cause


__all__ = [
    "SnapshotHeaderRecord",
]
