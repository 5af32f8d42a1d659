# Generated from schemas/records/ShareGroupStatePartitionMetadataKey.json (sha256 f5ac61abf6ad977f)
# Generated from schemas/records/ShareGroupStatePartitionMetadataValue.json (sha256 8d23dcd2a2aa877c)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareGroupStatePartitionMetadata (coordinator record 15)."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_h = struct.Struct(">h").pack
new = object.__new__


class ShareGroupStatePartitionMetadataKey(Fields):
    """Key in __consumer_offsets of a share group's partitions that share coordinators keep state of
    (KIP-932).
    """

    NAME: ClassVar[str] = "ShareGroupStatePartitionMetadataKey"
    RECORD_TYPE: ClassVar[int] = 15
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
                raise unknown_version("ShareGroupStatePartitionMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupStatePartitionMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupStatePartitionMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupStatePartitionMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupStatePartitionMetadataKey)
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
            raise decode_failure("ShareGroupStatePartitionMetadataKey", version, buf, start, cause) from cause


class TopicPartitionsInfo(Fields):
    """Part of ShareGroupStatePartitionMetadataValue."""

    __slots__ = ("topic_id", "topic_name", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    topic_name: str
    """Name of the topic."""
    partitions: list[int]
    """Numbers of the partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class TopicInfo(Fields):
    """Part of ShareGroupStatePartitionMetadataValue."""

    __slots__ = ("topic_id", "topic_name", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    topic_name: str
    """Name of the topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.unknown_tagged_fields = unknown_tagged_fields


class ShareGroupStatePartitionMetadataValue(Fields):
    """How far the state of a share group's partitions has got with the share coordinators
    (KIP-932).
    """

    NAME: ClassVar[str] = "ShareGroupStatePartitionMetadataValue"
    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "initializing_topics",
        "initialized_topics",
        "deleting_topics",
        "unknown_tagged_fields",
    )

    initializing_topics: list[TopicPartitionsInfo]
    """Partitions whose state is being begun."""
    initialized_topics: list[TopicPartitionsInfo]
    """Partitions whose state is there."""
    deleting_topics: list[TopicInfo]
    """Topics whose state is being removed."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        initializing_topics: list[TopicPartitionsInfo] = MADE_ANEW,
        initialized_topics: list[TopicPartitionsInfo] = MADE_ANEW,
        deleting_topics: list[TopicInfo] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.initializing_topics = [] if initializing_topics is MADE_ANEW else initializing_topics
        self.initialized_topics = [] if initialized_topics is MADE_ANEW else initialized_topics
        self.deleting_topics = [] if deleting_topics is MADE_ANEW else deleting_topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupStatePartitionMetadataValue", version, 0, 0)
            n = len(self.initializing_topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for initializing_topic in self.initializing_topics:
                raw = initializing_topic.topic_name.encode()
                out += _pack_U(uuid_bytes(initializing_topic.topic_id))
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(initializing_topic.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, initializing_topic.partitions)
                if initializing_topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], initializing_topic.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.initialized_topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for initializing_topic in self.initialized_topics:
                raw = initializing_topic.topic_name.encode()
                out += _pack_U(uuid_bytes(initializing_topic.topic_id))
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(initializing_topic.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, initializing_topic.partitions)
                if initializing_topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], initializing_topic.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.deleting_topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for deleting_topic in self.deleting_topics:
                raw = deleting_topic.topic_name.encode()
                out += _pack_U(uuid_bytes(deleting_topic.topic_id))
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if deleting_topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], deleting_topic.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupStatePartitionMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupStatePartitionMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupStatePartitionMetadataValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupStatePartitionMetadataValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.initializing_topics = initializing_topic_list = []
            initializing_topic_left = n - 1
            while initializing_topic_left:
                initializing_topic_left -= 1
                initializing_topic = new(TopicPartitionsInfo)
                initializing_topic_list.append(initializing_topic)
                initializing_topic.topic_id, n = _unpack_UB(data, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                initializing_topic.topic_name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                initializing_topic.partitions, pos = read_int32_array(data, pos, n - 1)
                n = data[pos]
                pos += 1
                if n:
                    initializing_topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    initializing_topic.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.initialized_topics = initializing_topic_list = []
            initializing_topic_left = n - 1
            while initializing_topic_left:
                initializing_topic_left -= 1
                initializing_topic = new(TopicPartitionsInfo)
                initializing_topic_list.append(initializing_topic)
                initializing_topic.topic_id, n = _unpack_UB(data, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                initializing_topic.topic_name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                initializing_topic.partitions, pos = read_int32_array(data, pos, n - 1)
                n = data[pos]
                pos += 1
                if n:
                    initializing_topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    initializing_topic.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.deleting_topics = deleting_topic_list = []
            deleting_topic_left = n - 1
            while deleting_topic_left:
                deleting_topic_left -= 1
                deleting_topic = new(TopicInfo)
                deleting_topic_list.append(deleting_topic)
                deleting_topic.topic_id, n = _unpack_UB(data, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                deleting_topic.topic_name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n:
                    deleting_topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    deleting_topic.unknown_tagged_fields = ()
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
            raise decode_failure("ShareGroupStatePartitionMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "ShareGroupStatePartitionMetadataKey",
    "TopicPartitionsInfo",
    "TopicInfo",
    "ShareGroupStatePartitionMetadataValue",
]
