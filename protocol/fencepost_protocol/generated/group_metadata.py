# Generated from schemas/records/GroupMetadataKey.json (sha256 e982f6464a18da1c)
# Generated from schemas/records/GroupMetadataValue.json (sha256 114434ab62557bed)
# by python -m fencepost_protocol.codegen. Do not edit.
"""GroupMetadata (coordinator record 2)."""

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

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qB = struct.Struct(">qB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class GroupMetadataKey(Fields):
    """Key in __consumer_offsets of a classic group's state; a null value deletes the group."""

    NAME: ClassVar[str] = "GroupMetadataKey"
    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group", "unknown_tagged_fields")

    group: str
    """Group that the record belongs to."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group = group
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("GroupMetadataKey", version, 0, 0)
            raw = self.group.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("GroupMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[GroupMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("GroupMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(GroupMetadataKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("GroupMetadataKey", version, buf, start, cause) from cause


class MemberMetadata(Fields):
    """Part of GroupMetadataValue."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "rebalance_timeout",
        "session_timeout",
        "subscription",
        "assignment",
        "unknown_tagged_fields",
    )

    member_id: str
    """Id the coordinator gave out in JoinGroup."""
    group_instance_id: str | None
    """Versions 3-4. Static membership id, group.instance.id (KIP-345); null for a dynamic member.
    """
    client_id: str
    """The client.id in the request header of its JoinGroup."""
    client_host: str
    """Address the member connects from, usually with a leading slash."""
    rebalance_timeout: int
    """Versions 1-4. How long in ms a rebalance waits for the member; -1 falls back to
    sessionTimeout.
    """
    session_timeout: int
    """Silence in ms after which the member is dropped."""
    subscription: bytes
    """Metadata for the assignor in force, a ConsumerProtocolSubscription for consumers."""
    assignment: bytes
    """What SyncGroup gave it, a ConsumerProtocolAssignment for consumers."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment
        self.unknown_tagged_fields = unknown_tagged_fields


class GroupMetadataValue(Fields):
    """A classic group with its members and assignments, written to __consumer_offsets at the end of
    each rebalance.
    """

    NAME: ClassVar[str] = "GroupMetadataValue"
    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = (
        "protocol_type",
        "generation",
        "protocol",
        "leader",
        "current_state_timestamp",
        "members",
        "unknown_tagged_fields",
    )

    protocol_type: str
    """Kind of group, such as consumer or connect; empty if it only stores offsets."""
    generation: int
    """Number of the rebalance; grows with each one."""
    protocol: str | None
    """Assignor in force; null when there are no members."""
    leader: str | None
    """Member id that computes assignments; null when there are no members."""
    current_state_timestamp: int
    """Versions 2-4. When the group entered its state, in ms since 1970, counts for offset expiry
    (KIP-211); -1 when unknown.
    """
    members: list[MemberMetadata]
    """Members of this generation; empty for an empty group."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: list[MemberMetadata] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = [] if members is MADE_ANEW else members
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("GroupMetadataValue", version, 0, 4)
            if version >= 4:
                raw = self.protocol_type.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_i(self.generation)
                if self.protocol is None:
                    out.append(0)
                else:
                    raw = self.protocol.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                if self.leader is None:
                    out.append(0)
                else:
                    raw = self.leader.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                out += _pack_q(self.current_state_timestamp)
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
                    out += _pack_ii(member.rebalance_timeout, member.session_timeout)
                    n = len(member.subscription) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    out += member.subscription
                    n = len(member.assignment) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    out += member.assignment
                    if member.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                raw = self.protocol_type.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_i(self.generation)
                if self.protocol is None:
                    out += _pack_h(-1)
                else:
                    raw = self.protocol.encode()
                    out += _pack_h(len(raw))
                    out += raw
                if self.leader is None:
                    out += _pack_h(-1)
                else:
                    raw = self.leader.encode()
                    out += _pack_h(len(raw))
                    out += raw
                if version >= 2:
                    out += _pack_q(self.current_state_timestamp)
                out += _pack_i(len(self.members))
                for member in self.members:
                    raw = member.member_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    if version >= 3:
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
                    if version >= 1:
                        out += _pack_i(member.rebalance_timeout)
                    out += _pack_ii(member.session_timeout, len(member.subscription))
                    out += member.subscription
                    out += _pack_i(len(member.assignment))
                    out += member.assignment
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("GroupMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[GroupMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("GroupMetadataValue", version, 0, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(GroupMetadataValue)
            if version >= 4:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.protocol_type = data[pos:end].decode()
                pos = end
                m.generation, n = _unpack_iB(data, pos)
                pos += 5
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.protocol = None
                else:
                    end = pos + n - 1
                    m.protocol = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.leader = None
                else:
                    end = pos + n - 1
                    m.leader = data[pos:end].decode()
                    pos = end
                m.current_state_timestamp, n = _unpack_qB(data, pos)
                pos += 9
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.members = member_list = []
                member_left = n - 1
                while member_left:
                    member_left -= 1
                    member = new(MemberMetadata)
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
                    member.rebalance_timeout, member.session_timeout, n = _unpack_iiB(data, pos)
                    pos += 9
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    end = pos + n - 1
                    member.subscription = data[pos:end]
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    end = pos + n - 1
                    member.assignment = data[pos:end]
                    pos = end
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
                m.protocol_type = data[pos:end].decode()
                pos = end
                m.generation, n = _unpack_ih(data, pos)
                pos += 6
                if n < 0:
                    m.protocol = None
                else:
                    end = pos + n
                    m.protocol = data[pos:end].decode()
                    pos = end
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    m.leader = None
                else:
                    end = pos + n
                    m.leader = data[pos:end].decode()
                    pos = end
                if version >= 2:
                    m.current_state_timestamp = _unpack_q(data, pos)[0]
                    pos += 8
                else:
                    m.current_state_timestamp = -1
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
                    member = new(MemberMetadata)
                    member_list.append(member)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    member.member_id = data[pos:end].decode()
                    pos = end
                    if version >= 3:
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
                    if version >= 1:
                        member.rebalance_timeout = _unpack_i(data, pos)[0]
                        pos += 4
                    else:
                        member.rebalance_timeout = -1
                    member.session_timeout, n = _unpack_ii(data, pos)
                    pos += 8
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    member.subscription = data[pos:end]
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    member.assignment = data[pos:end]
                    pos = end
                    member.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("GroupMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "GroupMetadataKey",
    "MemberMetadata",
    "GroupMetadataValue",
]
