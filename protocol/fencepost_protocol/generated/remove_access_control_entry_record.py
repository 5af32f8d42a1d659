# Generated from schemas/records/RemoveAccessControlEntryRecord.json (sha256 56fa6c4f7d6aa316)
# by python -m fencepost_protocol.codegen. Do not edit.
"""RemoveAccessControlEntryRecord (metadata record 19)."""

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
    ZERO_UUID,
    TaggedFields,
    read_unknown_tags,
    uuid_bytes,
    write_tagged_fields,
)

_unpack_UB = struct.Struct(">16sB").unpack_from
_pack_U = struct.Struct(">16s").pack
new = object.__new__


class RemoveAccessControlEntryRecord(Fields):
    """Deletes one ACL from the cluster metadata (KIP-801)."""

    NAME: ClassVar[str] = "RemoveAccessControlEntryRecord"
    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("id", "unknown_tagged_fields")

    id: bytes
    """UUID from the AccessControlEntryRecord that added the ACL."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.id = id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveAccessControlEntryRecord", version, 0, 0)
            out += _pack_U(uuid_bytes(self.id))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("RemoveAccessControlEntryRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RemoveAccessControlEntryRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveAccessControlEntryRecord", version, 0, 0)
            size = len(buf)
            m = new(RemoveAccessControlEntryRecord)
            m.id, n = _unpack_UB(buf, pos)
            pos += 17
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("RemoveAccessControlEntryRecord", version, buf, start, cause) from cause


__all__ = [
    "RemoveAccessControlEntryRecord",
]
