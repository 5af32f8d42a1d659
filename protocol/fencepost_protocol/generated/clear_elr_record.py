# Generated from schemas/records/ClearElrRecord.json (sha256 577ff86fd2eb422e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ClearElrRecord (metadata record 28)."""

from __future__ import annotations

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

new = object.__new__


class ClearElrRecord(Fields):
    """Empties the eligible leader replicas, as after a change of min.insync.replicas (KIP-966)."""

    NAME: ClassVar[str] = "ClearElrRecord"
    RECORD_TYPE: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("topic_name", "unknown_tagged_fields")

    topic_name: str
    """Topic to clear; an empty name clears all topics."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ClearElrRecord", version, 0, 0)
            raw = self.topic_name.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ClearElrRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ClearElrRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ClearElrRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ClearElrRecord)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.topic_name = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ClearElrRecord", version, buf, start, cause) from cause


__all__ = [
    "ClearElrRecord",
]
