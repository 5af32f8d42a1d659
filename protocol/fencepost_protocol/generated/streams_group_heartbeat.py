# Generated from schemas/messages/StreamsGroupHeartbeatRequest.json (sha256 9b6700af164563a1)
# Generated from schemas/messages/StreamsGroupHeartbeatResponse.json (sha256 54dd0f5bd09258f0)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupHeartbeat (API key 88)."""

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
    read_int_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_int32_array,
    write_int_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_tB = struct.Struct(">?B").unpack_from
_unpack_HB = struct.Struct(">HB").unpack_from
_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ib = struct.Struct(">ib").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_unpack_iiiiB = struct.Struct(">iiiiB").unpack_from
_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_H = struct.Struct(">H").pack
_pack_b = struct.Struct(">b").pack
_pack_bi = struct.Struct(">bi").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iiii = struct.Struct(">iiii").pack
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


class KeyValue(Fields):
    """Part of StreamsGroupHeartbeatRequest."""

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
    """Part of StreamsGroupHeartbeatRequest."""

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


class CopartitionGroup(Fields):
    """Groups of source topics that must have equally many partitions."""

    __slots__ = (
        "source_topics",
        "source_topic_regex",
        "repartition_source_topics",
        "unknown_tagged_fields",
    )

    source_topics: list[int]
    """Positions in the list of source topics."""
    source_topic_regex: list[int]
    """Positions in the list of regular expressions."""
    repartition_source_topics: list[int]
    """Positions in the list of repartition source topics."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        source_topics: list[int] = MADE_ANEW,
        source_topic_regex: list[int] = MADE_ANEW,
        repartition_source_topics: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.source_topics = [] if source_topics is MADE_ANEW else source_topics
        self.source_topic_regex = [] if source_topic_regex is MADE_ANEW else source_topic_regex
        self.repartition_source_topics = [] if repartition_source_topics is MADE_ANEW else repartition_source_topics
        self.unknown_tagged_fields = unknown_tagged_fields


class Subtopology(Fields):
    """Subtopologies, each of which has a task for each partition."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "source_topic_regex",
        "state_changelog_topics",
        "repartition_sink_topics",
        "repartition_source_topics",
        "copartition_groups",
        "unknown_tagged_fields",
    )

    subtopology_id: str
    """Id of the subtopology, a number as text."""
    source_topics: list[str]
    """Topics that the subtopology reads and that users make."""
    source_topic_regex: list[str]
    """Regular expressions for topics that the subtopology reads."""
    state_changelog_topics: list[TopicInfo]
    """Internal topics with the changes of state stores."""
    repartition_sink_topics: list[str]
    """Internal topics that the subtopology writes for others."""
    repartition_source_topics: list[TopicInfo]
    """Internal topics that the subtopology reads, written by others."""
    copartition_groups: list[CopartitionGroup]
    """Groups of source topics that must have equally many partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        subtopology_id: str = "",
        source_topics: list[str] = MADE_ANEW,
        source_topic_regex: list[str] = MADE_ANEW,
        state_changelog_topics: list[TopicInfo] = MADE_ANEW,
        repartition_sink_topics: list[str] = MADE_ANEW,
        repartition_source_topics: list[TopicInfo] = MADE_ANEW,
        copartition_groups: list[CopartitionGroup] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is MADE_ANEW else source_topics
        self.source_topic_regex = [] if source_topic_regex is MADE_ANEW else source_topic_regex
        self.state_changelog_topics = [] if state_changelog_topics is MADE_ANEW else state_changelog_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is MADE_ANEW else repartition_sink_topics
        self.repartition_source_topics = [] if repartition_source_topics is MADE_ANEW else repartition_source_topics
        self.copartition_groups = [] if copartition_groups is MADE_ANEW else copartition_groups
        self.unknown_tagged_fields = unknown_tagged_fields


class Topology(Fields):
    """Topology of the application, told on joining; null when unchanged."""

    __slots__ = ("epoch", "subtopologies", "unknown_tagged_fields")

    epoch: int
    """Epoch of the topology."""
    subtopologies: list[Subtopology]
    """Subtopologies, each of which has a task for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.subtopologies = [] if subtopologies is MADE_ANEW else subtopologies
        self.unknown_tagged_fields = unknown_tagged_fields


class StreamsGroupHeartbeatRequestTaskIds(Fields):
    """Part of StreamsGroupHeartbeatRequest."""

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


class StreamsGroupHeartbeatRequestEndpoint(Fields):
    """Part of StreamsGroupHeartbeatRequest."""

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
    """Part of StreamsGroupHeartbeatRequest."""

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


class StreamsGroupHeartbeatRequest(Fields):
    """A member of a streams group joins, stays alive, tells its topology and its tasks, and leaves,
    all with this request to the group coordinator (KIP-1071).
    """

    NAME: ClassVar[str] = "StreamsGroupHeartbeatRequest"
    API_KEY: ClassVar[int] = 88
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "endpoint_information_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "topology",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "shutdown_application",
        "unknown_tagged_fields",
    )

    group_id: str
    """Streams group."""
    member_id: str
    """Id that the member makes once and keeps while it lives."""
    member_epoch: int
    """Epoch of the member; in a heartbeat 0 joins, -1 leaves and -2 leaves for a while."""
    endpoint_information_epoch: int
    """Epoch of the endpoints that the member knows; the answer has endpoints if the group's is
    another one.
    """
    instance_id: str | None
    """Instance id of a static member; null for others."""
    rack_id: str | None
    """Rack of the member; null when not set or unchanged."""
    rebalance_timeout_ms: int
    """Time in ms that the member has to give up tasks; -1 when unchanged."""
    topology: Topology | None
    """Topology of the application, told on joining; null when unchanged."""
    active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None
    """Active tasks that the member has; null when unchanged."""
    standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None
    """Standby tasks that the member has; null when unchanged."""
    warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None
    """Warm-up tasks that the member has; null when unchanged."""
    process_id: str | None
    """Id of the process, which several members may share."""
    user_endpoint: StreamsGroupHeartbeatRequestEndpoint | None
    """Where the process answers queries of state (application.server); null when not set."""
    client_tags: list[KeyValue] | None
    """Tags of the client, by which standby tasks are spread."""
    task_offsets: list[TaskOffset] | None
    """How far the member's copies of state have got."""
    task_end_offsets: list[TaskOffset] | None
    """Where the changelogs of these tasks end."""
    shutdown_application: bool
    """Whether all members are to stop."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        standby_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        warmup_tasks: list[StreamsGroupHeartbeatRequestTaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: StreamsGroupHeartbeatRequestEndpoint | None = None,
        client_tags: list[KeyValue] | None = None,
        task_offsets: list[TaskOffset] | None = None,
        task_end_offsets: list[TaskOffset] | None = None,
        shutdown_application: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupHeartbeatRequest", version, 0, 0)
            raw = self.group_id.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            raw = self.member_id.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_ii(self.member_epoch, self.endpoint_information_epoch)
            if self.instance_id is None:
                out.append(0)
            else:
                raw = self.instance_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            if self.rack_id is None:
                out.append(0)
            else:
                raw = self.rack_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            out += _pack_i(self.rebalance_timeout_ms)
            if self.topology is None:
                out += _pack_b(-1)
            else:
                out += _pack_bi(1, self.topology.epoch)
                n = len(self.topology.subtopologies) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for subtopology in self.topology.subtopologies:
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
                    n = len(subtopology.source_topic_regex) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_compact_string_array(out, subtopology.source_topic_regex)
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
                    n = len(subtopology.repartition_sink_topics) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_compact_string_array(out, subtopology.repartition_sink_topics)
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
                    n = len(subtopology.copartition_groups) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for copartition_group in subtopology.copartition_groups:
                        n = len(copartition_group.source_topics) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int_array(out, copartition_group.source_topics, "h")
                        n = len(copartition_group.source_topic_regex) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int_array(out, copartition_group.source_topic_regex, "h")
                        n = len(copartition_group.repartition_source_topics) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int_array(out, copartition_group.repartition_source_topics, "h")
                        if copartition_group.unknown_tagged_fields:
                            write_tagged_fields(out, [], copartition_group.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if subtopology.unknown_tagged_fields:
                        write_tagged_fields(out, [], subtopology.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.topology.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.topology.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.active_tasks is None:
                out.append(0)
            else:
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
            if self.standby_tasks is None:
                out.append(0)
            else:
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
            if self.warmup_tasks is None:
                out.append(0)
            else:
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
            if self.process_id is None:
                out.append(0)
            else:
                raw = self.process_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            if self.user_endpoint is None:
                out += _pack_b(-1)
            else:
                raw = self.user_endpoint.host.encode()
                out += _pack_b(1)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_H(self.user_endpoint.port)
                if self.user_endpoint.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.user_endpoint.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.client_tags is None:
                out.append(0)
            else:
                n = len(self.client_tags) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for client_tag in self.client_tags:
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
            if self.task_offsets is None:
                out.append(0)
            else:
                n = len(self.task_offsets) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for task_offset in self.task_offsets:
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
            if self.task_end_offsets is None:
                out.append(0)
            else:
                n = len(self.task_end_offsets) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for task_offset in self.task_end_offsets:
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
            out += _pack_t(self.shutdown_application)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupHeartbeatRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupHeartbeatRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupHeartbeatRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupHeartbeatRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.group_id = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.member_id = data[pos:end].decode()
            pos = end
            m.member_epoch, m.endpoint_information_epoch, n = _unpack_iiB(data, pos)
            pos += 9
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.instance_id = None
            else:
                end = pos + n - 1
                m.instance_id = data[pos:end].decode()
                pos = end
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.rack_id = None
            else:
                end = pos + n - 1
                m.rack_id = data[pos:end].decode()
                pos = end
            m.rebalance_timeout_ms, n = _unpack_ib(data, pos)
            pos += 5
            if n < 0:
                m.topology = None
            else:
                m.topology = topology = new(Topology)
                topology.epoch, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
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
                    subtopology.source_topic_regex, pos = read_compact_string_array(data, pos, n - 1)
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
                    subtopology.repartition_sink_topics, pos = read_compact_string_array(data, pos, n - 1)
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
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    subtopology.copartition_groups = copartition_group_list = []
                    copartition_group_left = n - 1
                    while copartition_group_left:
                        copartition_group_left -= 1
                        copartition_group = new(CopartitionGroup)
                        copartition_group_list.append(copartition_group)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        copartition_group.source_topics, pos = read_int_array(data, pos, n - 1, "h")
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        copartition_group.source_topic_regex, pos = read_int_array(data, pos, n - 1, "h")
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        copartition_group.repartition_source_topics, pos = read_int_array(data, pos, n - 1, "h")
                        n = data[pos]
                        pos += 1
                        if n:
                            copartition_group.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            copartition_group.unknown_tagged_fields = ()
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
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.active_tasks = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.active_tasks = active_task_list = []
                active_task_left = n - 1
                while active_task_left:
                    active_task_left -= 1
                    active_task = new(StreamsGroupHeartbeatRequestTaskIds)
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
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.standby_tasks = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.standby_tasks = active_task_list = []
                active_task_left = n - 1
                while active_task_left:
                    active_task_left -= 1
                    active_task = new(StreamsGroupHeartbeatRequestTaskIds)
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
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.warmup_tasks = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.warmup_tasks = active_task_list = []
                active_task_left = n - 1
                while active_task_left:
                    active_task_left -= 1
                    active_task = new(StreamsGroupHeartbeatRequestTaskIds)
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
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.process_id = None
            else:
                end = pos + n - 1
                m.process_id = data[pos:end].decode()
                pos = end
            n = (data[pos] ^ 128) - 128
            pos += 1
            if n < 0:
                m.user_endpoint = None
            else:
                m.user_endpoint = endpoint = new(StreamsGroupHeartbeatRequestEndpoint)
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
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.client_tags = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.client_tags = client_tag_list = []
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
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.task_offsets = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.task_offsets = task_offset_list = []
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
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.task_end_offsets = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.task_end_offsets = task_offset_list = []
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
            m.shutdown_application, n = _unpack_tB(data, pos)
            pos += 2
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("StreamsGroupHeartbeatRequest", version, buf, start, cause) from cause


class Status(Fields):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = ("status_code", "status_detail", "unknown_tagged_fields")

    status_code: int
    """0 stale topology, 1 missing source topics, 2 incorrectly partitioned topics, 3 missing
    internal topics, 4 shutdown, 5 assignment delayed.
    """
    status_detail: str
    """Readable detail for the status."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        status_code: int = 0,
        status_detail: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail
        self.unknown_tagged_fields = unknown_tagged_fields


class StreamsGroupHeartbeatResponseTaskIds(Fields):
    """Part of StreamsGroupHeartbeatResponse."""

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


class StreamsGroupHeartbeatResponseEndpoint(Fields):
    """Part of StreamsGroupHeartbeatResponse."""

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


class TopicPartition(Fields):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = ("topic", "partitions", "unknown_tagged_fields")

    topic: str
    """Name of the topic."""
    partitions: list[int]
    """Numbers of partitions."""
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


class EndpointToPartitions(Fields):
    """Partitions of each endpoint; null when the member knows them."""

    __slots__ = (
        "user_endpoint",
        "active_partitions",
        "standby_partitions",
        "unknown_tagged_fields",
    )

    user_endpoint: StreamsGroupHeartbeatResponseEndpoint
    """Where the process answers queries of state (application.server); null when not set."""
    active_partitions: list[TopicPartition]
    """Partitions whose state is active there."""
    standby_partitions: list[TopicPartition]
    """Partitions of which there is a copy there."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        user_endpoint: StreamsGroupHeartbeatResponseEndpoint = MADE_ANEW,
        active_partitions: list[TopicPartition] = MADE_ANEW,
        standby_partitions: list[TopicPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.user_endpoint = StreamsGroupHeartbeatResponseEndpoint() if user_endpoint is MADE_ANEW else user_endpoint
        self.active_partitions = [] if active_partitions is MADE_ANEW else active_partitions
        self.standby_partitions = [] if standby_partitions is MADE_ANEW else standby_partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class StreamsGroupHeartbeatResponse(Fields):
    """The coordinator's answer to each heartbeat: the member's epoch, its tasks when they are new
    to it, and what is wrong with the topology (KIP-1071).
    """

    NAME: ClassVar[str] = "StreamsGroupHeartbeatResponse"
    API_KEY: ClassVar[int] = 88
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "acceptable_recovery_lag",
        "task_offset_interval_ms",
        "status",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "endpoint_information_epoch",
        "partitions_by_user_endpoint",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, NOT_COORDINATOR."""
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    member_id: str
    """Id that the member makes once and keeps while it lives."""
    member_epoch: int
    """Epoch of the member; in a heartbeat 0 joins, -1 leaves and -2 leaves for a while."""
    heartbeat_interval_ms: int
    """Pause in ms until the next heartbeat, set by the broker
    (group.streams.heartbeat.interval.ms).
    """
    acceptable_recovery_lag: int
    """Lag up to which a copy of state counts as caught up."""
    task_offset_interval_ms: int
    """How often in ms the member is to tell offsets of its tasks."""
    status: list[Status] | None
    """What is wrong, or what the member has to do; null when nothing is."""
    active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None
    """Active tasks that the member is to have; null when nothing changed."""
    standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None
    """Standby tasks that the member is to have; null when nothing changed."""
    warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None
    """Warm-up tasks that the member is to have; null when nothing changed."""
    endpoint_information_epoch: int
    """Epoch of the endpoints that the member knows; the answer has endpoints if the group's is
    another one.
    """
    partitions_by_user_endpoint: list[EndpointToPartitions] | None
    """Partitions of each endpoint; null when the member knows them."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = "",
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag: int = 0,
        task_offset_interval_ms: int = 0,
        status: list[Status] | None = MADE_ANEW,
        active_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        standby_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        warmup_tasks: list[StreamsGroupHeartbeatResponseTaskIds] | None = None,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.task_offset_interval_ms = task_offset_interval_ms
        self.status = [] if status is MADE_ANEW else status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupHeartbeatResponse", version, 0, 0)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            if self.error_message is None:
                out.append(0)
            else:
                raw = self.error_message.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            raw = self.member_id.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_iiii(
                self.member_epoch,
                self.heartbeat_interval_ms,
                self.acceptable_recovery_lag,
                self.task_offset_interval_ms,
            )
            if self.status is None:
                out.append(0)
            else:
                n = len(self.status) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for statu in self.status:
                    raw = statu.status_detail.encode()
                    out += _pack_b(statu.status_code)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if statu.unknown_tagged_fields:
                        write_tagged_fields(out, [], statu.unknown_tagged_fields)
                    else:
                        out.append(0)
            if self.active_tasks is None:
                out.append(0)
            else:
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
            if self.standby_tasks is None:
                out.append(0)
            else:
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
            if self.warmup_tasks is None:
                out.append(0)
            else:
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
            out += _pack_i(self.endpoint_information_epoch)
            if self.partitions_by_user_endpoint is None:
                out.append(0)
            else:
                n = len(self.partitions_by_user_endpoint) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for endpoint_to_partitions in self.partitions_by_user_endpoint:
                    raw = endpoint_to_partitions.user_endpoint.host.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_H(endpoint_to_partitions.user_endpoint.port)
                    if endpoint_to_partitions.user_endpoint.unknown_tagged_fields:
                        write_tagged_fields(out, [], endpoint_to_partitions.user_endpoint.unknown_tagged_fields)
                    else:
                        out.append(0)
                    n = len(endpoint_to_partitions.active_partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_partition in endpoint_to_partitions.active_partitions:
                        raw = active_partition.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(active_partition.partitions) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, active_partition.partitions)
                        if active_partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], active_partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    n = len(endpoint_to_partitions.standby_partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_partition in endpoint_to_partitions.standby_partitions:
                        raw = active_partition.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(active_partition.partitions) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, active_partition.partitions)
                        if active_partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], active_partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if endpoint_to_partitions.unknown_tagged_fields:
                        write_tagged_fields(out, [], endpoint_to_partitions.unknown_tagged_fields)
                    else:
                        out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupHeartbeatResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupHeartbeatResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupHeartbeatResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupHeartbeatResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
            pos += 7
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.error_message = None
            else:
                end = pos + n - 1
                m.error_message = data[pos:end].decode()
                pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.member_id = data[pos:end].decode()
            pos = end
            (
                m.member_epoch,
                m.heartbeat_interval_ms,
                m.acceptable_recovery_lag,
                m.task_offset_interval_ms,
                n,
            ) = _unpack_iiiiB(data, pos)
            pos += 17
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.status = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.status = statu_list = []
                statu_left = n - 1
                while statu_left:
                    statu_left -= 1
                    statu = new(Status)
                    statu_list.append(statu)
                    statu.status_code, n = _unpack_bB(data, pos)
                    pos += 2
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    statu.status_detail = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        statu.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        statu.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.active_tasks = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.active_tasks = active_task_list = []
                active_task_left = n - 1
                while active_task_left:
                    active_task_left -= 1
                    active_task = new(StreamsGroupHeartbeatResponseTaskIds)
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
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.standby_tasks = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.standby_tasks = active_task_list = []
                active_task_left = n - 1
                while active_task_left:
                    active_task_left -= 1
                    active_task = new(StreamsGroupHeartbeatResponseTaskIds)
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
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.warmup_tasks = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.warmup_tasks = active_task_list = []
                active_task_left = n - 1
                while active_task_left:
                    active_task_left -= 1
                    active_task = new(StreamsGroupHeartbeatResponseTaskIds)
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
            m.endpoint_information_epoch, n = _unpack_iB(data, pos)
            pos += 5
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.partitions_by_user_endpoint = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.partitions_by_user_endpoint = endpoint_to_partitions_list = []
                endpoint_to_partitions_left = n - 1
                while endpoint_to_partitions_left:
                    endpoint_to_partitions_left -= 1
                    endpoint_to_partitions = new(EndpointToPartitions)
                    endpoint_to_partitions_list.append(endpoint_to_partitions)
                    endpoint_to_partitions.user_endpoint = endpoint = new(StreamsGroupHeartbeatResponseEndpoint)
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
                    endpoint_to_partitions.active_partitions = active_partition_list = []
                    active_partition_left = n - 1
                    while active_partition_left:
                        active_partition_left -= 1
                        active_partition = new(TopicPartition)
                        active_partition_list.append(active_partition)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        active_partition.topic = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        active_partition.partitions, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if n:
                            active_partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            active_partition.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    endpoint_to_partitions.standby_partitions = active_partition_list = []
                    active_partition_left = n - 1
                    while active_partition_left:
                        active_partition_left -= 1
                        active_partition = new(TopicPartition)
                        active_partition_list.append(active_partition)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        active_partition.topic = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        active_partition.partitions, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if n:
                            active_partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            active_partition.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        endpoint_to_partitions.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        endpoint_to_partitions.unknown_tagged_fields = ()
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
            raise decode_failure("StreamsGroupHeartbeatResponse", version, buf, start, cause) from cause


__all__ = [
    "KeyValue",
    "TopicInfo",
    "CopartitionGroup",
    "Subtopology",
    "Topology",
    "StreamsGroupHeartbeatRequestTaskIds",
    "StreamsGroupHeartbeatRequestEndpoint",
    "TaskOffset",
    "StreamsGroupHeartbeatRequest",
    "Status",
    "StreamsGroupHeartbeatResponseTaskIds",
    "StreamsGroupHeartbeatResponseEndpoint",
    "TopicPartition",
    "EndpointToPartitions",
    "StreamsGroupHeartbeatResponse",
]
