# Generated from schemas/messages/EnvelopeRequest.json (sha256 094e09d1f437b993)
# Generated from schemas/messages/EnvelopeResponse.json (sha256 f082d1bd2427772c)
# by python -m fencepost_protocol.codegen. Do not edit.
"""Envelope (API key 58)."""

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
    read_unknown_tags,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_hB = struct.Struct(">hB").unpack_from
_pack_h = struct.Struct(">h").pack
new = object.__new__


class EnvelopeRequest(Fields):
    """A broker passes a client's request on to the active controller, together with who sent it and
    from where (KIP-590). Between servers only; needs cluster action.
    """

    NAME: ClassVar[str] = "EnvelopeRequest"
    API_KEY: ClassVar[int] = 58
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "request_data",
        "request_principal",
        "client_host_address",
        "unknown_tagged_fields",
    )

    request_data: bytes
    """The client's request, header and body as on the wire, without the four length bytes."""
    request_principal: bytes | None
    """The client's principal, serialised by the broker; unreadable bytes give
    PRINCIPAL_DESERIALIZATION_FAILURE.
    """
    client_host_address: bytes
    """The client's IP address as raw bytes: 4 for IPv4, 16 for IPv6."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("EnvelopeRequest", version, 0, 0)
            n = len(self.request_data) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            out += self.request_data
            if self.request_principal is None:
                out.append(0)
            else:
                n = len(self.request_principal) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += self.request_principal
            n = len(self.client_host_address) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            out += self.client_host_address
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("EnvelopeRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[EnvelopeRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("EnvelopeRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(EnvelopeRequest)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            end = pos + n - 1
            m.request_data = data[pos:end]
            pos = end
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.request_principal = None
            else:
                end = pos + n - 1
                m.request_principal = data[pos:end]
                pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            end = pos + n - 1
            m.client_host_address = data[pos:end]
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
            raise decode_failure("EnvelopeRequest", version, buf, start, cause) from cause


class EnvelopeResponse(Fields):
    """The controller's answer to a forwarded request, wrapped for the broker to unwrap (KIP-590).
    """

    NAME: ClassVar[str] = "EnvelopeResponse"
    API_KEY: ClassVar[int] = 58
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("response_data", "error_code", "unknown_tagged_fields")

    response_data: bytes | None
    """The response for the client, header and body without the length bytes; null when ErrorCode is
    set.
    """
    error_code: int
    """NONE, or a fault of the envelope, not of the request inside: NOT_CONTROLLER,
    PRINCIPAL_DESERIALIZATION_FAILURE, CLUSTER_AUTHORIZATION_FAILED, UNSUPPORTED_VERSION.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        response_data: bytes | None = None,
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("EnvelopeResponse", version, 0, 0)
            if self.response_data is None:
                out.append(0)
            else:
                n = len(self.response_data) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                out += self.response_data
            out += _pack_h(self.error_code)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("EnvelopeResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[EnvelopeResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("EnvelopeResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(EnvelopeResponse)
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.response_data = None
            else:
                end = pos + n - 1
                m.response_data = data[pos:end]
                pos = end
            m.error_code, n = _unpack_hB(data, pos)
            pos += 3
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("EnvelopeResponse", version, buf, start, cause) from cause


__all__ = [
    "EnvelopeRequest",
    "EnvelopeResponse",
]
