# Generated from schemas/records/ConfigRecord.json (sha256 59a7f5b0831f6c73)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConfigRecord (metadata record 4)."""

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
    long_nullable_string_length,
    long_string_length,
    read_unknown_tags,
    write_string_length,
    write_tagged_fields,
)

_unpack_bB = struct.Struct(">bB").unpack_from
_pack_b = struct.Struct(">b").pack
new = object.__new__


class ConfigRecord(Fields):
    """Sets or removes one dynamic configuration value."""

    NAME: ClassVar[str] = "ConfigRecord"
    RECORD_TYPE: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("resource_type", "resource_name", "name", "value", "unknown_tagged_fields")

    resource_type: int
    """2 topic, 4 broker, 16 client metrics, 32 group."""
    resource_name: str
    """Name of the topic, group or subscription, or the node id; empty for the default of all
    brokers.
    """
    name: str
    """Configuration key, such as retention.ms."""
    value: str | None
    """New value as text; null removes the key and the default applies again."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        name: str = "",
        value: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.name = name
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConfigRecord", version, 0, 0)
            raw = self.resource_name.encode()
            out += _pack_b(self.resource_type)
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            raw = self.name.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            if self.value is None:
                out.append(0)
            else:
                raw = self.value.encode()
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
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConfigRecord", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConfigRecord, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConfigRecord", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConfigRecord)
            m.resource_type, n = _unpack_bB(data, pos)
            pos += 2
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.resource_name = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.name = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.value = None
            else:
                end = pos + n - 1
                m.value = data[pos:end].decode()
                pos = end
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
            raise decode_failure("ConfigRecord", version, buf, start, cause) from cause


__all__ = [
    "ConfigRecord",
]
