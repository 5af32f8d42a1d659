# Generated from schemas/messages/UpdateFeaturesRequest.json (sha256 0c97865192ecc7d1)
# Generated from schemas/messages/UpdateFeaturesResponse.json (sha256 7675023392d90551)
# by python -m fencepost_protocol.codegen. Do not edit.
"""UpdateFeatures (API key 57)."""

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
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_b = struct.Struct(">b").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class FeatureUpdateKey(Fields):
    """Features to change, each of them once."""

    __slots__ = (
        "feature",
        "max_version_level",
        "allow_downgrade",
        "upgrade_type",
        "unknown_tagged_fields",
    )

    feature: str
    """Feature name, e.g. transaction.version; unknown gives INVALID_UPDATE_VERSION."""
    max_version_level: int
    """Level to finalise; 0 disables the feature, which then disappears from ApiVersions."""
    allow_downgrade: bool
    """Versions 0. True permits a lower level; from version 1 UpgradeType says so."""
    upgrade_type: int
    """Versions 1-2. 1 upgrade only (a lower level gives INVALID_UPDATE_VERSION), 2 downgrade if
    nothing is lost, 3 downgrade even with loss (KIP-778).
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type
        self.unknown_tagged_fields = unknown_tagged_fields


class UpdateFeaturesRequest(Fields):
    """An admin client raises, lowers or disables cluster-wide features such as transaction.version
    (KIP-584). Needs alter on the cluster.
    """

    NAME: ClassVar[str] = "UpdateFeaturesRequest"
    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("timeout_ms", "feature_updates", "validate_only", "unknown_tagged_fields")

    timeout_ms: int
    """Longest wait in ms for the update."""
    feature_updates: list[FeatureUpdateKey]
    """Features to change, each of them once."""
    validate_only: bool
    """Versions 1-2. True checks the updates and reports, but changes nothing."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: list[FeatureUpdateKey] = MADE_ANEW,
        validate_only: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = [] if feature_updates is MADE_ANEW else feature_updates
        self.validate_only = validate_only
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("UpdateFeaturesRequest", version, 0, 2)
            out += _pack_i(self.timeout_ms)
            n = len(self.feature_updates) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for feature_update in self.feature_updates:
                raw = feature_update.feature.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_h(feature_update.max_version_level)
                if version <= 0:
                    out += _pack_t(feature_update.allow_downgrade)
                elif feature_update.allow_downgrade:
                    raise not_in_version("feature_updates.allow_downgrade", "0")
                if version >= 1:
                    out += _pack_b(feature_update.upgrade_type)
                elif feature_update.upgrade_type != 1:
                    raise not_in_version("feature_updates.upgrade_type", "1-2")
                if feature_update.unknown_tagged_fields:
                    write_tagged_fields(out, [], feature_update.unknown_tagged_fields)
                else:
                    out.append(0)
            if version >= 1:
                out += _pack_t(self.validate_only)
            elif self.validate_only:
                raise not_in_version("validate_only", "1-2")
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("UpdateFeaturesRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[UpdateFeaturesRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("UpdateFeaturesRequest", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(UpdateFeaturesRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.timeout_ms, n = _unpack_iB(data, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.feature_updates = feature_update_list = []
            feature_update_left = n - 1
            while feature_update_left:
                feature_update_left -= 1
                feature_update = new(FeatureUpdateKey)
                feature_update_list.append(feature_update)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                feature_update.feature = data[pos:end].decode()
                pos = end
                feature_update.max_version_level = _unpack_h(data, pos)[0]
                pos += 2
                if version <= 0:
                    feature_update.allow_downgrade = data[pos] != 0
                    pos += 1
                else:
                    feature_update.allow_downgrade = False
                if version >= 1:
                    feature_update.upgrade_type = (data[pos] ^ 128) - 128
                    pos += 1
                else:
                    feature_update.upgrade_type = 1
                n = data[pos]
                pos += 1
                if n:
                    feature_update.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    feature_update.unknown_tagged_fields = ()
            if version >= 1:
                m.validate_only = data[pos] != 0
                pos += 1
            else:
                m.validate_only = False
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
            raise decode_failure("UpdateFeaturesRequest", version, buf, start, cause) from cause


class UpdatableFeatureResult(Fields):
    """One verdict for each feature, up to version 1."""

    __slots__ = ("feature", "error_code", "error_message", "unknown_tagged_fields")

    feature: str
    """Feature the verdict is for."""
    error_code: int
    """NONE, or INVALID_UPDATE_VERSION, FEATURE_UPDATE_FAILED."""
    error_message: str | None
    """Readable detail for the error; may be null."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class UpdateFeaturesResponse(Fields):
    """Outcome of an UpdateFeatures request. Clients notice the new levels through FinalizedFeatures
    in ApiVersions (KIP-584).
    """

    NAME: ClassVar[str] = "UpdateFeaturesResponse"
    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "results",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. CLUSTER_AUTHORIZATION_FAILED, NOT_CONTROLLER, INVALID_REQUEST; from version 2
    also a failed update such as INVALID_UPDATE_VERSION.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    results: list[UpdatableFeatureResult]
    """Versions 0-1. One verdict for each feature, up to version 1."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: list[UpdatableFeatureResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("UpdateFeaturesResponse", version, 0, 2)
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
            if version <= 1:
                n = len(self.results) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for result in self.results:
                    raw = result.feature.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
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
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("UpdateFeaturesResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[UpdateFeaturesResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("UpdateFeaturesResponse", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(UpdateFeaturesResponse)
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
            if version <= 1:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.results = result_list = []
                result_left = n - 1
                while result_left:
                    result_left -= 1
                    result = new(UpdatableFeatureResult)
                    result_list.append(result)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    result.feature = data[pos:end].decode()
                    pos = end
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
            else:
                m.results = []
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
            raise decode_failure("UpdateFeaturesResponse", version, buf, start, cause) from cause


__all__ = [
    "FeatureUpdateKey",
    "UpdateFeaturesRequest",
    "UpdatableFeatureResult",
    "UpdateFeaturesResponse",
]
