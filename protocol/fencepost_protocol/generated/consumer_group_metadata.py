# Generated from schemas/records/ConsumerGroupMetadataKey.json (sha256 6685723444745229)
# Generated from schemas/records/ConsumerGroupMetadataValue.json (sha256 eb4e41b64b0c99f0)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerGroupMetadata (coordinator record 3)."""

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
    TAG_SIZE_WRONG,
    TaggedFields,
    negative_length,
    read_tag,
    with_unknown_tag,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail

_unpack_h = struct.Struct(">h").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_bbq = struct.Struct(">bbq").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class ConsumerGroupMetadataKey(Fields):
    """Key in __consumer_offsets of a new-protocol consumer group's epoch (KIP-848); a null value
    deletes the group.
    """

    NAME: ClassVar[str] = "ConsumerGroupMetadataKey"
    RECORD_TYPE: ClassVar[int] = 3
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
                raise unknown_version("ConsumerGroupMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupMetadataKey)
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
            raise decode_failure("ConsumerGroupMetadataKey", version, buf, start, cause) from cause


class ConsumerGroupMetadataValue(Fields):
    """The epoch of a new-protocol consumer group, written anew whenever it is bumped (KIP-848)."""

    NAME: ClassVar[str] = "ConsumerGroupMetadataValue"
    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("epoch", "metadata_hash", "unknown_tagged_fields")

    epoch: int
    """Group epoch; grows with every change of members, subscriptions or subscribed topics."""
    metadata_hash: int
    """Hash over the subscribed topics, their partitions and racks; a different one bumps the epoch
    (KIP-1101). 0 when not computed.
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
                raise unknown_version("ConsumerGroupMetadataValue", version, 0, 0)
            out += _pack_i(self.epoch)
            tagged_1: list[bytes] = []
            if self.metadata_hash != 0:
                tagged_1.append(_pack_bbq(0, 8, self.metadata_hash))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupMetadataValue", version, 0, 0)
            size = len(buf)
            m = new(ConsumerGroupMetadataValue)
            m.metadata_hash = 0
            m.unknown_tagged_fields = ()
            m.epoch, n = _unpack_iB(buf, pos)
            pos += 5
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(buf, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(buf, pos)
                    if tag_1 == 0:
                        m.metadata_hash = _unpack_q(buf, pos)[0]
                        pos += 8
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerGroupMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "ConsumerGroupMetadataKey",
    "ConsumerGroupMetadataValue",
]
