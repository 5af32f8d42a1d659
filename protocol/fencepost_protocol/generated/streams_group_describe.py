# Generated from schemas/messages/StreamsGroupDescribeRequest.json (sha256 7aaa049eb5775c1c)
# Generated from schemas/messages/StreamsGroupDescribeResponse.json (sha256 f179cccee0c9a00d)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupDescribe (API key 89)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    unknown_version,
)
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_compact_string_array,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_tB = struct.Struct(">?B").unpack_from
_unpack_HB = struct.Struct(">HB").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iib = struct.Struct(">iib").unpack_from
_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_H = struct.Struct(">H").pack
_pack_b = struct.Struct(">b").pack
_pack_bi = struct.Struct(">bi").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


@dataclass(slots=True)
class StreamsGroupDescribeRequest:
    """Asks the group coordinator for the details of streams groups (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupDescribeRequest"
    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    group_ids: list[str] = field(default_factory=list)
    """Groups to describe."""
    include_authorized_operations: bool = False
    """Whether to tell what the client may do with the groups."""
    unknown_tagged_fields: TaggedFields = ()

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupDescribeRequest", version, 0, 0)
            n = len(self.group_ids) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.group_ids)
            out += _pack_t(self.include_authorized_operations)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupDescribeRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupDescribeRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupDescribeRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupDescribeRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.group_ids, pos = read_compact_string_array(data, pos, n - 1)
            m.include_authorized_operations, n = _unpack_tB(data, pos)
            pos += 2
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("StreamsGroupDescribeRequest", version, buf, start, cause) from cause


@dataclass(slots=True)
class KeyValue:
    """Part of StreamsGroupDescribeResponse."""

    key: str = ""
    """Name."""
    value: str = ""
    """Value."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class TopicInfo:
    """Part of StreamsGroupDescribeResponse."""

    name: str = ""
    """Name of the topic."""
    partitions: int = 0
    """Number of partitions; 0 leaves it to the source topics."""
    replication_factor: int = 0
    """Replicas of each partition; 0 leaves it to the broker's default."""
    topic_configs: list[KeyValue] = field(default_factory=list)
    """Settings of the topic."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class Subtopology:
    """Subtopologies, each of which has a task for each partition."""

    subtopology_id: str = ""
    """Id of the subtopology, a number as text."""
    source_topics: list[str] = field(default_factory=list)
    """Topics that the subtopology reads and that users make."""
    repartition_sink_topics: list[str] = field(default_factory=list)
    """Internal topics that the subtopology writes for others."""
    state_changelog_topics: list[TopicInfo] = field(default_factory=list)
    """Internal topics with the changes of state stores."""
    repartition_source_topics: list[TopicInfo] = field(default_factory=list)
    """Internal topics that the subtopology reads, written by others."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class Topology:
    """Topology of the group; null when no member has told one."""

    epoch: int = 0
    """Epoch of the topology."""
    subtopologies: list[Subtopology] | None = None
    """Subtopologies, each of which has a task for each partition."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class Endpoint:
    """Part of StreamsGroupDescribeResponse."""

    host: str = ""
    """Name of the host."""
    port: int = 0
    """Port."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class TaskOffset:
    """Part of StreamsGroupDescribeResponse."""

    subtopology_id: str = ""
    """Id of the subtopology, a number as text."""
    partition: int = 0
    """Number of the task's partition."""
    offset: int = 0
    """Offset in the changelogs, summed."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class TaskIds:
    """Part of StreamsGroupDescribeResponse."""

    subtopology_id: str = ""
    """Id of the subtopology, a number as text."""
    partitions: list[int] = field(default_factory=list)
    """Numbers of partitions."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class Assignment:
    """Part of StreamsGroupDescribeResponse."""

    active_tasks: list[TaskIds] = field(default_factory=list)
    """Tasks that process records."""
    standby_tasks: list[TaskIds] = field(default_factory=list)
    """Tasks that keep copies of state."""
    warmup_tasks: list[TaskIds] = field(default_factory=list)
    """Tasks that build up state before they become active elsewhere."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class Member:
    """Members of the group."""

    member_id: str = ""
    """Id that the member makes once and keeps while it lives."""
    member_epoch: int = 0
    """Epoch of the member; in a heartbeat 0 joins, -1 leaves and -2 leaves for a while."""
    instance_id: str | None = None
    """Instance id of a static member; null for others."""
    rack_id: str | None = None
    """Rack of the member; null when not set or unchanged."""
    client_id: str = ""
    """Client id of the member."""
    client_host: str = ""
    """Host that the member connects from."""
    topology_epoch: int = 0
    """Epoch of the member's topology."""
    process_id: str = ""
    """Id of the process, which several members may share."""
    user_endpoint: Endpoint | None = None
    """Where the process answers queries of state (application.server); null when not set."""
    client_tags: list[KeyValue] = field(default_factory=list)
    """Tags of the client, by which standby tasks are spread."""
    task_offsets: list[TaskOffset] = field(default_factory=list)
    """How far the member's copies of state have got."""
    task_end_offsets: list[TaskOffset] = field(default_factory=list)
    """Where the changelogs of these tasks end."""
    assignment: Assignment = field(default_factory=Assignment)
    """Tasks that the member has."""
    target_assignment: Assignment = field(default_factory=Assignment)
    """Tasks that the member is to have."""
    is_classic: bool = False
    """Whether the member uses the classic protocol."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class DescribedGroup:
    """Outcomes by group."""

    error_code: int = 0
    """NONE, or e.g. GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, NOT_COORDINATOR."""
    error_message: str | None = None
    """Readable detail for the error; null when there is none."""
    group_id: str = ""
    """Streams group."""
    group_state: str = ""
    """EMPTY, NOT_READY, ASSIGNING, RECONCILING, STABLE or DEAD, as Kafka writes them."""
    group_epoch: int = 0
    """Epoch of the group."""
    assignment_epoch: int = 0
    """Group epoch of the target assignment."""
    topology: Topology | None = None
    """Topology of the group; null when no member has told one."""
    members: list[Member] = field(default_factory=list)
    """Members of the group."""
    authorized_operations: int = -2147483648
    """What the client may do with the group, as bits; -2147483648 when not asked for."""
    unknown_tagged_fields: TaggedFields = ()


@dataclass(slots=True)
class StreamsGroupDescribeResponse:
    """Details of streams groups: state, epochs, topology, members and their tasks (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupDescribeResponse"
    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    throttle_time_ms: int = 0
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    groups: list[DescribedGroup] = field(default_factory=list)
    """Outcomes by group."""
    unknown_tagged_fields: TaggedFields = ()

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupDescribeResponse", version, 0, 0)
            out += _pack_i(self.throttle_time_ms)
            n = len(self.groups) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for group in self.groups:
                out += _pack_h(group.error_code)
                if group.error_message is None:
                    out.append(0)
                else:
                    raw = group.error_message.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                raw = group.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = group.group_state.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_ii(group.group_epoch, group.assignment_epoch)
                if group.topology is None:
                    out += _pack_b(-1)
                else:
                    out += _pack_bi(1, group.topology.epoch)
                    if group.topology.subtopologies is None:
                        out.append(0)
                    else:
                        n = len(group.topology.subtopologies) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for subtopology in group.topology.subtopologies:
                            raw = subtopology.subtopology_id.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                            n = len(subtopology.source_topics) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            write_compact_string_array(out, subtopology.source_topics)
                            n = len(subtopology.repartition_sink_topics) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            write_compact_string_array(out, subtopology.repartition_sink_topics)
                            n = len(subtopology.state_changelog_topics) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            for state_changelog_topic in subtopology.state_changelog_topics:
                                raw = state_changelog_topic.name.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_string_length(out, n)
                                out += raw
                                out += _pack_ih(
                                    state_changelog_topic.partitions,
                                    state_changelog_topic.replication_factor,
                                )
                                n = len(state_changelog_topic.topic_configs) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_uvarint(out, n)
                                for client_tag in state_changelog_topic.topic_configs:
                                    raw = client_tag.key.encode()
                                    n = len(raw) + 1
                                    if n < 128:
                                        out.append(n)
                                    else:
                                        write_string_length(out, n)
                                    out += raw
                                    raw = client_tag.value.encode()
                                    n = len(raw) + 1
                                    if n < 128:
                                        out.append(n)
                                    else:
                                        write_string_length(out, n)
                                    out += raw
                                    if client_tag.unknown_tagged_fields:
                                        write_tagged_fields(out, [], client_tag.unknown_tagged_fields)
                                    else:
                                        out.append(0)
                                if state_changelog_topic.unknown_tagged_fields:
                                    write_tagged_fields(out, [], state_changelog_topic.unknown_tagged_fields)
                                else:
                                    out.append(0)
                            n = len(subtopology.repartition_source_topics) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            for state_changelog_topic in subtopology.repartition_source_topics:
                                raw = state_changelog_topic.name.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_string_length(out, n)
                                out += raw
                                out += _pack_ih(
                                    state_changelog_topic.partitions,
                                    state_changelog_topic.replication_factor,
                                )
                                n = len(state_changelog_topic.topic_configs) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_uvarint(out, n)
                                for client_tag in state_changelog_topic.topic_configs:
                                    raw = client_tag.key.encode()
                                    n = len(raw) + 1
                                    if n < 128:
                                        out.append(n)
                                    else:
                                        write_string_length(out, n)
                                    out += raw
                                    raw = client_tag.value.encode()
                                    n = len(raw) + 1
                                    if n < 128:
                                        out.append(n)
                                    else:
                                        write_string_length(out, n)
                                    out += raw
                                    if client_tag.unknown_tagged_fields:
                                        write_tagged_fields(out, [], client_tag.unknown_tagged_fields)
                                    else:
                                        out.append(0)
                                if state_changelog_topic.unknown_tagged_fields:
                                    write_tagged_fields(out, [], state_changelog_topic.unknown_tagged_fields)
                                else:
                                    out.append(0)
                            if subtopology.unknown_tagged_fields:
                                write_tagged_fields(out, [], subtopology.unknown_tagged_fields)
                            else:
                                out.append(0)
                    if group.topology.unknown_tagged_fields:
                        write_tagged_fields(out, [], group.topology.unknown_tagged_fields)
                    else:
                        out.append(0)
                n = len(group.members) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for member in group.members:
                    raw = member.member_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_i(member.member_epoch)
                    if member.instance_id is None:
                        out.append(0)
                    else:
                        raw = member.instance_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if member.rack_id is None:
                        out.append(0)
                    else:
                        raw = member.rack_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    raw = member.client_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = member.client_host.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    raw = member.process_id.encode()
                    out += _pack_i(member.topology_epoch)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if member.user_endpoint is None:
                        out += _pack_b(-1)
                    else:
                        raw = member.user_endpoint.host.encode()
                        out += _pack_b(1)
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_H(member.user_endpoint.port)
                        if member.user_endpoint.unknown_tagged_fields:
                            write_tagged_fields(out, [], member.user_endpoint.unknown_tagged_fields)
                        else:
                            out.append(0)
                    n = len(member.client_tags) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for client_tag in member.client_tags:
                        raw = client_tag.key.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = client_tag.value.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        if client_tag.unknown_tagged_fields:
                            write_tagged_fields(out, [], client_tag.unknown_tagged_fields)
                        else:
                            out.append(0)
                    n = len(member.task_offsets) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for task_offset in member.task_offsets:
                        raw = task_offset.subtopology_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_iq(task_offset.partition, task_offset.offset)
                        if task_offset.unknown_tagged_fields:
                            write_tagged_fields(out, [], task_offset.unknown_tagged_fields)
                        else:
                            out.append(0)
                    n = len(member.task_end_offsets) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for task_offset in member.task_end_offsets:
                        raw = task_offset.subtopology_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_iq(task_offset.partition, task_offset.offset)
                        if task_offset.unknown_tagged_fields:
                            write_tagged_fields(out, [], task_offset.unknown_tagged_fields)
                        else:
                            out.append(0)
                    n = len(member.assignment.active_tasks) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_task in member.assignment.active_tasks:
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
                    n = len(member.assignment.standby_tasks) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_task in member.assignment.standby_tasks:
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
                    n = len(member.assignment.warmup_tasks) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_task in member.assignment.warmup_tasks:
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
                    if member.assignment.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.assignment.unknown_tagged_fields)
                    else:
                        out.append(0)
                    n = len(member.target_assignment.active_tasks) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_task in member.target_assignment.active_tasks:
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
                    n = len(member.target_assignment.standby_tasks) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_task in member.target_assignment.standby_tasks:
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
                    n = len(member.target_assignment.warmup_tasks) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_task in member.target_assignment.warmup_tasks:
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
                    if member.target_assignment.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.target_assignment.unknown_tagged_fields)
                    else:
                        out.append(0)
                    out += _pack_t(member.is_classic)
                    if member.unknown_tagged_fields:
                        write_tagged_fields(out, [], member.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_i(group.authorized_operations)
                if group.unknown_tagged_fields:
                    write_tagged_fields(out, [], group.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupDescribeResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupDescribeResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupDescribeResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupDescribeResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, n = _unpack_iB(data, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.groups = group_list = []
            group_left = n - 1
            while group_left:
                group_left -= 1
                group = new(DescribedGroup)
                group_list.append(group)
                group.error_code, n = _unpack_hB(data, pos)
                pos += 3
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    group.error_message = None
                else:
                    end = pos + n - 1
                    group.error_message = data[pos:end].decode()
                    pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                group.group_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                group.group_state = data[pos:end].decode()
                pos = end
                group.group_epoch, group.assignment_epoch, n = _unpack_iib(data, pos)
                pos += 9
                if n < 0:
                    group.topology = None
                else:
                    group.topology = topology = new(Topology)
                    topology.epoch, n = _unpack_iB(data, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    if not n:
                        topology.subtopologies = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        topology.subtopologies = subtopology_list = []
                        subtopology_left = n - 1
                        while subtopology_left:
                            subtopology_left -= 1
                            subtopology = new(Subtopology)
                            subtopology_list.append(subtopology)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_string_length(data, pos, n)
                            end = pos + n - 1
                            subtopology.subtopology_id = data[pos:end].decode()
                            pos = end
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            subtopology.source_topics, pos = read_compact_string_array(data, pos, n - 1)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            subtopology.repartition_sink_topics, pos = read_compact_string_array(data, pos, n - 1)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            subtopology.state_changelog_topics = state_changelog_topic_list = []
                            state_changelog_topic_left = n - 1
                            while state_changelog_topic_left:
                                state_changelog_topic_left -= 1
                                state_changelog_topic = new(TopicInfo)
                                state_changelog_topic_list.append(state_changelog_topic)
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                state_changelog_topic.name = data[pos:end].decode()
                                pos = end
                                (
                                    state_changelog_topic.partitions,
                                    state_changelog_topic.replication_factor,
                                    n,
                                ) = _unpack_ihB(data, pos)
                                pos += 7
                                if not n or n > 127:
                                    n, pos = long_length(data, pos, n)
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                state_changelog_topic.topic_configs = client_tag_list = []
                                client_tag_left = n - 1
                                while client_tag_left:
                                    client_tag_left -= 1
                                    client_tag = new(KeyValue)
                                    client_tag_list.append(client_tag)
                                    n = data[pos]
                                    pos += 1
                                    if not n or n > 127:
                                        n, pos = long_string_length(data, pos, n)
                                    end = pos + n - 1
                                    client_tag.key = data[pos:end].decode()
                                    pos = end
                                    n = data[pos]
                                    pos += 1
                                    if not n or n > 127:
                                        n, pos = long_string_length(data, pos, n)
                                    end = pos + n - 1
                                    client_tag.value = data[pos:end].decode()
                                    pos = end
                                    n = data[pos]
                                    pos += 1
                                    if n:
                                        client_tag.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                    else:
                                        client_tag.unknown_tagged_fields = ()
                                n = data[pos]
                                pos += 1
                                if n:
                                    state_changelog_topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    state_changelog_topic.unknown_tagged_fields = ()
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            subtopology.repartition_source_topics = state_changelog_topic_list = []
                            state_changelog_topic_left = n - 1
                            while state_changelog_topic_left:
                                state_changelog_topic_left -= 1
                                state_changelog_topic = new(TopicInfo)
                                state_changelog_topic_list.append(state_changelog_topic)
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                state_changelog_topic.name = data[pos:end].decode()
                                pos = end
                                (
                                    state_changelog_topic.partitions,
                                    state_changelog_topic.replication_factor,
                                    n,
                                ) = _unpack_ihB(data, pos)
                                pos += 7
                                if not n or n > 127:
                                    n, pos = long_length(data, pos, n)
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                state_changelog_topic.topic_configs = client_tag_list = []
                                client_tag_left = n - 1
                                while client_tag_left:
                                    client_tag_left -= 1
                                    client_tag = new(KeyValue)
                                    client_tag_list.append(client_tag)
                                    n = data[pos]
                                    pos += 1
                                    if not n or n > 127:
                                        n, pos = long_string_length(data, pos, n)
                                    end = pos + n - 1
                                    client_tag.key = data[pos:end].decode()
                                    pos = end
                                    n = data[pos]
                                    pos += 1
                                    if not n or n > 127:
                                        n, pos = long_string_length(data, pos, n)
                                    end = pos + n - 1
                                    client_tag.value = data[pos:end].decode()
                                    pos = end
                                    n = data[pos]
                                    pos += 1
                                    if n:
                                        client_tag.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                    else:
                                        client_tag.unknown_tagged_fields = ()
                                n = data[pos]
                                pos += 1
                                if n:
                                    state_changelog_topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    state_changelog_topic.unknown_tagged_fields = ()
                            n = data[pos]
                            pos += 1
                            if n:
                                subtopology.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                subtopology.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        topology.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        topology.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                group.members = member_list = []
                member_left = n - 1
                while member_left:
                    member_left -= 1
                    member = new(Member)
                    member_list.append(member)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    member.member_id = data[pos:end].decode()
                    pos = end
                    member.member_epoch, n = _unpack_iB(data, pos)
                    pos += 5
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        member.instance_id = None
                    else:
                        end = pos + n - 1
                        member.instance_id = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        member.rack_id = None
                    else:
                        end = pos + n - 1
                        member.rack_id = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    member.client_id = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    member.client_host = data[pos:end].decode()
                    pos = end
                    member.topology_epoch, n = _unpack_iB(data, pos)
                    pos += 5
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    member.process_id = data[pos:end].decode()
                    pos = end
                    n = (data[pos] ^ 128) - 128
                    pos += 1
                    if n < 0:
                        member.user_endpoint = None
                    else:
                        member.user_endpoint = endpoint = new(Endpoint)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        endpoint.host = data[pos:end].decode()
                        pos = end
                        endpoint.port, n = _unpack_HB(data, pos)
                        pos += 3
                        if n:
                            endpoint.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            endpoint.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    member.client_tags = client_tag_list = []
                    client_tag_left = n - 1
                    while client_tag_left:
                        client_tag_left -= 1
                        client_tag = new(KeyValue)
                        client_tag_list.append(client_tag)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        client_tag.key = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        client_tag.value = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            client_tag.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            client_tag.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    member.task_offsets = task_offset_list = []
                    task_offset_left = n - 1
                    while task_offset_left:
                        task_offset_left -= 1
                        task_offset = new(TaskOffset)
                        task_offset_list.append(task_offset)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        task_offset.subtopology_id = data[pos:end].decode()
                        pos = end
                        task_offset.partition, task_offset.offset, n = _unpack_iqB(data, pos)
                        pos += 13
                        if n:
                            task_offset.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            task_offset.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    member.task_end_offsets = task_offset_list = []
                    task_offset_left = n - 1
                    while task_offset_left:
                        task_offset_left -= 1
                        task_offset = new(TaskOffset)
                        task_offset_list.append(task_offset)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        task_offset.subtopology_id = data[pos:end].decode()
                        pos = end
                        task_offset.partition, task_offset.offset, n = _unpack_iqB(data, pos)
                        pos += 13
                        if n:
                            task_offset.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            task_offset.unknown_tagged_fields = ()
                    member.assignment = assignment = new(Assignment)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    assignment.active_tasks = active_task_list = []
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
                    assignment.standby_tasks = active_task_list = []
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
                    assignment.warmup_tasks = active_task_list = []
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
                        assignment.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        assignment.unknown_tagged_fields = ()
                    member.target_assignment = assignment = new(Assignment)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    assignment.active_tasks = active_task_list = []
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
                    assignment.standby_tasks = active_task_list = []
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
                    assignment.warmup_tasks = active_task_list = []
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
                        assignment.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        assignment.unknown_tagged_fields = ()
                    member.is_classic, n = _unpack_tB(data, pos)
                    pos += 2
                    if n:
                        member.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        member.unknown_tagged_fields = ()
                group.authorized_operations, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    group.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    group.unknown_tagged_fields = ()
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
            raise decode_failure("StreamsGroupDescribeResponse", version, buf, start, cause) from cause


__all__ = [
    "StreamsGroupDescribeRequest",
    "KeyValue",
    "TopicInfo",
    "Subtopology",
    "Topology",
    "Endpoint",
    "TaskOffset",
    "TaskIds",
    "Assignment",
    "Member",
    "DescribedGroup",
    "StreamsGroupDescribeResponse",
]
