# Generated from schemas/records/ConsumerGroupPartitionMetadataKey.json (sha256 ed59153363eff4ee)
# Generated from schemas/records/ConsumerGroupPartitionMetadataValue.json (sha256 e14c41cd5330a34d)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerGroupPartitionMetadata (coordinator record 4)."""

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
    read_compact_string_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_compact_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class ConsumerGroupPartitionMetadataKey(Fields):
    """Key in __consumer_offsets of the topic details that a new-protocol group last saw; superseded
    by MetadataHash in ConsumerGroupMetadataValue (KIP-1101).
    """

    NAME: ClassVar[str] = "ConsumerGroupPartitionMetadataKey"
    RECORD_TYPE: ClassVar[int] = 4
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
                raise unknown_version("ConsumerGroupPartitionMetadataKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupPartitionMetadataKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupPartitionMetadataKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupPartitionMetadataKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupPartitionMetadataKey)
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
            raise decode_failure("ConsumerGroupPartitionMetadataKey", version, buf, start, cause) from cause


class PartitionMetadata(Fields):
    """Racks for each partition; may be empty."""

    __slots__ = ("partition", "racks", "unknown_tagged_fields")

    partition: int
    """Partition number within the topic, counted from 0."""
    racks: list[str]
    """Racks of the brokers that hold a replica."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        racks: list[str] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.racks = [] if racks is MADE_ANEW else racks
        self.unknown_tagged_fields = unknown_tagged_fields


class TopicMetadata(Fields):
    """Subscribed topics that exist."""

    __slots__ = (
        "topic_id",
        "topic_name",
        "num_partitions",
        "partition_metadata",
        "unknown_tagged_fields",
    )

    topic_id: bytes
    """UUID of the topic."""
    topic_name: str
    """Name of the topic."""
    num_partitions: int
    """How many partitions it had."""
    partition_metadata: list[PartitionMetadata]
    """Racks for each partition; may be empty."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: list[PartitionMetadata] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata = [] if partition_metadata is MADE_ANEW else partition_metadata
        self.unknown_tagged_fields = unknown_tagged_fields


class ConsumerGroupPartitionMetadataValue(Fields):
    """Partition counts and racks of a group's subscribed topics, kept to notice changes; superseded
    by MetadataHash (KIP-1101).
    """

    NAME: ClassVar[str] = "ConsumerGroupPartitionMetadataValue"
    RECORD_TYPE: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("topics", "unknown_tagged_fields")

    topics: list[TopicMetadata]
    """Subscribed topics that exist."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[TopicMetadata] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupPartitionMetadataValue", version, 0, 0)
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic in self.topics:
                raw = topic.topic_name.encode()
                out += _pack_U(uuid_bytes(topic.topic_id))
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_i(topic.num_partitions)
                n = len(topic.partition_metadata) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition_metadata in topic.partition_metadata:
                    out += _pack_i(partition_metadata.partition)
                    n = len(partition_metadata.racks) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_compact_string_array(out, partition_metadata.racks)
                    if partition_metadata.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition_metadata.unknown_tagged_fields)
                    else:
                        out.append(0)
                if topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], topic.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupPartitionMetadataValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupPartitionMetadataValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupPartitionMetadataValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(TopicMetadata)
                topic_list.append(topic)
                topic.topic_id, n = _unpack_UB(data, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                topic.topic_name = data[pos:end].decode()
                pos = end
                topic.num_partitions, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partition_metadata = partition_metadata_list = []
                partition_metadata_left = n - 1
                while partition_metadata_left:
                    partition_metadata_left -= 1
                    partition_metadata = new(PartitionMetadata)
                    partition_metadata_list.append(partition_metadata)
                    partition_metadata.partition, n = _unpack_iB(data, pos)
                    pos += 5
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition_metadata.racks, pos = read_compact_string_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if n:
                        partition_metadata.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        partition_metadata.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
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
            raise decode_failure("ConsumerGroupPartitionMetadataValue", version, buf, start, cause) from cause


__all__ = [
    "ConsumerGroupPartitionMetadataKey",
    "PartitionMetadata",
    "TopicMetadata",
    "ConsumerGroupPartitionMetadataValue",
]
