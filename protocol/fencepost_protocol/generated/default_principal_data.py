# Generated from schemas/records/DefaultPrincipalData.json (sha256 0da53aacf9c73adb)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DefaultPrincipalData."""

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
    long_string_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_tB = struct.Struct(">?B").unpack_from
_pack_t = struct.Struct(">?").pack
new = object.__new__


class DefaultPrincipalData(Fields):
    """The authenticated client's principal, as a broker writes it into an Envelope when forwarding
    a request to the controller (KIP-590).
    """

    NAME: ClassVar[str] = "DefaultPrincipalData"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("type", "name", "token_authenticated", "unknown_tagged_fields")

    type: str
    """Kind of principal, normally User."""
    name: str
    """Name of the principal, such as ANONYMOUS or the SASL user."""
    token_authenticated: bool
    """True when the client logged in with a delegation token; such clients may not create tokens.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        type: str = "",
        name: str = "",
        token_authenticated: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.type = type
        self.name = name
        self.token_authenticated = token_authenticated
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DefaultPrincipalData", version, 0, 0)
            raw = self.type.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            raw = self.name.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_t(self.token_authenticated)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DefaultPrincipalData", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DefaultPrincipalData, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DefaultPrincipalData", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DefaultPrincipalData)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.type = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.name = data[pos:end].decode()
            pos = end
            m.token_authenticated, n = _unpack_tB(data, pos)
            pos += 2
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DefaultPrincipalData", version, buf, start, cause) from cause


__all__ = [
    "DefaultPrincipalData",
]
