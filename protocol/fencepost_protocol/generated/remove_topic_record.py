# Generated from schemas/records/RemoveTopicRecord.json (sha256 2267b5be0c490c2d)
# by python -m fencepost_protocol.codegen. Do not edit.
"""RemoveTopicRecord (metadata record 9)."""

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


class RemoveTopicRecord(Fields):
    """Deletes a topic together with all its partitions."""

    NAME: ClassVar[str] = "RemoveTopicRecord"
    RECORD_TYPE: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("topic_id", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic that goes; its name may then be used anew with another UUID."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveTopicRecord", version, 0, 0)
            out += _pack_U(uuid_bytes(self.topic_id))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("RemoveTopicRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RemoveTopicRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveTopicRecord", version, 0, 0)
            size = len(buf)
            m = new(RemoveTopicRecord)
            m.topic_id, n = _unpack_UB(buf, pos)
            pos += 17
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("RemoveTopicRecord", version, buf, start, cause) from cause


__all__ = [
    "RemoveTopicRecord",
]
