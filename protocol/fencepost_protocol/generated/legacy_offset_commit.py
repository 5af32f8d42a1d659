# Generated from schemas/records/LegacyOffsetCommitKey.json (sha256 8112b63dfd42b98e)
# Generated from schemas/records/LegacyOffsetCommitValue.json (sha256 ce018c29eba509c4)
# by python -m fencepost_protocol.codegen. Do not edit.
"""LegacyOffsetCommit (coordinator record 0)."""

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
from fencepost_protocol.primitives import CUT_SHORT, DECODE_ERRORS, TaggedFields, negative_length

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qh = struct.Struct(">qh").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_q = struct.Struct(">q").pack
_pack_qh = struct.Struct(">qh").pack
new = object.__new__


class LegacyOffsetCommitKey(Fields):
    """Oldest key of a committed offset in __consumer_offsets; same layout as OffsetCommitKey, and
    no longer written.
    """

    NAME: ClassVar[str] = "LegacyOffsetCommitKey"
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group", "topic", "partition", "unknown_tagged_fields")

    group: str
    """Group that committed."""
    topic: str
    """Topic the offset is for."""
    partition: int
    """Partition number within the topic, counted from 0."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group: str = "",
        topic: str = "",
        partition: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("LegacyOffsetCommitKey", version, 0, 0)
            raw = self.group.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.topic.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(self.partition)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("LegacyOffsetCommitKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[LegacyOffsetCommitKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("LegacyOffsetCommitKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(LegacyOffsetCommitKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group = data[pos:end].decode()
            pos = end
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.topic = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            m.partition = _unpack_i(data, pos)[0]
            pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("LegacyOffsetCommitKey", version, buf, start, cause) from cause


class LegacyOffsetCommitValue(Fields):
    """Oldest form of a committed offset; same layout as version 0 of OffsetCommitValue."""

    NAME: ClassVar[str] = "LegacyOffsetCommitValue"
    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("offset", "metadata", "commit_timestamp", "unknown_tagged_fields")

    offset: int
    """Next offset the group will read."""
    metadata: str
    """Free text that the client stored along with it."""
    commit_timestamp: int
    """When it was committed, in ms since 1970."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("LegacyOffsetCommitValue", version, 0, 0)
            raw = self.metadata.encode()
            out += _pack_qh(self.offset, len(raw))
            out += raw
            out += _pack_q(self.commit_timestamp)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("LegacyOffsetCommitValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[LegacyOffsetCommitValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("LegacyOffsetCommitValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(LegacyOffsetCommitValue)
            m.offset, n = _unpack_qh(data, pos)
            pos += 10
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.metadata = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            m.commit_timestamp = _unpack_q(data, pos)[0]
            pos += 8
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("LegacyOffsetCommitValue", version, buf, start, cause) from cause


__all__ = [
    "LegacyOffsetCommitKey",
    "LegacyOffsetCommitValue",
]
