# Generated from schemas/records/UserScramCredentialRecord.json (sha256 f7f9092a69918e20)
# by python -m fencepost_protocol.codegen. Do not edit.
"""UserScramCredentialRecord (metadata record 11)."""

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
    long_string_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class UserScramCredentialRecord(Fields):
    """Sets a user's SCRAM credential for one mechanism; the password itself is never stored
    (KIP-554).
    """

    NAME: ClassVar[str] = "UserScramCredentialRecord"
    RECORD_TYPE: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "name",
        "mechanism",
        "salt",
        "stored_key",
        "server_key",
        "iterations",
        "unknown_tagged_fields",
    )

    name: str
    """User who logs in with it."""
    mechanism: int
    """1 SCRAM-SHA-256, 2 SCRAM-SHA-512."""
    salt: bytes
    """Random bytes that the password was hashed with."""
    stored_key: bytes
    """Hash that the client's proof is checked against (RFC 5802)."""
    server_key: bytes
    """Key with which the server proves itself to the client (RFC 5802)."""
    iterations: int
    """Rounds of hashing, at least 4096."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        salt: bytes = b"",
        stored_key: bytes = b"",
        server_key: bytes = b"",
        iterations: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UserScramCredentialRecord", version, 0, 0)
            raw = self.name.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_b(self.mechanism)
            n = len(self.salt) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            out += self.salt
            n = len(self.stored_key) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            out += self.stored_key
            n = len(self.server_key) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            out += self.server_key
            out += _pack_i(self.iterations)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("UserScramCredentialRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[UserScramCredentialRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("UserScramCredentialRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(UserScramCredentialRecord)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.name = data[pos:end].decode()
            pos = end
            m.mechanism, n = _unpack_bB(data, pos)
            pos += 2
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            end = pos + n - 1
            m.salt = data[pos:end]
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            end = pos + n - 1
            m.stored_key = data[pos:end]
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            end = pos + n - 1
            m.server_key = data[pos:end]
            pos = end
            m.iterations, n = _unpack_iB(data, pos)
            pos += 5
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("UserScramCredentialRecord", version, buf, start, cause) from cause


__all__ = [
    "UserScramCredentialRecord",
]
