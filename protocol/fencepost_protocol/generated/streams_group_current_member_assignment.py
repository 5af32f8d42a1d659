# Generated from schemas/records/StreamsGroupCurrentMemberAssignmentKey.json (sha256 d7525023c2c3db27)
# Generated from schemas/records/StreamsGroupCurrentMemberAssignmentValue.json (sha256 08935ad22bdc2ec8)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupCurrentMemberAssignment (coordinator record 22)."""

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
    long_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_iibB = struct.Struct(">iibB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_iib = struct.Struct(">iib").pack
new = object.__new__


class StreamsGroupCurrentMemberAssignmentKey(Fields):
    """Key in __consumer_offsets of what a member of a streams group has at present (KIP-1071); a
    null value removes it.
    """

    NAME: ClassVar[str] = "StreamsGroupCurrentMemberAssignmentKey"
    RECORD_TYPE: ClassVar[int] = 22
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
                raise unknown_version("StreamsGroupCurrentMemberAssignmentKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.member_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupCurrentMemberAssignmentKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupCurrentMemberAssignmentKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupCurrentMemberAssignmentKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupCurrentMemberAssignmentKey)
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
            raise decode_failure("StreamsGroupCurrentMemberAssignmentKey", version, buf, start, cause) from cause


class TaskIds(Fields):
    """Part of StreamsGroupCurrentMemberAssignmentValue."""

    __slots__ = ("subtopology_id", "partitions", "assignment_epochs", "unknown_tagged_fields")

    subtopology_id: str
    """Id of the subtopology, a number as text."""
    partitions: list[int]
    """Numbers of partitions."""
    assignment_epochs: list[int] | None
    """For each partition the epoch in which the member got it."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        subtopology_id: str = "",
        partitions: list[int] = MADE_ANEW,
        assignment_epochs: list[int] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.assignment_epochs = [] if assignment_epochs is MADE_ANEW else assignment_epochs
        self.unknown_tagged_fields = unknown_tagged_fields


class StreamsGroupCurrentMemberAssignmentValue(Fields):
    """Epoch and tasks of a member of a streams group, and the tasks that it has to give up
    (KIP-1071).
    """

    NAME: ClassVar[str] = "StreamsGroupCurrentMemberAssignmentValue"
    RECORD_TYPE: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "member_epoch",
        "previous_member_epoch",
        "state",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "active_tasks_pending_revocation",
        "standby_tasks_pending_revocation",
        "warmup_tasks_pending_revocation",
        "unknown_tagged_fields",
    )

    member_epoch: int
    """Epoch of the member; in a heartbeat 0 joins, -1 leaves and -2 leaves for a while."""
    previous_member_epoch: int
    """Epoch of the member before."""
    state: int
    """State of the member: 1 stable, 2 has to give up tasks, 3 waits for tasks of others."""
    active_tasks: list[TaskIds]
    """Tasks that process records."""
    standby_tasks: list[TaskIds]
    """Tasks that keep copies of state."""
    warmup_tasks: list[TaskIds]
    """Tasks that build up state before they become active elsewhere."""
    active_tasks_pending_revocation: list[TaskIds]
    """Active tasks that the member has yet to give up."""
    standby_tasks_pending_revocation: list[TaskIds]
    """Standby tasks that the member has yet to give up."""
    warmup_tasks_pending_revocation: list[TaskIds]
    """Warm-up tasks that the member has yet to give up."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: list[TaskIds] = MADE_ANEW,
        standby_tasks: list[TaskIds] = MADE_ANEW,
        warmup_tasks: list[TaskIds] = MADE_ANEW,
        active_tasks_pending_revocation: list[TaskIds] = MADE_ANEW,
        standby_tasks_pending_revocation: list[TaskIds] = MADE_ANEW,
        warmup_tasks_pending_revocation: list[TaskIds] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.active_tasks = [] if active_tasks is MADE_ANEW else active_tasks
        self.standby_tasks = [] if standby_tasks is MADE_ANEW else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is MADE_ANEW else warmup_tasks
        self.active_tasks_pending_revocation = [] if active_tasks_pending_revocation is MADE_ANEW else active_tasks_pending_revocation
        self.standby_tasks_pending_revocation = [] if standby_tasks_pending_revocation is MADE_ANEW else standby_tasks_pending_revocation
        self.warmup_tasks_pending_revocation = [] if warmup_tasks_pending_revocation is MADE_ANEW else warmup_tasks_pending_revocation
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupCurrentMemberAssignmentValue", version, 0, 0)
            out += _pack_iib(self.member_epoch, self.previous_member_epoch, self.state)
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
                tagged_1: list[bytes] = []
                if active_task.assignment_epochs is None or active_task.assignment_epochs:
                    content_1 = bytearray()
                    if active_task.assignment_epochs is None:
                        content_1.append(0)
                    else:
                        n = len(active_task.assignment_epochs) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, active_task.assignment_epochs)
                    tagged_1.append(tagged_field(0, content_1))
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, active_task.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
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
                tagged_1 = []
                if active_task.assignment_epochs is None or active_task.assignment_epochs:
                    content_1 = bytearray()
                    if active_task.assignment_epochs is None:
                        content_1.append(0)
                    else:
                        n = len(active_task.assignment_epochs) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, active_task.assignment_epochs)
                    tagged_1.append(tagged_field(0, content_1))
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, active_task.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
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
                tagged_1 = []
                if active_task.assignment_epochs is None or active_task.assignment_epochs:
                    content_1 = bytearray()
                    if active_task.assignment_epochs is None:
                        content_1.append(0)
                    else:
                        n = len(active_task.assignment_epochs) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, active_task.assignment_epochs)
                    tagged_1.append(tagged_field(0, content_1))
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, active_task.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            n = len(self.active_tasks_pending_revocation) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for active_task in self.active_tasks_pending_revocation:
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
                tagged_1 = []
                if active_task.assignment_epochs is None or active_task.assignment_epochs:
                    content_1 = bytearray()
                    if active_task.assignment_epochs is None:
                        content_1.append(0)
                    else:
                        n = len(active_task.assignment_epochs) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, active_task.assignment_epochs)
                    tagged_1.append(tagged_field(0, content_1))
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, active_task.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            n = len(self.standby_tasks_pending_revocation) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for active_task in self.standby_tasks_pending_revocation:
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
                tagged_1 = []
                if active_task.assignment_epochs is None or active_task.assignment_epochs:
                    content_1 = bytearray()
                    if active_task.assignment_epochs is None:
                        content_1.append(0)
                    else:
                        n = len(active_task.assignment_epochs) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, active_task.assignment_epochs)
                    tagged_1.append(tagged_field(0, content_1))
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, active_task.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            n = len(self.warmup_tasks_pending_revocation) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for active_task in self.warmup_tasks_pending_revocation:
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
                tagged_1 = []
                if active_task.assignment_epochs is None or active_task.assignment_epochs:
                    content_1 = bytearray()
                    if active_task.assignment_epochs is None:
                        content_1.append(0)
                    else:
                        n = len(active_task.assignment_epochs) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, active_task.assignment_epochs)
                    tagged_1.append(tagged_field(0, content_1))
                if active_task.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, active_task.unknown_tagged_fields)
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
            raise encode_failure("StreamsGroupCurrentMemberAssignmentValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupCurrentMemberAssignmentValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupCurrentMemberAssignmentValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupCurrentMemberAssignmentValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.member_epoch, m.previous_member_epoch, m.state, n = _unpack_iibB(data, pos)
            pos += 10
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
                active_task.assignment_epochs = []
                active_task.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_uvarint_tail(data, pos, n)
                            if not n:
                                active_task.assignment_epochs = None
                            else:
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                active_task.assignment_epochs, pos = read_int32_array(data, pos, n - 1)
                        else:
                            active_task.unknown_tagged_fields = with_unknown_tag(active_task.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
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
                active_task.assignment_epochs = []
                active_task.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_uvarint_tail(data, pos, n)
                            if not n:
                                active_task.assignment_epochs = None
                            else:
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                active_task.assignment_epochs, pos = read_int32_array(data, pos, n - 1)
                        else:
                            active_task.unknown_tagged_fields = with_unknown_tag(active_task.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
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
                active_task.assignment_epochs = []
                active_task.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_uvarint_tail(data, pos, n)
                            if not n:
                                active_task.assignment_epochs = None
                            else:
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                active_task.assignment_epochs, pos = read_int32_array(data, pos, n - 1)
                        else:
                            active_task.unknown_tagged_fields = with_unknown_tag(active_task.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.active_tasks_pending_revocation = active_task_list = []
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
                active_task.assignment_epochs = []
                active_task.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_uvarint_tail(data, pos, n)
                            if not n:
                                active_task.assignment_epochs = None
                            else:
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                active_task.assignment_epochs, pos = read_int32_array(data, pos, n - 1)
                        else:
                            active_task.unknown_tagged_fields = with_unknown_tag(active_task.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.standby_tasks_pending_revocation = active_task_list = []
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
                active_task.assignment_epochs = []
                active_task.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_uvarint_tail(data, pos, n)
                            if not n:
                                active_task.assignment_epochs = None
                            else:
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                active_task.assignment_epochs, pos = read_int32_array(data, pos, n - 1)
                        else:
                            active_task.unknown_tagged_fields = with_unknown_tag(active_task.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.warmup_tasks_pending_revocation = active_task_list = []
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
                active_task.assignment_epochs = []
                active_task.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = read_uvarint_tail(data, pos, n)
                            if not n:
                                active_task.assignment_epochs = None
                            else:
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                active_task.assignment_epochs, pos = read_int32_array(data, pos, n - 1)
                        else:
                            active_task.unknown_tagged_fields = with_unknown_tag(active_task.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
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
            raise decode_failure("StreamsGroupCurrentMemberAssignmentValue", version, buf, start, cause) from cause


__all__ = [
    "StreamsGroupCurrentMemberAssignmentKey",
    "TaskIds",
    "StreamsGroupCurrentMemberAssignmentValue",
]
