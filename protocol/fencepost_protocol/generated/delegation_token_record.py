# Generated from schemas/records/DelegationTokenRecord.json (sha256 c8b22ecd054a06b1)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DelegationTokenRecord (metadata record 10)."""

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
    long_length,
    long_string_length,
    read_compact_string_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_qqqB = struct.Struct(">qqqB").unpack_from
_pack_qqq = struct.Struct(">qqq").pack
new = object.__new__


class DelegationTokenRecord(Fields):
    """Sets a delegation token: a new one, or one with another expiry (KIP-48). Its secret is not
    stored: it is computed from the id.
    """

    NAME: ClassVar[str] = "DelegationTokenRecord"
    RECORD_TYPE: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "owner",
        "requester",
        "renewers",
        "issue_timestamp",
        "max_timestamp",
        "expiration_timestamp",
        "token_id",
        "unknown_tagged_fields",
    )

    owner: str
    """Principal whom users of the token act as, with its type: User:alice."""
    requester: str
    """Principal that asked for the token (KIP-373), with its type."""
    renewers: list[str]
    """Principals that may renew the token besides its owner, with their types."""
    issue_timestamp: int
    """Moment the token was made, in ms since 1970."""
    max_timestamp: int
    """Moment beyond which no renewal reaches, in ms since 1970."""
    expiration_timestamp: int
    """Moment the token runs out unless renewed, in ms since 1970."""
    token_id: str
    """Public id of the token, the user name in SCRAM."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        owner: str = "",
        requester: str = "",
        renewers: list[str] = MADE_ANEW,
        issue_timestamp: int = 0,
        max_timestamp: int = 0,
        expiration_timestamp: int = 0,
        token_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.owner = owner
        self.requester = requester
        self.renewers = [] if renewers is MADE_ANEW else renewers
        self.issue_timestamp = issue_timestamp
        self.max_timestamp = max_timestamp
        self.expiration_timestamp = expiration_timestamp
        self.token_id = token_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DelegationTokenRecord", version, 0, 0)
            raw = self.owner.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            raw = self.requester.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            n = len(self.renewers) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.renewers)
            raw = self.token_id.encode()
            out += _pack_qqq(self.issue_timestamp, self.max_timestamp, self.expiration_timestamp)
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
            raise encode_failure("DelegationTokenRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DelegationTokenRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DelegationTokenRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DelegationTokenRecord)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.owner = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.requester = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.renewers, pos = read_compact_string_array(data, pos, n - 1)
            m.issue_timestamp, m.max_timestamp, m.expiration_timestamp, n = _unpack_qqqB(data, pos)
            pos += 25
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.token_id = data[pos:end].decode()
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
            raise decode_failure("DelegationTokenRecord", version, buf, start, cause) from cause


__all__ = [
    "DelegationTokenRecord",
]
