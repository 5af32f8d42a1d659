# Generated from schemas/records/StreamsGroupTargetAssignmentMetadataKey.json (sha256 ca8396188e5433bb)
# Generated from schemas/records/StreamsGroupTargetAssignmentMetadataValue.json (sha256 72b146c1cb19763e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupTargetAssignmentMetadata (coordinator record 20)."""

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
    TAG_SIZE_WRONG,
    TaggedFields,
    negative_length,
    read_tag,
    with_unknown_tag,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail

_unpack_h = struct.Struct(">h").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_bbq = struct.Struct(">bbq").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class StreamsGroupTargetAssignmentMetadataKey(Fields):
    """Key in __consumer_offsets of the epoch of a streams group's target assignment (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupTargetAssignmentMetadataKey"
    RECORD_TYPE: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "unknown_tagged_fields")

    group_id: str
    """Streams group."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTargetAssignmentMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupTargetAssignmentMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupTargetAssignmentMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTargetAssignmentMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupTargetAssignmentMetadataKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group_id = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("StreamsGroupTargetAssignmentMetadataKey", version, buf, start, cause) from cause


class StreamsGroupTargetAssignmentMetadataValue(Fields):
    """The group epoch that the target assignment of a streams group was made for (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupTargetAssignmentMetadataValue"
    RECORD_TYPE: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("assignment_epoch", "assignment_timestamp", "unknown_tagged_fields")

    assignment_epoch: int
    """Group epoch of the target assignment."""
    assignment_timestamp: int
    """When the target assignment was made, in ms since 1970."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.assignment_epoch = assignment_epoch
        self.assignment_timestamp = assignment_timestamp
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTargetAssignmentMetadataValue", version, 0, 0)
            out += _pack_i(self.assignment_epoch)
            tagged_1: list[bytes] = []
            if self.assignment_timestamp != 0:
                tagged_1.append(_pack_bbq(0, 8, self.assignment_timestamp))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupTargetAssignmentMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupTargetAssignmentMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTargetAssignmentMetadataValue", version, 0, 0)
            size = len(buf)
            m = new(StreamsGroupTargetAssignmentMetadataValue)
            m.assignment_timestamp = 0
            m.unknown_tagged_fields = ()
            m.assignment_epoch, n = _unpack_iB(buf, pos)
            pos += 5
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(buf, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(buf, pos)
                    if tag_1 == 0:
                        m.assignment_timestamp = _unpack_q(buf, pos)[0]
                        pos += 8
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("StreamsGroupTargetAssignmentMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "StreamsGroupTargetAssignmentMetadataKey",
    "StreamsGroupTargetAssignmentMetadataValue",
]
