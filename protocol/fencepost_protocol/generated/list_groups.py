# Generated from schemas/messages/ListGroupsRequest.json (sha256 013ee228123d69ca)
# Generated from schemas/messages/ListGroupsResponse.json (sha256 cf3dd9ef03816623)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ListGroups (API key 16)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    long_length,
    long_string_length,
    negative_length,
    read_compact_string_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hi = struct.Struct(">hi").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_hi = struct.Struct(">hi").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class ListGroupsRequest(Fields):
    """An administrator asks one broker for the groups it coordinates; a full list takes asking
    every broker.
    """

    NAME: ClassVar[str] = "ListGroupsRequest"
    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = ("states_filter", "types_filter", "unknown_tagged_fields")

    states_filter: list[str]
    """Versions 4-5. Group states to keep, such as Stable or Empty (KIP-518); empty keeps all."""
    types_filter: list[str]
    """Versions 5. Group types to keep, such as classic or consumer (KIP-848); empty keeps all."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        states_filter: list[str] = MADE_ANEW,
        types_filter: list[str] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.states_filter = [] if states_filter is MADE_ANEW else states_filter
        self.types_filter = [] if types_filter is MADE_ANEW else types_filter
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("ListGroupsRequest", version, 0, 5)
            if version >= 3:
                if version >= 4:
                    n = len(self.states_filter) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_compact_string_array(out, self.states_filter)
                elif self.states_filter:
                    raise not_in_version("states_filter", "4-5")
                if version >= 5:
                    n = len(self.types_filter) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_compact_string_array(out, self.types_filter)
                elif self.types_filter:
                    raise not_in_version("types_filter", "5")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.states_filter:
                    raise not_in_version("states_filter", "4-5")
                if self.types_filter:
                    raise not_in_version("types_filter", "5")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListGroupsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListGroupsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("ListGroupsRequest", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListGroupsRequest)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version >= 4:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.states_filter, pos = read_compact_string_array(data, pos, n - 1)
                else:
                    m.states_filter = []
                if version >= 5:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.types_filter, pos = read_compact_string_array(data, pos, n - 1)
                else:
                    m.types_filter = []
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.states_filter = []
                m.types_filter = []
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ListGroupsRequest", version, buf, start, cause) from cause


class ListedGroup(Fields):
    """Groups that passed the filters."""

    __slots__ = (
        "group_id",
        "protocol_type",
        "group_state",
        "group_type",
        "unknown_tagged_fields",
    )

    group_id: str
    """Group id, unique on the cluster."""
    protocol_type: str
    """Kind of group, such as consumer or connect; empty for groups that only store offsets."""
    group_state: str
    """Versions 4-5. State at the time of asking, such as Stable or Empty (KIP-518)."""
    group_type: str
    """Versions 5. Protocol behind the group: classic, consumer, share or streams (KIP-848)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type
        self.unknown_tagged_fields = unknown_tagged_fields


class ListGroupsResponse(Fields):
    """The groups that the asked broker coordinates and the caller may see."""

    NAME: ClassVar[str] = "ListGroupsResponse"
    API_KEY: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = ("throttle_time_ms", "error_code", "groups", "unknown_tagged_fields")

    throttle_time_ms: int
    """Versions 1-5. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    error_code: int
    """NONE, or e.g. COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE for the broker as a
    whole.
    """
    groups: list[ListedGroup]
    """Groups that passed the filters."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListedGroup] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = [] if groups is MADE_ANEW else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("ListGroupsResponse", version, 0, 5)
            if version >= 3:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                n = len(self.groups) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for group in self.groups:
                    raw = group.group_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = group.protocol_type.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if version >= 4:
                        raw = group.group_state.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 5:
                        raw = group.group_type.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if group.unknown_tagged_fields:
                        write_tagged_fields(out, [], group.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if version >= 1:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_hi(self.error_code, len(self.groups))
                for group in self.groups:
                    raw = group.group_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    raw = group.protocol_type.encode()
                    out += _pack_h(len(raw))
                    out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListGroupsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListGroupsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("ListGroupsResponse", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListGroupsResponse)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
                pos += 7
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.groups = group_list = []
                group_left = n - 1
                while group_left:
                    group_left -= 1
                    group = new(ListedGroup)
                    group_list.append(group)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    group.group_id = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    group.protocol_type = data[pos:end].decode()
                    pos = end
                    if version >= 4:
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        group.group_state = data[pos:end].decode()
                        pos = end
                    else:
                        group.group_state = ""
                    if version >= 5:
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        group.group_type = data[pos:end].decode()
                        pos = end
                    else:
                        group.group_type = ""
                    n = data[pos]
                    pos += 1
                    if n:
                        group.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        group.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version >= 1:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                m.error_code, n = _unpack_hi(data, pos)
                pos += 6
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.groups = group_list = []
                group_left = n
                while group_left:
                    group_left -= 1
                    group = new(ListedGroup)
                    group_list.append(group)
                    group.group_state = ""
                    group.group_type = ""
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    group.group_id = data[pos:end].decode()
                    pos = end
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    group.protocol_type = data[pos:end].decode()
                    pos = end
                    group.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ListGroupsResponse", version, buf, start, cause) from cause


__all__ = [
    "ListGroupsRequest",
    "ListedGroup",
    "ListGroupsResponse",
]
