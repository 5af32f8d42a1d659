# Generated from schemas/records/ResponseHeader.json (sha256 76e450069cbe1f4e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ResponseHeader."""

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

_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_pack_i = struct.Struct(">i").pack
new = object.__new__


class ResponseHeader(Fields):
    """Stands before every response body, after the four-byte size. Version 1 goes with flexible
    versions; ApiVersions always uses version 0.
    """

    NAME: ClassVar[str] = "ResponseHeader"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = ("correlation_id", "unknown_tagged_fields")

    correlation_id: int
    """The number from the request that is answered here."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        correlation_id: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.correlation_id = correlation_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ResponseHeader", version, 0, 1)
            if version >= 1:
                out += _pack_i(self.correlation_id)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(self.correlation_id)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ResponseHeader", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ResponseHeader, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ResponseHeader", version, 0, 1)
            size = len(buf)
            m = new(ResponseHeader)
            if version >= 1:
                m.correlation_id, n = _unpack_iB(buf, pos)
                pos += 5
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.unknown_tagged_fields = ()
                m.correlation_id = _unpack_i(buf, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ResponseHeader", version, buf, start, cause) from cause


__all__ = [
    "ResponseHeader",
]
