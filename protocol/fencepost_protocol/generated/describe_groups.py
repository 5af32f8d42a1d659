# Generated from schemas/messages/DescribeGroupsRequest.json (sha256 7922907db12b92d0)
# Generated from schemas/messages/DescribeGroupsResponse.json (sha256 5e8e4f60f238725c)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeGroups (API key 15)."""

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
    read_compact_string_array,
    read_string_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_tB = struct.Struct(">?B").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_h = struct.Struct(">h").pack
_pack_hh = struct.Struct(">hh").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class DescribeGroupsRequest(Fields):
    """An administrator asks a coordinator for state and members of classic groups."""

    NAME: ClassVar[str] = "DescribeGroupsRequest"
    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    __slots__ = ("groups", "include_authorized_operations", "unknown_tagged_fields")

    groups: list[str]
    """Group ids to describe; each must be kept by this coordinator."""
    include_authorized_operations: bool
    """Versions 3-6. Asks for AuthorizedOperations of every group (KIP-430)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        groups: list[str] = MADE_ANEW,
        include_authorized_operations: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.groups = [] if groups is MADE_ANEW else groups
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 6:
                raise unknown_version("DescribeGroupsRequest", version, 0, 6)
            if version >= 5:
                n = len(self.groups) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_compact_string_array(out, self.groups)
                out += _pack_t(self.include_authorized_operations)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.groups))
                write_string_array(out, self.groups)
                if version >= 3:
                    out += _pack_t(self.include_authorized_operations)
                elif self.include_authorized_operations:
                    raise not_in_version("include_authorized_operations", "3-6")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeGroupsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeGroupsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 6:
                raise unknown_version("DescribeGroupsRequest", version, 0, 6)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeGroupsRequest)
            if version >= 5:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.groups, pos = read_compact_string_array(data, pos, n - 1)
                m.include_authorized_operations, n = _unpack_tB(data, pos)
                pos += 2
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.groups, pos = read_string_array(data, pos, n)
                if version >= 3:
                    m.include_authorized_operations = data[pos] != 0
                    pos += 1
                else:
                    m.include_authorized_operations = False
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeGroupsRequest", version, buf, start, cause) from cause


class DescribedGroupMember(Fields):
    """Present members, empty in states Empty and Dead."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "member_metadata",
        "member_assignment",
        "unknown_tagged_fields",
    )

    member_id: str
    """Id the coordinator gave out in JoinGroup."""
    group_instance_id: str | None
    """Versions 4-6. Static membership id, group.instance.id (KIP-345); null for a dynamic member.
    """
    client_id: str
    """The client.id in the request header of its last JoinGroup."""
    client_host: str
    """Address the member connects from, usually with a leading slash."""
    member_metadata: bytes
    """Subscription for the assignor in force, as sent in JoinGroup; may be empty during a
    rebalance.
    """
    member_assignment: bytes
    """Its present assignment, as sent in SyncGroup; may be empty during a rebalance."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribedGroup(Fields):
    """One description for each group asked for."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "protocol_type",
        "protocol_data",
        "members",
        "authorized_operations",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. NOT_COORDINATOR, GROUP_AUTHORIZATION_FAILED; an unknown group is NONE up to
    version 5, then GROUP_ID_NOT_FOUND.
    """
    error_message: str | None
    """Versions 6. Readable detail for the error; null when there is none."""
    group_id: str
    """Group that this description is about."""
    group_state: str
    """PreparingRebalance, CompletingRebalance, Stable, Empty, or Dead, which also stands for
    unknown.
    """
    protocol_type: str
    """Kind of group, such as consumer or connect; empty when it never had members."""
    protocol_data: str
    """Assignor in force; empty unless one has been chosen."""
    members: list[DescribedGroupMember]
    """Present members, empty in states Empty and Dead."""
    authorized_operations: int
    """Versions 3-6. Bit field of what the caller may do, bit number = ACL operation code;
    -2147483648 when not asked for.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: list[DescribedGroupMember] = MADE_ANEW,
        authorized_operations: int = -2147483648,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = [] if members is MADE_ANEW else members
        self.authorized_operations = authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeGroupsResponse(Fields):
    """State, assignor and members of each classic group asked for."""

    NAME: ClassVar[str] = "DescribeGroupsResponse"
    API_KEY: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    __slots__ = ("throttle_time_ms", "groups", "unknown_tagged_fields")

    throttle_time_ms: int
    """Versions 1-6. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    groups: list[DescribedGroup]
    """One description for each group asked for."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is MADE_ANEW else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 6:
                raise unknown_version("DescribeGroupsResponse", version, 0, 6)
            if version >= 5:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.groups) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for group in self.groups:
                    out += _pack_h(group.error_code)
                    if version >= 6:
                        if group.error_message is None:
                            out.append(0)
                        else:
                            raw = group.error_message.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                    elif group.error_message is not None:
                        raise not_in_version("groups.error_message", "6")
                    raw = group.group_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = group.group_state.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = group.protocol_type.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = group.protocol_data.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(group.members) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for member in group.members:
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
                        raw = member.client_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = member.client_host.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(member.member_metadata) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        out += member.member_metadata
                        n = len(member.member_assignment) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        out += member.member_assignment
                        if member.unknown_tagged_fields:
                            write_tagged_fields(out, [], member.unknown_tagged_fields)
                        else:
                            out.append(0)
                    out += _pack_i(group.authorized_operations)
                    if group.unknown_tagged_fields:
                        write_tagged_fields(out, [], group.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if version >= 1:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_i(len(self.groups))
                for group in self.groups:
                    if group.error_message is not None:
                        raise not_in_version("groups.error_message", "6")
                    raw = group.group_id.encode()
                    out += _pack_hh(group.error_code, len(raw))
                    out += raw
                    raw = group.group_state.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    raw = group.protocol_type.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    raw = group.protocol_data.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(group.members))
                    for member in group.members:
                        raw = member.member_id.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        if version >= 4:
                            if member.group_instance_id is None:
                                out += _pack_h(-1)
                            else:
                                raw = member.group_instance_id.encode()
                                out += _pack_h(len(raw))
                                out += raw
                        raw = member.client_id.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        raw = member.client_host.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_i(len(member.member_metadata))
                        out += member.member_metadata
                        out += _pack_i(len(member.member_assignment))
                        out += member.member_assignment
                    if version >= 3:
                        out += _pack_i(group.authorized_operations)
                    elif group.authorized_operations != -2147483648:
                        raise not_in_version("groups.authorized_operations", "3-6")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeGroupsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeGroupsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 6:
                raise unknown_version("DescribeGroupsResponse", version, 0, 6)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeGroupsResponse)
            if version >= 5:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.groups = group_list = []
                group_left = n - 1
                while group_left:
                    group_left -= 1
                    group = new(DescribedGroup)
                    group_list.append(group)
                    group.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                    if version >= 6:
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            group.error_message = None
                        else:
                            end = pos + n - 1
                            group.error_message = data[pos:end].decode()
                            pos = end
                    else:
                        group.error_message = None
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    group.group_id = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    group.group_state = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    group.protocol_type = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    group.protocol_data = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    group.members = member_list = []
                    member_left = n - 1
                    while member_left:
                        member_left -= 1
                        member = new(DescribedGroupMember)
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
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        member.client_id = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        member.client_host = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        end = pos + n - 1
                        member.member_metadata = data[pos:end]
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        end = pos + n - 1
                        member.member_assignment = data[pos:end]
                        pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            member.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            member.unknown_tagged_fields = ()
                    group.authorized_operations, n = _unpack_iB(data, pos)
                    pos += 5
                    if n:
                        group.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        group.unknown_tagged_fields = ()
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
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.groups = group_list = []
                group_left = n
                while group_left:
                    group_left -= 1
                    group = new(DescribedGroup)
                    group_list.append(group)
                    group.error_message = None
                    group.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    group.group_id = data[pos:end].decode()
                    pos = end
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    group.group_state = data[pos:end].decode()
                    pos = end
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    group.protocol_type = data[pos:end].decode()
                    pos = end
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    group.protocol_data = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    group.members = member_list = []
                    member_left = n
                    while member_left:
                        member_left -= 1
                        member = new(DescribedGroupMember)
                        member_list.append(member)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        member.member_id = data[pos:end].decode()
                        pos = end
                        if version >= 4:
                            n = _unpack_h(data, pos)[0]
                            pos += 2
                            if n < 0:
                                member.group_instance_id = None
                            else:
                                end = pos + n
                                member.group_instance_id = data[pos:end].decode()
                                pos = end
                        else:
                            member.group_instance_id = None
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        member.client_id = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        member.client_host = data[pos:end].decode()
                        pos = end
                        n = _unpack_i(data, pos)[0]
                        pos += 4
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        member.member_metadata = data[pos:end]
                        pos = end
                        n = _unpack_i(data, pos)[0]
                        pos += 4
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        member.member_assignment = data[pos:end]
                        pos = end
                        member.unknown_tagged_fields = ()
                    if version >= 3:
                        group.authorized_operations = _unpack_i(data, pos)[0]
                        pos += 4
                    else:
                        group.authorized_operations = -2147483648
                    group.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeGroupsResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribeGroupsRequest",
    "DescribedGroupMember",
    "DescribedGroup",
    "DescribeGroupsResponse",
]
