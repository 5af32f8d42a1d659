# Generated from schemas/records/FeatureLevelRecord.json (sha256 46c1cd0727b492cd)
# by python -m fencepost_protocol.codegen. Do not edit.
"""FeatureLevelRecord (metadata record 12)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    unknown_version,
)
from fencepost_protocol.fields import Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    long_string_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_hB = struct.Struct(">hB").unpack_from
_pack_h = struct.Struct(">h").pack
new = object.__new__


class FeatureLevelRecord(Fields):
    """Finalises a feature at a level for the whole cluster; ApiVersions shows the result (KIP-584).
    """

    NAME: ClassVar[str] = "FeatureLevelRecord"
    RECORD_TYPE: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("name", "feature_level", "unknown_tagged_fields")

    name: str
    """Feature, such as metadata.version or transaction.version."""
    feature_level: int
    """Level in force from here on; 0 switches the feature off."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        feature_level: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.feature_level = feature_level
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("FeatureLevelRecord", version, 0, 0)
            raw = self.name.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_h(self.feature_level)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("FeatureLevelRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[FeatureLevelRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("FeatureLevelRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(FeatureLevelRecord)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.name = data[pos:end].decode()
            pos = end
            m.feature_level, n = _unpack_hB(data, pos)
            pos += 3
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("FeatureLevelRecord", version, buf, start, cause) from cause


__all__ = [
    "FeatureLevelRecord",
]
