# Generated from schemas/messages/SaslHandshakeRequest.json (sha256 1025f4c1cdcf8535)
# Generated from schemas/messages/SaslHandshakeResponse.json (sha256 ea882f96fda8a37e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""SaslHandshake (API key 17)."""

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
    negative_length,
    read_string_array,
    too_many_elements,
    write_string_array,
)

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hi = struct.Struct(">hi").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_hi = struct.Struct(">hi").pack
new = object.__new__


class SaslHandshakeRequest(Fields):
    """On a SASL listener the client names the mechanism it will authenticate with, after an
    optional ApiVersions and before anything else.
    """

    NAME: ClassVar[str] = "SaslHandshakeRequest"
    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("mechanism", "unknown_tagged_fields")

    mechanism: str
    """SASL mechanism wanted, such as PLAIN, SCRAM-SHA-256 or OAUTHBEARER; in capitals."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        mechanism: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.mechanism = mechanism
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("SaslHandshakeRequest", version, 0, 1)
            raw = self.mechanism.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("SaslHandshakeRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[SaslHandshakeRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("SaslHandshakeRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(SaslHandshakeRequest)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.mechanism = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("SaslHandshakeRequest", version, buf, start, cause) from cause


class SaslHandshakeResponse(Fields):
    """Accepts the SASL mechanism, or lists those that the listener has."""

    NAME: ClassVar[str] = "SaslHandshakeResponse"
    API_KEY: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("error_code", "mechanisms", "unknown_tagged_fields")

    error_code: int
    """NONE, UNSUPPORTED_SASL_MECHANISM (choose from Mechanisms), or ILLEGAL_SASL_STATE when out of
    turn.
    """
    mechanisms: list[str]
    """Mechanisms enabled on this listener."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: list[str] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.mechanisms = [] if mechanisms is MADE_ANEW else mechanisms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("SaslHandshakeResponse", version, 0, 1)
            out += _pack_hi(self.error_code, len(self.mechanisms))
            write_string_array(out, self.mechanisms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("SaslHandshakeResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[SaslHandshakeResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("SaslHandshakeResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(SaslHandshakeResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.error_code, n = _unpack_hi(data, pos)
            pos += 6
            if n < 0:
                raise negative_length(n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.mechanisms, pos = read_string_array(data, pos, n)
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("SaslHandshakeResponse", version, buf, start, cause) from cause


__all__ = [
    "SaslHandshakeRequest",
    "SaslHandshakeResponse",
]
