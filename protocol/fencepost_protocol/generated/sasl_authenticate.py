# Generated from schemas/messages/SaslAuthenticateRequest.json (sha256 4d2b6c623f6b3190)
# Generated from schemas/messages/SaslAuthenticateResponse.json (sha256 01ef74b136fe4a2e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""SaslAuthenticate (API key 36)."""

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
    long_length,
    long_nullable_string_length,
    negative_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qB = struct.Struct(">qB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class SaslAuthenticateRequest(Fields):
    """A client carries on the SASL exchange begun with SaslHandshake version 1, one token each way,
    until the mechanism is done (KIP-152).
    """

    NAME: ClassVar[str] = "SaslAuthenticateRequest"
    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("auth_bytes", "unknown_tagged_fields")

    auth_bytes: bytes
    """Client token in the format of the mechanism, e.g. a SCRAM client-first message."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        auth_bytes: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.auth_bytes = auth_bytes
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("SaslAuthenticateRequest", version, 0, 2)
            if version >= 2:
                n = len(self.auth_bytes) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += self.auth_bytes
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.auth_bytes))
                out += self.auth_bytes
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("SaslAuthenticateRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[SaslAuthenticateRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("SaslAuthenticateRequest", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(SaslAuthenticateRequest)
            if version >= 2:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                end = pos + n - 1
                m.auth_bytes = data[pos:end]
                pos = end
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.auth_bytes = data[pos:end]
                pos = end
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("SaslAuthenticateRequest", version, buf, start, cause) from cause


class SaslAuthenticateResponse(Fields):
    """The broker's next SASL token, or the end of the exchange. A failed one is followed by a
    closed connection.
    """

    NAME: ClassVar[str] = "SaslAuthenticateResponse"
    API_KEY: ClassVar[int] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "error_code",
        "error_message",
        "auth_bytes",
        "session_lifetime_ms",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, SASL_AUTHENTICATION_FAILED for bad credentials, or ILLEGAL_SASL_STATE for a request out
    of turn.
    """
    error_message: str | None
    """Readable reason for a failure, kept vague on purpose; null when there is none."""
    auth_bytes: bytes
    """Server token in the format of the mechanism; may be empty."""
    session_lifetime_ms: int
    """Versions 1-2. Time in ms until the client must authenticate again or lose the connection
    (KIP-368); 0 means never.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("SaslAuthenticateResponse", version, 0, 2)
            if version >= 2:
                out += _pack_h(self.error_code)
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
                n = len(self.auth_bytes) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += self.auth_bytes
                out += _pack_q(self.session_lifetime_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_h(self.error_code)
                if self.error_message is None:
                    out += _pack_h(-1)
                else:
                    raw = self.error_message.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_i(len(self.auth_bytes))
                out += self.auth_bytes
                if version >= 1:
                    out += _pack_q(self.session_lifetime_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("SaslAuthenticateResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[SaslAuthenticateResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("SaslAuthenticateResponse", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(SaslAuthenticateResponse)
            if version >= 2:
                m.error_code, n = _unpack_hB(data, pos)
                pos += 3
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
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                end = pos + n - 1
                m.auth_bytes = data[pos:end]
                pos = end
                m.session_lifetime_ms, n = _unpack_qB(data, pos)
                pos += 9
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.error_code, n = _unpack_hh(data, pos)
                pos += 4
                if n < 0:
                    m.error_message = None
                else:
                    end = pos + n
                    m.error_message = data[pos:end].decode()
                    pos = end
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.auth_bytes = data[pos:end]
                pos = end
                if version >= 1:
                    m.session_lifetime_ms = _unpack_q(data, pos)[0]
                    pos += 8
                else:
                    m.session_lifetime_ms = 0
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("SaslAuthenticateResponse", version, buf, start, cause) from cause


__all__ = [
    "SaslAuthenticateRequest",
    "SaslAuthenticateResponse",
]
