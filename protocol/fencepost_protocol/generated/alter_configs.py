# Generated from schemas/messages/AlterConfigsRequest.json (sha256 9c13c1fc7e5ed7c9)
# Generated from schemas/messages/AlterConfigsResponse.json (sha256 221a114307c07d74)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AlterConfigs (API key 33)."""

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
_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_bh = struct.Struct(">bh").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_b = struct.Struct(">b").pack
_pack_bh = struct.Struct(">bh").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class AlterableConfig(Fields):
    """The complete new set; settings missing here are reset."""

    __slots__ = ("name", "value", "unknown_tagged_fields")

    name: str
    """Key of the setting, e.g. retention.ms."""
    value: str | None
    """New value as text; null is refused with INVALID_REQUEST, leave the setting out instead."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterConfigsResource(Fields):
    """Resources to change; each succeeds or fails alone, one listed twice is refused."""

    __slots__ = ("resource_type", "resource_name", "configs", "unknown_tagged_fields")

    resource_type: int
    """Kind of resource, such as 2 topic or 4 broker."""
    resource_name: str
    """Topic name, or broker id in decimal; empty with type 4 means the cluster-wide broker
    defaults.
    """
    configs: list[AlterableConfig]
    """The complete new set; settings missing here are reset."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterableConfig] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is MADE_ANEW else configs
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterConfigsRequest(Fields):
    """An admin client replaces the whole set of dynamic settings of a resource: what is left out
    falls back to its default. Superseded by IncrementalAlterConfigs (KIP-339).
    """

    NAME: ClassVar[str] = "AlterConfigsRequest"
    API_KEY: ClassVar[int] = 33
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("resources", "validate_only", "unknown_tagged_fields")

    resources: list[AlterConfigsResource]
    """Resources to change; each succeeds or fails alone, one listed twice is refused."""
    validate_only: bool
    """True checks the settings and reports, but stores nothing."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resources: list[AlterConfigsResource] = MADE_ANEW,
        validate_only: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resources = [] if resources is MADE_ANEW else resources
        self.validate_only = validate_only
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("AlterConfigsRequest", version, 0, 2)
            if version >= 2:
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
                    n = len(resource.configs) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for config in resource.configs:
                        raw = config.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        if config.value is None:
                            out.append(0)
                        else:
                            raw = config.value.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        if config.unknown_tagged_fields:
                            write_tagged_fields(out, [], config.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if resource.unknown_tagged_fields:
                        write_tagged_fields(out, [], resource.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_t(self.validate_only)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.resources))
                for resource in self.resources:
                    raw = resource.resource_name.encode()
                    out += _pack_bh(resource.resource_type, len(raw))
                    out += raw
                    out += _pack_i(len(resource.configs))
                    for config in resource.configs:
                        raw = config.name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        if config.value is None:
                            out += _pack_h(-1)
                        else:
                            raw = config.value.encode()
                            out += _pack_h(len(raw))
                            out += raw
                out += _pack_t(self.validate_only)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterConfigsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterConfigsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("AlterConfigsRequest", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterConfigsRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
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
                    resource = new(AlterConfigsResource)
                    resource_list.append(resource)
                    resource.resource_type, n = _unpack_bB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    resource.resource_name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    resource.configs = config_list = []
                    config_left = n - 1
                    while config_left:
                        config_left -= 1
                        config = new(AlterableConfig)
                        config_list.append(config)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        config.name = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            config.value = None
                        else:
                            end = pos + n - 1
                            config.value = data[pos:end].decode()
                            pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            config.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            config.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        resource.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        resource.unknown_tagged_fields = ()
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
                m.resources = resource_list = []
                resource_left = n
                while resource_left:
                    resource_left -= 1
                    resource = new(AlterConfigsResource)
                    resource_list.append(resource)
                    resource.resource_type, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    resource.resource_name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    resource.configs = config_list = []
                    config_left = n
                    while config_left:
                        config_left -= 1
                        config = new(AlterableConfig)
                        config_list.append(config)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        config.name = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            config.value = None
                        else:
                            end = pos + n
                            config.value = data[pos:end].decode()
                            pos = end
                        config.unknown_tagged_fields = ()
                    resource.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.validate_only = data[pos] != 0
                pos += 1
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterConfigsRequest", version, buf, start, cause) from cause


class AlterConfigsResourceResponse(Fields):
    """One verdict for each resource of the request."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. INVALID_CONFIG, INVALID_REQUEST, UNKNOWN_TOPIC_OR_PARTITION, POLICY_VIOLATION,
    TOPIC_AUTHORIZATION_FAILED.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    resource_type: int
    """Kind of resource, repeated from the request."""
    resource_name: str
    """Name of the resource, repeated from the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterConfigsResponse(Fields):
    """Outcome of an AlterConfigs request, one verdict for each resource."""

    NAME: ClassVar[str] = "AlterConfigsResponse"
    API_KEY: ClassVar[int] = 33
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("throttle_time_ms", "responses", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    responses: list[AlterConfigsResourceResponse]
    """One verdict for each resource of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is MADE_ANEW else responses
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("AlterConfigsResponse", version, 0, 2)
            if version >= 2:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.responses) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for response in self.responses:
                    out += _pack_h(response.error_code)
                    if response.error_message is None:
                        out.append(0)
                    else:
                        raw = response.error_message.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    raw = response.resource_name.encode()
                    out += _pack_b(response.resource_type)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if response.unknown_tagged_fields:
                        write_tagged_fields(out, [], response.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ii(self.throttle_time_ms, len(self.responses))
                for response in self.responses:
                    out += _pack_h(response.error_code)
                    if response.error_message is None:
                        out += _pack_h(-1)
                    else:
                        raw = response.error_message.encode()
                        out += _pack_h(len(raw))
                        out += raw
                    raw = response.resource_name.encode()
                    out += _pack_bh(response.resource_type, len(raw))
                    out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterConfigsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterConfigsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("AlterConfigsResponse", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterConfigsResponse)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.responses = response_list = []
                response_left = n - 1
                while response_left:
                    response_left -= 1
                    response = new(AlterConfigsResourceResponse)
                    response_list.append(response)
                    response.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        response.error_message = None
                    else:
                        end = pos + n - 1
                        response.error_message = data[pos:end].decode()
                        pos = end
                    response.resource_type, n = _unpack_bB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    response.resource_name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        response.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        response.unknown_tagged_fields = ()
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
                m.responses = response_list = []
                response_left = n
                while response_left:
                    response_left -= 1
                    response = new(AlterConfigsResourceResponse)
                    response_list.append(response)
                    response.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        response.error_message = None
                    else:
                        end = pos + n
                        response.error_message = data[pos:end].decode()
                        pos = end
                    response.resource_type, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    response.resource_name = data[pos:end].decode()
                    pos = end
                    response.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterConfigsResponse", version, buf, start, cause) from cause


__all__ = [
    "AlterableConfig",
    "AlterConfigsResource",
    "AlterConfigsRequest",
    "AlterConfigsResourceResponse",
    "AlterConfigsResponse",
]
