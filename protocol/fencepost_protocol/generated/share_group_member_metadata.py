# Generated from schemas/records/ShareGroupMemberMetadataKey.json (sha256 0e364be9deafa3c1)
# Generated from schemas/records/ShareGroupMemberMetadataValue.json (sha256 361426c12858c7d8)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareGroupMemberMetadata (coordinator record 10)."""

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
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_compact_string_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_pack_h = struct.Struct(">h").pack
new = object.__new__


class ShareGroupMemberMetadataKey(Fields):
    """Key in __consumer_offsets of one member's description in a share group (KIP-932); a null
    value removes the member.
    """

    NAME: ClassVar[str] = "ShareGroupMemberMetadataKey"
    RECORD_TYPE: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "member_id", "unknown_tagged_fields")

    group_id: str
    """Group that the record belongs to."""
    member_id: str
    """Member of the group that the record is about."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupMemberMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupMemberMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupMemberMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupMemberMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupMemberMetadataKey)
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
            m.member_id = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareGroupMemberMetadataKey", version, buf, start, cause) from cause


class ShareGroupMemberMetadataValue(Fields):
    """What a member of a share group said about itself (KIP-932)."""

    NAME: ClassVar[str] = "ShareGroupMemberMetadataValue"
    RECORD_TYPE: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "unknown_tagged_fields",
    )

    rack_id: str | None
    """Rack the member reported; null when none."""
    client_id: str
    """The client.id in the request header of the member."""
    client_host: str
    """Address the member connects from, usually with a leading slash."""
    subscribed_topic_names: list[str]
    """Topics subscribed to."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is MADE_ANEW else subscribed_topic_names
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupMemberMetadataValue", version, 0, 0)
            if self.rack_id is None:
                out.append(0)
            else:
                raw = self.rack_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            raw = self.client_id.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            raw = self.client_host.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            n = len(self.subscribed_topic_names) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.subscribed_topic_names)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupMemberMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupMemberMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupMemberMetadataValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupMemberMetadataValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.rack_id = None
            else:
                end = pos + n - 1
                m.rack_id = data[pos:end].decode()
                pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.client_id = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.client_host = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.subscribed_topic_names, pos = read_compact_string_array(data, pos, n - 1)
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
            raise decode_failure("ShareGroupMemberMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "ShareGroupMemberMetadataKey",
    "ShareGroupMemberMetadataValue",
]
