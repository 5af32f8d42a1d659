# Generated from schemas/messages/SyncGroupRequest.json (sha256 e3a867f24c6540ea)
# Generated from schemas/messages/SyncGroupResponse.json (sha256 5e89e6b3014d8269)
# by python -m fencepost_protocol.codegen. Do not edit.
"""SyncGroup (API key 14)."""

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

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hi = struct.Struct(">hi").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_hi = struct.Struct(">hi").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class SyncGroupRequestAssignment(Fields):
    """Everybody's assignment from the leader; empty from all others."""

    __slots__ = ("member_id", "assignment", "unknown_tagged_fields")

    member_id: str
    """Member that gets this assignment; members not listed get an empty one."""
    assignment: bytes
    """Opaque to the broker; consumers put ConsumerProtocolAssignment here."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        assignment: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment
        self.unknown_tagged_fields = unknown_tagged_fields


class SyncGroupRequest(Fields):
    """Second step of a classic rebalance: the leader hands in everybody's assignment, the other
    members ask for theirs and wait for the leader.
    """

    NAME: ClassVar[str] = "SyncGroupRequest"
    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocol_name",
        "assignments",
        "unknown_tagged_fields",
    )

    group_id: str
    """Group that is being rebalanced."""
    generation_id: int
    """Generation from JoinGroup; another one gives ILLEGAL_GENERATION."""
    member_id: str
    """Id from JoinGroup; UNKNOWN_MEMBER_ID if it has been dropped."""
    group_instance_id: str | None
    """Versions 3-5. Static membership id (KIP-345), null for a dynamic member; FENCED_INSTANCE_ID
    once another member took it over.
    """
    protocol_type: str | None
    """Versions 5. Kind of group the member assumes (KIP-559); null is not checked, another gives
    INCONSISTENT_GROUP_PROTOCOL.
    """
    protocol_name: str | None
    """Versions 5. Assignor the member assumes (KIP-559); null is not checked, another gives
    INCONSISTENT_GROUP_PROTOCOL.
    """
    assignments: list[SyncGroupRequestAssignment]
    """Everybody's assignment from the leader; empty from all others."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: list[SyncGroupRequestAssignment] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = [] if assignments is MADE_ANEW else assignments
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("SyncGroupRequest", version, 0, 5)
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
                if version >= 5:
                    if self.protocol_type is None:
                        out.append(0)
                    else:
                        raw = self.protocol_type.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if self.protocol_name is None:
                        out.append(0)
                    else:
                        raw = self.protocol_name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                n = len(self.assignments) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for assignment in self.assignments:
                    raw = assignment.member_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(assignment.assignment) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    out += assignment.assignment
                    if assignment.unknown_tagged_fields:
                        write_tagged_fields(out, [], assignment.unknown_tagged_fields)
                    else:
                        out.append(0)
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
                    raise not_in_version("group_instance_id", "3-5")
                out += _pack_i(len(self.assignments))
                for assignment in self.assignments:
                    raw = assignment.member_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(assignment.assignment))
                    out += assignment.assignment
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("SyncGroupRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[SyncGroupRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("SyncGroupRequest", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(SyncGroupRequest)
            if version >= 4:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
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
                if version >= 5:
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        m.protocol_type = None
                    else:
                        end = pos + n - 1
                        m.protocol_type = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        m.protocol_name = None
                    else:
                        end = pos + n - 1
                        m.protocol_name = data[pos:end].decode()
                        pos = end
                else:
                    m.protocol_type = None
                    m.protocol_name = None
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.assignments = assignment_list = []
                assignment_left = n - 1
                while assignment_left:
                    assignment_left -= 1
                    assignment = new(SyncGroupRequestAssignment)
                    assignment_list.append(assignment)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    assignment.member_id = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    end = pos + n - 1
                    assignment.assignment = data[pos:end]
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        assignment.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        assignment.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.protocol_type = None
                m.protocol_name = None
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
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.assignments = assignment_list = []
                assignment_left = n
                while assignment_left:
                    assignment_left -= 1
                    assignment = new(SyncGroupRequestAssignment)
                    assignment_list.append(assignment)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    assignment.member_id = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    assignment.assignment = data[pos:end]
                    pos = end
                    assignment.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("SyncGroupRequest", version, buf, start, cause) from cause


class SyncGroupResponse(Fields):
    """Gives one member its share of the assignment and so ends the rebalance for it."""

    NAME: ClassVar[str] = "SyncGroupResponse"
    API_KEY: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "protocol_type",
        "protocol_name",
        "assignment",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Versions 1-5. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    error_code: int
    """NONE, or REBALANCE_IN_PROGRESS (join again), UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION,
    INCONSISTENT_GROUP_PROTOCOL, FENCED_INSTANCE_ID.
    """
    protocol_type: str | None
    """Versions 5. Kind of group (KIP-559); null on an error."""
    protocol_name: str | None
    """Versions 5. Assignor in force (KIP-559); null on an error."""
    assignment: bytes
    """Bytes the leader handed in for this member; empty on an error or without partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("SyncGroupResponse", version, 0, 5)
            if version >= 4:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                if version >= 5:
                    if self.protocol_type is None:
                        out.append(0)
                    else:
                        raw = self.protocol_type.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if self.protocol_name is None:
                        out.append(0)
                    else:
                        raw = self.protocol_name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                n = len(self.assignment) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += self.assignment
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if version >= 1:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_hi(self.error_code, len(self.assignment))
                out += self.assignment
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("SyncGroupResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[SyncGroupResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("SyncGroupResponse", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(SyncGroupResponse)
            if version >= 4:
                m.throttle_time_ms, m.error_code = _unpack_ih(data, pos)
                pos += 6
                if version >= 5:
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        m.protocol_type = None
                    else:
                        end = pos + n - 1
                        m.protocol_type = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        m.protocol_name = None
                    else:
                        end = pos + n - 1
                        m.protocol_name = data[pos:end].decode()
                        pos = end
                else:
                    m.protocol_type = None
                    m.protocol_name = None
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                end = pos + n - 1
                m.assignment = data[pos:end]
                pos = end
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.protocol_type = None
                m.protocol_name = None
                if version >= 1:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                m.error_code, n = _unpack_hi(data, pos)
                pos += 6
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.assignment = data[pos:end]
                pos = end
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("SyncGroupResponse", version, buf, start, cause) from cause


__all__ = [
    "SyncGroupRequestAssignment",
    "SyncGroupRequest",
    "SyncGroupResponse",
]
