# Generated from schemas/records/StreamsGroupMemberMetadataKey.json (sha256 be2f14dde7eb0167)
# Generated from schemas/records/StreamsGroupMemberMetadataValue.json (sha256 3ee153351f3cfef7)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupMemberMetadata (coordinator record 19)."""

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
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_HB = struct.Struct(">HB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_pack_H = struct.Struct(">H").pack
_pack_b = struct.Struct(">b").pack
_pack_h = struct.Struct(">h").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class StreamsGroupMemberMetadataKey(Fields):
    """Key in __consumer_offsets of what a member of a streams group has told (KIP-1071); a null
    value removes the member.
    """

    NAME: ClassVar[str] = "StreamsGroupMemberMetadataKey"
    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "member_id", "unknown_tagged_fields")

    group_id: str
    """Streams group."""
    member_id: str
    """Id that the member makes once and keeps while it lives."""
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
                raise unknown_version("StreamsGroupMemberMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupMemberMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupMemberMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupMemberMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupMemberMetadataKey)
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
            raise decode_failure("StreamsGroupMemberMetadataKey", version, buf, start, cause) from cause


class Endpoint(Fields):
    """Part of StreamsGroupMemberMetadataValue."""

    __slots__ = ("host", "port", "unknown_tagged_fields")

    host: str
    """Name of the host."""
    port: int
    """Port."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields


class KeyValue(Fields):
    """Part of StreamsGroupMemberMetadataValue."""

    __slots__ = ("key", "value", "unknown_tagged_fields")

    key: str
    """Name."""
    value: str
    """Value."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        key: str = "",
        value: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields


class StreamsGroupMemberMetadataValue(Fields):
    """What a member of a streams group has told about itself (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupMemberMetadataValue"
    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "rebalance_timeout_ms",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "unknown_tagged_fields",
    )

    instance_id: str | None
    """Instance id of a static member; null for others."""
    rack_id: str | None
    """Rack of the member; null when not set or unchanged."""
    client_id: str
    """Client id of the member."""
    client_host: str
    """Host that the member connects from."""
    rebalance_timeout_ms: int
    """Time in ms that the member has to give up tasks; -1 when unchanged."""
    topology_epoch: int
    """Epoch of the member's topology."""
    process_id: str
    """Id of the process, which several members may share."""
    user_endpoint: Endpoint | None
    """Where the process answers queries of state (application.server); null when not set."""
    client_tags: list[KeyValue]
    """Tags of the client, by which standby tasks are spread."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is MADE_ANEW else client_tags
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupMemberMetadataValue", version, 0, 0)
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
            raw = self.process_id.encode()
            out += _pack_ii(self.rebalance_timeout_ms, self.topology_epoch)
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            if self.user_endpoint is None:
                out += _pack_b(-1)
            else:
                raw = self.user_endpoint.host.encode()
                out += _pack_b(1)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_H(self.user_endpoint.port)
                if self.user_endpoint.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.user_endpoint.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.client_tags) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for client_tag in self.client_tags:
                raw = client_tag.key.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = client_tag.value.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if client_tag.unknown_tagged_fields:
                    write_tagged_fields(out, [], client_tag.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupMemberMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupMemberMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupMemberMetadataValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupMemberMetadataValue)
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
            m.rebalance_timeout_ms, m.topology_epoch, n = _unpack_iiB(data, pos)
            pos += 9
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.process_id = data[pos:end].decode()
            pos = end
            n = (data[pos] ^ 128) - 128
            pos += 1
            if n < 0:
                m.user_endpoint = None
            else:
                m.user_endpoint = endpoint = new(Endpoint)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                endpoint.host = data[pos:end].decode()
                pos = end
                endpoint.port, n = _unpack_HB(data, pos)
                pos += 3
                if n:
                    endpoint.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    endpoint.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.client_tags = client_tag_list = []
            client_tag_left = n - 1
            while client_tag_left:
                client_tag_left -= 1
                client_tag = new(KeyValue)
                client_tag_list.append(client_tag)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                client_tag.key = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                client_tag.value = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n:
                    client_tag.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    client_tag.unknown_tagged_fields = ()
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
            raise decode_failure("StreamsGroupMemberMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "StreamsGroupMemberMetadataKey",
    "Endpoint",
    "KeyValue",
    "StreamsGroupMemberMetadataValue",
]
