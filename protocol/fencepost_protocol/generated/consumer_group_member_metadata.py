# Generated from schemas/records/ConsumerGroupMemberMetadataKey.json (sha256 85ff81f838ff6f36)
# Generated from schemas/records/ConsumerGroupMemberMetadataValue.json (sha256 986b50eb5656d2dd)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerGroupMemberMetadata (coordinator record 5)."""

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
    TAG_SIZE_WRONG,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_compact_string_array,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_compact_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_pack_Bi = struct.Struct(">Bi").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class ConsumerGroupMemberMetadataKey(Fields):
    """Key in __consumer_offsets of one member's description under the new consumer protocol
    (KIP-848); a null value removes the member.
    """

    NAME: ClassVar[str] = "ConsumerGroupMemberMetadataKey"
    RECORD_TYPE: ClassVar[int] = 5
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
                raise unknown_version("ConsumerGroupMemberMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupMemberMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupMemberMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupMemberMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupMemberMetadataKey)
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
            raise decode_failure("ConsumerGroupMemberMetadataKey", version, buf, start, cause) from cause


class ClassicProtocol(Fields):
    """Assignors from the member's JoinGroup, preferred first."""

    __slots__ = ("name", "metadata", "unknown_tagged_fields")

    name: str
    """Assignor name, such as range or cooperative-sticky."""
    metadata: bytes
    """Subscription for this assignor, a ConsumerProtocolSubscription."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.metadata = metadata
        self.unknown_tagged_fields = unknown_tagged_fields


class ClassicMemberMetadata(Fields):
    """Present while the member still speaks the classic protocol during a migration; null
    otherwise.
    """

    __slots__ = ("session_timeout_ms", "supported_protocols", "unknown_tagged_fields")

    session_timeout_ms: int
    """Silence in ms after which the classic member is dropped."""
    supported_protocols: list[ClassicProtocol]
    """Assignors from the member's JoinGroup, preferred first."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        session_timeout_ms: int = 0,
        supported_protocols: list[ClassicProtocol] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.session_timeout_ms = session_timeout_ms
        self.supported_protocols = [] if supported_protocols is MADE_ANEW else supported_protocols
        self.unknown_tagged_fields = unknown_tagged_fields


class ConsumerGroupMemberMetadataValue(Fields):
    """What a member of a new-protocol consumer group said about itself (KIP-848)."""

    NAME: ClassVar[str] = "ConsumerGroupMemberMetadataValue"
    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "rebalance_timeout_ms",
        "server_assignor",
        "classic_member_metadata",
        "unknown_tagged_fields",
    )

    instance_id: str | None
    """Static membership id, group.instance.id (KIP-345); null for a dynamic member."""
    rack_id: str | None
    """Rack the member reported; null when none."""
    client_id: str
    """The client.id in the request header of the member."""
    client_host: str
    """Address the member connects from, usually with a leading slash."""
    subscribed_topic_names: list[str]
    """Topics subscribed to by name; empty when only a regular expression is used."""
    subscribed_topic_regex: str | None
    """Regular expression subscribed with; null or empty when none."""
    rebalance_timeout_ms: int
    """How long in ms the member may take to give up partitions; -1 when unknown."""
    server_assignor: str | None
    """Server-side assignor the member wishes for; null when it has no wish."""
    classic_member_metadata: ClassicMemberMetadata | None
    """Present while the member still speaks the classic protocol during a migration; null
    otherwise.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = MADE_ANEW,
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is MADE_ANEW else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.server_assignor = server_assignor
        self.classic_member_metadata = ClassicMemberMetadata() if classic_member_metadata is MADE_ANEW else classic_member_metadata
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupMemberMetadataValue", version, 0, 0)
            if self.instance_id is None:
                out.append(0)
            else:
                raw = self.instance_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
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
            if self.subscribed_topic_regex is None:
                out.append(0)
            else:
                raw = self.subscribed_topic_regex.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            out += _pack_i(self.rebalance_timeout_ms)
            if self.server_assignor is None:
                out.append(0)
            else:
                raw = self.server_assignor.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            tagged_1: list[bytes] = []
            if self.classic_member_metadata != ClassicMemberMetadata():
                content_1 = bytearray()
                if self.classic_member_metadata is None:
                    content_1.append(0)
                else:
                    content_1 += _pack_Bi(1, self.classic_member_metadata.session_timeout_ms)
                    n = len(self.classic_member_metadata.supported_protocols) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for supported_protocol in self.classic_member_metadata.supported_protocols:
                        raw = supported_protocol.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        n = len(supported_protocol.metadata) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        content_1 += supported_protocol.metadata
                        if supported_protocol.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], supported_protocol.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    if self.classic_member_metadata.unknown_tagged_fields:
                        write_tagged_fields(content_1, [], self.classic_member_metadata.unknown_tagged_fields)
                    else:
                        content_1.append(0)
                tagged_1.append(tagged_field(0, content_1))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupMemberMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupMemberMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupMemberMetadataValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupMemberMetadataValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.instance_id = None
            else:
                end = pos + n - 1
                m.instance_id = data[pos:end].decode()
                pos = end
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
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.subscribed_topic_regex = None
            else:
                end = pos + n - 1
                m.subscribed_topic_regex = data[pos:end].decode()
                pos = end
            m.rebalance_timeout_ms, n = _unpack_iB(data, pos)
            pos += 5
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.server_assignor = None
            else:
                end = pos + n - 1
                m.server_assignor = data[pos:end].decode()
                pos = end
            m.classic_member_metadata = ClassicMemberMetadata()
            m.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(data, pos)
                    if tag_1 == 0:
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(data, pos, n)
                        if not n:
                            m.classic_member_metadata = None
                        else:
                            m.classic_member_metadata = classic_member_metadata = new(ClassicMemberMetadata)
                            classic_member_metadata.session_timeout_ms, n = _unpack_iB(data, pos)
                            pos += 5
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            classic_member_metadata.supported_protocols = supported_protocol_list = []
                            supported_protocol_left = n - 1
                            while supported_protocol_left:
                                supported_protocol_left -= 1
                                supported_protocol = new(ClassicProtocol)
                                supported_protocol_list.append(supported_protocol)
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                supported_protocol.name = data[pos:end].decode()
                                pos = end
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_length(data, pos, n)
                                end = pos + n - 1
                                supported_protocol.metadata = data[pos:end]
                                pos = end
                                n = data[pos]
                                pos += 1
                                if n:
                                    supported_protocol.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    supported_protocol.unknown_tagged_fields = ()
                            n = data[pos]
                            pos += 1
                            if n:
                                classic_member_metadata.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                classic_member_metadata.unknown_tagged_fields = ()
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerGroupMemberMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "ConsumerGroupMemberMetadataKey",
    "ClassicProtocol",
    "ClassicMemberMetadata",
    "ConsumerGroupMemberMetadataValue",
]
