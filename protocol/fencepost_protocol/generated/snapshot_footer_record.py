# Generated from schemas/records/SnapshotFooterRecord.json (sha256 54ca5ad576c7fd04)
# by python -m fencepost_protocol.codegen. Do not edit.
"""SnapshotFooterRecord."""

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

_unpack_hB = struct.Struct(">hB").unpack_from
_pack_h = struct.Struct(">h").pack
new = object.__new__


class SnapshotFooterRecord(Fields):
    """Control record that closes a metadata snapshot; without it the file is incomplete (KIP-630).
    """

    NAME: ClassVar[str] = "SnapshotFooterRecord"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("version", "unknown_tagged_fields")

    version: int
    """Schema version of this record, 0."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.version = version
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("SnapshotFooterRecord", version, 0, 0)
            out += _pack_h(self.version)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("SnapshotFooterRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[SnapshotFooterRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("SnapshotFooterRecord", version, 0, 0)
            size = len(buf)
            m = new(SnapshotFooterRecord)
            m.version, n = _unpack_hB(buf, pos)
            pos += 3
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("SnapshotFooterRecord", version, buf, start, cause) from cause


__all__ = [
    "SnapshotFooterRecord",
]
