# Generated from schemas/messages/DescribeAclsRequest.json (sha256 9e67b0204ce7feda)
# Generated from schemas/messages/DescribeAclsResponse.json (sha256 62b34155f1c3c263)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeAcls (API key 29)."""

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
_unpack_bi = struct.Struct(">bi").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_ihh = struct.Struct(">ihh").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_bb = struct.Struct(">bb").pack
_pack_bh = struct.Struct(">bh").pack
_pack_bi = struct.Struct(">bi").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class DescribeAclsRequest(Fields):
    """An admin client asks which access rules match a filter. Needs describe on the cluster."""

    NAME: ClassVar[str] = "DescribeAclsRequest"
    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

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
    """Resource name to match; null matches every name."""
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

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DescribeAclsRequest", version, 1, 3)
            if version >= 2:
                out += _pack_b(self.resource_type_filter)
                if self.resource_name_filter is None:
                    out.append(0)
                else:
                    raw = self.resource_name_filter.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                out += _pack_b(self.pattern_type_filter)
                if self.principal_filter is None:
                    out.append(0)
                else:
                    raw = self.principal_filter.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                if self.host_filter is None:
                    out.append(0)
                else:
                    raw = self.host_filter.encode()
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
            else:
                out += _pack_b(self.resource_type_filter)
                if self.resource_name_filter is None:
                    out += _pack_h(-1)
                else:
                    raw = self.resource_name_filter.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_b(self.pattern_type_filter)
                if self.principal_filter is None:
                    out += _pack_h(-1)
                else:
                    raw = self.principal_filter.encode()
                    out += _pack_h(len(raw))
                    out += raw
                if self.host_filter is None:
                    out += _pack_h(-1)
                else:
                    raw = self.host_filter.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_bb(self.operation, self.permission_type)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeAclsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeAclsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DescribeAclsRequest", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeAclsRequest)
            if version >= 2:
                m.resource_type_filter, n = _unpack_bB(data, pos)
                pos += 2
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.resource_name_filter = None
                else:
                    end = pos + n - 1
                    m.resource_name_filter = data[pos:end].decode()
                    pos = end
                m.pattern_type_filter, n = _unpack_bB(data, pos)
                pos += 2
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.principal_filter = None
                else:
                    end = pos + n - 1
                    m.principal_filter = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.host_filter = None
                else:
                    end = pos + n - 1
                    m.host_filter = data[pos:end].decode()
                    pos = end
                m.operation, m.permission_type, n = _unpack_bbB(data, pos)
                pos += 3
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.resource_type_filter, n = _unpack_bh(data, pos)
                pos += 3
                if n < 0:
                    m.resource_name_filter = None
                else:
                    end = pos + n
                    m.resource_name_filter = data[pos:end].decode()
                    pos = end
                m.pattern_type_filter, n = _unpack_bh(data, pos)
                pos += 3
                if n < 0:
                    m.principal_filter = None
                else:
                    end = pos + n
                    m.principal_filter = data[pos:end].decode()
                    pos = end
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    m.host_filter = None
                else:
                    end = pos + n
                    m.host_filter = data[pos:end].decode()
                    pos = end
                m.unknown_tagged_fields = ()
                m.operation, m.permission_type = _unpack_bb(data, pos)
                pos += 2
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeAclsRequest", version, buf, start, cause) from cause


class AclDescription(Fields):
    """Rules attached to this pattern."""

    __slots__ = ("principal", "host", "operation", "permission_type", "unknown_tagged_fields")

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
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeAclsResource(Fields):
    """One entry for each resource pattern with matching rules; empty when nothing matches."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "pattern_type",
        "acls",
        "unknown_tagged_fields",
    )

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
    acls: list[AclDescription]
    """Rules attached to this pattern."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: list[AclDescription] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = [] if acls is MADE_ANEW else acls
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeAclsResponse(Fields):
    """The broker's list of access rules that match a DescribeAcls filter, grouped by resource
    pattern.
    """

    NAME: ClassVar[str] = "DescribeAclsResponse"
    API_KEY: ClassVar[int] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "resources",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or SECURITY_DISABLED (no authorizer configured), CLUSTER_AUTHORIZATION_FAILED,
    INVALID_REQUEST; then nothing is listed.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    resources: list[DescribeAclsResource]
    """One entry for each resource pattern with matching rules; empty when nothing matches."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = [] if resources is MADE_ANEW else resources
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DescribeAclsResponse", version, 1, 3)
            if version >= 2:
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
                n = len(self.resources) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for resource in self.resources:
                    raw = resource.resource_name.encode()
                    out += _pack_b(resource.resource_type)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_b(resource.pattern_type)
                    n = len(resource.acls) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for acl in resource.acls:
                        raw = acl.principal.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = acl.host.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_bb(acl.operation, acl.permission_type)
                        if acl.unknown_tagged_fields:
                            write_tagged_fields(out, [], acl.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if resource.unknown_tagged_fields:
                        write_tagged_fields(out, [], resource.unknown_tagged_fields)
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
                out += _pack_i(len(self.resources))
                for resource in self.resources:
                    raw = resource.resource_name.encode()
                    out += _pack_bh(resource.resource_type, len(raw))
                    out += raw
                    out += _pack_bi(resource.pattern_type, len(resource.acls))
                    for acl in resource.acls:
                        raw = acl.principal.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        raw = acl.host.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_bb(acl.operation, acl.permission_type)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeAclsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeAclsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("DescribeAclsResponse", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeAclsResponse)
            if version >= 2:
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
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.resources = resource_list = []
                resource_left = n - 1
                while resource_left:
                    resource_left -= 1
                    resource = new(DescribeAclsResource)
                    resource_list.append(resource)
                    resource.resource_type, n = _unpack_bB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    resource.resource_name = data[pos:end].decode()
                    pos = end
                    resource.pattern_type, n = _unpack_bB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    resource.acls = acl_list = []
                    acl_left = n - 1
                    while acl_left:
                        acl_left -= 1
                        acl = new(AclDescription)
                        acl_list.append(acl)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        acl.principal = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        acl.host = data[pos:end].decode()
                        pos = end
                        acl.operation, acl.permission_type, n = _unpack_bbB(data, pos)
                        pos += 3
                        if n:
                            acl.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            acl.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        resource.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        resource.unknown_tagged_fields = ()
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
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.resources = resource_list = []
                resource_left = n
                while resource_left:
                    resource_left -= 1
                    resource = new(DescribeAclsResource)
                    resource_list.append(resource)
                    resource.resource_type, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    resource.resource_name = data[pos:end].decode()
                    pos = end
                    resource.pattern_type, n = _unpack_bi(data, pos)
                    pos += 5
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    resource.acls = acl_list = []
                    acl_left = n
                    while acl_left:
                        acl_left -= 1
                        acl = new(AclDescription)
                        acl_list.append(acl)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        acl.principal = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        acl.host = data[pos:end].decode()
                        pos = end
                        acl.unknown_tagged_fields = ()
                        acl.operation, acl.permission_type = _unpack_bb(data, pos)
                        pos += 2
                    resource.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeAclsResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribeAclsRequest",
    "AclDescription",
    "DescribeAclsResource",
    "DescribeAclsResponse",
]
