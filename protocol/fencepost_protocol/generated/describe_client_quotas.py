# Generated from schemas/messages/DescribeClientQuotasRequest.json (sha256 8279eb2e890dc620)
# Generated from schemas/messages/DescribeClientQuotasResponse.json (sha256 c74831e9ee9cec34)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeClientQuotas (API key 48)."""

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
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_tB = struct.Struct(">?B").unpack_from
_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_bh = struct.Struct(">bh").unpack_from
_unpack_d = struct.Struct(">d").unpack_from
_unpack_dB = struct.Struct(">dB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_ihh = struct.Struct(">ihh").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_b = struct.Struct(">b").pack
_pack_d = struct.Struct(">d").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class ComponentData(Fields):
    """Conditions on the entity, all of which must hold; empty matches everything."""

    __slots__ = ("entity_type", "match_type", "match", "unknown_tagged_fields")

    entity_type: str
    """Kind of entity: user, client-id or ip."""
    match_type: int
    """0 the name in Match, 1 the default entity, 2 any entry that names this kind."""
    match: str | None
    """Name to match with MatchType 0; null for the other two."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeClientQuotasRequest(Fields):
    """An admin client looks up the quotas set for users, client ids and addresses (KIP-546)."""

    NAME: ClassVar[str] = "DescribeClientQuotasRequest"
    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = ("components", "strict", "unknown_tagged_fields")

    components: list[ComponentData]
    """Conditions on the entity, all of which must hold; empty matches everything."""
    strict: bool
    """True leaves out entities that have kinds besides those in Components, e.g. user plus
    client-id when only user is asked.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        components: list[ComponentData] = MADE_ANEW,
        strict: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.components = [] if components is MADE_ANEW else components
        self.strict = strict
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("DescribeClientQuotasRequest", version, 0, 1)
            if version >= 1:
                n = len(self.components) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for component in self.components:
                    raw = component.entity_type.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_b(component.match_type)
                    if component.match is None:
                        out.append(0)
                    else:
                        raw = component.match.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if component.unknown_tagged_fields:
                        write_tagged_fields(out, [], component.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_t(self.strict)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.components))
                for component in self.components:
                    raw = component.entity_type.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_b(component.match_type)
                    if component.match is None:
                        out += _pack_h(-1)
                    else:
                        raw = component.match.encode()
                        out += _pack_h(len(raw))
                        out += raw
                out += _pack_t(self.strict)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeClientQuotasRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeClientQuotasRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("DescribeClientQuotasRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeClientQuotasRequest)
            if version >= 1:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.components = component_list = []
                component_left = n - 1
                while component_left:
                    component_left -= 1
                    component = new(ComponentData)
                    component_list.append(component)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    component.entity_type = data[pos:end].decode()
                    pos = end
                    component.match_type, n = _unpack_bB(data, pos)
                    pos += 2
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        component.match = None
                    else:
                        end = pos + n - 1
                        component.match = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        component.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        component.unknown_tagged_fields = ()
                m.strict, n = _unpack_tB(data, pos)
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
                m.components = component_list = []
                component_left = n
                while component_left:
                    component_left -= 1
                    component = new(ComponentData)
                    component_list.append(component)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    component.entity_type = data[pos:end].decode()
                    pos = end
                    component.match_type, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        component.match = None
                    else:
                        end = pos + n
                        component.match = data[pos:end].decode()
                        pos = end
                    component.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.strict = data[pos] != 0
                pos += 1
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeClientQuotasRequest", version, buf, start, cause) from cause


class EntityData(Fields):
    """What identifies the entity, one or two parts such as user and client-id."""

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


class ValueData(Fields):
    """Quotas set on it."""

    __slots__ = ("key", "value", "unknown_tagged_fields")

    key: str
    """Quota, e.g. producer_byte_rate, consumer_byte_rate, request_percentage,
    controller_mutation_rate; for ip connection_creation_rate.
    """
    value: float
    """Limit: bytes per second for byte rates, percent of a thread for request_percentage."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields


class EntryData(Fields):
    """Entities with quotas; null on an error, empty when nothing matches."""

    __slots__ = ("entity", "values", "unknown_tagged_fields")

    entity: list[EntityData]
    """What identifies the entity, one or two parts such as user and client-id."""
    values: list[ValueData]
    """Quotas set on it."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        entity: list[EntityData] = MADE_ANEW,
        values: list[ValueData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.entity = [] if entity is MADE_ANEW else entity
        self.values = [] if values is MADE_ANEW else values
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeClientQuotasResponse(Fields):
    """The quotas that match a DescribeClientQuotas filter, as configured rather than as they add up
    for a given client (KIP-546).
    """

    NAME: ClassVar[str] = "DescribeClientQuotasResponse"
    API_KEY: ClassVar[int] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "entries",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST (bad filter)."""
    error_message: str | None
    """Readable detail for the error; may be null."""
    entries: list[EntryData] | None
    """Entities with quotas; null on an error, empty when nothing matches."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[EntryData] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = [] if entries is MADE_ANEW else entries
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("DescribeClientQuotasResponse", version, 0, 1)
            if version >= 1:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                if self.error_message is None:
                    out.append(0)
                else:
                    raw = self.error_message.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                if self.entries is None:
                    out.append(0)
                else:
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
                        n = len(entry.values) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for value in entry.values:
                            raw = value.key.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                            out += _pack_d(value.value)
                            if value.unknown_tagged_fields:
                                write_tagged_fields(out, [], value.unknown_tagged_fields)
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
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                if self.error_message is None:
                    out += _pack_h(-1)
                else:
                    raw = self.error_message.encode()
                    out += _pack_h(len(raw))
                    out += raw
                if self.entries is None:
                    out += _pack_i(-1)
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
                        out += _pack_i(len(entry.values))
                        for value in entry.values:
                            raw = value.key.encode()
                            out += _pack_h(len(raw))
                            out += raw
                            out += _pack_d(value.value)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeClientQuotasResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeClientQuotasResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("DescribeClientQuotasResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeClientQuotasResponse)
            if version >= 1:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
                pos += 7
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.error_message = None
                else:
                    end = pos + n - 1
                    m.error_message = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                if not n:
                    m.entries = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.entries = entry_list = []
                    entry_left = n - 1
                    while entry_left:
                        entry_left -= 1
                        entry = new(EntryData)
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
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        entry.values = value_list = []
                        value_left = n - 1
                        while value_left:
                            value_left -= 1
                            value = new(ValueData)
                            value_list.append(value)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_string_length(data, pos, n)
                            end = pos + n - 1
                            value.key = data[pos:end].decode()
                            pos = end
                            value.value, n = _unpack_dB(data, pos)
                            pos += 9
                            if n:
                                value.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                value.unknown_tagged_fields = ()
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
                m.throttle_time_ms, m.error_code, n = _unpack_ihh(data, pos)
                pos += 8
                if n < 0:
                    m.error_message = None
                else:
                    end = pos + n
                    m.error_message = data[pos:end].decode()
                    pos = end
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    m.entries = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.entries = entry_list = []
                    entry_left = n
                    while entry_left:
                        entry_left -= 1
                        entry = new(EntryData)
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
                            entity_data = new(EntityData)
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
                        entry.values = value_list = []
                        value_left = n
                        while value_left:
                            value_left -= 1
                            value = new(ValueData)
                            value_list.append(value)
                            n = _unpack_h(data, pos)[0]
                            pos += 2
                            if n < 0:
                                raise negative_length(n)
                            end = pos + n
                            value.key = data[pos:end].decode()
                            pos = end
                            value.unknown_tagged_fields = ()
                            value.value = _unpack_d(data, pos)[0]
                            pos += 8
                        entry.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeClientQuotasResponse", version, buf, start, cause) from cause


__all__ = [
    "ComponentData",
    "DescribeClientQuotasRequest",
    "EntityData",
    "ValueData",
    "EntryData",
    "DescribeClientQuotasResponse",
]
