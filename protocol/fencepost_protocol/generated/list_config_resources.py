# Generated from schemas/messages/ListConfigResourcesRequest.json (sha256 fe16d3002527783f)
# Generated from schemas/messages/ListConfigResourcesResponse.json (sha256 5bb2ce312cc7ba8e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ListConfigResources (API key 74)."""

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
    read_int_array,
    read_unknown_tags,
    too_many_elements,
    write_int_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class ListConfigResourcesRequest(Fields):
    """An administrative client asks which resources may carry configuration. Version 0 lists only
    client metrics subscriptions (KIP-714), version 1 any type (KIP-1142).
    """

    NAME: ClassVar[str] = "ListConfigResourcesRequest"
    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("resource_types", "unknown_tagged_fields")

    resource_types: list[int]
    """Versions 1. Types wanted: 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group;
    empty means every type the broker supports.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resource_types: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resource_types = [] if resource_types is MADE_ANEW else resource_types
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ListConfigResourcesRequest", version, 0, 1)
            if version >= 1:
                n = len(self.resource_types) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int_array(out, self.resource_types, "b")
            elif self.resource_types:
                raise not_in_version("resource_types", "1")
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListConfigResourcesRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListConfigResourcesRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ListConfigResourcesRequest", version, 0, 1)
            size = len(buf)
            m = new(ListConfigResourcesRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            if version >= 1:
                n = buf[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.resource_types, pos = read_int_array(buf, pos, n - 1, "b")
            else:
                m.resource_types = []
            n = buf[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ListConfigResourcesRequest", version, buf, start, cause) from cause


class ConfigResource(Fields):
    """Resources found, of all types asked for."""

    __slots__ = ("resource_name", "resource_type", "unknown_tagged_fields")

    resource_name: str
    """Name to use in DescribeConfigs: topic, node id, group or metrics subscription."""
    resource_type: int
    """Versions 1. 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group; always 16 in
    version 0.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resource_name: str = "",
        resource_type: int = 16,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type
        self.unknown_tagged_fields = unknown_tagged_fields


class ListConfigResourcesResponse(Fields):
    """Names and types of the resources that may carry configuration (KIP-1142)."""

    NAME: ClassVar[str] = "ListConfigResourcesResponse"
    API_KEY: ClassVar[int] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "config_resources", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. CLUSTER_AUTHORIZATION_FAILED, UNSUPPORTED_VERSION for a type that cannot be
    listed.
    """
    config_resources: list[ConfigResource]
    """Resources found, of all types asked for."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = [] if config_resources is MADE_ANEW else config_resources
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ListConfigResourcesResponse", version, 0, 1)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            n = len(self.config_resources) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for config_resource in self.config_resources:
                raw = config_resource.resource_name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if version >= 1:
                    out += _pack_b(config_resource.resource_type)
                if config_resource.unknown_tagged_fields:
                    write_tagged_fields(out, [], config_resource.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListConfigResourcesResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListConfigResourcesResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ListConfigResourcesResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListConfigResourcesResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
            pos += 7
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.config_resources = config_resource_list = []
            config_resource_left = n - 1
            while config_resource_left:
                config_resource_left -= 1
                config_resource = new(ConfigResource)
                config_resource_list.append(config_resource)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                config_resource.resource_name = data[pos:end].decode()
                pos = end
                if version >= 1:
                    config_resource.resource_type = (data[pos] ^ 128) - 128
                    pos += 1
                else:
                    config_resource.resource_type = 16
                n = data[pos]
                pos += 1
                if n:
                    config_resource.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    config_resource.unknown_tagged_fields = ()
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
            raise decode_failure("ListConfigResourcesResponse", version, buf, start, cause) from cause


__all__ = [
    "ListConfigResourcesRequest",
    "ConfigResource",
    "ListConfigResourcesResponse",
]
