# Generated from schemas/records/ConsumerGroupTargetAssignmentMemberKey.json (sha256 cc9923032a26d10e)
# Generated from schemas/records/ConsumerGroupTargetAssignmentMemberValue.json (sha256 eaced828d2db9371)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerGroupTargetAssignmentMember (coordinator record 7)."""

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
    negative_length,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_int32_array,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_h = struct.Struct(">h").pack
new = object.__new__


class ConsumerGroupTargetAssignmentMemberKey(Fields):
    """Key in __consumer_offsets of one member's target assignment under the new consumer protocol
    (KIP-848); a null value deletes it.
    """

    NAME: ClassVar[str] = "ConsumerGroupTargetAssignmentMemberKey"
    RECORD_TYPE: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "member_id", "unknown_tagged_fields")

    group_id: str
    """Group that the record belongs to."""
    member_id: str
    """Member of the group that the record is about."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupTargetAssignmentMemberKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupTargetAssignmentMemberKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupTargetAssignmentMemberKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupTargetAssignmentMemberKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupTargetAssignmentMemberKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group_id = data[pos:end].decode()
            pos = end
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.member_id = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerGroupTargetAssignmentMemberKey", version, buf, start, cause) from cause


class TopicPartition(Fields):
    """Partitions meant for the member, by topic; empty for none."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[int]
    """Partition numbers within that topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ConsumerGroupTargetAssignmentMemberValue(Fields):
    """What the assignor wants a member to own in the end; the member gets there through
    reconciliation (KIP-848).
    """

    NAME: ClassVar[str] = "ConsumerGroupTargetAssignmentMemberValue"
    RECORD_TYPE: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("topic_partitions", "unknown_tagged_fields")

    topic_partitions: list[TopicPartition]
    """Partitions meant for the member, by topic; empty for none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_partitions: list[TopicPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_partitions = [] if topic_partitions is MADE_ANEW else topic_partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupTargetAssignmentMemberValue", version, 0, 0)
            n = len(self.topic_partitions) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic_partition in self.topic_partitions:
                out += _pack_U(uuid_bytes(topic_partition.topic_id))
                n = len(topic_partition.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, topic_partition.partitions)
                if topic_partition.unknown_tagged_fields:
                    write_tagged_fields(out, [], topic_partition.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupTargetAssignmentMemberValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupTargetAssignmentMemberValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupTargetAssignmentMemberValue", version, 0, 0)
            size = len(buf)
            m = new(ConsumerGroupTargetAssignmentMemberValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = buf[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topic_partitions = topic_partition_list = []
            topic_partition_left = n - 1
            while topic_partition_left:
                topic_partition_left -= 1
                topic_partition = new(TopicPartition)
                topic_partition_list.append(topic_partition)
                topic_partition.topic_id, n = _unpack_UB(buf, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic_partition.partitions, pos = read_int32_array(buf, pos, n - 1)
                n = buf[pos]
                pos += 1
                if n:
                    topic_partition.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    topic_partition.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerGroupTargetAssignmentMemberValue", version, buf, start, cause) from cause


__all__ = [
    "ConsumerGroupTargetAssignmentMemberKey",
    "TopicPartition",
    "ConsumerGroupTargetAssignmentMemberValue",
]
