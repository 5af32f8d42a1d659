# Generated from schemas/messages/UpdateRaftVoterRequest.json (sha256 6b567b3424a39bd1)
# Generated from schemas/messages/UpdateRaftVoterResponse.json (sha256 8a943da56da71583)
# by python -m fencepost_protocol.codegen. Do not edit.
"""UpdateRaftVoter (API key 82)."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_HB = struct.Struct(">HB").unpack_from
_unpack_hhB = struct.Struct(">hhB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iiUB = struct.Struct(">ii16sB").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_pack_H = struct.Struct(">H").pack
_pack_hh = struct.Struct(">hh").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iiU = struct.Struct(">ii16s").pack
new = object.__new__


class Listener(Fields):
    """Where the voter can be reached."""

    __slots__ = ("name", "host", "port", "unknown_tagged_fields")

    name: str
    """Listener name, e.g. CONTROLLER."""
    host: str
    """Host name or address of the listener."""
    port: int
    """TCP port of the listener, unsigned 16 bits."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields


class KRaftVersionFeature(Fields):
    """Levels of kraft.version that the voter supports."""

    __slots__ = ("min_supported_version", "max_supported_version", "unknown_tagged_fields")

    min_supported_version: int
    """Lowest level."""
    max_supported_version: int
    """Highest level."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        self.unknown_tagged_fields = unknown_tagged_fields


class UpdateRaftVoterRequest(Fields):
    """A voter tells the active controller its listeners and which levels of kraft.version it
    supports (KIP-853).
    """

    NAME: ClassVar[str] = "UpdateRaftVoterRequest"
    API_KEY: ClassVar[int] = 82
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "cluster_id",
        "current_leader_epoch",
        "voter_id",
        "voter_directory_id",
        "listeners",
        "kraft_version_feature",
        "unknown_tagged_fields",
    )

    cluster_id: str | None
    """Cluster that the sender means; another one gives INCONSISTENT_CLUSTER_ID, null means any."""
    current_leader_epoch: int
    """Raft epoch that the voter knows; another one gives FENCED_LEADER_EPOCH or
    UNKNOWN_LEADER_EPOCH.
    """
    voter_id: int
    """Node id of the voter."""
    voter_directory_id: bytes
    """UUID of the voter's metadata log directory."""
    listeners: list[Listener]
    """Where the voter can be reached."""
    kraft_version_feature: KRaftVersionFeature
    """Levels of kraft.version that the voter supports."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        cluster_id: str | None = "",
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = MADE_ANEW,
        kraft_version_feature: KRaftVersionFeature = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.current_leader_epoch = current_leader_epoch
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is MADE_ANEW else listeners
        self.kraft_version_feature = KRaftVersionFeature() if kraft_version_feature is MADE_ANEW else kraft_version_feature
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UpdateRaftVoterRequest", version, 0, 0)
            if self.cluster_id is None:
                out.append(0)
            else:
                raw = self.cluster_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            out += _pack_iiU(
                self.current_leader_epoch,
                self.voter_id,
                uuid_bytes(self.voter_directory_id),
            )
            n = len(self.listeners) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for listener in self.listeners:
                raw = listener.name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = listener.host.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_H(listener.port)
                if listener.unknown_tagged_fields:
                    write_tagged_fields(out, [], listener.unknown_tagged_fields)
                else:
                    out.append(0)
            out += _pack_hh(
                self.kraft_version_feature.min_supported_version,
                self.kraft_version_feature.max_supported_version,
            )
            if self.kraft_version_feature.unknown_tagged_fields:
                write_tagged_fields(out, [], self.kraft_version_feature.unknown_tagged_fields)
            else:
                out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("UpdateRaftVoterRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[UpdateRaftVoterRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UpdateRaftVoterRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(UpdateRaftVoterRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.cluster_id = None
            else:
                end = pos + n - 1
                m.cluster_id = data[pos:end].decode()
                pos = end
            m.current_leader_epoch, m.voter_id, m.voter_directory_id, n = _unpack_iiUB(data, pos)
            pos += 25
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.listeners = listener_list = []
            listener_left = n - 1
            while listener_left:
                listener_left -= 1
                listener = new(Listener)
                listener_list.append(listener)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                listener.name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                listener.host = data[pos:end].decode()
                pos = end
                listener.port, n = _unpack_HB(data, pos)
                pos += 3
                if n:
                    listener.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    listener.unknown_tagged_fields = ()
            m.kraft_version_feature = kraft_version_feature = new(KRaftVersionFeature)
            (
                kraft_version_feature.min_supported_version,
                kraft_version_feature.max_supported_version,
                n,
            ) = _unpack_hhB(data, pos)
            pos += 5
            if n:
                kraft_version_feature.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                kraft_version_feature.unknown_tagged_fields = ()
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
            raise decode_failure("UpdateRaftVoterRequest", version, buf, start, cause) from cause


class CurrentLeader(Fields):
    """Leader that the answering node knows."""

    __slots__ = ("leader_id", "leader_epoch", "host", "port", "unknown_tagged_fields")

    leader_id: int
    """Node id of the leader; -1 when there is none."""
    leader_epoch: int
    """Raft epoch of that leader; -1 when not known."""
    host: str
    """Host name or address of the leader's listener."""
    port: int
    """TCP port of that listener."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields


class UpdateRaftVoterResponse(Fields):
    """Tells whether the leader has taken note of the voter's facts, and which node leads."""

    NAME: ClassVar[str] = "UpdateRaftVoterResponse"
    API_KEY: ClassVar[int] = 82
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "current_leader", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. INCONSISTENT_CLUSTER_ID, INVALID_REQUEST, NOT_LEADER_OR_FOLLOWER,
    VOTER_NOT_FOUND.
    """
    current_leader: CurrentLeader | None
    """Leader that the answering node knows."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.current_leader = current_leader
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UpdateRaftVoterResponse", version, 0, 0)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            tagged_1: list[bytes] = []
            if self.current_leader is not None and self.current_leader != CurrentLeader():
                content_1 = bytearray()
                raw = self.current_leader.host.encode()
                content_1 += _pack_ii(
                    self.current_leader.leader_id,
                    self.current_leader.leader_epoch,
                )
                n = len(raw) + 1
                if n < 128:
                    content_1.append(n)
                else:
                    write_string_length(content_1, n)
                content_1 += raw
                content_1 += _pack_i(self.current_leader.port)
                if self.current_leader.unknown_tagged_fields:
                    write_tagged_fields(content_1, [], self.current_leader.unknown_tagged_fields)
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
            raise encode_failure("UpdateRaftVoterResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[UpdateRaftVoterResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UpdateRaftVoterResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(UpdateRaftVoterResponse)
            m.current_leader = None
            m.unknown_tagged_fields = ()
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
            pos += 7
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(data, pos)
                    if tag_1 == 0:
                        m.current_leader = current_leader = new(CurrentLeader)
                        (
                            current_leader.leader_id,
                            current_leader.leader_epoch,
                            n,
                        ) = _unpack_iiB(data, pos)
                        pos += 9
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        current_leader.host = data[pos:end].decode()
                        pos = end
                        current_leader.port, n = _unpack_iB(data, pos)
                        pos += 5
                        if n:
                            current_leader.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            current_leader.unknown_tagged_fields = ()
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("UpdateRaftVoterResponse", version, buf, start, cause) from cause


__all__ = [
    "Listener",
    "KRaftVersionFeature",
    "UpdateRaftVoterRequest",
    "CurrentLeader",
    "UpdateRaftVoterResponse",
]
