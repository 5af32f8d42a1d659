# Generated from schemas/records/StreamsGroupTargetAssignmentMemberKey.json (sha256 8d6e5ab46835918a)
# Generated from schemas/records/StreamsGroupTargetAssignmentMemberValue.json (sha256 0338a70e8a92bfd3)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupTargetAssignmentMember (coordinator record 21)."""

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
    long_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_pack_h = struct.Struct(">h").pack
new = object.__new__


class StreamsGroupTargetAssignmentMemberKey(Fields):
    """Key in __consumer_offsets of one member's target assignment in a streams group (KIP-1071); a
    null value removes it.
    """

    NAME: ClassVar[str] = "StreamsGroupTargetAssignmentMemberKey"
    RECORD_TYPE: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "member_id", "unknown_tagged_fields")

    group_id: str
    """Streams group."""
    member_id: str
    """Id that the member makes once and keeps while it lives."""
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
                raise unknown_version("StreamsGroupTargetAssignmentMemberKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupTargetAssignmentMemberKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupTargetAssignmentMemberKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTargetAssignmentMemberKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupTargetAssignmentMemberKey)
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
            raise decode_failure("StreamsGroupTargetAssignmentMemberKey", version, buf, start, cause) from cause


class TaskIds(Fields):
    """Part of StreamsGroupTargetAssignmentMemberValue."""

    __slots__ = ("subtopology_id", "partitions", "unknown_tagged_fields")

    subtopology_id: str
    """Id of the subtopology, a number as text."""
    partitions: list[int]
    """Numbers of partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class StreamsGroupTargetAssignmentMemberValue(Fields):
    """Tasks that a member of a streams group is to have (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupTargetAssignmentMemberValue"
    RECORD_TYPE: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks", "unknown_tagged_fields")

    active_tasks: list[TaskIds]
    """Tasks that process records."""
    standby_tasks: list[TaskIds]
    """Tasks that keep copies of state."""
    warmup_tasks: list[TaskIds]
    """Tasks that build up state before they become active elsewhere."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        active_tasks: list[TaskIds] = MADE_ANEW,
        standby_tasks: list[TaskIds] = MADE_ANEW,
        warmup_tasks: list[TaskIds] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.active_tasks = [] if active_tasks is MADE_ANEW else active_tasks
        self.standby_tasks = [] if standby_tasks is MADE_ANEW else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is MADE_ANEW else warmup_tasks
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTargetAssignmentMemberValue", version, 0, 0)
            n = len(self.active_tasks) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for active_task in self.active_tasks:
                raw = active_task.subtopology_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(active_task.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, active_task.partitions)
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, [], active_task.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.standby_tasks) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for active_task in self.standby_tasks:
                raw = active_task.subtopology_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(active_task.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, active_task.partitions)
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, [], active_task.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.warmup_tasks) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for active_task in self.warmup_tasks:
                raw = active_task.subtopology_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(active_task.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, active_task.partitions)
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, [], active_task.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupTargetAssignmentMemberValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupTargetAssignmentMemberValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTargetAssignmentMemberValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupTargetAssignmentMemberValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.active_tasks = active_task_list = []
            active_task_left = n - 1
            while active_task_left:
                active_task_left -= 1
                active_task = new(TaskIds)
                active_task_list.append(active_task)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                active_task.subtopology_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                active_task.partitions, pos = read_int32_array(data, pos, n - 1)
                n = data[pos]
                pos += 1
                if n:
                    active_task.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    active_task.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.standby_tasks = active_task_list = []
            active_task_left = n - 1
            while active_task_left:
                active_task_left -= 1
                active_task = new(TaskIds)
                active_task_list.append(active_task)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                active_task.subtopology_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                active_task.partitions, pos = read_int32_array(data, pos, n - 1)
                n = data[pos]
                pos += 1
                if n:
                    active_task.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    active_task.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.warmup_tasks = active_task_list = []
            active_task_left = n - 1
            while active_task_left:
                active_task_left -= 1
                active_task = new(TaskIds)
                active_task_list.append(active_task)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                active_task.subtopology_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                active_task.partitions, pos = read_int32_array(data, pos, n - 1)
                n = data[pos]
                pos += 1
                if n:
                    active_task.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    active_task.unknown_tagged_fields = ()
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
            raise decode_failure("StreamsGroupTargetAssignmentMemberValue", version, buf, start, cause) from cause


__all__ = [
    "StreamsGroupTargetAssignmentMemberKey",
    "TaskIds",
    "StreamsGroupTargetAssignmentMemberValue",
]
