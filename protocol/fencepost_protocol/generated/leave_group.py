# Generated from schemas/messages/LeaveGroupRequest.json (sha256 5c68de72fa6212fd)
# Generated from schemas/messages/LeaveGroupResponse.json (sha256 71b10fcc15f9ea6f)
# by python -m fencepost_protocol.codegen. Do not edit.
"""LeaveGroup (API key 13)."""

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
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class MemberIdentity(Fields):
    """Members to remove, each judged on its own (KIP-345)."""

    __slots__ = ("member_id", "group_instance_id", "reason", "unknown_tagged_fields")

    member_id: str
    """Versions 3-5. Id from JoinGroup; may be empty when GroupInstanceId names the member."""
    group_instance_id: str | None
    """Versions 3-5. Static membership id to remove (KIP-345); null for a dynamic member."""
    reason: str | None
    """Versions 5. Why it leaves, for the coordinator's log only (KIP-800); null when not told."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason
        self.unknown_tagged_fields = unknown_tagged_fields


class LeaveGroupRequest(Fields):
    """A member of a classic group says goodbye, which starts a rebalance without waiting for its
    session to run out; from version 3 an administrator can remove several members.
    """

    NAME: ClassVar[str] = "LeaveGroupRequest"
    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = ("group_id", "member_id", "members", "unknown_tagged_fields")

    group_id: str
    """Group that is being left."""
    member_id: str
    """Versions 0-2. Leaving member, up to version 2; UNKNOWN_MEMBER_ID if not in the group."""
    members: list[MemberIdentity]
    """Versions 3-5. Members to remove, each judged on its own (KIP-345)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        members: list[MemberIdentity] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = [] if members is MADE_ANEW else members
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("LeaveGroupRequest", version, 0, 5)
            if version >= 4:
                if self.member_id:
                    raise not_in_version("member_id", "0-2")
                raw = self.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(self.members) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for member in self.members:
                    raw = member.member_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if member.group_instance_id is None:
                        out.append(0)
                    else:
                        raw = member.group_instance_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 5:
                        if member.reason is None:
                            out.append(0)
                        else:
                            raw = member.reason.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                    if member.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.unknown_tagged_fields)
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
                if version <= 2:
                    raw = self.member_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                elif self.member_id:
                    raise not_in_version("member_id", "0-2")
                if version >= 3:
                    out += _pack_i(len(self.members))
                    for member in self.members:
                        raw = member.member_id.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        if member.group_instance_id is None:
                            out += _pack_h(-1)
                        else:
                            raw = member.group_instance_id.encode()
                            out += _pack_h(len(raw))
                            out += raw
                elif self.members:
                    raise not_in_version("members", "3-5")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("LeaveGroupRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[LeaveGroupRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("LeaveGroupRequest", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(LeaveGroupRequest)
            if version >= 4:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.member_id = ""
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.group_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.members = member_list = []
                member_left = n - 1
                while member_left:
                    member_left -= 1
                    member = new(MemberIdentity)
                    member_list.append(member)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    member.member_id = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        member.group_instance_id = None
                    else:
                        end = pos + n - 1
                        member.group_instance_id = data[pos:end].decode()
                        pos = end
                    if version >= 5:
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            member.reason = None
                        else:
                            end = pos + n - 1
                            member.reason = data[pos:end].decode()
                            pos = end
                    else:
                        member.reason = None
                    n = data[pos]
                    pos += 1
                    if n:
                        member.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        member.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.group_id = data[pos:end].decode()
                pos = end
                if version <= 2:
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    m.member_id = data[pos:end].decode()
                    pos = end
                else:
                    m.member_id = ""
                if version >= 3:
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.members = member_list = []
                    member_left = n
                    while member_left:
                        member_left -= 1
                        member = new(MemberIdentity)
                        member_list.append(member)
                        member.reason = None
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        member.member_id = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            member.group_instance_id = None
                        else:
                            end = pos + n
                            member.group_instance_id = data[pos:end].decode()
                            pos = end
                        member.unknown_tagged_fields = ()
                else:
                    m.members = []
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("LeaveGroupRequest", version, buf, start, cause) from cause


class MemberResponse(Fields):
    """One outcome for each member of the request."""

    __slots__ = ("member_id", "group_instance_id", "error_code", "unknown_tagged_fields")

    member_id: str
    """Versions 3-5. Member id the outcome is for."""
    group_instance_id: str | None
    """Versions 3-5. Static membership id the outcome is for; null for a dynamic member."""
    error_code: int
    """Versions 3-5. NONE, or why it was not removed: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields


class LeaveGroupResponse(Fields):
    """Confirms the departure, from version 3 for each member on its own."""

    NAME: ClassVar[str] = "LeaveGroupResponse"
    API_KEY: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = ("throttle_time_ms", "error_code", "members", "unknown_tagged_fields")

    throttle_time_ms: int
    """Versions 1-5. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    error_code: int
    """NONE, or a fault of the group such as NOT_COORDINATOR; up to version 2 also of the member."""
    members: list[MemberResponse]
    """Versions 3-5. One outcome for each member of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[MemberResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = [] if members is MADE_ANEW else members
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("LeaveGroupResponse", version, 0, 5)
            if version >= 4:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                n = len(self.members) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for member in self.members:
                    raw = member.member_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if member.group_instance_id is None:
                        out.append(0)
                    else:
                        raw = member.group_instance_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    out += _pack_h(member.error_code)
                    if member.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if version >= 1:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_h(self.error_code)
                if version >= 3:
                    out += _pack_i(len(self.members))
                    for member in self.members:
                        raw = member.member_id.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        if member.group_instance_id is None:
                            out += _pack_h(-1)
                        else:
                            raw = member.group_instance_id.encode()
                            out += _pack_h(len(raw))
                            out += raw
                        out += _pack_h(member.error_code)
                elif self.members:
                    raise not_in_version("members", "3-5")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("LeaveGroupResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[LeaveGroupResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("LeaveGroupResponse", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(LeaveGroupResponse)
            if version >= 4:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
                pos += 7
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.members = member_list = []
                member_left = n - 1
                while member_left:
                    member_left -= 1
                    member = new(MemberResponse)
                    member_list.append(member)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    member.member_id = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        member.group_instance_id = None
                    else:
                        end = pos + n - 1
                        member.group_instance_id = data[pos:end].decode()
                        pos = end
                    member.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n:
                        member.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        member.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version >= 1:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                m.error_code = _unpack_h(data, pos)[0]
                pos += 2
                if version >= 3:
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.members = member_list = []
                    member_left = n
                    while member_left:
                        member_left -= 1
                        member = new(MemberResponse)
                        member_list.append(member)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        member.member_id = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            member.group_instance_id = None
                        else:
                            end = pos + n
                            member.group_instance_id = data[pos:end].decode()
                            pos = end
                        member.unknown_tagged_fields = ()
                        member.error_code = _unpack_h(data, pos)[0]
                        pos += 2
                else:
                    m.members = []
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("LeaveGroupResponse", version, buf, start, cause) from cause


__all__ = [
    "MemberIdentity",
    "LeaveGroupRequest",
    "MemberResponse",
    "LeaveGroupResponse",
]
