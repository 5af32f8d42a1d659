# Generated from schemas/records/StreamsGroupTopologyKey.json (sha256 380f0bbcdea108d4)
# Generated from schemas/records/StreamsGroupTopologyValue.json (sha256 150d066010c6691a)
# by python -m fencepost_protocol.codegen. Do not edit.
"""StreamsGroupTopology (coordinator record 23)."""

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
    read_compact_string_array,
    read_int_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_int_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class StreamsGroupTopologyKey(Fields):
    """Key in __consumer_offsets of a streams group's topology (KIP-1071); a null value removes it.
    """

    NAME: ClassVar[str] = "StreamsGroupTopologyKey"
    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "unknown_tagged_fields")

    group_id: str
    """Streams group."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTopologyKey", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupTopologyKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupTopologyKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTopologyKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupTopologyKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group_id = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("StreamsGroupTopologyKey", version, buf, start, cause) from cause


class TopicConfig(Fields):
    """Part of StreamsGroupTopologyValue."""

    __slots__ = ("key", "value", "unknown_tagged_fields")

    key: str
    """Name of the setting."""
    value: str
    """Value of the setting."""
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
    """Part of StreamsGroupTopologyValue."""

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
    topic_configs: list[TopicConfig]
    """Settings of the topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[TopicConfig] = MADE_ANEW,
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


class StreamsGroupTopologyValue(Fields):
    """The topology that the members of a streams group run (KIP-1071)."""

    NAME: ClassVar[str] = "StreamsGroupTopologyValue"
    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

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

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTopologyValue", version, 0, 0)
            out += _pack_i(self.epoch)
            n = len(self.subtopologies) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for subtopology in self.subtopologies:
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
                    for topic_config in state_changelog_topic.topic_configs:
                        raw = topic_config.key.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = topic_config.value.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        if topic_config.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic_config.unknown_tagged_fields)
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
                    for topic_config in state_changelog_topic.topic_configs:
                        raw = topic_config.key.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = topic_config.value.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        if topic_config.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic_config.unknown_tagged_fields)
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
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("StreamsGroupTopologyValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[StreamsGroupTopologyValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("StreamsGroupTopologyValue", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(StreamsGroupTopologyValue)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.epoch, n = _unpack_iB(data, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.subtopologies = subtopology_list = []
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
                    state_changelog_topic.topic_configs = topic_config_list = []
                    topic_config_left = n - 1
                    while topic_config_left:
                        topic_config_left -= 1
                        topic_config = new(TopicConfig)
                        topic_config_list.append(topic_config)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic_config.key = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic_config.value = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            topic_config.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            topic_config.unknown_tagged_fields = ()
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
                    state_changelog_topic.topic_configs = topic_config_list = []
                    topic_config_left = n - 1
                    while topic_config_left:
                        topic_config_left -= 1
                        topic_config = new(TopicConfig)
                        topic_config_list.append(topic_config)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic_config.key = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic_config.value = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            topic_config.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            topic_config.unknown_tagged_fields = ()
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
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("StreamsGroupTopologyValue", version, buf, start, cause) from cause


__all__ = [
    "StreamsGroupTopologyKey",
    "TopicConfig",
    "TopicInfo",
    "CopartitionGroup",
    "Subtopology",
    "StreamsGroupTopologyValue",
]
