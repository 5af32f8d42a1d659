# Generated from schemas/records/ShareGroupMetadataKey.json (sha256 825a623f937d6c9f)
# Generated from schemas/records/ShareGroupMetadataValue.json (sha256 71b7e759b4aad873)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareGroupMetadata (coordinator record 11)."""

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
    negative_length,
    read_unknown_tags,
    write_tagged_fields,
)

_unpack_h = struct.Struct(">h").unpack_from
_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


class ShareGroupMetadataKey(Fields):
    """Key in __consumer_offsets of a share group's epoch (KIP-932); a null value removes the group.
    """

    NAME: ClassVar[str] = "ShareGroupMetadataKey"
    RECORD_TYPE: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "unknown_tagged_fields")

    group_id: str
    """Group that the record belongs to."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupMetadataKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group_id = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareGroupMetadataKey", version, buf, start, cause) from cause


class ShareGroupMetadataValue(Fields):
    """A share group's epoch (KIP-932)."""

    NAME: ClassVar[str] = "ShareGroupMetadataValue"
    RECORD_TYPE: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("epoch", "metadata_hash", "unknown_tagged_fields")

    epoch: int
    """Epoch, one more with each change of members, subscriptions or topics."""
    metadata_hash: int
    """Hash of the subscribed topics' metadata, by which changes of partitions and racks are
    noticed.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupMetadataValue", version, 0, 0)
            out += _pack_iq(self.epoch, self.metadata_hash)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupMetadataValue", version, 0, 0)
            size = len(buf)
            m = new(ShareGroupMetadataValue)
            m.epoch, m.metadata_hash, n = _unpack_iqB(buf, pos)
            pos += 13
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareGroupMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "ShareGroupMetadataKey",
    "ShareGroupMetadataValue",
]
