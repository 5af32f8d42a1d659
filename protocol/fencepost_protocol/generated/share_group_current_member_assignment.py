# Generated from schemas/records/ShareGroupCurrentMemberAssignmentKey.json (sha256 107c91aecee857b0)
# Generated from schemas/records/ShareGroupCurrentMemberAssignmentValue.json (sha256 98fa9c4290b8ab1b)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareGroupCurrentMemberAssignment (coordinator record 14)."""

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
_unpack_iibB = struct.Struct(">iibB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_h = struct.Struct(">h").pack
_pack_iib = struct.Struct(">iib").pack
new = object.__new__


class ShareGroupCurrentMemberAssignmentKey(Fields):
    """Key in __consumer_offsets of what a member of a share group has at present (KIP-932); a null
    value removes it.
    """

    NAME: ClassVar[str] = "ShareGroupCurrentMemberAssignmentKey"
    RECORD_TYPE: ClassVar[int] = 14
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
                raise unknown_version("ShareGroupCurrentMemberAssignmentKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupCurrentMemberAssignmentKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupCurrentMemberAssignmentKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupCurrentMemberAssignmentKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupCurrentMemberAssignmentKey)
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
            raise decode_failure("ShareGroupCurrentMemberAssignmentKey", version, buf, start, cause) from cause


class TopicPartitions(Fields):
    """Part of ShareGroupCurrentMemberAssignmentValue."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[int]
    """Numbers of the partitions."""
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


class ShareGroupCurrentMemberAssignmentValue(Fields):
    """Epoch and partitions that a member of a share group has at present (KIP-932)."""

    NAME: ClassVar[str] = "ShareGroupCurrentMemberAssignmentValue"
    RECORD_TYPE: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "member_epoch",
        "previous_member_epoch",
        "state",
        "assigned_partitions",
        "unknown_tagged_fields",
    )

    member_epoch: int
    """Epoch the member has reached."""
    previous_member_epoch: int
    """Epoch before that one; the member may still send it when an answer was lost."""
    state: int
    """0, stable; share groups have no other."""
    assigned_partitions: list[TopicPartitions]
    """Partitions that the member fetches from."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[TopicPartitions] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = [] if assigned_partitions is MADE_ANEW else assigned_partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupCurrentMemberAssignmentValue", version, 0, 0)
            out += _pack_iib(self.member_epoch, self.previous_member_epoch, self.state)
            n = len(self.assigned_partitions) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for assigned_partition in self.assigned_partitions:
                out += _pack_U(uuid_bytes(assigned_partition.topic_id))
                n = len(assigned_partition.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, assigned_partition.partitions)
                if assigned_partition.unknown_tagged_fields:
                    write_tagged_fields(out, [], assigned_partition.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupCurrentMemberAssignmentValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ShareGroupCurrentMemberAssignmentValue", version, 0, 0)
            size = len(buf)
            m = new(ShareGroupCurrentMemberAssignmentValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.member_epoch, m.previous_member_epoch, m.state, n = _unpack_iibB(buf, pos)
            pos += 10
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.assigned_partitions = assigned_partition_list = []
            assigned_partition_left = n - 1
            while assigned_partition_left:
                assigned_partition_left -= 1
                assigned_partition = new(TopicPartitions)
                assigned_partition_list.append(assigned_partition)
                assigned_partition.topic_id, n = _unpack_UB(buf, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                assigned_partition.partitions, pos = read_int32_array(buf, pos, n - 1)
                n = buf[pos]
                pos += 1
                if n:
                    assigned_partition.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    assigned_partition.unknown_tagged_fields = ()
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
            raise decode_failure("ShareGroupCurrentMemberAssignmentValue", version, buf, start, cause) from cause


__all__ = [
    "ShareGroupCurrentMemberAssignmentKey",
    "TopicPartitions",
    "ShareGroupCurrentMemberAssignmentValue",
]
