# Generated from schemas/messages/ConsumerGroupDescribeRequest.json (sha256 e919dccf0545ee90)
# Generated from schemas/messages/ConsumerGroupDescribeResponse.json (sha256 7d5519e329b4944e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerGroupDescribe (API key 69)."""

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
_pack_b = struct.Struct(">b").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class ConsumerGroupDescribeRequest(Fields):
    """An administrative client asks the coordinator for details of groups that use the new consumer
    protocol (KIP-848).
    """

    NAME: ClassVar[str] = "ConsumerGroupDescribeRequest"
    API_KEY: ClassVar[int] = 69
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("group_ids", "include_authorized_operations", "unknown_tagged_fields")

    group_ids: list[str]
    """Groups to describe; classic groups give GROUP_ID_NOT_FOUND and need DescribeGroups."""
    include_authorized_operations: bool
    """True fills AuthorizedOperations, at the cost of an ACL look-up."""
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
            if not 0 <= version <= 1:
                raise unknown_version("ConsumerGroupDescribeRequest", version, 0, 1)
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
            raise encode_failure("ConsumerGroupDescribeRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupDescribeRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ConsumerGroupDescribeRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupDescribeRequest)
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
            raise decode_failure("ConsumerGroupDescribeRequest", version, buf, start, cause) from cause


class TopicPartitions(Fields):
    """Part of ConsumerGroupDescribeResponse."""

    __slots__ = ("topic_id", "topic_name", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    topic_name: str
    """Name the topic has at present."""
    partitions: list[int]
    """Partition numbers within that topic."""
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
    """Part of ConsumerGroupDescribeResponse."""

    __slots__ = ("topic_partitions", "unknown_tagged_fields")

    topic_partitions: list[TopicPartitions]
    """Partitions of the assignment, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_partitions: list[TopicPartitions] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_partitions = [] if topic_partitions is MADE_ANEW else topic_partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class Member(Fields):
    """Present members of the group."""

    __slots__ = (
        "member_id",
        "instance_id",
        "rack_id",
        "member_epoch",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "assignment",
        "target_assignment",
        "member_type",
        "unknown_tagged_fields",
    )

    member_id: str
    """Id the member heartbeats with."""
    instance_id: str | None
    """Static membership id, group.instance.id (KIP-345); null for a dynamic member."""
    rack_id: str | None
    """Rack the member reported; null when none."""
    member_epoch: int
    """Epoch the member has reached; below AssignmentEpoch while it still has partitions to give up.
    """
    client_id: str
    """The client.id in the request header of the member."""
    client_host: str
    """Address the member connects from, usually with a leading slash."""
    subscribed_topic_names: list[str]
    """Topics the member subscribed to by name."""
    subscribed_topic_regex: str | None
    """Regular expression the member subscribed with; null or empty when none."""
    assignment: Assignment
    """Partitions the member holds now."""
    target_assignment: Assignment
    """Partitions the member is meant to hold once reconciliation is over."""
    member_type: int
    """Versions 1. Protocol the member speaks: 0 classic, 1 consumer, -1 unknown (KIP-1099)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = MADE_ANEW,
        subscribed_topic_regex: str | None = None,
        assignment: Assignment = MADE_ANEW,
        target_assignment: Assignment = MADE_ANEW,
        member_type: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is MADE_ANEW else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment = Assignment() if assignment is MADE_ANEW else assignment
        self.target_assignment = Assignment() if target_assignment is MADE_ANEW else target_assignment
        self.member_type = member_type
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
    """NONE, or e.g. GROUP_ID_NOT_FOUND, GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED,
    NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS.
    """
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    group_id: str
    """Group that this description is about."""
    group_state: str
    """Empty, Assigning, Reconciling, Stable or Dead."""
    group_epoch: int
    """Grows with every change of members, subscriptions or topics; higher than AssignmentEpoch
    while a new assignment is due.
    """
    assignment_epoch: int
    """Group epoch that the target assignment was computed for."""
    assignor_name: str
    """Server-side assignor in use, such as uniform or range."""
    members: list[Member]
    """Present members of the group."""
    authorized_operations: int
    """Bit field of what the caller may do, bit number = ACL operation code; -2147483648 when not
    asked for.
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


class ConsumerGroupDescribeResponse(Fields):
    """State, epochs, members and assignments of new-protocol consumer groups (KIP-848)."""

    NAME: ClassVar[str] = "ConsumerGroupDescribeResponse"
    API_KEY: ClassVar[int] = 69
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

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
            if not 0 <= version <= 1:
                raise unknown_version("ConsumerGroupDescribeResponse", version, 0, 1)
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
                    if member.instance_id is None:
                        out.append(0)
                    else:
                        raw = member.instance_id.encode()
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
                    if member.subscribed_topic_regex is None:
                        out.append(0)
                    else:
                        raw = member.subscribed_topic_regex.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
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
                    n = len(member.target_assignment.topic_partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for topic_partition in member.target_assignment.topic_partitions:
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
                    if member.target_assignment.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.target_assignment.unknown_tagged_fields)
                    else:
                        out.append(0)
                    if version >= 1:
                        out += _pack_b(member.member_type)
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
            raise encode_failure("ConsumerGroupDescribeResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupDescribeResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ConsumerGroupDescribeResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupDescribeResponse)
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
                        member.instance_id = None
                    else:
                        end = pos + n - 1
                        member.instance_id = data[pos:end].decode()
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
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        member.subscribed_topic_regex = None
                    else:
                        end = pos + n - 1
                        member.subscribed_topic_regex = data[pos:end].decode()
                        pos = end
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
                    member.target_assignment = assignment = new(Assignment)
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
                    if version >= 1:
                        member.member_type = (data[pos] ^ 128) - 128
                        pos += 1
                    else:
                        member.member_type = -1
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
            raise decode_failure("ConsumerGroupDescribeResponse", version, buf, start, cause) from cause


__all__ = [
    "ConsumerGroupDescribeRequest",
    "TopicPartitions",
    "Assignment",
    "Member",
    "DescribedGroup",
    "ConsumerGroupDescribeResponse",
]
