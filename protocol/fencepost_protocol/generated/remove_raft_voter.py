# Generated from schemas/messages/RemoveRaftVoterRequest.json (sha256 6453ed303f99d6f7)
# Generated from schemas/messages/RemoveRaftVoterResponse.json (sha256 32007e94958d575b)
# by python -m fencepost_protocol.codegen. Do not edit.
"""RemoveRaftVoter (API key 81)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    unknown_version,
)
from fencepost_protocol.fields import Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    ZERO_UUID,
    TaggedFields,
    long_nullable_string_length,
    read_unknown_tags,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
)

_unpack_iUB = struct.Struct(">i16sB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_iU = struct.Struct(">i16s").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class RemoveRaftVoterRequest(Fields):
    """An administrator takes the vote from a controller (KIP-853). Needs alter on the cluster;
    brokers pass it on to the active controller.
    """

    NAME: ClassVar[str] = "RemoveRaftVoterRequest"
    API_KEY: ClassVar[int] = 81
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("cluster_id", "voter_id", "voter_directory_id", "unknown_tagged_fields")

    cluster_id: str | None
    """Cluster that the sender means; another one gives INCONSISTENT_CLUSTER_ID, null means any."""
    voter_id: int
    """Node id of the controller that is to vote no longer."""
    voter_directory_id: bytes
    """UUID of that controller's metadata log directory."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        cluster_id: str | None = "",
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveRaftVoterRequest", version, 0, 0)
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
            out += _pack_iU(self.voter_id, uuid_bytes(self.voter_directory_id))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("RemoveRaftVoterRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RemoveRaftVoterRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveRaftVoterRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(RemoveRaftVoterRequest)
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
            m.voter_id, m.voter_directory_id, n = _unpack_iUB(data, pos)
            pos += 21
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("RemoveRaftVoterRequest", version, buf, start, cause) from cause


class RemoveRaftVoterResponse(Fields):
    """Tells whether the controller's vote is gone."""

    NAME: ClassVar[str] = "RemoveRaftVoterResponse"
    API_KEY: ClassVar[int] = 81
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. INCONSISTENT_CLUSTER_ID, INVALID_REQUEST, VOTER_NOT_FOUND, UNSUPPORTED_VERSION
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
            if not 0 <= version <= 0:
                raise unknown_version("RemoveRaftVoterResponse", version, 0, 0)
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
            raise encode_failure("RemoveRaftVoterResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RemoveRaftVoterResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("RemoveRaftVoterResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(RemoveRaftVoterResponse)
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
            raise decode_failure("RemoveRaftVoterResponse", version, buf, start, cause) from cause


__all__ = [
    "RemoveRaftVoterRequest",
    "RemoveRaftVoterResponse",
]
