# Generated from schemas/messages/CreateAclsRequest.json (sha256 6a0d3d8bc1a9df80)
# Generated from schemas/messages/CreateAclsResponse.json (sha256 2bc77d7949b737e8)
# by python -m fencepost_protocol.codegen. Do not edit.
"""CreateAcls (API key 30)."""

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


class AclCreation(Fields):
    """Rules to add; each succeeds or fails alone."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "resource_pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
        "unknown_tagged_fields",
    )

    resource_type: int
    """Kind of resource: 2 topic, 3 group, 4 cluster, 5 transactional id, 6 delegation token, 7
    user.
    """
    resource_name: str
    """Name or prefix to protect, never empty; * covers every name, and the cluster must be called
    kafka-cluster.
    """
    resource_pattern_type: int
    """3 for an exact name, 4 for a prefix (KIP-290); the filter values 1 and 2 are refused."""
    principal: str
    """Principal as Type:name, e.g. User:alice; a text without that form is refused."""
    host: str
    """Client address the rule is for; * covers every host."""
    operation: int
    """Operation to cover: 2 all, 3 read, 4 write and so on; 1 (any) belongs to filters and is
    refused.
    """
    permission_type: int
    """Effect: 2 deny, 3 allow; 1 (any) belongs to filters and is refused."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        self.unknown_tagged_fields = unknown_tagged_fields


class CreateAclsRequest(Fields):
    """An admin client adds access rules; one that exists already counts as created. Needs alter on
    the cluster.
    """

    NAME: ClassVar[str] = "CreateAclsRequest"
    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("creations", "unknown_tagged_fields")

    creations: list[AclCreation]
    """Rules to add; each succeeds or fails alone."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        creations: list[AclCreation] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.creations = [] if creations is MADE_ANEW else creations
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("CreateAclsRequest", version, 1, 3)
            if version >= 2:
                n = len(self.creations) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for creation in self.creations:
                    raw = creation.resource_name.encode()
                    out += _pack_b(creation.resource_type)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = creation.principal.encode()
                    out += _pack_b(creation.resource_pattern_type)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = creation.host.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_bb(creation.operation, creation.permission_type)
                    if creation.unknown_tagged_fields:
                        write_tagged_fields(out, [], creation.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.creations))
                for creation in self.creations:
                    raw = creation.resource_name.encode()
                    out += _pack_bh(creation.resource_type, len(raw))
                    out += raw
                    raw = creation.principal.encode()
                    out += _pack_bh(creation.resource_pattern_type, len(raw))
                    out += raw
                    raw = creation.host.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_bb(creation.operation, creation.permission_type)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("CreateAclsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[CreateAclsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("CreateAclsRequest", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(CreateAclsRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.creations = creation_list = []
                creation_left = n - 1
                while creation_left:
                    creation_left -= 1
                    creation = new(AclCreation)
                    creation_list.append(creation)
                    creation.resource_type, n = _unpack_bB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    creation.resource_name = data[pos:end].decode()
                    pos = end
                    creation.resource_pattern_type, n = _unpack_bB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    creation.principal = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    creation.host = data[pos:end].decode()
                    pos = end
                    creation.operation, creation.permission_type, n = _unpack_bbB(data, pos)
                    pos += 3
                    if n:
                        creation.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        creation.unknown_tagged_fields = ()
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
                m.creations = creation_list = []
                creation_left = n
                while creation_left:
                    creation_left -= 1
                    creation = new(AclCreation)
                    creation_list.append(creation)
                    creation.resource_type, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    creation.resource_name = data[pos:end].decode()
                    pos = end
                    creation.resource_pattern_type, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    creation.principal = data[pos:end].decode()
                    pos = end
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    creation.host = data[pos:end].decode()
                    pos = end
                    creation.unknown_tagged_fields = ()
                    creation.operation, creation.permission_type = _unpack_bb(data, pos)
                    pos += 2
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("CreateAclsRequest", version, buf, start, cause) from cause


class AclCreationResult(Fields):
    """One result for each creation, in the order of the request."""

    __slots__ = ("error_code", "error_message", "unknown_tagged_fields")

    error_code: int
    """NONE, or INVALID_REQUEST (malformed rule), SECURITY_DISABLED (no authorizer),
    CLUSTER_AUTHORIZATION_FAILED.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class CreateAclsResponse(Fields):
    """Outcome of each rule of a CreateAcls request, matched to it by position alone."""

    NAME: ClassVar[str] = "CreateAclsResponse"
    API_KEY: ClassVar[int] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("throttle_time_ms", "results", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    results: list[AclCreationResult]
    """One result for each creation, in the order of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AclCreationResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 3:
                raise unknown_version("CreateAclsResponse", version, 1, 3)
            if version >= 2:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.results) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for result in self.results:
                    out += _pack_h(result.error_code)
                    if result.error_message is None:
                        out.append(0)
                    else:
                        raw = result.error_message.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
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
                    out += _pack_h(result.error_code)
                    if result.error_message is None:
                        out += _pack_h(-1)
                    else:
                        raw = result.error_message.encode()
                        out += _pack_h(len(raw))
                        out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("CreateAclsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[CreateAclsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 3:
                raise unknown_version("CreateAclsResponse", version, 1, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(CreateAclsResponse)
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
                    result = new(AclCreationResult)
                    result_list.append(result)
                    result.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        result.error_message = None
                    else:
                        end = pos + n - 1
                        result.error_message = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
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
                    result = new(AclCreationResult)
                    result_list.append(result)
                    result.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        result.error_message = None
                    else:
                        end = pos + n
                        result.error_message = data[pos:end].decode()
                        pos = end
                    result.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("CreateAclsResponse", version, buf, start, cause) from cause


__all__ = [
    "AclCreation",
    "CreateAclsRequest",
    "AclCreationResult",
    "CreateAclsResponse",
]
