# Generated from schemas/messages/ExpireDelegationTokenRequest.json (sha256 32865195c030bda4)
# Generated from schemas/messages/ExpireDelegationTokenResponse.json (sha256 cd9b9057feee8ca8)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ExpireDelegationToken (API key 40)."""

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
    negative_length,
    read_unknown_tags,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_hqi = struct.Struct(">hqi").unpack_from
_unpack_hqiB = struct.Struct(">hqiB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qB = struct.Struct(">qB").unpack_from
_pack_hqi = struct.Struct(">hqi").pack
_pack_i = struct.Struct(">i").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class ExpireDelegationTokenRequest(Fields):
    """The owner or a renewer brings the end of a delegation token forward or revokes it (KIP-48).
    """

    NAME: ClassVar[str] = "ExpireDelegationTokenRequest"
    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("hmac", "expiry_time_period_ms", "unknown_tagged_fields")

    hmac: bytes
    """Secret of the token to end; one that fits none gives DELEGATION_TOKEN_NOT_FOUND."""
    expiry_time_period_ms: int
    """New expiry in ms from now; a negative value revokes the token at once."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ExpireDelegationTokenRequest", version, 1, 2)
            if version >= 2:
                n = len(self.hmac) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += self.hmac
                out += _pack_q(self.expiry_time_period_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.hmac))
                out += self.hmac
                out += _pack_q(self.expiry_time_period_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ExpireDelegationTokenRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ExpireDelegationTokenRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ExpireDelegationTokenRequest", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(ExpireDelegationTokenRequest)
            if version >= 2:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                end = pos + n - 1
                m.hmac = data[pos:end]
                pos = end
                m.expiry_time_period_ms, n = _unpack_qB(data, pos)
                pos += 9
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
                m.hmac = data[pos:end]
                pos = end
                m.unknown_tagged_fields = ()
                m.expiry_time_period_ms = _unpack_q(data, pos)[0]
                pos += 8
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ExpireDelegationTokenRequest", version, buf, start, cause) from cause


class ExpireDelegationTokenResponse(Fields):
    """Tells when a delegation token ends after ExpireDelegationToken (KIP-48)."""

    NAME: ClassVar[str] = "ExpireDelegationTokenResponse"
    API_KEY: ClassVar[int] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. DELEGATION_TOKEN_NOT_FOUND, DELEGATION_TOKEN_EXPIRED,
    DELEGATION_TOKEN_OWNER_MISMATCH (neither owner nor renewer).
    """
    expiry_timestamp_ms: int
    """New moment of expiry, in ms since 1970; -1 on an error."""
    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ExpireDelegationTokenResponse", version, 1, 2)
            if version >= 2:
                out += _pack_hqi(self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_hqi(self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ExpireDelegationTokenResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ExpireDelegationTokenResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ExpireDelegationTokenResponse", version, 1, 2)
            size = len(buf)
            m = new(ExpireDelegationTokenResponse)
            if version >= 2:
                m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms, n = _unpack_hqiB(buf, pos)
                pos += 15
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.unknown_tagged_fields = ()
                m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms = _unpack_hqi(buf, pos)
                pos += 14
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ExpireDelegationTokenResponse", version, buf, start, cause) from cause


__all__ = [
    "ExpireDelegationTokenRequest",
    "ExpireDelegationTokenResponse",
]
