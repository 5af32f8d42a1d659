# Generated from schemas/messages/DescribeTopicPartitionsRequest.json (sha256 c7b148e9494b4732)
# Generated from schemas/messages/DescribeTopicPartitionsResponse.json (sha256 b33525b2f88f6d70)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeTopicPartitions (API key 75)."""

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
    long_nullable_string_length,
    long_string_length,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_UtB = struct.Struct(">16s?B").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hiiiB = struct.Struct(">hiiiB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ib = struct.Struct(">ib").unpack_from
_pack_Ut = struct.Struct(">16s?").pack
_pack_b = struct.Struct(">b").pack
_pack_h = struct.Struct(">h").pack
_pack_hiii = struct.Struct(">hiii").pack
_pack_i = struct.Struct(">i").pack
new = object.__new__


class TopicRequest(Fields):
    """Topics to describe; empty means all. The answer is sorted by name."""

    __slots__ = ("name", "unknown_tagged_fields")

    name: str
    """Topic to describe."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeTopicPartitionsRequestCursor(Fields):
    """Where to go on, copied from NextCursor; null begins at the start."""

    __slots__ = ("topic_name", "partition_index", "unknown_tagged_fields")

    topic_name: str
    """First topic of this page; topics sorted before it are skipped."""
    partition_index: int
    """First partition of that topic to list."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeTopicPartitionsRequest(Fields):
    """A client asks for topic details page by page, including the eligible leader replicas that
    Metadata does not show (KIP-966).
    """

    NAME: ClassVar[str] = "DescribeTopicPartitionsRequest"
    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("topics", "response_partition_limit", "cursor", "unknown_tagged_fields")

    topics: list[TopicRequest]
    """Topics to describe; empty means all. The answer is sorted by name."""
    response_partition_limit: int
    """Most partitions in one answer; the broker lowers it to max.request.partition.size.limit."""
    cursor: DescribeTopicPartitionsRequestCursor | None
    """Where to go on, copied from NextCursor; null begins at the start."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[TopicRequest] = MADE_ANEW,
        response_partition_limit: int = 2000,
        cursor: DescribeTopicPartitionsRequestCursor | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeTopicPartitionsRequest", version, 0, 0)
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
                if topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], topic.unknown_tagged_fields)
                else:
                    out.append(0)
            out += _pack_i(self.response_partition_limit)
            if self.cursor is None:
                out += _pack_b(-1)
            else:
                raw = self.cursor.topic_name.encode()
                out += _pack_b(1)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_i(self.cursor.partition_index)
                if self.cursor.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.cursor.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeTopicPartitionsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeTopicPartitionsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeTopicPartitionsRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeTopicPartitionsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
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
                topic = new(TopicRequest)
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
                if n:
                    topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
            m.response_partition_limit, n = _unpack_ib(data, pos)
            pos += 5
            if n < 0:
                m.cursor = None
            else:
                m.cursor = cursor = new(DescribeTopicPartitionsRequestCursor)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                cursor.topic_name = data[pos:end].decode()
                pos = end
                cursor.partition_index, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    cursor.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    cursor.unknown_tagged_fields = ()
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
            raise decode_failure("DescribeTopicPartitionsRequest", version, buf, start, cause) from cause


class DescribeTopicPartitionsResponsePartition(Fields):
    """Partitions of the topic that fit on this page."""

    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "eligible_leader_replicas",
        "last_known_elr",
        "offline_replicas",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or why this partition could not be described."""
    partition_index: int
    """Partition number within the topic, counted from 0."""
    leader_id: int
    """Broker to produce to and fetch from; -1 while there is no leader."""
    leader_epoch: int
    """Grows with every change of leader (KIP-320); -1 when unknown."""
    replica_nodes: list[int]
    """Broker ids that hold a copy, the preferred leader first."""
    isr_nodes: list[int]
    """Broker ids of the copies that are in sync."""
    eligible_leader_replicas: list[int] | None
    """Broker ids outside the ISR that may still lead without data loss (KIP-966); null when not
    known.
    """
    last_known_elr: list[int] | None
    """Broker ids that were eligible until an unclean shutdown (KIP-966); null when not known."""
    offline_replicas: list[int]
    """Broker ids whose copy is out of reach, because the broker is down or its disk failed."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = MADE_ANEW,
        isr_nodes: list[int] = MADE_ANEW,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is MADE_ANEW else replica_nodes
        self.isr_nodes = [] if isr_nodes is MADE_ANEW else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = [] if offline_replicas is MADE_ANEW else offline_replicas
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeTopicPartitionsResponseTopic(Fields):
    """Topics of this page, sorted by name; the last one may be incomplete."""

    __slots__ = (
        "error_code",
        "name",
        "topic_id",
        "is_internal",
        "partitions",
        "topic_authorized_operations",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or why it has no details: UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION,
    TOPIC_AUTHORIZATION_FAILED.
    """
    name: str | None
    """Topic described."""
    topic_id: bytes
    """UUID the topic was created with; all zero when unknown or not to be revealed."""
    is_internal: bool
    """True for topics of the brokers themselves, such as __consumer_offsets and
    __transaction_state.
    """
    partitions: list[DescribeTopicPartitionsResponsePartition]
    """Partitions of the topic that fit on this page."""
    topic_authorized_operations: int
    """Bit field of what the caller may do, bit number = ACL operation code; -2147483648 when not
    filled in.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = MADE_ANEW,
        topic_authorized_operations: int = -2147483648,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.topic_authorized_operations = topic_authorized_operations
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeTopicPartitionsResponseCursor(Fields):
    """Where the next page begins, to be sent as Cursor; null when this was the last page."""

    __slots__ = ("topic_name", "partition_index", "unknown_tagged_fields")

    topic_name: str
    """Topic the next page begins with."""
    partition_index: int
    """Partition of that topic the next page begins with."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeTopicPartitionsResponse(Fields):
    """One page of topic and partition details, with a cursor when there is more (KIP-966)."""

    NAME: ClassVar[str] = "DescribeTopicPartitionsResponse"
    API_KEY: ClassVar[int] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "topics", "next_cursor", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    topics: list[DescribeTopicPartitionsResponseTopic]
    """Topics of this page, sorted by name; the last one may be incomplete."""
    next_cursor: DescribeTopicPartitionsResponseCursor | None
    """Where the next page begins, to be sent as Cursor; null when this was the last page."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = MADE_ANEW,
        next_cursor: DescribeTopicPartitionsResponseCursor | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.next_cursor = next_cursor
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeTopicPartitionsResponse", version, 0, 0)
            out += _pack_i(self.throttle_time_ms)
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic in self.topics:
                out += _pack_h(topic.error_code)
                if topic.name is None:
                    out.append(0)
                else:
                    raw = topic.name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                out += _pack_Ut(uuid_bytes(topic.topic_id), topic.is_internal)
                n = len(topic.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition in topic.partitions:
                    out += _pack_hiii(
                        partition.error_code,
                        partition.partition_index,
                        partition.leader_id,
                        partition.leader_epoch,
                    )
                    n = len(partition.replica_nodes) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, partition.replica_nodes)
                    n = len(partition.isr_nodes) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, partition.isr_nodes)
                    if partition.eligible_leader_replicas is None:
                        out.append(0)
                    else:
                        n = len(partition.eligible_leader_replicas) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, partition.eligible_leader_replicas)
                    if partition.last_known_elr is None:
                        out.append(0)
                    else:
                        n = len(partition.last_known_elr) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, partition.last_known_elr)
                    n = len(partition.offline_replicas) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, partition.offline_replicas)
                    if partition.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_i(topic.topic_authorized_operations)
                if topic.unknown_tagged_fields:
                    write_tagged_fields(out, [], topic.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.next_cursor is None:
                out += _pack_b(-1)
            else:
                raw = self.next_cursor.topic_name.encode()
                out += _pack_b(1)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_i(self.next_cursor.partition_index)
                if self.next_cursor.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.next_cursor.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeTopicPartitionsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeTopicPartitionsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeTopicPartitionsResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeTopicPartitionsResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, n = _unpack_iB(data, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(DescribeTopicPartitionsResponseTopic)
                topic_list.append(topic)
                topic.error_code, n = _unpack_hB(data, pos)
                pos += 3
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    topic.name = None
                else:
                    end = pos + n - 1
                    topic.name = data[pos:end].decode()
                    pos = end
                topic.topic_id, topic.is_internal, n = _unpack_UtB(data, pos)
                pos += 18
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partitions = partition_list = []
                partition_left = n - 1
                while partition_left:
                    partition_left -= 1
                    partition = new(DescribeTopicPartitionsResponsePartition)
                    partition_list.append(partition)
                    (
                        partition.error_code,
                        partition.partition_index,
                        partition.leader_id,
                        partition.leader_epoch,
                        n,
                    ) = _unpack_hiiiB(data, pos)
                    pos += 15
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.replica_nodes, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.isr_nodes, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    if not n:
                        partition.eligible_leader_replicas = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.eligible_leader_replicas, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    if not n:
                        partition.last_known_elr = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.last_known_elr, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.offline_replicas, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if n:
                        partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        partition.unknown_tagged_fields = ()
                topic.topic_authorized_operations, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
            n = (data[pos] ^ 128) - 128
            pos += 1
            if n < 0:
                m.next_cursor = None
            else:
                m.next_cursor = cursor = new(DescribeTopicPartitionsResponseCursor)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                cursor.topic_name = data[pos:end].decode()
                pos = end
                cursor.partition_index, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    cursor.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    cursor.unknown_tagged_fields = ()
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
            raise decode_failure("DescribeTopicPartitionsResponse", version, buf, start, cause) from cause


__all__ = [
    "TopicRequest",
    "DescribeTopicPartitionsRequestCursor",
    "DescribeTopicPartitionsRequest",
    "DescribeTopicPartitionsResponsePartition",
    "DescribeTopicPartitionsResponseTopic",
    "DescribeTopicPartitionsResponseCursor",
    "DescribeTopicPartitionsResponse",
]
