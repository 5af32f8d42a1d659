# Generated from schemas/records/RemoveUserScramCredentialRecord.json (sha256 3405798a73227c30)
# by python -m fencepost_protocol.codegen. Do not edit.
"""RemoveUserScramCredentialRecord (metadata record 22)."""

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
    long_string_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_bB = struct.Struct(">bB").unpack_from
_pack_b = struct.Struct(">b").pack
new = object.__new__


class RemoveUserScramCredentialRecord(Fields):
    """Deletes a user's SCRAM credential for one mechanism (KIP-554)."""

    NAME: ClassVar[str] = "RemoveUserScramCredentialRecord"
    RECORD_TYPE: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("name", "mechanism", "unknown_tagged_fields")

    name: str
    """User whose credential goes."""
    mechanism: int
    """1 SCRAM-SHA-256, 2 SCRAM-SHA-512."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveUserScramCredentialRecord", version, 0, 0)
            raw = self.name.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_b(self.mechanism)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("RemoveUserScramCredentialRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RemoveUserScramCredentialRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveUserScramCredentialRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(RemoveUserScramCredentialRecord)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.name = data[pos:end].decode()
            pos = end
            m.mechanism, n = _unpack_bB(data, pos)
            pos += 2
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("RemoveUserScramCredentialRecord", version, buf, start, cause) from cause


__all__ = [
    "RemoveUserScramCredentialRecord",
]
