# Generated from schemas/messages/DeleteGroupsRequest.json (sha256 cbd134e63d8f93f3)
# Generated from schemas/messages/DeleteGroupsResponse.json (sha256 42178e7472f41f11)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DeleteGroups (API key 42)."""

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
    negative_length,
    read_compact_string_array,
    read_string_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class DeleteGroupsRequest(Fields):
    """An admin client removes groups without members, with all their offsets (KIP-229). Goes to the
    coordinator of the groups.
    """

    NAME: ClassVar[str] = "DeleteGroupsRequest"
    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("groups_names", "unknown_tagged_fields")

    groups_names: list[str]
    """Ids of the groups to delete; all should belong to the coordinator addressed."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        groups_names: list[str] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.groups_names = [] if groups_names is MADE_ANEW else groups_names
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DeleteGroupsRequest", version, 0, 2)
            if version >= 2:
                n = len(self.groups_names) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_compact_string_array(out, self.groups_names)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.groups_names))
                write_string_array(out, self.groups_names)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DeleteGroupsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DeleteGroupsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DeleteGroupsRequest", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(DeleteGroupsRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.groups_names, pos = read_compact_string_array(data, pos, n - 1)
                n = data[pos]
                pos += 1
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
                m.groups_names, pos = read_string_array(data, pos, n)
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DeleteGroupsRequest", version, buf, start, cause) from cause


class DeletableGroupResult(Fields):
    """One outcome for each group; there is no code for the request as a whole."""

    __slots__ = ("group_id", "error_code", "unknown_tagged_fields")

    group_id: str
    """Group the outcome is for."""
    error_code: int
    """NONE, or NON_EMPTY_GROUP (still has members), GROUP_ID_NOT_FOUND, INVALID_GROUP_ID,
    NOT_COORDINATOR, GROUP_AUTHORIZATION_FAILED.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields


class DeleteGroupsResponse(Fields):
    """Tells for each group whether it was deleted (KIP-229). Pending transactional offsets go with
    it, and a later commit brings nothing back.
    """

    NAME: ClassVar[str] = "DeleteGroupsResponse"
    API_KEY: ClassVar[int] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("throttle_time_ms", "results", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    results: list[DeletableGroupResult]
    """One outcome for each group; there is no code for the request as a whole."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DeletableGroupResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DeleteGroupsResponse", version, 0, 2)
            if version >= 2:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.results) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for result in self.results:
                    raw = result.group_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_h(result.error_code)
                    if result.unknown_tagged_fields:
                        write_tagged_fields(out, [], result.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ii(self.throttle_time_ms, len(self.results))
                for result in self.results:
                    raw = result.group_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_h(result.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DeleteGroupsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DeleteGroupsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DeleteGroupsResponse", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(DeleteGroupsResponse)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.results = result_list = []
                result_left = n - 1
                while result_left:
                    result_left -= 1
                    result = new(DeletableGroupResult)
                    result_list.append(result)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    result.group_id = data[pos:end].decode()
                    pos = end
                    result.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n:
                        result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        result.unknown_tagged_fields = ()
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
                m.results = result_list = []
                result_left = n
                while result_left:
                    result_left -= 1
                    result = new(DeletableGroupResult)
                    result_list.append(result)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    result.group_id = data[pos:end].decode()
                    pos = end
                    result.unknown_tagged_fields = ()
                    result.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DeleteGroupsResponse", version, buf, start, cause) from cause


__all__ = [
    "DeleteGroupsRequest",
    "DeletableGroupResult",
    "DeleteGroupsResponse",
]
