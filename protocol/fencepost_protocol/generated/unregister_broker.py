# Generated from schemas/messages/UnregisterBrokerRequest.json (sha256 265dcc9ba93a5ac4)
# Generated from schemas/messages/UnregisterBrokerResponse.json (sha256 c34d430a30bf4b3f)
# by python -m fencepost_protocol.codegen. Do not edit.
"""UnregisterBroker (API key 64)."""

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
    TaggedFields,
    long_nullable_string_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class UnregisterBrokerRequest(Fields):
    """An administrator removes a broker's registration for good, usually after it was taken out of
    service; a broker passes it on to the controller.
    """

    NAME: ClassVar[str] = "UnregisterBrokerRequest"
    API_KEY: ClassVar[int] = 64
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("broker_id", "unknown_tagged_fields")

    broker_id: int
    """Broker to remove; one without a registration gives BROKER_ID_NOT_REGISTERED."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UnregisterBrokerRequest", version, 0, 0)
            out += _pack_i(self.broker_id)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("UnregisterBrokerRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[UnregisterBrokerRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UnregisterBrokerRequest", version, 0, 0)
            size = len(buf)
            m = new(UnregisterBrokerRequest)
            m.broker_id, n = _unpack_iB(buf, pos)
            pos += 5
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("UnregisterBrokerRequest", version, buf, start, cause) from cause


class UnregisterBrokerResponse(Fields):
    """Tells the administrator whether the broker's registration was removed."""

    NAME: ClassVar[str] = "UnregisterBrokerResponse"
    API_KEY: ClassVar[int] = 64
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. BROKER_ID_NOT_REGISTERED, CLUSTER_AUTHORIZATION_FAILED, NOT_CONTROLLER."""
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
                raise unknown_version("UnregisterBrokerResponse", version, 0, 0)
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
            raise encode_failure("UnregisterBrokerResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[UnregisterBrokerResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UnregisterBrokerResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(UnregisterBrokerResponse)
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
            raise decode_failure("UnregisterBrokerResponse", version, buf, start, cause) from cause


__all__ = [
    "UnregisterBrokerRequest",
    "UnregisterBrokerResponse",
]
