# Generated from schemas/messages/DeleteAclsRequest.json (sha256 22fabeefb77123aa)
# Generated from schemas/messages/DeleteAclsResponse.json (sha256 113e4facc3d09367)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DeleteAcls (API key 31)."""

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

_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_bb = struct.Struct(">bb").unpack_from
_unpack_bbB = struct.Struct(">bbB").unpack_from
_unpack_bh = struct.Struct(">bh").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_bb = struct.Struct(">bb").pack
_pack_bh = struct.Struct(">bh").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class DeleteAclsFilter(Fields):
    """Filters to apply; a rule that matches any of them goes."""

    __slots__ = (
        "resource_type_filter",
        "resource_name_filter",
        "pattern_type_filter",
        "principal_filter",
        "host_filter",
        "operation",
        "permission_type",
        "unknown_tagged_fields",
    )

    resource_type_filter: int
    """Kind of resource to match: 1 any, 2 topic, 3 group, 4 cluster, 5 transactional id, 6
    delegation token, 7 user.
    """
    resource_name_filter: str | None
    """Resource name to match; null matches every name, so mind what goes with it."""
    pattern_type_filter: int
    """Which rules count: 1 any, 2 all that would apply to the name, 3 exact names only, 4 prefixes
    only (KIP-290).
    """
    principal_filter: str | None
    """Principal to match, as Type:name; null matches all."""
    host_filter: str | None
    """Host to match; null matches all, while * matches only rules written for *."""
    operation: int
    """Operation to match: 1 any, 2 rules for all, 3 read, 4 write and so on."""
    permission_type: int
    """Effect to match: 1 any, 2 deny, 3 allow."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields


class DeleteAclsRequest(Fields):
    """An admin client removes every access rule that matches one of its filters. Needs alter on the
    cluster.
    """

    NAME: ClassVar[str] = "DeleteAclsRequest"
    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("filters", "unknown_tagged_fields")

    filters: list[DeleteAclsFilter]
    """Filters to apply; a rule that matches any of them goes."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        filters: list[DeleteAclsFilter] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.filters = [] if filters is MADE_ANEW else filters
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DeleteAclsRequest", version, 1, 3)
            if version >= 2:
                n = len(self.filters) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for filter in self.filters:
                    out += _pack_b(filter.resource_type_filter)
                    if filter.resource_name_filter is None:
                        out.append(0)
                    else:
                        raw = filter.resource_name_filter.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    out += _pack_b(filter.pattern_type_filter)
                    if filter.principal_filter is None:
                        out.append(0)
                    else:
                        raw = filter.principal_filter.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if filter.host_filter is None:
                        out.append(0)
                    else:
                        raw = filter.host_filter.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    out += _pack_bb(filter.operation, filter.permission_type)
                    if filter.unknown_tagged_fields:
                        write_tagged_fields(out, [], filter.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.filters))
                for filter in self.filters:
                    out += _pack_b(filter.resource_type_filter)
                    if filter.resource_name_filter is None:
                        out += _pack_h(-1)
                    else:
                        raw = filter.resource_name_filter.encode()
                        out += _pack_h(len(raw))
                        out += raw
                    out += _pack_b(filter.pattern_type_filter)
                    if filter.principal_filter is None:
                        out += _pack_h(-1)
                    else:
                        raw = filter.principal_filter.encode()
                        out += _pack_h(len(raw))
                        out += raw
                    if filter.host_filter is None:
                        out += _pack_h(-1)
                    else:
                        raw = filter.host_filter.encode()
                        out += _pack_h(len(raw))
                        out += raw
                    out += _pack_bb(filter.operation, filter.permission_type)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DeleteAclsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DeleteAclsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DeleteAclsRequest", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(DeleteAclsRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.filters = filter_list = []
                filter_left = n - 1
                while filter_left:
                    filter_left -= 1
                    filter = new(DeleteAclsFilter)
                    filter_list.append(filter)
                    filter.resource_type_filter, n = _unpack_bB(data, pos)
                    pos += 2
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        filter.resource_name_filter = None
                    else:
                        end = pos + n - 1
                        filter.resource_name_filter = data[pos:end].decode()
                        pos = end
                    filter.pattern_type_filter, n = _unpack_bB(data, pos)
                    pos += 2
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        filter.principal_filter = None
                    else:
                        end = pos + n - 1
                        filter.principal_filter = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        filter.host_filter = None
                    else:
                        end = pos + n - 1
                        filter.host_filter = data[pos:end].decode()
                        pos = end
                    filter.operation, filter.permission_type, n = _unpack_bbB(data, pos)
                    pos += 3
                    if n:
                        filter.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        filter.unknown_tagged_fields = ()
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
                m.filters = filter_list = []
                filter_left = n
                while filter_left:
                    filter_left -= 1
                    filter = new(DeleteAclsFilter)
                    filter_list.append(filter)
                    filter.resource_type_filter, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        filter.resource_name_filter = None
                    else:
                        end = pos + n
                        filter.resource_name_filter = data[pos:end].decode()
                        pos = end
                    filter.pattern_type_filter, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        filter.principal_filter = None
                    else:
                        end = pos + n
                        filter.principal_filter = data[pos:end].decode()
                        pos = end
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        filter.host_filter = None
                    else:
                        end = pos + n
                        filter.host_filter = data[pos:end].decode()
                        pos = end
                    filter.unknown_tagged_fields = ()
                    filter.operation, filter.permission_type = _unpack_bb(data, pos)
                    pos += 2
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DeleteAclsRequest", version, buf, start, cause) from cause


class DeleteAclsMatchingAcl(Fields):
    """Rules the filter hit, listed so that the client knows what went."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE when this rule was removed, otherwise why it stayed."""
    error_message: str | None
    """Readable detail for the error; may be null."""
    resource_type: int
    """Kind of resource: 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7
    user.
    """
    resource_name: str
    """Name or prefix of the resource, see the pattern type; * alone covers every name, the cluster
    is called kafka-cluster.
    """
    pattern_type: int
    """How ResourceName is read: 3 the exact name, 4 a prefix of names (KIP-290)."""
    principal: str
    """Principal as Type:name, e.g. User:alice; User:* covers everyone."""
    host: str
    """Client address the rule is for; * covers every host."""
    operation: int
    """Operation covered: 2 all, 3 read, 4 write, 5 create, 6 delete, 7 alter, 8 describe, 9 cluster
    action and so on.
    """
    permission_type: int
    """Effect: 2 deny, 3 allow; a matching deny wins over any allow."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields


class DeleteAclsFilterResult(Fields):
    """One result for each filter, in the order of the request."""

    __slots__ = ("error_code", "error_message", "matching_acls", "unknown_tagged_fields")

    error_code: int
    """NONE, also if nothing matched, or a fault of the filter: SECURITY_DISABLED,
    CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    matching_acls: list[DeleteAclsMatchingAcl]
    """Rules the filter hit, listed so that the client knows what went."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = [] if matching_acls is MADE_ANEW else matching_acls
        self.unknown_tagged_fields = unknown_tagged_fields


class DeleteAclsResponse(Fields):
    """What each filter of a DeleteAcls request removed, matched to it by position."""

    NAME: ClassVar[str] = "DeleteAclsResponse"
    API_KEY: ClassVar[int] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("throttle_time_ms", "filter_results", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    filter_results: list[DeleteAclsFilterResult]
    """One result for each filter, in the order of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = [] if filter_results is MADE_ANEW else filter_results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DeleteAclsResponse", version, 1, 3)
            if version >= 2:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.filter_results) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for filter_result in self.filter_results:
                    out += _pack_h(filter_result.error_code)
                    if filter_result.error_message is None:
                        out.append(0)
                    else:
                        raw = filter_result.error_message.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    n = len(filter_result.matching_acls) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for matching_acl in filter_result.matching_acls:
                        out += _pack_h(matching_acl.error_code)
                        if matching_acl.error_message is None:
                            out.append(0)
                        else:
                            raw = matching_acl.error_message.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        raw = matching_acl.resource_name.encode()
                        out += _pack_b(matching_acl.resource_type)
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = matching_acl.principal.encode()
                        out += _pack_b(matching_acl.pattern_type)
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = matching_acl.host.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_bb(matching_acl.operation, matching_acl.permission_type)
                        if matching_acl.unknown_tagged_fields:
                            write_tagged_fields(out, [], matching_acl.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if filter_result.unknown_tagged_fields:
                        write_tagged_fields(out, [], filter_result.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ii(self.throttle_time_ms, len(self.filter_results))
                for filter_result in self.filter_results:
                    out += _pack_h(filter_result.error_code)
                    if filter_result.error_message is None:
                        out += _pack_h(-1)
                    else:
                        raw = filter_result.error_message.encode()
                        out += _pack_h(len(raw))
                        out += raw
                    out += _pack_i(len(filter_result.matching_acls))
                    for matching_acl in filter_result.matching_acls:
                        out += _pack_h(matching_acl.error_code)
                        if matching_acl.error_message is None:
                            out += _pack_h(-1)
                        else:
                            raw = matching_acl.error_message.encode()
                            out += _pack_h(len(raw))
                            out += raw
                        raw = matching_acl.resource_name.encode()
                        out += _pack_bh(matching_acl.resource_type, len(raw))
                        out += raw
                        raw = matching_acl.principal.encode()
                        out += _pack_bh(matching_acl.pattern_type, len(raw))
                        out += raw
                        raw = matching_acl.host.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_bb(matching_acl.operation, matching_acl.permission_type)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DeleteAclsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DeleteAclsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DeleteAclsResponse", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(DeleteAclsResponse)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.filter_results = filter_result_list = []
                filter_result_left = n - 1
                while filter_result_left:
                    filter_result_left -= 1
                    filter_result = new(DeleteAclsFilterResult)
                    filter_result_list.append(filter_result)
                    filter_result.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        filter_result.error_message = None
                    else:
                        end = pos + n - 1
                        filter_result.error_message = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    filter_result.matching_acls = matching_acl_list = []
                    matching_acl_left = n - 1
                    while matching_acl_left:
                        matching_acl_left -= 1
                        matching_acl = new(DeleteAclsMatchingAcl)
                        matching_acl_list.append(matching_acl)
                        matching_acl.error_code, n = _unpack_hB(data, pos)
                        pos += 3
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            matching_acl.error_message = None
                        else:
                            end = pos + n - 1
                            matching_acl.error_message = data[pos:end].decode()
                            pos = end
                        matching_acl.resource_type, n = _unpack_bB(data, pos)
                        pos += 2
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        matching_acl.resource_name = data[pos:end].decode()
                        pos = end
                        matching_acl.pattern_type, n = _unpack_bB(data, pos)
                        pos += 2
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        matching_acl.principal = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        matching_acl.host = data[pos:end].decode()
                        pos = end
                        (
                            matching_acl.operation,
                            matching_acl.permission_type,
                            n,
                        ) = _unpack_bbB(data, pos)
                        pos += 3
                        if n:
                            matching_acl.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            matching_acl.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        filter_result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        filter_result.unknown_tagged_fields = ()
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
                m.filter_results = filter_result_list = []
                filter_result_left = n
                while filter_result_left:
                    filter_result_left -= 1
                    filter_result = new(DeleteAclsFilterResult)
                    filter_result_list.append(filter_result)
                    filter_result.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        filter_result.error_message = None
                    else:
                        end = pos + n
                        filter_result.error_message = data[pos:end].decode()
                        pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    filter_result.matching_acls = matching_acl_list = []
                    matching_acl_left = n
                    while matching_acl_left:
                        matching_acl_left -= 1
                        matching_acl = new(DeleteAclsMatchingAcl)
                        matching_acl_list.append(matching_acl)
                        matching_acl.error_code, n = _unpack_hh(data, pos)
                        pos += 4
                        if n < 0:
                            matching_acl.error_message = None
                        else:
                            end = pos + n
                            matching_acl.error_message = data[pos:end].decode()
                            pos = end
                        matching_acl.resource_type, n = _unpack_bh(data, pos)
                        pos += 3
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        matching_acl.resource_name = data[pos:end].decode()
                        pos = end
                        matching_acl.pattern_type, n = _unpack_bh(data, pos)
                        pos += 3
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        matching_acl.principal = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        matching_acl.host = data[pos:end].decode()
                        pos = end
                        matching_acl.unknown_tagged_fields = ()
                        matching_acl.operation, matching_acl.permission_type = _unpack_bb(data, pos)
                        pos += 2
                    filter_result.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DeleteAclsResponse", version, buf, start, cause) from cause


__all__ = [
    "DeleteAclsFilter",
    "DeleteAclsRequest",
    "DeleteAclsMatchingAcl",
    "DeleteAclsFilterResult",
    "DeleteAclsResponse",
]
