# Generated from schemas/messages/RenewDelegationTokenRequest.json (sha256 a5f5ee7be9338e7d)
# Generated from schemas/messages/RenewDelegationTokenResponse.json (sha256 84addb2b5f6d050d)
# by python -m fencepost_protocol.codegen. Do not edit.
"""RenewDelegationToken (API key 39)."""

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


class RenewDelegationTokenRequest(Fields):
    """The owner or a renewer puts off the expiry of a delegation token (KIP-48)."""

    NAME: ClassVar[str] = "RenewDelegationTokenRequest"
    API_KEY: ClassVar[int] = 39
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("hmac", "renew_period_ms", "unknown_tagged_fields")

    hmac: bytes
    """Secret of the token to renew; one that fits none gives DELEGATION_TOKEN_NOT_FOUND."""
    renew_period_ms: int
    """New expiry in ms from now, never past the token's maximum; -1 takes
    delegation.token.expiry.time.ms.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        hmac: bytes = b"",
        renew_period_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.hmac = hmac
        self.renew_period_ms = renew_period_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("RenewDelegationTokenRequest", version, 1, 2)
            if version >= 2:
                n = len(self.hmac) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += self.hmac
                out += _pack_q(self.renew_period_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.hmac))
                out += self.hmac
                out += _pack_q(self.renew_period_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("RenewDelegationTokenRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RenewDelegationTokenRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("RenewDelegationTokenRequest", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(RenewDelegationTokenRequest)
            if version >= 2:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                end = pos + n - 1
                m.hmac = data[pos:end]
                pos = end
                m.renew_period_ms, n = _unpack_qB(data, pos)
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
                m.renew_period_ms = _unpack_q(data, pos)[0]
                pos += 8
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("RenewDelegationTokenRequest", version, buf, start, cause) from cause


class RenewDelegationTokenResponse(Fields):
    """Tells until when a renewed delegation token is good (KIP-48)."""

    NAME: ClassVar[str] = "RenewDelegationTokenResponse"
    API_KEY: ClassVar[int] = 39
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
                raise unknown_version("RenewDelegationTokenResponse", version, 1, 2)
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
            raise encode_failure("RenewDelegationTokenResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RenewDelegationTokenResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("RenewDelegationTokenResponse", version, 1, 2)
            size = len(buf)
            m = new(RenewDelegationTokenResponse)
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
            raise decode_failure("RenewDelegationTokenResponse", version, buf, start, cause) from cause


__all__ = [
    "RenewDelegationTokenRequest",
    "RenewDelegationTokenResponse",
]
