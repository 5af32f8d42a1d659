# Generated from schemas/messages/JoinGroupRequest.json (sha256 97f8629c10b80b0a)
# Generated from schemas/messages/JoinGroupResponse.json (sha256 2abfc94c3d45d7aa)
# by python -m fencepost_protocol.codegen. Do not edit.
"""JoinGroup (API key 11)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    not_nullable,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    NULL_REFUSED,
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
_unpack_hih = struct.Struct(">hih").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihi = struct.Struct(">ihi").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_h = struct.Struct(">h").pack
_pack_hi = struct.Struct(">hi").pack
_pack_i = struct.Struct(">i").pack
_pack_ihi = struct.Struct(">ihi").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class JoinGroupRequestProtocol(Fields):
    """Assignors the member can use, preferred first; none in common with the group gives
    INCONSISTENT_GROUP_PROTOCOL.
    """

    __slots__ = ("name", "metadata", "unknown_tagged_fields")

    name: str
    """Assignor name, such as range or cooperative-sticky."""
    metadata: bytes
    """Subscription for this assignor, opaque to the broker; consumers put
    ConsumerProtocolSubscription here.
    """
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


class JoinGroupRequest(Fields):
    """A member of a classic group enters, or comes back for a rebalance, at the group coordinator.
    The answer is held until all members have joined or the rebalance time is over.
    """

    NAME: ClassVar[str] = "JoinGroupRequest"
    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    __slots__ = (
        "group_id",
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocols",
        "reason",
        "unknown_tagged_fields",
    )

    group_id: str
    """Group to join; an empty one gives INVALID_GROUP_ID."""
    session_timeout_ms: int
    """Silence in ms after which the member is dropped; outside the broker's bounds gives
    INVALID_SESSION_TIMEOUT.
    """
    rebalance_timeout_ms: int
    """Versions 1-9. How long in ms the coordinator waits for this member to rejoin; version 0 uses
    SessionTimeoutMs (KIP-62).
    """
    member_id: str
    """Empty for a newcomer, which from version 4 is told its id with MEMBER_ID_REQUIRED (KIP-394);
    afterwards that id.
    """
    group_instance_id: str | None
    """Versions 5-9. Static membership id, group.instance.id (KIP-345); null for a dynamic member.
    """
    protocol_type: str
    """Kind of group, such as consumer or connect; members must agree, else
    INCONSISTENT_GROUP_PROTOCOL.
    """
    protocols: list[JoinGroupRequestProtocol]
    """Assignors the member can use, preferred first; none in common with the group gives
    INCONSISTENT_GROUP_PROTOCOL.
    """
    reason: str | None
    """Versions 8-9. Why the member joins, for the coordinator's log only (KIP-800); null when not
    told.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: list[JoinGroupRequestProtocol] = MADE_ANEW,
        reason: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = [] if protocols is MADE_ANEW else protocols
        self.reason = reason
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 9:
                raise unknown_version("JoinGroupRequest", version, 0, 9)
            if version >= 6:
                raw = self.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = self.member_id.encode()
                out += _pack_ii(self.session_timeout_ms, self.rebalance_timeout_ms)
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
                raw = self.protocol_type.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(self.protocols) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for protocol in self.protocols:
                    raw = protocol.name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(protocol.metadata) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    out += protocol.metadata
                    if protocol.unknown_tagged_fields:
                        write_tagged_fields(out, [], protocol.unknown_tagged_fields)
                    else:
                        out.append(0)
                if version >= 8:
                    if self.reason is None:
                        out.append(0)
                    else:
                        raw = self.reason.encode()
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
                out += _pack_i(self.session_timeout_ms)
                if version >= 1:
                    out += _pack_i(self.rebalance_timeout_ms)
                raw = self.member_id.encode()
                out += _pack_h(len(raw))
                out += raw
                if version >= 5:
                    if self.group_instance_id is None:
                        out += _pack_h(-1)
                    else:
                        raw = self.group_instance_id.encode()
                        out += _pack_h(len(raw))
                        out += raw
                elif self.group_instance_id is not None:
                    raise not_in_version("group_instance_id", "5-9")
                raw = self.protocol_type.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_i(len(self.protocols))
                for protocol in self.protocols:
                    raw = protocol.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(protocol.metadata))
                    out += protocol.metadata
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("JoinGroupRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[JoinGroupRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 9:
                raise unknown_version("JoinGroupRequest", version, 0, 9)
            size = len(buf)
            data = buf.tobytes()
            m = new(JoinGroupRequest)
            if version >= 6:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.group_id = data[pos:end].decode()
                pos = end
                m.session_timeout_ms, m.rebalance_timeout_ms, n = _unpack_iiB(data, pos)
                pos += 9
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
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.protocol_type = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.protocols = protocol_list = []
                protocol_left = n - 1
                while protocol_left:
                    protocol_left -= 1
                    protocol = new(JoinGroupRequestProtocol)
                    protocol_list.append(protocol)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    protocol.name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    end = pos + n - 1
                    protocol.metadata = data[pos:end]
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        protocol.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        protocol.unknown_tagged_fields = ()
                if version >= 8:
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        m.reason = None
                    else:
                        end = pos + n - 1
                        m.reason = data[pos:end].decode()
                        pos = end
                else:
                    m.reason = None
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.reason = None
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.group_id = data[pos:end].decode()
                pos = end
                m.session_timeout_ms = _unpack_i(data, pos)[0]
                pos += 4
                if version >= 1:
                    m.rebalance_timeout_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.rebalance_timeout_ms = -1
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.member_id = data[pos:end].decode()
                pos = end
                if version >= 5:
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
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.protocol_type = data[pos:end].decode()
                pos = end
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.protocols = protocol_list = []
                protocol_left = n
                while protocol_left:
                    protocol_left -= 1
                    protocol = new(JoinGroupRequestProtocol)
                    protocol_list.append(protocol)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    protocol.name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    protocol.metadata = data[pos:end]
                    pos = end
                    protocol.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("JoinGroupRequest", version, buf, start, cause) from cause


class JoinGroupResponseMember(Fields):
    """All members and their subscriptions, filled for the leader only."""

    __slots__ = ("member_id", "group_instance_id", "metadata", "unknown_tagged_fields")

    member_id: str
    """Id of this member, key for its assignment in SyncGroup."""
    group_instance_id: str | None
    """Versions 5-9. Static membership id, group.instance.id (KIP-345); null for a dynamic member.
    """
    metadata: bytes
    """Subscription it sent for the chosen assignor."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata
        self.unknown_tagged_fields = unknown_tagged_fields


class JoinGroupResponse(Fields):
    """Ends the joining phase: every member learns generation, assignor and leader, and the leader
    gets all subscriptions to compute the assignment for SyncGroup.
    """

    NAME: ClassVar[str] = "JoinGroupResponse"
    API_KEY: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 9
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "generation_id",
        "protocol_type",
        "protocol_name",
        "leader",
        "skip_assignment",
        "member_id",
        "members",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Versions 2-9. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    error_code: int
    """NONE, or e.g. MEMBER_ID_REQUIRED, UNKNOWN_MEMBER_ID, INCONSISTENT_GROUP_PROTOCOL,
    FENCED_INSTANCE_ID, GROUP_MAX_SIZE_REACHED, NOT_COORDINATOR.
    """
    generation_id: int
    """Number of this generation, to be quoted in SyncGroup, Heartbeat and commits; -1 on an error.
    """
    protocol_type: str | None
    """Versions 7-9. Kind of group, as joined (KIP-559); null on an error."""
    protocol_name: str | None
    """Assignor the coordinator chose; on an error empty, from version 7 null."""
    leader: str
    """Member id that computes the assignment; the leader finds its own id here; empty on an error.
    """
    skip_assignment: bool
    """Versions 9. True: the leader keeps the present assignment and computes none, for a static
    leader that came back (KIP-814).
    """
    member_id: str
    """Id to use from now on; with MEMBER_ID_REQUIRED the one to join again with."""
    members: list[JoinGroupResponseMember]
    """All members and their subscriptions, filled for the leader only."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: list[JoinGroupResponseMember] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = [] if members is MADE_ANEW else members
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 9:
                raise unknown_version("JoinGroupResponse", version, 0, 9)
            if version >= 6:
                out += _pack_ihi(self.throttle_time_ms, self.error_code, self.generation_id)
                if version >= 7:
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
                    if not (version >= 7):
                        raise not_nullable("protocol_name")
                    out.append(0)
                else:
                    raw = self.protocol_name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                raw = self.leader.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if version >= 9:
                    out += _pack_t(self.skip_assignment)
                elif self.skip_assignment:
                    raise not_in_version("skip_assignment", "9")
                raw = self.member_id.encode()
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
                    n = len(member.metadata) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    out += member.metadata
                    if member.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.skip_assignment:
                    raise not_in_version("skip_assignment", "9")
                if version >= 2:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_hi(self.error_code, self.generation_id)
                if self.protocol_name is None:
                    raise not_nullable("protocol_name")
                else:
                    raw = self.protocol_name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                raw = self.leader.encode()
                out += _pack_h(len(raw))
                out += raw
                raw = self.member_id.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_i(len(self.members))
                for member in self.members:
                    raw = member.member_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    if version >= 5:
                        if member.group_instance_id is None:
                            out += _pack_h(-1)
                        else:
                            raw = member.group_instance_id.encode()
                            out += _pack_h(len(raw))
                            out += raw
                    out += _pack_i(len(member.metadata))
                    out += member.metadata
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("JoinGroupResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[JoinGroupResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 9:
                raise unknown_version("JoinGroupResponse", version, 0, 9)
            size = len(buf)
            data = buf.tobytes()
            m = new(JoinGroupResponse)
            if version >= 6:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, m.error_code, m.generation_id = _unpack_ihi(data, pos)
                pos += 10
                if version >= 7:
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
                else:
                    m.protocol_type = None
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    if not (version >= 7):
                        raise ValueError(NULL_REFUSED)
                    m.protocol_name = None
                else:
                    end = pos + n - 1
                    m.protocol_name = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.leader = data[pos:end].decode()
                pos = end
                if version >= 9:
                    m.skip_assignment = data[pos] != 0
                    pos += 1
                else:
                    m.skip_assignment = False
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.member_id = data[pos:end].decode()
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
                    member = new(JoinGroupResponseMember)
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
                        n, pos = long_length(data, pos, n)
                    end = pos + n - 1
                    member.metadata = data[pos:end]
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
                m.protocol_type = None
                m.skip_assignment = False
                if version >= 2:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                m.error_code, m.generation_id, n = _unpack_hih(data, pos)
                pos += 8
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.protocol_name = data[pos:end].decode()
                pos = end
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.leader = data[pos:end].decode()
                pos = end
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.member_id = data[pos:end].decode()
                pos = end
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
                    member = new(JoinGroupResponseMember)
                    member_list.append(member)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    member.member_id = data[pos:end].decode()
                    pos = end
                    if version >= 5:
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
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    member.metadata = data[pos:end]
                    pos = end
                    member.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("JoinGroupResponse", version, buf, start, cause) from cause


__all__ = [
    "JoinGroupRequestProtocol",
    "JoinGroupRequest",
    "JoinGroupResponseMember",
    "JoinGroupResponse",
]
