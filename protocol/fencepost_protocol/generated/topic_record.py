# Generated from schemas/records/TopicRecord.json (sha256 26884d508da98973)
# by python -m fencepost_protocol.codegen. Do not edit.
"""TopicRecord (metadata record 2)."""

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
    long_string_length,
    read_unknown_tags,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
)

_unpack_UB = struct.Struct(">16sB").unpack_from
_pack_U = struct.Struct(">16s").pack
new = object.__new__


class TopicRecord(Fields):
    """Creates a topic and ties its name to a UUID; PartitionRecords follow."""

    NAME: ClassVar[str] = "TopicRecord"
    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("name", "topic_id", "unknown_tagged_fields")

    name: str
    """Name of the topic."""
    topic_id: bytes
    """UUID that stays with the topic until it is deleted (KIP-516)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("TopicRecord", version, 0, 0)
            raw = self.name.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_U(uuid_bytes(self.topic_id))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("TopicRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[TopicRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("TopicRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(TopicRecord)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.name = data[pos:end].decode()
            pos = end
            m.topic_id, n = _unpack_UB(data, pos)
            pos += 17
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("TopicRecord", version, buf, start, cause) from cause


__all__ = [
    "TopicRecord",
]
