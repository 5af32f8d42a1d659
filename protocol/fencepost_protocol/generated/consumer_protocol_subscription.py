# Generated from schemas/records/ConsumerProtocolSubscription.json (sha256 c965e342a5cf4df4)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerProtocolSubscription."""

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
    read_string_array,
    too_many_elements,
    write_int32_array,
    write_string_array,
)

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class TopicPartition(Fields):
    """Partitions held while joining, for cooperative rebalancing (KIP-429)."""

    __slots__ = ("topic", "partitions", "unknown_tagged_fields")

    topic: str
    """Versions 1-3. Topic with held partitions."""
    partitions: list[int]
    """Versions 1-3. Numbers of the held partitions."""
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


class ConsumerProtocolSubscription(Fields):
    """What a classic consumer tells the assignor about itself: it travels, after an int16 version,
    as opaque bytes in JoinGroup.
    """

    NAME: ClassVar[str] = "ConsumerProtocolSubscription"
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = (
        "topics",
        "user_data",
        "owned_partitions",
        "generation_id",
        "rack_id",
        "unknown_tagged_fields",
    )

    topics: list[str]
    """Topics the member wants to read; patterns are already resolved."""
    user_data: bytes | None
    """Extra bytes from the member to the assignor, such as those of sticky assignors; null when
    none.
    """
    owned_partitions: list[TopicPartition]
    """Versions 1-3. Partitions held while joining, for cooperative rebalancing (KIP-429)."""
    generation_id: int
    """Versions 2-3. Generation in which OwnedPartitions were assigned, settles double claims
    (KIP-792); -1 when none.
    """
    rack_id: str | None
    """Versions 3. Rack of the consumer for rack-aware assignment (KIP-881); null when not set."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[str] = MADE_ANEW,
        user_data: bytes | None = None,
        owned_partitions: list[TopicPartition] = MADE_ANEW,
        generation_id: int = -1,
        rack_id: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.user_data = user_data
        self.owned_partitions = [] if owned_partitions is MADE_ANEW else owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 3:
                raise unknown_version("ConsumerProtocolSubscription", version, 0, 3)
            out += _pack_i(len(self.topics))
            write_string_array(out, self.topics)
            if self.user_data is None:
                out += _pack_i(-1)
            else:
                out += _pack_i(len(self.user_data))
                out += self.user_data
            if version >= 1:
                out += _pack_i(len(self.owned_partitions))
                for owned_partition in self.owned_partitions:
                    raw = owned_partition.topic.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(owned_partition.partitions))
                    write_int32_array(out, owned_partition.partitions)
            if version >= 2:
                out += _pack_i(self.generation_id)
            if version >= 3:
                if self.rack_id is None:
                    out += _pack_h(-1)
                else:
                    raw = self.rack_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerProtocolSubscription", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerProtocolSubscription, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 3:
                raise unknown_version("ConsumerProtocolSubscription", version, 0, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerProtocolSubscription)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = _unpack_i(data, pos)[0]
            pos += 4
            if n < 0:
                raise negative_length(n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics, pos = read_string_array(data, pos, n)
            n = _unpack_i(data, pos)[0]
            pos += 4
            if n < 0:
                m.user_data = None
            else:
                end = pos + n
                m.user_data = data[pos:end]
                pos = end
            if version >= 1:
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.owned_partitions = owned_partition_list = []
                owned_partition_left = n
                while owned_partition_left:
                    owned_partition_left -= 1
                    owned_partition = new(TopicPartition)
                    owned_partition_list.append(owned_partition)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    owned_partition.topic = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    owned_partition.partitions, pos = read_int32_array(data, pos, n)
                    owned_partition.unknown_tagged_fields = ()
            else:
                m.owned_partitions = []
            if version >= 2:
                m.generation_id = _unpack_i(data, pos)[0]
                pos += 4
            else:
                m.generation_id = -1
            if version >= 3:
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    m.rack_id = None
                else:
                    end = pos + n
                    m.rack_id = data[pos:end].decode()
                    pos = end
            else:
                m.rack_id = None
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerProtocolSubscription", version, buf, start, cause) from cause


__all__ = [
    "TopicPartition",
    "ConsumerProtocolSubscription",
]
