# Generated from schemas/messages/StreamsGroupDescribeRequest.json (sha256 7aaa049eb5775c1c)
# Generated from schemas/messages/StreamsGroupDescribeResponse.json (sha256 f179cccee0c9a00d)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupDescribe (API key 89)."""

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


class StreamsGroupDescribeRequest(Fields):
    """Asks the group coordinator for the details of streams groups (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupDescribeRequest"
    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("group_ids", "include_authorized_operations", "unknown_tagged_fields")

    group_ids: list[str]
    """Groups to describe."""
    include_authorized_operations: bool
    """Whether to tell what the client may do with the groups."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_ids: list[str] = MADE_ANEW,
        include_authorized_operations: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_ids = [] if group_ids is MADE_ANEW else group_ids
        self.include_authorized_operations = include_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields

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


class KeyValue(Fields):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("key", "value", "unknown_tagged_fields")

    key: str
    """Name."""
    value: str
    """Value."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        key: str = "",
        value: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.key = key
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields


class TopicInfo(Fields):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
        "unknown_tagged_fields",
    )

    name: str
    """Name of the topic."""
    partitions: int
    """Number of partitions; 0 leaves it to the source topics."""
    replication_factor: int
    """Replicas of each partition; 0 leaves it to the broker's default."""
    topic_configs: list[KeyValue]
    """Settings of the topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[KeyValue] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = [] if topic_configs is MADE_ANEW else topic_configs
        self.unknown_tagged_fields = unknown_tagged_fields


class Subtopology(Fields):
    """Subtopologies, each of which has a task for each partition."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "repartition_sink_topics",
        "state_changelog_topics",
        "repartition_source_topics",
        "unknown_tagged_fields",
    )

    subtopology_id: str
    """Id of the subtopology, a number as text."""
    source_topics: list[str]
    """Topics that the subtopology reads and that users make."""
    repartition_sink_topics: list[str]
    """Internal topics that the subtopology writes for others."""
    state_changelog_topics: list[TopicInfo]
    """Internal topics with the changes of state stores."""
    repartition_source_topics: list[TopicInfo]
    """Internal topics that the subtopology reads, written by others."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: list[str] = MADE_ANEW,
        repartition_sink_topics: list[str] = MADE_ANEW,
        state_changelog_topics: list[TopicInfo] = MADE_ANEW,
        repartition_source_topics: list[TopicInfo] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is MADE_ANEW else source_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is MADE_ANEW else repartition_sink_topics
        self.state_changelog_topics = [] if state_changelog_topics is MADE_ANEW else state_changelog_topics
        self.repartition_source_topics = [] if repartition_source_topics is MADE_ANEW else repartition_source_topics
        self.unknown_tagged_fields = unknown_tagged_fields


class Topology(Fields):
    """Topology of the group; null when no member has told one."""

    __slots__ = ("epoch", "subtopologies", "unknown_tagged_fields")

    epoch: int
    """Epoch of the topology."""
    subtopologies: list[Subtopology] | None
    """Subtopologies, each of which has a task for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies
        self.unknown_tagged_fields = unknown_tagged_fields


class Endpoint(Fields):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("host", "port", "unknown_tagged_fields")

    host: str
    """Name of the host."""
    port: int
    """Port."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields


class TaskOffset(Fields):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("subtopology_id", "partition", "offset", "unknown_tagged_fields")

    subtopology_id: str
    """Id of the subtopology, a number as text."""
    partition: int
    """Number of the task's partition."""
    offset: int
    """Offset in the changelogs, summed."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        subtopology_id: str = "",
        partition: int = 0,
        offset: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset
        self.unknown_tagged_fields = unknown_tagged_fields


class TaskIds(Fields):
    """Part of StreamsGroupDescribeResponse."""

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


class Assignment(Fields):
    """Part of StreamsGroupDescribeResponse."""

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


class Member(Fields):
    """Members of the group."""

    __slots__ = (
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "assignment",
        "target_assignment",
        "is_classic",
        "unknown_tagged_fields",
    )

    member_id: str
    """Id that the member makes once and keeps while it lives."""
    member_epoch: int
    """Epoch of the member; in a heartbeat 0 joins, -1 leaves and -2 leaves for a while."""
    instance_id: str | None
    """Instance id of a static member; null for others."""
    rack_id: str | None
    """Rack of the member; null when not set or unchanged."""
    client_id: str
    """Client id of the member."""
    client_host: str
    """Host that the member connects from."""
    topology_epoch: int
    """Epoch of the member's topology."""
    process_id: str
    """Id of the process, which several members may share."""
    user_endpoint: Endpoint | None
    """Where the process answers queries of state (application.server); null when not set."""
    client_tags: list[KeyValue]
    """Tags of the client, by which standby tasks are spread."""
    task_offsets: list[TaskOffset]
    """How far the member's copies of state have got."""
    task_end_offsets: list[TaskOffset]
    """Where the changelogs of these tasks end."""
    assignment: Assignment
    """Tasks that the member has."""
    target_assignment: Assignment
    """Tasks that the member is to have."""
    is_classic: bool
    """Whether the member uses the classic protocol."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = MADE_ANEW,
        task_offsets: list[TaskOffset] = MADE_ANEW,
        task_end_offsets: list[TaskOffset] = MADE_ANEW,
        assignment: Assignment = MADE_ANEW,
        target_assignment: Assignment = MADE_ANEW,
        is_classic: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is MADE_ANEW else client_tags
        self.task_offsets = [] if task_offsets is MADE_ANEW else task_offsets
        self.task_end_offsets = [] if task_end_offsets is MADE_ANEW else task_end_offsets
        self.assignment = Assignment() if assignment is MADE_ANEW else assignment
        self.target_assignment = Assignment() if target_assignment is MADE_ANEW else target_assignment
        self.is_classic = is_classic
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribedGroup(Fields):
    """Outcomes by group."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "topology",
        "members",
        "authorized_operations",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, NOT_COORDINATOR."""
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    group_id: str
    """Streams group."""
    group_state: str
    """EMPTY, NOT_READY, ASSIGNING, RECONCILING, STABLE or DEAD, as Kafka writes them."""
    group_epoch: int
    """Epoch of the group."""
    assignment_epoch: int
    """Group epoch of the target assignment."""
    topology: Topology | None
    """Topology of the group; null when no member has told one."""
    members: list[Member]
    """Members of the group."""
    authorized_operations: int
    """What the client may do with the group, as bits; -2147483648 when not asked for."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: list[Member] = MADE_ANEW,
        authorized_operations: int = -2147483648,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members = [] if members is MADE_ANEW else members
        self.authorized_operations = authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields


class StreamsGroupDescribeResponse(Fields):
    """Details of streams groups: state, epochs, topology, members and their tasks (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupDescribeResponse"
    API_KEY: ClassVar[int] = 89
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "groups", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    groups: list[DescribedGroup]
    """Outcomes by group."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is MADE_ANEW else groups
        self.unknown_tagged_fields = unknown_tagged_fields

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
