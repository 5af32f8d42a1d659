# Generated from schemas/messages/AlterClientQuotasRequest.json (sha256 ff0e4f380c1f34b7)
# Generated from schemas/messages/AlterClientQuotasResponse.json (sha256 bbd392fe42d50d28)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AlterClientQuotas (API key 49)."""

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
    negative_length,
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_tB = struct.Struct(">?B").unpack_from
_unpack_dt = struct.Struct(">d?").unpack_from
_unpack_dtB = struct.Struct(">d?B").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_dt = struct.Struct(">d?").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class AlterClientQuotasRequestEntityData(Fields):
    """What identifies the entity: user, client-id, both together, or ip alone."""

    __slots__ = ("entity_type", "entity_name", "unknown_tagged_fields")

    entity_type: str
    """Kind of entity: user, client-id or ip. Others give INVALID_REQUEST."""
    entity_name: str | None
    """Name of the entity; null stands for the default of its kind."""
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


class OpData(Fields):
    """Changes to make to this entity."""

    __slots__ = ("key", "value", "remove", "unknown_tagged_fields")

    key: str
    """Quota, e.g. producer_byte_rate, consumer_byte_rate, request_percentage,
    controller_mutation_rate; for ip connection_creation_rate.
    """
    value: float
    """New limit in the unit of the quota; ignored when Remove is true."""
    remove: bool
    """True removes the quota, so that a less specific one applies again."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterClientQuotasRequestEntryData(Fields):
    """Entities to change; each succeeds or fails alone."""

    __slots__ = ("entity", "ops", "unknown_tagged_fields")

    entity: list[AlterClientQuotasRequestEntityData]
    """What identifies the entity: user, client-id, both together, or ip alone."""
    ops: list[OpData]
    """Changes to make to this entity."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        entity: list[AlterClientQuotasRequestEntityData] = MADE_ANEW,
        ops: list[OpData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.entity = [] if entity is MADE_ANEW else entity
        self.ops = [] if ops is MADE_ANEW else ops
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterClientQuotasRequest(Fields):
    """An admin client sets or removes quotas of users, client ids and addresses (KIP-546)."""

    NAME: ClassVar[str] = "AlterClientQuotasRequest"
    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = ("entries", "validate_only", "unknown_tagged_fields")

    entries: list[AlterClientQuotasRequestEntryData]
    """Entities to change; each succeeds or fails alone."""
    validate_only: bool
    """True checks the changes and reports, but stores nothing."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        entries: list[AlterClientQuotasRequestEntryData] = MADE_ANEW,
        validate_only: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.entries = [] if entries is MADE_ANEW else entries
        self.validate_only = validate_only
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AlterClientQuotasRequest", version, 0, 1)
            if version >= 1:
                n = len(self.entries) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for entry in self.entries:
                    n = len(entry.entity) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for entity_data in entry.entity:
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
                    n = len(entry.ops) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for op in entry.ops:
                        raw = op.key.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_dt(op.value, op.remove)
                        if op.unknown_tagged_fields:
                            write_tagged_fields(out, [], op.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if entry.unknown_tagged_fields:
                        write_tagged_fields(out, [], entry.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_t(self.validate_only)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.entries))
                for entry in self.entries:
                    out += _pack_i(len(entry.entity))
                    for entity_data in entry.entity:
                        raw = entity_data.entity_type.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        if entity_data.entity_name is None:
                            out += _pack_h(-1)
                        else:
                            raw = entity_data.entity_name.encode()
                            out += _pack_h(len(raw))
                            out += raw
                    out += _pack_i(len(entry.ops))
                    for op in entry.ops:
                        raw = op.key.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_dt(op.value, op.remove)
                out += _pack_t(self.validate_only)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterClientQuotasRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterClientQuotasRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AlterClientQuotasRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterClientQuotasRequest)
            if version >= 1:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.entries = entry_list = []
                entry_left = n - 1
                while entry_left:
                    entry_left -= 1
                    entry = new(AlterClientQuotasRequestEntryData)
                    entry_list.append(entry)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    entry.entity = entity_data_list = []
                    entity_data_left = n - 1
                    while entity_data_left:
                        entity_data_left -= 1
                        entity_data = new(AlterClientQuotasRequestEntityData)
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
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    entry.ops = op_list = []
                    op_left = n - 1
                    while op_left:
                        op_left -= 1
                        op = new(OpData)
                        op_list.append(op)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        op.key = data[pos:end].decode()
                        pos = end
                        op.value, op.remove, n = _unpack_dtB(data, pos)
                        pos += 10
                        if n:
                            op.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            op.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        entry.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        entry.unknown_tagged_fields = ()
                m.validate_only, n = _unpack_tB(data, pos)
                pos += 2
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.entries = entry_list = []
                entry_left = n
                while entry_left:
                    entry_left -= 1
                    entry = new(AlterClientQuotasRequestEntryData)
                    entry_list.append(entry)
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    entry.entity = entity_data_list = []
                    entity_data_left = n
                    while entity_data_left:
                        entity_data_left -= 1
                        entity_data = new(AlterClientQuotasRequestEntityData)
                        entity_data_list.append(entity_data)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        entity_data.entity_type = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            entity_data.entity_name = None
                        else:
                            end = pos + n
                            entity_data.entity_name = data[pos:end].decode()
                            pos = end
                        entity_data.unknown_tagged_fields = ()
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    entry.ops = op_list = []
                    op_left = n
                    while op_left:
                        op_left -= 1
                        op = new(OpData)
                        op_list.append(op)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        op.key = data[pos:end].decode()
                        pos = end
                        op.unknown_tagged_fields = ()
                        op.value, op.remove = _unpack_dt(data, pos)
                        pos += 9
                    entry.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.validate_only = data[pos] != 0
                pos += 1
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterClientQuotasRequest", version, buf, start, cause) from cause


class AlterClientQuotasResponseEntityData(Fields):
    """The entity, repeated from the request."""

    __slots__ = ("entity_type", "entity_name", "unknown_tagged_fields")

    entity_type: str
    """Kind of entity: user, client-id or ip."""
    entity_name: str | None
    """Name of the entity; null stands for the default of its kind."""
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


class AlterClientQuotasResponseEntryData(Fields):
    """One verdict for each entity of the request."""

    __slots__ = ("error_code", "error_message", "entity", "unknown_tagged_fields")

    error_code: int
    """NONE, or e.g. INVALID_REQUEST (bad entity, key or value), CLUSTER_AUTHORIZATION_FAILED."""
    error_message: str | None
    """Readable detail for the error; may be null."""
    entity: list[AlterClientQuotasResponseEntityData]
    """The entity, repeated from the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        entity: list[AlterClientQuotasResponseEntityData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = [] if entity is MADE_ANEW else entity
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterClientQuotasResponse(Fields):
    """Outcome of an AlterClientQuotas request, one verdict for each entity (KIP-546)."""

    NAME: ClassVar[str] = "AlterClientQuotasResponse"
    API_KEY: ClassVar[int] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = ("throttle_time_ms", "entries", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    entries: list[AlterClientQuotasResponseEntryData]
    """One verdict for each entity of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: list[AlterClientQuotasResponseEntryData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries = [] if entries is MADE_ANEW else entries
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AlterClientQuotasResponse", version, 0, 1)
            if version >= 1:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.entries) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for entry in self.entries:
                    out += _pack_h(entry.error_code)
                    if entry.error_message is None:
                        out.append(0)
                    else:
                        raw = entry.error_message.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    n = len(entry.entity) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for entity_data in entry.entity:
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
                    if entry.unknown_tagged_fields:
                        write_tagged_fields(out, [], entry.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ii(self.throttle_time_ms, len(self.entries))
                for entry in self.entries:
                    out += _pack_h(entry.error_code)
                    if entry.error_message is None:
                        out += _pack_h(-1)
                    else:
                        raw = entry.error_message.encode()
                        out += _pack_h(len(raw))
                        out += raw
                    out += _pack_i(len(entry.entity))
                    for entity_data in entry.entity:
                        raw = entity_data.entity_type.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        if entity_data.entity_name is None:
                            out += _pack_h(-1)
                        else:
                            raw = entity_data.entity_name.encode()
                            out += _pack_h(len(raw))
                            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterClientQuotasResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterClientQuotasResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AlterClientQuotasResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterClientQuotasResponse)
            if version >= 1:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.entries = entry_list = []
                entry_left = n - 1
                while entry_left:
                    entry_left -= 1
                    entry = new(AlterClientQuotasResponseEntryData)
                    entry_list.append(entry)
                    entry.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        entry.error_message = None
                    else:
                        end = pos + n - 1
                        entry.error_message = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    entry.entity = entity_data_list = []
                    entity_data_left = n - 1
                    while entity_data_left:
                        entity_data_left -= 1
                        entity_data = new(AlterClientQuotasResponseEntityData)
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
                    if n:
                        entry.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        entry.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_ii(data, pos)
                pos += 8
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.entries = entry_list = []
                entry_left = n
                while entry_left:
                    entry_left -= 1
                    entry = new(AlterClientQuotasResponseEntryData)
                    entry_list.append(entry)
                    entry.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        entry.error_message = None
                    else:
                        end = pos + n
                        entry.error_message = data[pos:end].decode()
                        pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    entry.entity = entity_data_list = []
                    entity_data_left = n
                    while entity_data_left:
                        entity_data_left -= 1
                        entity_data = new(AlterClientQuotasResponseEntityData)
                        entity_data_list.append(entity_data)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        entity_data.entity_type = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            entity_data.entity_name = None
                        else:
                            end = pos + n
                            entity_data.entity_name = data[pos:end].decode()
                            pos = end
                        entity_data.unknown_tagged_fields = ()
                    entry.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterClientQuotasResponse", version, buf, start, cause) from cause


__all__ = [
    "AlterClientQuotasRequestEntityData",
    "OpData",
    "AlterClientQuotasRequestEntryData",
    "AlterClientQuotasRequest",
    "AlterClientQuotasResponseEntityData",
    "AlterClientQuotasResponseEntryData",
    "AlterClientQuotasResponse",
]
