# Generated from schemas/records/ConsumerGroupRegularExpressionKey.json (sha256 5aa2043cff574748)
# Generated from schemas/records/ConsumerGroupRegularExpressionValue.json (sha256 3a0fe044603faab6)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerGroupRegularExpression (coordinator record 16)."""

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
    long_length,
    negative_length,
    read_compact_string_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_qqB = struct.Struct(">qqB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_qq = struct.Struct(">qq").pack
new = object.__new__


class ConsumerGroupRegularExpressionKey(Fields):
    """Key in __consumer_offsets of a resolved subscription pattern of a new-protocol group
    (KIP-848); a null value forgets it.
    """

    NAME: ClassVar[str] = "ConsumerGroupRegularExpressionKey"
    RECORD_TYPE: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "regular_expression", "unknown_tagged_fields")

    group_id: str
    """Group that the record belongs to."""
    regular_expression: str
    """The pattern as members sent it in SubscribedTopicRegex."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        regular_expression: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.regular_expression = regular_expression
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupRegularExpressionKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.regular_expression.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupRegularExpressionKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupRegularExpressionKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupRegularExpressionKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupRegularExpressionKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group_id = data[pos:end].decode()
            pos = end
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.regular_expression = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerGroupRegularExpressionKey", version, buf, start, cause) from cause


class ConsumerGroupRegularExpressionValue(Fields):
    """The topics that a subscription pattern matched when the coordinator last looked (KIP-848)."""

    NAME: ClassVar[str] = "ConsumerGroupRegularExpressionValue"
    RECORD_TYPE: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("topics", "version", "timestamp", "unknown_tagged_fields")

    topics: list[str]
    """Names of the matching topics."""
    version: int
    """Position of the metadata that the match was made against; older results give way to newer
    ones.
    """
    timestamp: int
    """When the match was made, in ms since 1970; old results are refreshed."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[str] = MADE_ANEW,
        version: int = 0,
        timestamp: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.version = version
        self.timestamp = timestamp
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupRegularExpressionValue", version, 0, 0)
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.topics)
            out += _pack_qq(self.version, self.timestamp)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupRegularExpressionValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupRegularExpressionValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupRegularExpressionValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupRegularExpressionValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics, pos = read_compact_string_array(data, pos, n - 1)
            m.version, m.timestamp, n = _unpack_qqB(data, pos)
            pos += 17
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerGroupRegularExpressionValue", version, buf, start, cause) from cause


__all__ = [
    "ConsumerGroupRegularExpressionKey",
    "ConsumerGroupRegularExpressionValue",
]
