# Generated from schemas/records/StreamsGroupMetadataKey.json (sha256 67720f315dc7e962)
# Generated from schemas/records/StreamsGroupMetadataValue.json (sha256 5154c4c339ae097b)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupMetadata (coordinator record 17)."""

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

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_bbi = struct.Struct(">bbi").pack
_pack_h = struct.Struct(">h").pack
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


class StreamsGroupMetadataKey(Fields):
    """Key in __consumer_offsets of a streams group's epoch (KIP-1071); a null value removes the
    group.
    """

    NAME: ClassVar[str] = "StreamsGroupMetadataKey"
    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "unknown_tagged_fields")

    group_id: str
    """Streams group."""
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
                raise unknown_version("StreamsGroupMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupMetadataKey)
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
            raise decode_failure("StreamsGroupMetadataKey", version, buf, start, cause) from cause


class LastAssignmentConfig(Fields):
    """Part of StreamsGroupMetadataValue."""

    __slots__ = ("key", "value", "unknown_tagged_fields")

    key: str
    """Name."""
    value: str
    """Value."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        key: str = "",
        value: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields


class StreamsGroupMetadataValue(Fields):
    """A streams group's epoch, and what its last assignment was made of (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupMetadataValue"
    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "epoch",
        "metadata_hash",
        "validated_topology_epoch",
        "last_assignment_configs",
        "unknown_tagged_fields",
    )

    epoch: int
    """Epoch of the group, which grows with members, topology and topics."""
    metadata_hash: int
    """Hash of the topics' metadata."""
    validated_topology_epoch: int
    """Epoch of the topology that the topics were last checked for."""
    last_assignment_configs: list[LastAssignmentConfig] | None
    """Settings that the last assignment was made with."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: list[LastAssignmentConfig] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        self.validated_topology_epoch = validated_topology_epoch
        self.last_assignment_configs = [] if last_assignment_configs is MADE_ANEW else last_assignment_configs
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupMetadataValue", version, 0, 0)
            out += _pack_iq(self.epoch, self.metadata_hash)
            tagged_1: list[bytes] = []
            if self.validated_topology_epoch != -1:
                tagged_1.append(_pack_bbi(0, 4, self.validated_topology_epoch))
            if self.last_assignment_configs is None or self.last_assignment_configs:
                content_1 = bytearray()
                if self.last_assignment_configs is None:
                    content_1.append(0)
                else:
                    n = len(self.last_assignment_configs) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for last_assignment_config in self.last_assignment_configs:
                        raw = last_assignment_config.key.encode()
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        raw = last_assignment_config.value.encode()
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        if last_assignment_config.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], last_assignment_config.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                tagged_1.append(tagged_field(1, content_1))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupMetadataValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupMetadataValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.validated_topology_epoch = -1
            m.last_assignment_configs = []
            m.unknown_tagged_fields = ()
            m.epoch, m.metadata_hash, n = _unpack_iqB(data, pos)
            pos += 13
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(data, pos)
                    if tag_1 == 0:
                        m.validated_topology_epoch = _unpack_i(data, pos)[0]
                        pos += 4
                    elif tag_1 == 1:
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(data, pos, n)
                        if not n:
                            m.last_assignment_configs = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.last_assignment_configs = last_assignment_config_list = []
                            last_assignment_config_left = n - 1
                            while last_assignment_config_left:
                                last_assignment_config_left -= 1
                                last_assignment_config = new(LastAssignmentConfig)
                                last_assignment_config_list.append(last_assignment_config)
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                last_assignment_config.key = data[pos:end].decode()
                                pos = end
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                last_assignment_config.value = data[pos:end].decode()
                                pos = end
                                n = data[pos]
                                pos += 1
                                if n:
                                    last_assignment_config.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    last_assignment_config.unknown_tagged_fields = ()
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("StreamsGroupMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "StreamsGroupMetadataKey",
    "LastAssignmentConfig",
    "StreamsGroupMetadataValue",
]
