# Generated from schemas/messages/HeartbeatRequest.json (sha256 5776c3b8c2166f22)
# Generated from schemas/messages/HeartbeatResponse.json (sha256 c2bcd9bb72081305)
# by python -m fencepost_protocol.codegen. Do not edit.
"""Heartbeat (API key 12)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    unknown_version,
)
from fencepost_protocol.fields import Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class HeartbeatRequest(Fields):
    """A member of a classic group shows its coordinator that it is alive and learns of rebalances.
    KIP-848 members use ConsumerGroupHeartbeat instead.
    """

    NAME: ClassVar[str] = "HeartbeatRequest"
    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "unknown_tagged_fields",
    )

    group_id: str
    """Group the member belongs to."""
    generation_id: int
    """Generation the member is in; another one gives ILLEGAL_GENERATION."""
    member_id: str
    """Id from JoinGroup; UNKNOWN_MEMBER_ID if it has been dropped."""
    group_instance_id: str | None
    """Versions 3-4. Static membership id (KIP-345), null for a dynamic member; FENCED_INSTANCE_ID
    once another member took it over.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("HeartbeatRequest", version, 0, 4)
            if version >= 4:
                raw = self.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = self.member_id.encode()
                out += _pack_i(self.generation_id)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if self.group_instance_id is None:
                    out.append(0)
                else:
                    raw = self.group_instance_id.encode()
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
            else:
                raw = self.group_id.encode()
                out += _pack_h(len(raw))
                out += raw
                raw = self.member_id.encode()
                out += _pack_ih(self.generation_id, len(raw))
                out += raw
                if version >= 3:
                    if self.group_instance_id is None:
                        out += _pack_h(-1)
                    else:
                        raw = self.group_instance_id.encode()
                        out += _pack_h(len(raw))
                        out += raw
                elif self.group_instance_id is not None:
                    raise not_in_version("group_instance_id", "3-4")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("HeartbeatRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[HeartbeatRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("HeartbeatRequest", version, 0, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(HeartbeatRequest)
            if version >= 4:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.group_id = data[pos:end].decode()
                pos = end
                m.generation_id, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.member_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.group_instance_id = None
                else:
                    end = pos + n - 1
                    m.group_instance_id = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.group_id = data[pos:end].decode()
                pos = end
                m.generation_id, n = _unpack_ih(data, pos)
                pos += 6
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.member_id = data[pos:end].decode()
                pos = end
                if version >= 3:
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        m.group_instance_id = None
                    else:
                        end = pos + n
                        m.group_instance_id = data[pos:end].decode()
                        pos = end
                else:
                    m.group_instance_id = None
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("HeartbeatRequest", version, buf, start, cause) from cause


class HeartbeatResponse(Fields):
    """Tells a member whether it may carry on, must rejoin, or has lost its place."""

    NAME: ClassVar[str] = "HeartbeatResponse"
    API_KEY: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = ("throttle_time_ms", "error_code", "unknown_tagged_fields")

    throttle_time_ms: int
    """Versions 1-4. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    error_code: int
    """NONE; REBALANCE_IN_PROGRESS: rejoin; UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION: join anew;
    FENCED_INSTANCE_ID: replaced, stop.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("HeartbeatResponse", version, 0, 4)
            if version >= 4:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if version >= 1:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_h(self.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("HeartbeatResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[HeartbeatResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("HeartbeatResponse", version, 0, 4)
            size = len(buf)
            m = new(HeartbeatResponse)
            if version >= 4:
                m.throttle_time_ms, m.error_code, n = _unpack_ihB(buf, pos)
                pos += 7
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                if version >= 1:
                    m.throttle_time_ms = _unpack_i(buf, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                m.unknown_tagged_fields = ()
                m.error_code = _unpack_h(buf, pos)[0]
                pos += 2
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("HeartbeatResponse", version, buf, start, cause) from cause


__all__ = [
    "HeartbeatRequest",
    "HeartbeatResponse",
]
