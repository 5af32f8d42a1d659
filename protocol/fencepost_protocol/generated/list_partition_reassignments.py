# Generated from schemas/messages/ListPartitionReassignmentsRequest.json (sha256 2b60267fbb14eae1)
# Generated from schemas/messages/ListPartitionReassignmentsResponse.json (sha256 6d561de32ae33e05)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ListPartitionReassignments (API key 46)."""

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
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class ListPartitionReassignmentsTopics(Fields):
    """Partitions of interest, by topic; null means all that are moving."""

    __slots__ = ("name", "partition_indexes", "unknown_tagged_fields")

    name: str
    """Topic of interest."""
    partition_indexes: list[int]
    """Partition numbers of interest."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is MADE_ANEW else partition_indexes
        self.unknown_tagged_fields = unknown_tagged_fields


class ListPartitionReassignmentsRequest(Fields):
    """An admin client asks which partition moves are under way (KIP-455). Needs describe on the
    cluster.
    """

    NAME: ClassVar[str] = "ListPartitionReassignmentsRequest"
    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("timeout_ms", "topics", "unknown_tagged_fields")

    timeout_ms: int
    """Longest wait in ms for the answer."""
    topics: list[ListPartitionReassignmentsTopics] | None
    """Partitions of interest, by topic; null means all that are moving."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: list[ListPartitionReassignmentsTopics] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ListPartitionReassignmentsRequest", version, 0, 0)
            out += _pack_i(self.timeout_ms)
            if self.topics is None:
                out.append(0)
            else:
                n = len(self.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in self.topics:
                    raw = topic.name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(topic.partition_indexes) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, topic.partition_indexes)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListPartitionReassignmentsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListPartitionReassignmentsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ListPartitionReassignmentsRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListPartitionReassignmentsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.timeout_ms, n = _unpack_iB(data, pos)
            pos += 5
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.topics = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(ListPartitionReassignmentsTopics)
                    topic_list.append(topic)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    topic.name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.partition_indexes, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if n:
                        topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        topic.unknown_tagged_fields = ()
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
            raise decode_failure("ListPartitionReassignmentsRequest", version, buf, start, cause) from cause


class OngoingPartitionReassignment(Fields):
    """One entry for each moving partition."""

    __slots__ = (
        "partition_index",
        "replicas",
        "adding_replicas",
        "removing_replicas",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition number within the topic, counted from 0."""
    replicas: list[int]
    """All replicas at present, those to come and those to go included."""
    adding_replicas: list[int]
    """Brokers that must still catch up to join; part of Replicas."""
    removing_replicas: list[int]
    """Brokers that drop out at the end of the move; part of Replicas."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] = MADE_ANEW,
        adding_replicas: list[int] = MADE_ANEW,
        removing_replicas: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.replicas = [] if replicas is MADE_ANEW else replicas
        self.adding_replicas = [] if adding_replicas is MADE_ANEW else adding_replicas
        self.removing_replicas = [] if removing_replicas is MADE_ANEW else removing_replicas
        self.unknown_tagged_fields = unknown_tagged_fields


class OngoingTopicReassignment(Fields):
    """Moves under way, by topic; empty when there are none."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic of the moving partitions."""
    partitions: list[OngoingPartitionReassignment]
    """One entry for each moving partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[OngoingPartitionReassignment] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ListPartitionReassignmentsResponse(Fields):
    """The partition moves that are not complete yet; a partition at rest does not appear (KIP-455).
    """

    NAME: ClassVar[str] = "ListPartitionReassignmentsResponse"
    API_KEY: ClassVar[int] = 46
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "topics",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or a fault of the whole request such as CLUSTER_AUTHORIZATION_FAILED or NOT_CONTROLLER.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    topics: list[OngoingTopicReassignment]
    """Moves under way, by topic; empty when there are none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[OngoingTopicReassignment] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ListPartitionReassignmentsResponse", version, 0, 0)
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
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic in self.topics:
                raw = topic.name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(topic.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition in topic.partitions:
                    out += _pack_i(partition.partition_index)
                    n = len(partition.replicas) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, partition.replicas)
                    n = len(partition.adding_replicas) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, partition.adding_replicas)
                    n = len(partition.removing_replicas) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, partition.removing_replicas)
                    if partition.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.unknown_tagged_fields)
                    else:
                        out.append(0)
                if topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], topic.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListPartitionReassignmentsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListPartitionReassignmentsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("ListPartitionReassignmentsResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListPartitionReassignmentsResponse)
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
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(OngoingTopicReassignment)
                topic_list.append(topic)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                topic.name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partitions = partition_list = []
                partition_left = n - 1
                while partition_left:
                    partition_left -= 1
                    partition = new(OngoingPartitionReassignment)
                    partition_list.append(partition)
                    partition.partition_index, n = _unpack_iB(data, pos)
                    pos += 5
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.replicas, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.adding_replicas, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.removing_replicas, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if n:
                        partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        partition.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
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
            raise decode_failure("ListPartitionReassignmentsResponse", version, buf, start, cause) from cause


__all__ = [
    "ListPartitionReassignmentsTopics",
    "ListPartitionReassignmentsRequest",
    "OngoingPartitionReassignment",
    "OngoingTopicReassignment",
    "ListPartitionReassignmentsResponse",
]
