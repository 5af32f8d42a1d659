# Generated from schemas/records/ConsumerProtocolAssignment.json (sha256 b53d60fbadc621bb)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerProtocolAssignment."""

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
    TaggedFields,
    negative_length,
    read_int32_array,
    too_many_elements,
    write_int32_array,
)

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class TopicPartition(Fields):
    """Partitions the member has to read, by topic; empty when there is nothing for it."""

    __slots__ = ("topic", "partitions", "unknown_tagged_fields")

    topic: str
    """Topic with assigned partitions."""
    partitions: list[int]
    """Numbers of the assigned partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ConsumerProtocolAssignment(Fields):
    """What the classic consumer group's leader gives each member: it travels, after an int16
    version, as opaque bytes in SyncGroup.
    """

    NAME: ClassVar[str] = "ConsumerProtocolAssignment"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("assigned_partitions", "user_data", "unknown_tagged_fields")

    assigned_partitions: list[TopicPartition]
    """Partitions the member has to read, by topic; empty when there is nothing for it."""
    user_data: bytes | None
    """Extra bytes from the assignor to the member, such as those of Kafka Streams; null when none.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        assigned_partitions: list[TopicPartition] = MADE_ANEW,
        user_data: bytes | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.assigned_partitions = [] if assigned_partitions is MADE_ANEW else assigned_partitions
        self.user_data = user_data
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 3:
                raise unknown_version("ConsumerProtocolAssignment", version, 0, 3)
            out += _pack_i(len(self.assigned_partitions))
            for assigned_partition in self.assigned_partitions:
                raw = assigned_partition.topic.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_i(len(assigned_partition.partitions))
                write_int32_array(out, assigned_partition.partitions)
            if self.user_data is None:
                out += _pack_i(-1)
            else:
                out += _pack_i(len(self.user_data))
                out += self.user_data
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerProtocolAssignment", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerProtocolAssignment, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 3:
                raise unknown_version("ConsumerProtocolAssignment", version, 0, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerProtocolAssignment)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = _unpack_i(data, pos)[0]
            pos += 4
            if n < 0:
                raise negative_length(n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.assigned_partitions = assigned_partition_list = []
            assigned_partition_left = n
            while assigned_partition_left:
                assigned_partition_left -= 1
                assigned_partition = new(TopicPartition)
                assigned_partition_list.append(assigned_partition)
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                assigned_partition.topic = data[pos:end].decode()
                pos = end
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                assigned_partition.partitions, pos = read_int32_array(data, pos, n)
                assigned_partition.unknown_tagged_fields = ()
            n = _unpack_i(data, pos)[0]
            pos += 4
            if n < 0:
                m.user_data = None
            else:
                end = pos + n
                m.user_data = data[pos:end]
                pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerProtocolAssignment", version, buf, start, cause) from cause


__all__ = [
    "TopicPartition",
    "ConsumerProtocolAssignment",
]
