# Generated from schemas/records/ClientQuotaRecord.json (sha256 657e4904172448a3)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ClientQuotaRecord (metadata record 14)."""

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
    long_nullable_string_length,
    long_string_length,
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_dtB = struct.Struct(">d?B").unpack_from
_pack_dt = struct.Struct(">d?").pack
new = object.__new__


class EntityData(Fields):
    """Who the quota is for; several parts, such as user and client-id, must all match."""

    __slots__ = ("entity_type", "entity_name", "unknown_tagged_fields")

    entity_type: str
    """user, client-id or ip."""
    entity_name: str | None
    """Name of the user, client id or address; null means the default for that type."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name
        self.unknown_tagged_fields = unknown_tagged_fields


class ClientQuotaRecord(Fields):
    """Sets or removes one client quota (KIP-546)."""

    NAME: ClassVar[str] = "ClientQuotaRecord"
    RECORD_TYPE: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("entity", "key", "value", "remove", "unknown_tagged_fields")

    entity: list[EntityData]
    """Who the quota is for; several parts, such as user and client-id, must all match."""
    key: str
    """Quota set, such as producer_byte_rate, consumer_byte_rate or request_percentage."""
    value: float
    """New limit; without meaning when Remove is true."""
    remove: bool
    """True deletes the quota, false sets it to Value."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        entity: list[EntityData] = MADE_ANEW,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.entity = [] if entity is MADE_ANEW else entity
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ClientQuotaRecord", version, 0, 0)
            n = len(self.entity) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for entity_data in self.entity:
                raw = entity_data.entity_type.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if entity_data.entity_name is None:
                    out.append(0)
                else:
                    raw = entity_data.entity_name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                if entity_data.unknown_tagged_fields:
                    write_tagged_fields(out, [], entity_data.unknown_tagged_fields)
                else:
                    out.append(0)
            raw = self.key.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_dt(self.value, self.remove)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ClientQuotaRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ClientQuotaRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ClientQuotaRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ClientQuotaRecord)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.entity = entity_data_list = []
            entity_data_left = n - 1
            while entity_data_left:
                entity_data_left -= 1
                entity_data = new(EntityData)
                entity_data_list.append(entity_data)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                entity_data.entity_type = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    entity_data.entity_name = None
                else:
                    end = pos + n - 1
                    entity_data.entity_name = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if n:
                    entity_data.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    entity_data.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.key = data[pos:end].decode()
            pos = end
            m.value, m.remove, n = _unpack_dtB(data, pos)
            pos += 10
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ClientQuotaRecord", version, buf, start, cause) from cause


__all__ = [
    "EntityData",
    "ClientQuotaRecord",
]
