# Generated from schemas/messages/ApiVersionsRequest.json (sha256 b756789556dcb9bd)
# Generated from schemas/messages/ApiVersionsResponse.json (sha256 60cb442f58ac0169)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ApiVersions (API key 18)."""

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
    TAG_SIZE_WRONG,
    TaggedFields,
    long_length,
    long_string_length,
    negative_length,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hhB = struct.Struct(">hhB").unpack_from
_unpack_hhh = struct.Struct(">hhh").unpack_from
_unpack_hhhB = struct.Struct(">hhhB").unpack_from
_unpack_hi = struct.Struct(">hi").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_bbt = struct.Struct(">bb?").pack
_pack_bbq = struct.Struct(">bbq").pack
_pack_h = struct.Struct(">h").pack
_pack_hh = struct.Struct(">hh").pack
_pack_hhh = struct.Struct(">hhh").pack
_pack_hi = struct.Struct(">hi").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class ApiVersionsRequest(Fields):
    """First request of most clients on a new connection: which API versions does the broker speak?
    Too high a version is answered in version 0 with UNSUPPORTED_VERSION, so the client can step
    down.
    """

    NAME: ClassVar[str] = "ApiVersionsRequest"
    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = ("client_software_name", "client_software_version", "unknown_tagged_fields")

    client_software_name: str
    """Versions 3-4. Client library, e.g. apache-kafka-java: letters, digits, dot and hyphen; empty
    or malformed gives INVALID_REQUEST (KIP-511).
    """
    client_software_version: str
    """Versions 3-4. Version of that library; same characters, same INVALID_REQUEST when empty or
    malformed.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("ApiVersionsRequest", version, 0, 4)
            if version >= 3:
                raw = self.client_software_name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = self.client_software_version.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                pass
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ApiVersionsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ApiVersionsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("ApiVersionsRequest", version, 0, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(ApiVersionsRequest)
            if version >= 3:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.client_software_name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.client_software_version = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.client_software_name = ""
                m.client_software_version = ""
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ApiVersionsRequest", version, buf, start, cause) from cause


class ApiVersion(Fields):
    """Every API open to clients on this listener; with UNSUPPORTED_VERSION only ApiVersions itself.
    """

    __slots__ = ("api_key", "min_version", "max_version", "unknown_tagged_fields")

    api_key: int
    """Number of the API, such as 0 for Produce."""
    min_version: int
    """Oldest version accepted; below it the connection is closed."""
    max_version: int
    """Newest version accepted; above it the connection is closed, except for ApiVersions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tagged_fields = unknown_tagged_fields


class SupportedFeatureKey(Fields):
    """Features this broker's software could run, with level ranges (KIP-584)."""

    __slots__ = ("name", "min_version", "max_version", "unknown_tagged_fields")

    name: str
    """Versions 3-4. Feature name, such as transaction.version."""
    min_version: int
    """Versions 3-4. Lowest level supported; a minimum of 0 is listed only from version 4."""
    max_version: int
    """Versions 3-4. Highest level supported, never below MinVersion."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version
        self.unknown_tagged_fields = unknown_tagged_fields


class FinalizedFeatureKey(Fields):
    """Levels in force across the cluster (KIP-584); a feature at level 0 is absent."""

    __slots__ = ("name", "max_version_level", "min_version_level", "unknown_tagged_fields")

    name: str
    """Versions 3-4. Feature name; transaction.version 2 switches clients to the KIP-890 protocol.
    """
    max_version_level: int
    """Versions 3-4. Level that all brokers run at."""
    min_version_level: int
    """Versions 3-4. Lowest level in force; under KRaft the same as MaxVersionLevel."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level
        self.unknown_tagged_fields = unknown_tagged_fields


class ApiVersionsResponse(Fields):
    """Version ranges for every API, and the cluster's features (KIP-584). Its header never has
    tagged fields, even where the body is flexible (KIP-511).
    """

    NAME: ClassVar[str] = "ApiVersionsResponse"
    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = (
        "error_code",
        "api_keys",
        "throttle_time_ms",
        "supported_features",
        "finalized_features_epoch",
        "finalized_features",
        "zk_migration_ready",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, UNSUPPORTED_VERSION (body in version 0, retry with what ApiKeys says), or
    INVALID_REQUEST for a malformed client name.
    """
    api_keys: list[ApiVersion]
    """Every API open to clients on this listener; with UNSUPPORTED_VERSION only ApiVersions itself.
    """
    throttle_time_ms: int
    """Versions 1-4. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    supported_features: list[SupportedFeatureKey]
    """Versions 3-4. Features this broker's software could run, with level ranges (KIP-584)."""
    finalized_features_epoch: int
    """Versions 3-4. Metadata offset behind the finalized features; clients believe only a higher
    one than last seen; -1 when unknown.
    """
    finalized_features: list[FinalizedFeatureKey]
    """Versions 3-4. Levels in force across the cluster (KIP-584); a feature at level 0 is absent.
    """
    zk_migration_ready: bool
    """Versions 3-4. Relic of the move from ZooKeeper to KRaft, sent by controllers (KIP-866); false
    otherwise.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        api_keys: list[ApiVersion] = MADE_ANEW,
        throttle_time_ms: int = 0,
        supported_features: list[SupportedFeatureKey] = MADE_ANEW,
        finalized_features_epoch: int = -1,
        finalized_features: list[FinalizedFeatureKey] = MADE_ANEW,
        zk_migration_ready: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.api_keys = [] if api_keys is MADE_ANEW else api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = [] if supported_features is MADE_ANEW else supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = [] if finalized_features is MADE_ANEW else finalized_features
        self.zk_migration_ready = zk_migration_ready
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("ApiVersionsResponse", version, 0, 4)
            if version >= 3:
                out += _pack_h(self.error_code)
                n = len(self.api_keys) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for api_key in self.api_keys:
                    out += _pack_hhh(api_key.api_key, api_key.min_version, api_key.max_version)
                    if api_key.unknown_tagged_fields:
                        write_tagged_fields(out, [], api_key.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_i(self.throttle_time_ms)
                tagged_1: list[bytes] = []
                if self.supported_features:
                    content_1 = bytearray()
                    n = len(self.supported_features) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for supported_feature in self.supported_features:
                        raw = supported_feature.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        content_1 += _pack_hh(
                            supported_feature.min_version,
                            supported_feature.max_version,
                        )
                        if supported_feature.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], supported_feature.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    tagged_1.append(tagged_field(0, content_1))
                if self.finalized_features_epoch != -1:
                    tagged_1.append(_pack_bbq(1, 8, self.finalized_features_epoch))
                if self.finalized_features:
                    content_1 = bytearray()
                    n = len(self.finalized_features) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for finalized_feature in self.finalized_features:
                        raw = finalized_feature.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        content_1 += _pack_hh(
                            finalized_feature.max_version_level,
                            finalized_feature.min_version_level,
                        )
                        if finalized_feature.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], finalized_feature.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    tagged_1.append(tagged_field(2, content_1))
                if self.zk_migration_ready:
                    tagged_1.append(_pack_bbt(3, 1, self.zk_migration_ready))
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            else:
                out += _pack_hi(self.error_code, len(self.api_keys))
                for api_key in self.api_keys:
                    out += _pack_hhh(api_key.api_key, api_key.min_version, api_key.max_version)
                if version >= 1:
                    out += _pack_i(self.throttle_time_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ApiVersionsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ApiVersionsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("ApiVersionsResponse", version, 0, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(ApiVersionsResponse)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.error_code, n = _unpack_hB(data, pos)
                pos += 3
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.api_keys = api_key_list = []
                api_key_left = n - 1
                while api_key_left:
                    api_key_left -= 1
                    api_key = new(ApiVersion)
                    api_key_list.append(api_key)
                    (
                        api_key.api_key,
                        api_key.min_version,
                        api_key.max_version,
                        n,
                    ) = _unpack_hhhB(data, pos)
                    pos += 7
                    if n:
                        api_key.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        api_key.unknown_tagged_fields = ()
                m.supported_features = []
                m.finalized_features_epoch = -1
                m.finalized_features = []
                m.zk_migration_ready = False
                m.unknown_tagged_fields = ()
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.supported_features = supported_feature_list = []
                            supported_feature_left = n - 1
                            while supported_feature_left:
                                supported_feature_left -= 1
                                supported_feature = new(SupportedFeatureKey)
                                supported_feature_list.append(supported_feature)
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                supported_feature.name = data[pos:end].decode()
                                pos = end
                                (
                                    supported_feature.min_version,
                                    supported_feature.max_version,
                                    n,
                                ) = _unpack_hhB(data, pos)
                                pos += 5
                                if n:
                                    supported_feature.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    supported_feature.unknown_tagged_fields = ()
                        elif tag_1 == 1:
                            m.finalized_features_epoch = _unpack_q(data, pos)[0]
                            pos += 8
                        elif tag_1 == 2:
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.finalized_features = finalized_feature_list = []
                            finalized_feature_left = n - 1
                            while finalized_feature_left:
                                finalized_feature_left -= 1
                                finalized_feature = new(FinalizedFeatureKey)
                                finalized_feature_list.append(finalized_feature)
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                finalized_feature.name = data[pos:end].decode()
                                pos = end
                                (
                                    finalized_feature.max_version_level,
                                    finalized_feature.min_version_level,
                                    n,
                                ) = _unpack_hhB(data, pos)
                                pos += 5
                                if n:
                                    finalized_feature.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    finalized_feature.unknown_tagged_fields = ()
                        elif tag_1 == 3:
                            m.zk_migration_ready = data[pos] != 0
                            pos += 1
                        else:
                            m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.supported_features = []
                m.finalized_features_epoch = -1
                m.finalized_features = []
                m.zk_migration_ready = False
                m.error_code, n = _unpack_hi(data, pos)
                pos += 6
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.api_keys = api_key_list = []
                api_key_left = n
                while api_key_left:
                    api_key_left -= 1
                    api_key = new(ApiVersion)
                    api_key_list.append(api_key)
                    api_key.unknown_tagged_fields = ()
                    (
                        api_key.api_key,
                        api_key.min_version,
                        api_key.max_version,
                    ) = _unpack_hhh(data, pos)
                    pos += 6
                if version >= 1:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ApiVersionsResponse", version, buf, start, cause) from cause


__all__ = [
    "ApiVersionsRequest",
    "ApiVersion",
    "SupportedFeatureKey",
    "FinalizedFeatureKey",
    "ApiVersionsResponse",
]
