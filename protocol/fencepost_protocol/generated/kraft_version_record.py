# Generated from schemas/records/KRaftVersionRecord.json (sha256 969f12b32153ca09)
# by python -m fencepost_protocol.codegen. Do not edit.
"""KRaftVersionRecord."""

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

_unpack_hhB = struct.Struct(">hhB").unpack_from
_pack_hh = struct.Struct(">hh").pack
new = object.__new__


class KRaftVersionRecord(Fields):
    """Control record in the metadata log that fixes how the voter set is kept (KIP-853)."""

    NAME: ClassVar[str] = "KRaftVersionRecord"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("version", "kraft_version", "unknown_tagged_fields")

    version: int
    """Schema version of this record, 0."""
    kraft_version: int
    """Level of kraft.version: 0 static voters from the configuration, 1 voters kept in the log."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        version: int = 0,
        kraft_version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.version = version
        self.kraft_version = kraft_version
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("KRaftVersionRecord", version, 0, 0)
            out += _pack_hh(self.version, self.kraft_version)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("KRaftVersionRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[KRaftVersionRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("KRaftVersionRecord", version, 0, 0)
            size = len(buf)
            m = new(KRaftVersionRecord)
            m.version, m.kraft_version, n = _unpack_hhB(buf, pos)
            pos += 5
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("KRaftVersionRecord", version, buf, start, cause) from cause


__all__ = [
    "KRaftVersionRecord",
]
