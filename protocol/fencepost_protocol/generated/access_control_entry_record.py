# Generated from schemas/records/AccessControlEntryRecord.json (sha256 446965308fe6b2eb)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AccessControlEntryRecord (metadata record 18)."""

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
    ZERO_UUID,
    TaggedFields,
    long_string_length,
    read_unknown_tags,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
)

_unpack_UbB = struct.Struct(">16sbB").unpack_from
_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_bbB = struct.Struct(">bbB").unpack_from
_pack_Ub = struct.Struct(">16sb").pack
_pack_b = struct.Struct(">b").pack
_pack_bb = struct.Struct(">bb").pack
new = object.__new__


class AccessControlEntryRecord(Fields):
    """Adds one ACL to the cluster metadata, where the StandardAuthorizer finds it (KIP-801)."""

    NAME: ClassVar[str] = "AccessControlEntryRecord"
    RECORD_TYPE: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "id",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tagged_fields",
    )

    id: bytes
    """UUID of this ACL, the handle by which RemoveAccessControlEntryRecord deletes it."""
    resource_type: int
    """2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7 user."""
    resource_name: str
    """Resource name or prefix, as PatternType says; a literal * matches every name."""
    pattern_type: int
    """3 literal, 4 prefixed (KIP-290)."""
    principal: str
    """Who it applies to, such as User:alice; User:* means everyone."""
    host: str
    """Client address it applies to; * means any."""
    operation: int
    """Code of the operation, such as 2 all, 3 read, 4 write, 8 describe, 15 two-phase commit."""
    permission_type: int
    """2 deny, 3 allow; a matching deny wins."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 0,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.id = id
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AccessControlEntryRecord", version, 0, 0)
            raw = self.resource_name.encode()
            out += _pack_Ub(uuid_bytes(self.id), self.resource_type)
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            raw = self.principal.encode()
            out += _pack_b(self.pattern_type)
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            raw = self.host.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_bb(self.operation, self.permission_type)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AccessControlEntryRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AccessControlEntryRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AccessControlEntryRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(AccessControlEntryRecord)
            m.id, m.resource_type, n = _unpack_UbB(data, pos)
            pos += 18
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.resource_name = data[pos:end].decode()
            pos = end
            m.pattern_type, n = _unpack_bB(data, pos)
            pos += 2
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.principal = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.host = data[pos:end].decode()
            pos = end
            m.operation, m.permission_type, n = _unpack_bbB(data, pos)
            pos += 3
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AccessControlEntryRecord", version, buf, start, cause) from cause


__all__ = [
    "AccessControlEntryRecord",
]
