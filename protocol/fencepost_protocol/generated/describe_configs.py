# Generated from schemas/messages/DescribeConfigsRequest.json (sha256 e5b9e734372d62b3)
# Generated from schemas/messages/DescribeConfigsResponse.json (sha256 ac1483065c41eecc)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeConfigs (API key 32)."""

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
    long_nullable_string_length,
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
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_ttB = struct.Struct(">??B").unpack_from
_unpack_tbtB = struct.Struct(">?b?B").unpack_from
_unpack_tbti = struct.Struct(">?b?i").unpack_from
_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_bh = struct.Struct(">bh").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_tt = struct.Struct(">??").pack
_pack_tbt = struct.Struct(">?b?").pack
_pack_tbti = struct.Struct(">?b?i").pack
_pack_b = struct.Struct(">b").pack
_pack_bh = struct.Struct(">bh").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class DescribeConfigsResource(Fields):
    """Resources to read settings of."""

    __slots__ = ("resource_type", "resource_name", "configuration_keys", "unknown_tagged_fields")

    resource_type: int
    """Kind of resource: 2 topic, 4 broker, 8 broker logger, 16 client metrics (KIP-714), 32 group.
    """
    resource_name: str
    """Topic, group or subscription name, or the broker id in decimal; empty with type 4 means the
    cluster-wide broker defaults.
    """
    configuration_keys: list[str] | None
    """Settings wanted; null means all, unknown names are left out of the answer."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = [] if configuration_keys is MADE_ANEW else configuration_keys
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeConfigsRequest(Fields):
    """An admin client reads the settings of topics, brokers, loggers, groups and the like
    (KIP-133). A broker's own settings must be asked of that broker.
    """

    NAME: ClassVar[str] = "DescribeConfigsRequest"
    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = (
        "resources",
        "include_synonyms",
        "include_documentation",
        "unknown_tagged_fields",
    )

    resources: list[DescribeConfigsResource]
    """Resources to read settings of."""
    include_synonyms: bool
    """True asks for the chain of places a value may come from (KIP-226)."""
    include_documentation: bool
    """Versions 3-4. True asks for a help text with each setting (KIP-569)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resources: list[DescribeConfigsResource] = MADE_ANEW,
        include_synonyms: bool = False,
        include_documentation: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resources = [] if resources is MADE_ANEW else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 4:
                raise unknown_version("DescribeConfigsRequest", version, 1, 4)
            if version >= 4:
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
                    if resource.configuration_keys is None:
                        out.append(0)
                    else:
                        n = len(resource.configuration_keys) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_compact_string_array(out, resource.configuration_keys)
                    if resource.unknown_tagged_fields:
                        write_tagged_fields(out, [], resource.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_tt(self.include_synonyms, self.include_documentation)
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
                    if resource.configuration_keys is None:
                        out += _pack_i(-1)
                    else:
                        out += _pack_i(len(resource.configuration_keys))
                        write_string_array(out, resource.configuration_keys)
                out += _pack_t(self.include_synonyms)
                if version >= 3:
                    out += _pack_t(self.include_documentation)
                elif self.include_documentation:
                    raise not_in_version("include_documentation", "3-4")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeConfigsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeConfigsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 4:
                raise unknown_version("DescribeConfigsRequest", version, 1, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeConfigsRequest)
            if version >= 4:
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
                    resource = new(DescribeConfigsResource)
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
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    if not n:
                        resource.configuration_keys = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        resource.configuration_keys, pos = read_compact_string_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if n:
                        resource.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        resource.unknown_tagged_fields = ()
                m.include_synonyms, m.include_documentation, n = _unpack_ttB(data, pos)
                pos += 3
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
                    resource = new(DescribeConfigsResource)
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
                        resource.configuration_keys = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        resource.configuration_keys, pos = read_string_array(data, pos, n)
                    resource.unknown_tagged_fields = ()
                m.include_synonyms = data[pos] != 0
                pos += 1
                if version >= 3:
                    m.include_documentation = data[pos] != 0
                    pos += 1
                else:
                    m.include_documentation = False
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeConfigsRequest", version, buf, start, cause) from cause


class DescribeConfigsSynonym(Fields):
    """All places that supply a value, the one in force first; empty unless IncludeSynonyms was set.
    """

    __slots__ = ("name", "value", "source", "unknown_tagged_fields")

    name: str
    """Key at that place; may differ, e.g. log.retention.ms behind retention.ms."""
    value: str | None
    """Value held at that place; null when sensitive."""
    source: int
    """Place as in ConfigSource: 1 topic, 2 broker, 3 cluster-wide, 4 server properties, 5 built-in
    default.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        source: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.source = source
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeConfigsResourceResult(Fields):
    """Settings found; empty on an error."""

    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
        "synonyms",
        "config_type",
        "documentation",
        "unknown_tagged_fields",
    )

    name: str
    """Key of the setting, e.g. retention.ms."""
    value: str | None
    """Effective value as text; null when sensitive or not set."""
    read_only: bool
    """True when the setting cannot be changed while the broker runs."""
    config_source: int
    """Where the value comes from: 1 topic, 2 broker, 3 cluster-wide broker default, 4 server
    properties, 5 built-in default, 6 broker logger, 7 client metrics, 8 group.
    """
    is_sensitive: bool
    """True for passwords and the like, whose Value is withheld as null."""
    synonyms: list[DescribeConfigsSynonym]
    """All places that supply a value, the one in force first; empty unless IncludeSynonyms was set.
    """
    config_type: int
    """Versions 3-4. Type of the value: 0 unknown, 1 boolean, 2 string, 3 int, 4 short, 5 long, 6
    double, 7 list, 8 class, 9 password.
    """
    documentation: str | None
    """Versions 3-4. Help text for the setting; null unless IncludeDocumentation was set."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = MADE_ANEW,
        config_type: int = 0,
        documentation: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = [] if synonyms is MADE_ANEW else synonyms
        self.config_type = config_type
        self.documentation = documentation
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeConfigsResult(Fields):
    """One result for each resource of the request."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "configs",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST (another broker's id),
    TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    resource_type: int
    """Kind of resource: 2 topic, 4 broker, 8 broker logger, 16 client metrics (KIP-714), 32 group.
    """
    resource_name: str
    """Name of the resource, repeated from the request."""
    configs: list[DescribeConfigsResourceResult]
    """Settings found; empty on an error."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is MADE_ANEW else configs
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeConfigsResponse(Fields):
    """Settings of each resource asked for, with the place every value comes from (KIP-226)."""

    NAME: ClassVar[str] = "DescribeConfigsResponse"
    API_KEY: ClassVar[int] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = ("throttle_time_ms", "results", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    results: list[DescribeConfigsResult]
    """One result for each resource of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 4:
                raise unknown_version("DescribeConfigsResponse", version, 1, 4)
            if version >= 4:
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
                    raw = result.resource_name.encode()
                    out += _pack_b(result.resource_type)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(result.configs) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for config in result.configs:
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
                        out += _pack_tbt(
                            config.read_only,
                            config.config_source,
                            config.is_sensitive,
                        )
                        n = len(config.synonyms) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for synonym in config.synonyms:
                            raw = synonym.name.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                            if synonym.value is None:
                                out.append(0)
                            else:
                                raw = synonym.value.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_string_length(out, n)
                                out += raw
                            out += _pack_b(synonym.source)
                            if synonym.unknown_tagged_fields:
                                write_tagged_fields(out, [], synonym.unknown_tagged_fields)
                            else:
                                out.append(0)
                        out += _pack_b(config.config_type)
                        if config.documentation is None:
                            out.append(0)
                        else:
                            raw = config.documentation.encode()
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
                    raw = result.resource_name.encode()
                    out += _pack_bh(result.resource_type, len(raw))
                    out += raw
                    out += _pack_i(len(result.configs))
                    for config in result.configs:
                        raw = config.name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        if config.value is None:
                            out += _pack_h(-1)
                        else:
                            raw = config.value.encode()
                            out += _pack_h(len(raw))
                            out += raw
                        out += _pack_tbti(
                            config.read_only,
                            config.config_source,
                            config.is_sensitive,
                            len(config.synonyms),
                        )
                        for synonym in config.synonyms:
                            raw = synonym.name.encode()
                            out += _pack_h(len(raw))
                            out += raw
                            if synonym.value is None:
                                out += _pack_h(-1)
                            else:
                                raw = synonym.value.encode()
                                out += _pack_h(len(raw))
                                out += raw
                            out += _pack_b(synonym.source)
                        if version >= 3:
                            out += _pack_b(config.config_type)
                            if config.documentation is None:
                                out += _pack_h(-1)
                            else:
                                raw = config.documentation.encode()
                                out += _pack_h(len(raw))
                                out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeConfigsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeConfigsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 4:
                raise unknown_version("DescribeConfigsResponse", version, 1, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeConfigsResponse)
            if version >= 4:
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
                    result = new(DescribeConfigsResult)
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
                    result.resource_type, n = _unpack_bB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    result.resource_name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    result.configs = config_list = []
                    config_left = n - 1
                    while config_left:
                        config_left -= 1
                        config = new(DescribeConfigsResourceResult)
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
                        (
                            config.read_only,
                            config.config_source,
                            config.is_sensitive,
                            n,
                        ) = _unpack_tbtB(data, pos)
                        pos += 4
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        config.synonyms = synonym_list = []
                        synonym_left = n - 1
                        while synonym_left:
                            synonym_left -= 1
                            synonym = new(DescribeConfigsSynonym)
                            synonym_list.append(synonym)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_string_length(data, pos, n)
                            end = pos + n - 1
                            synonym.name = data[pos:end].decode()
                            pos = end
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = long_nullable_string_length(data, pos, n)
                            if not n:
                                synonym.value = None
                            else:
                                end = pos + n - 1
                                synonym.value = data[pos:end].decode()
                                pos = end
                            synonym.source, n = _unpack_bB(data, pos)
                            pos += 2
                            if n:
                                synonym.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                synonym.unknown_tagged_fields = ()
                        config.config_type, n = _unpack_bB(data, pos)
                        pos += 2
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            config.documentation = None
                        else:
                            end = pos + n - 1
                            config.documentation = data[pos:end].decode()
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
                    result = new(DescribeConfigsResult)
                    result_list.append(result)
                    result.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        result.error_message = None
                    else:
                        end = pos + n
                        result.error_message = data[pos:end].decode()
                        pos = end
                    result.resource_type, n = _unpack_bh(data, pos)
                    pos += 3
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    result.resource_name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    result.configs = config_list = []
                    config_left = n
                    while config_left:
                        config_left -= 1
                        config = new(DescribeConfigsResourceResult)
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
                        (
                            config.read_only,
                            config.config_source,
                            config.is_sensitive,
                            n,
                        ) = _unpack_tbti(data, pos)
                        pos += 7
                        if n < 0:
                            raise negative_length(n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        config.synonyms = synonym_list = []
                        synonym_left = n
                        while synonym_left:
                            synonym_left -= 1
                            synonym = new(DescribeConfigsSynonym)
                            synonym_list.append(synonym)
                            n = _unpack_h(data, pos)[0]
                            pos += 2
                            if n < 0:
                                raise negative_length(n)
                            end = pos + n
                            synonym.name = data[pos:end].decode()
                            pos = end
                            n = _unpack_h(data, pos)[0]
                            pos += 2
                            if n < 0:
                                synonym.value = None
                            else:
                                end = pos + n
                                synonym.value = data[pos:end].decode()
                                pos = end
                            synonym.unknown_tagged_fields = ()
                            synonym.source = (data[pos] ^ 128) - 128
                            pos += 1
                        if version >= 3:
                            config.config_type, n = _unpack_bh(data, pos)
                            pos += 3
                            if n < 0:
                                config.documentation = None
                            else:
                                end = pos + n
                                config.documentation = data[pos:end].decode()
                                pos = end
                        else:
                            config.config_type = 0
                            config.documentation = ""
                        config.unknown_tagged_fields = ()
                    result.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeConfigsResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribeConfigsResource",
    "DescribeConfigsRequest",
    "DescribeConfigsSynonym",
    "DescribeConfigsResourceResult",
    "DescribeConfigsResult",
    "DescribeConfigsResponse",
]
