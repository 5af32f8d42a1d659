# Generated from schemas/messages/AddRaftVoterRequest.json (sha256 d33d74338d2fa4a0)
# Generated from schemas/messages/AddRaftVoterResponse.json (sha256 3aeb69122fd50327)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AddRaftVoter (API key 80)."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_HB = struct.Struct(">HB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iiUB = struct.Struct(">ii16sB").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_H = struct.Struct(">H").pack
_pack_ih = struct.Struct(">ih").pack
_pack_iiU = struct.Struct(">ii16s").pack
new = object.__new__


class Listener(Fields):
    """Where other voters reach the controller; the default listener of the quorum must be among
    them.
    """

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


class AddRaftVoterRequest(Fields):
    """An administrator gives a controller that follows the metadata log a vote (KIP-853). Needs
    alter on the cluster; brokers pass it on to the active controller.
    """

    NAME: ClassVar[str] = "AddRaftVoterRequest"
    API_KEY: ClassVar[int] = 80
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "cluster_id",
        "timeout_ms",
        "voter_id",
        "voter_directory_id",
        "listeners",
        "ack_when_committed",
        "unknown_tagged_fields",
    )

    cluster_id: str | None
    """Cluster that the sender means; another one gives INCONSISTENT_CLUSTER_ID, null means any."""
    timeout_ms: int
    """Longest wait in ms for the change of the quorum."""
    voter_id: int
    """Node id of the controller that is to vote."""
    voter_directory_id: bytes
    """UUID of that controller's metadata log directory."""
    listeners: list[Listener]
    """Where other voters reach the controller; the default listener of the quorum must be among
    them.
    """
    ack_when_committed: bool
    """Versions 1. False asks for an answer once the leader has written the new set of voters,
    before a majority has it.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        cluster_id: str | None = "",
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = MADE_ANEW,
        ack_when_committed: bool = True,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.timeout_ms = timeout_ms
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is MADE_ANEW else listeners
        self.ack_when_committed = ack_when_committed
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AddRaftVoterRequest", version, 0, 1)
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
            out += _pack_iiU(self.timeout_ms, self.voter_id, uuid_bytes(self.voter_directory_id))
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
            if version >= 1:
                out += _pack_t(self.ack_when_committed)
            elif not self.ack_when_committed:
                raise not_in_version("ack_when_committed", "1")
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AddRaftVoterRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AddRaftVoterRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AddRaftVoterRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(AddRaftVoterRequest)
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
            m.timeout_ms, m.voter_id, m.voter_directory_id, n = _unpack_iiUB(data, pos)
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
            if version >= 1:
                m.ack_when_committed = data[pos] != 0
                pos += 1
            else:
                m.ack_when_committed = True
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
            raise decode_failure("AddRaftVoterRequest", version, buf, start, cause) from cause


class AddRaftVoterResponse(Fields):
    """Tells whether the controller votes now."""

    NAME: ClassVar[str] = "AddRaftVoterResponse"
    API_KEY: ClassVar[int] = 80
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. INCONSISTENT_CLUSTER_ID, INVALID_REQUEST, DUPLICATE_VOTER, UNSUPPORTED_VERSION
    when the quorum is a static one.
    """
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AddRaftVoterResponse", version, 0, 1)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            if self.error_message is None:
                out.append(0)
            else:
                raw = self.error_message.encode()
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
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AddRaftVoterResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AddRaftVoterResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AddRaftVoterResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(AddRaftVoterResponse)
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
            pos += 7
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.error_message = None
            else:
                end = pos + n - 1
                m.error_message = data[pos:end].decode()
                pos = end
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
            raise decode_failure("AddRaftVoterResponse", version, buf, start, cause) from cause


__all__ = [
    "Listener",
    "AddRaftVoterRequest",
    "AddRaftVoterResponse",
]
