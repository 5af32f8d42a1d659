# Generated from schemas/records/ConsumerGroupCurrentMemberAssignmentKey.json (sha256 25f0d4d7c6c95ac1)
# Generated from schemas/records/ConsumerGroupCurrentMemberAssignmentValue.json (sha256 16dd17c6598a443a)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerGroupCurrentMemberAssignment (coordinator record 8)."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    negative_length,
    read_int32_array,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_int32_array,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_iibB = struct.Struct(">iibB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_h = struct.Struct(">h").pack
_pack_iib = struct.Struct(">iib").pack
new = object.__new__


class ConsumerGroupCurrentMemberAssignmentKey(Fields):
    """Key in __consumer_offsets of one member's current assignment under the new consumer protocol
    (KIP-848); a null value deletes it.
    """

    NAME: ClassVar[str] = "ConsumerGroupCurrentMemberAssignmentKey"
    RECORD_TYPE: ClassVar[int] = 8
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
                raise unknown_version("ConsumerGroupCurrentMemberAssignmentKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupCurrentMemberAssignmentKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupCurrentMemberAssignmentKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupCurrentMemberAssignmentKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupCurrentMemberAssignmentKey)
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
            raise decode_failure("ConsumerGroupCurrentMemberAssignmentKey", version, buf, start, cause) from cause


class TopicPartitions(Fields):
    """Part of ConsumerGroupCurrentMemberAssignmentValue."""

    __slots__ = ("topic_id", "partitions", "assignment_epochs", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[int]
    """Partition numbers within that topic."""
    assignment_epochs: list[int] | None
    """Epoch in which each entry of Partitions was assigned, in the same order (KIP-1251); null when
    not recorded.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = MADE_ANEW,
        assignment_epochs: list[int] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.assignment_epochs = [] if assignment_epochs is MADE_ANEW else assignment_epochs
        self.unknown_tagged_fields = unknown_tagged_fields


class ConsumerGroupCurrentMemberAssignmentValue(Fields):
    """Where a member of a new-protocol consumer group stands between its old assignment and its
    target (KIP-848).
    """

    NAME: ClassVar[str] = "ConsumerGroupCurrentMemberAssignmentValue"
    RECORD_TYPE: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "member_epoch",
        "previous_member_epoch",
        "state",
        "assigned_partitions",
        "partitions_pending_revocation",
        "unknown_tagged_fields",
    )

    member_epoch: int
    """Epoch the member has reached; -2 for a static member that left for a while."""
    previous_member_epoch: int
    """Epoch before that, still accepted when the last answer got lost."""
    state: int
    """0 stable, 1 has partitions to give up, 2 waits for partitions that others still hold."""
    assigned_partitions: list[TopicPartitions]
    """Partitions the member owns in this epoch."""
    partitions_pending_revocation: list[TopicPartitions]
    """Partitions it has been told to give up and has not yet confirmed."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[TopicPartitions] = MADE_ANEW,
        partitions_pending_revocation: list[TopicPartitions] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = [] if assigned_partitions is MADE_ANEW else assigned_partitions
        self.partitions_pending_revocation = [] if partitions_pending_revocation is MADE_ANEW else partitions_pending_revocation
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupCurrentMemberAssignmentValue", version, 0, 0)
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
                tagged_1: list[bytes] = []
                if assigned_partition.assignment_epochs is None or assigned_partition.assignment_epochs:
                    content_1 = bytearray()
                    if assigned_partition.assignment_epochs is None:
                        content_1.append(0)
                    else:
                        n = len(assigned_partition.assignment_epochs) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, assigned_partition.assignment_epochs)
                    tagged_1.append(tagged_field(0, content_1))
                if assigned_partition.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, assigned_partition.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            n = len(self.partitions_pending_revocation) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for assigned_partition in self.partitions_pending_revocation:
                out += _pack_U(uuid_bytes(assigned_partition.topic_id))
                n = len(assigned_partition.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, assigned_partition.partitions)
                tagged_1 = []
                if assigned_partition.assignment_epochs is None or assigned_partition.assignment_epochs:
                    content_1 = bytearray()
                    if assigned_partition.assignment_epochs is None:
                        content_1.append(0)
                    else:
                        n = len(assigned_partition.assignment_epochs) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, assigned_partition.assignment_epochs)
                    tagged_1.append(tagged_field(0, content_1))
                if assigned_partition.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, assigned_partition.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupCurrentMemberAssignmentValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ConsumerGroupCurrentMemberAssignmentValue", version, 0, 0)
            size = len(buf)
            m = new(ConsumerGroupCurrentMemberAssignmentValue)
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
                assigned_partition.assignment_epochs = []
                assigned_partition.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(buf, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(buf, pos)
                        if tag_1 == 0:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_uvarint_tail(buf, pos, n)
                            if not n:
                                assigned_partition.assignment_epochs = None
                            else:
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                assigned_partition.assignment_epochs, pos = read_int32_array(buf, pos, n - 1)
                        else:
                            assigned_partition.unknown_tagged_fields = with_unknown_tag(assigned_partition.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            n = buf[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.partitions_pending_revocation = assigned_partition_list = []
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
                assigned_partition.assignment_epochs = []
                assigned_partition.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(buf, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(buf, pos)
                        if tag_1 == 0:
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_uvarint_tail(buf, pos, n)
                            if not n:
                                assigned_partition.assignment_epochs = None
                            else:
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                assigned_partition.assignment_epochs, pos = read_int32_array(buf, pos, n - 1)
                        else:
                            assigned_partition.unknown_tagged_fields = with_unknown_tag(assigned_partition.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
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
            raise decode_failure("ConsumerGroupCurrentMemberAssignmentValue", version, buf, start, cause) from cause


__all__ = [
    "ConsumerGroupCurrentMemberAssignmentKey",
    "TopicPartitions",
    "ConsumerGroupCurrentMemberAssignmentValue",
]
