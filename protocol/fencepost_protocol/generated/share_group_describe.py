# Generated from schemas/messages/ShareGroupDescribeRequest.json (sha256 486bf79128e81106)
# Generated from schemas/messages/ShareGroupDescribeResponse.json (sha256 8d1594b046949a97)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareGroupDescribe (API key 77)."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_compact_string_array,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_compact_string_array,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_tB = struct.Struct(">?B").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_t = struct.Struct(">?").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class ShareGroupDescribeRequest(Fields):
    """Asks for state, epochs and members of share groups; it goes to the coordinator of each group
    (KIP-932).
    """

    NAME: ClassVar[str] = "ShareGroupDescribeRequest"
    API_KEY: ClassVar[int] = 77
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = ("group_ids", "include_authorized_operations", "unknown_tagged_fields")

    group_ids: list[str]
    """Share groups to describe."""
    include_authorized_operations: bool
    """True asks for what this client may do with each group."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_ids: list[str] = MADE_ANEW,
        include_authorized_operations: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_ids = [] if group_ids is MADE_ANEW else group_ids
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ShareGroupDescribeRequest", version, 1, 1)
            n = len(self.group_ids) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.group_ids)
            out += _pack_t(self.include_authorized_operations)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupDescribeRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupDescribeRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ShareGroupDescribeRequest", version, 1, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupDescribeRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.group_ids, pos = read_compact_string_array(data, pos, n - 1)
            m.include_authorized_operations, n = _unpack_tB(data, pos)
            pos += 2
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareGroupDescribeRequest", version, buf, start, cause) from cause


class TopicPartitions(Fields):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = ("topic_id", "topic_name", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of an assigned topic."""
    topic_name: str
    """Name of that topic."""
    partitions: list[int]
    """Numbers of the assigned partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class Assignment(Fields):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = ("topic_partitions", "unknown_tagged_fields")

    topic_partitions: list[TopicPartitions]
    """Assigned partitions by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_partitions: list[TopicPartitions] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_partitions = [] if topic_partitions is MADE_ANEW else topic_partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class Member(Fields):
    """Members of the group, each with its assignment."""

    __slots__ = (
        "member_id",
        "rack_id",
        "member_epoch",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "assignment",
        "unknown_tagged_fields",
    )

    member_id: str
    """UUID that the consumer made up for itself."""
    rack_id: str | None
    """Rack of the consumer, client.rack; null when not set."""
    member_epoch: int
    """Epoch the member has reached."""
    client_id: str
    """The client.id in the request header of the member."""
    client_host: str
    """Address the member connects from, usually with a leading slash."""
    subscribed_topic_names: list[str]
    """Topics subscribed to."""
    assignment: Assignment
    """Partitions that the member fetches from."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = MADE_ANEW,
        assignment: Assignment = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is MADE_ANEW else subscribed_topic_names
        self.assignment = Assignment() if assignment is MADE_ANEW else assignment
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribedGroup(Fields):
    """One description for each group asked for."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "assignor_name",
        "members",
        "authorized_operations",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. GROUP_ID_NOT_FOUND (also for a group of another type),
    GROUP_AUTHORIZATION_FAILED, NOT_COORDINATOR.
    """
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    group_id: str
    """Group that this description is about."""
    group_state: str
    """Stable, Empty, or Dead; empty on error."""
    group_epoch: int
    """Number of changes to members, subscriptions and topics so far."""
    assignment_epoch: int
    """Group epoch for which the present target assignment was computed."""
    assignor_name: str
    """Assignor of the broker; share groups have one, named simple."""
    members: list[Member]
    """Members of the group, each with its assignment."""
    authorized_operations: int
    """Operations allowed on this group as a bit field, bit number is the AclOperation code; the
    default means not asked for.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: list[Member] = MADE_ANEW,
        authorized_operations: int = -2147483648,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = [] if members is MADE_ANEW else members
        self.authorized_operations = authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields


class ShareGroupDescribeResponse(Fields):
    """State, epochs and members of each share group asked for (KIP-932)."""

    NAME: ClassVar[str] = "ShareGroupDescribeResponse"
    API_KEY: ClassVar[int] = 77
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = ("throttle_time_ms", "groups", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
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
            if not 1 <= version <= 1:
                raise unknown_version("ShareGroupDescribeResponse", version, 1, 1)
            out += _pack_i(self.throttle_time_ms)
            n = len(self.groups) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for group in self.groups:
                out += _pack_h(group.error_code)
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
                raw = group.assignor_name.encode()
                out += _pack_ii(group.group_epoch, group.assignment_epoch)
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
                    if member.rack_id is None:
                        out.append(0)
                    else:
                        raw = member.rack_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    raw = member.client_id.encode()
                    out += _pack_i(member.member_epoch)
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
                    n = len(member.subscribed_topic_names) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_compact_string_array(out, member.subscribed_topic_names)
                    n = len(member.assignment.topic_partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for topic_partition in member.assignment.topic_partitions:
                        raw = topic_partition.topic_name.encode()
                        out += _pack_U(uuid_bytes(topic_partition.topic_id))
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(topic_partition.partitions) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, topic_partition.partitions)
                        if topic_partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic_partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if member.assignment.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.assignment.unknown_tagged_fields)
                    else:
                        out.append(0)
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
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupDescribeResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupDescribeResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ShareGroupDescribeResponse", version, 1, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupDescribeResponse)
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
                group.error_code, n = _unpack_hB(data, pos)
                pos += 3
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    group.error_message = None
                else:
                    end = pos + n - 1
                    group.error_message = data[pos:end].decode()
                    pos = end
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
                group.group_epoch, group.assignment_epoch, n = _unpack_iiB(data, pos)
                pos += 9
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                group.assignor_name = data[pos:end].decode()
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
                    member = new(Member)
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
                        member.rack_id = None
                    else:
                        end = pos + n - 1
                        member.rack_id = data[pos:end].decode()
                        pos = end
                    member.member_epoch, n = _unpack_iB(data, pos)
                    pos += 5
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
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    member.subscribed_topic_names, pos = read_compact_string_array(data, pos, n - 1)
                    member.assignment = assignment = new(Assignment)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    assignment.topic_partitions = topic_partition_list = []
                    topic_partition_left = n - 1
                    while topic_partition_left:
                        topic_partition_left -= 1
                        topic_partition = new(TopicPartitions)
                        topic_partition_list.append(topic_partition)
                        topic_partition.topic_id, n = _unpack_UB(data, pos)
                        pos += 17
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic_partition.topic_name = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        topic_partition.partitions, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if n:
                            topic_partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            topic_partition.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        assignment.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        assignment.unknown_tagged_fields = ()
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
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareGroupDescribeResponse", version, buf, start, cause) from cause


__all__ = [
    "ShareGroupDescribeRequest",
    "TopicPartitions",
    "Assignment",
    "Member",
    "DescribedGroup",
    "ShareGroupDescribeResponse",
]
