# Generated from schemas/records/RequestHeader.json (sha256 70a54033830de7eb)
# by python -m fencepost_protocol.codegen. Do not edit.
"""RequestHeader."""

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
    read_unknown_tags,
    write_tagged_fields,
)

_unpack_hhih = struct.Struct(">hhih").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_hhi = struct.Struct(">hhi").pack
new = object.__new__


class RequestHeader(Fields):
    """Stands before every request body, after the four-byte size. Version 2 goes with flexible
    request versions, version 1 with all others.
    """

    NAME: ClassVar[str] = "RequestHeader"
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "request_api_key",
        "request_api_version",
        "correlation_id",
        "client_id",
        "unknown_tagged_fields",
    )

    request_api_key: int
    """Key of the API called; an unknown one makes the broker close the connection."""
    request_api_version: int
    """Version the body is written in; if unsupported, the connection is closed, except for
    ApiVersions.
    """
    correlation_id: int
    """Number of the client's choice that the response repeats, to pair the two."""
    client_id: str | None
    """The client.id setting, for logs and quotas; null allowed. Keeps its int16 length even in
    version 2.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        request_api_key: int = 0,
        request_api_version: int = 0,
        correlation_id: int = 0,
        client_id: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.request_api_key = request_api_key
        self.request_api_version = request_api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("RequestHeader", version, 1, 2)
            if version >= 2:
                out += _pack_hhi(
                    self.request_api_key,
                    self.request_api_version,
                    self.correlation_id,
                )
                if self.client_id is None:
                    out += _pack_h(-1)
                else:
                    raw = self.client_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_hhi(
                    self.request_api_key,
                    self.request_api_version,
                    self.correlation_id,
                )
                if self.client_id is None:
                    out += _pack_h(-1)
                else:
                    raw = self.client_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("RequestHeader", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[RequestHeader, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("RequestHeader", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(RequestHeader)
            if version >= 2:
                (
                    m.request_api_key,
                    m.request_api_version,
                    m.correlation_id,
                    n,
                ) = _unpack_hhih(data, pos)
                pos += 10
                if n < 0:
                    m.client_id = None
                else:
                    end = pos + n
                    m.client_id = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                (
                    m.request_api_key,
                    m.request_api_version,
                    m.correlation_id,
                    n,
                ) = _unpack_hhih(data, pos)
                pos += 10
                if n < 0:
                    m.client_id = None
                else:
                    end = pos + n
                    m.client_id = data[pos:end].decode()
                    pos = end
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("RequestHeader", version, buf, start, cause) from cause


__all__ = [
    "RequestHeader",
]
