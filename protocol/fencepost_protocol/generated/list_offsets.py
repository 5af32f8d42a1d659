# Generated from schemas/messages/ListOffsetsRequest.json (sha256 6dd0acec70606bbd)
# Generated from schemas/messages/ListOffsetsResponse.json (sha256 3709a5e182c5431b)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ListOffsets (API key 2)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
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
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ibB = struct.Struct(">ibB").unpack_from
_unpack_ihqq = struct.Struct(">ihqq").unpack_from
_unpack_ihqqiB = struct.Struct(">ihqqiB").unpack_from
_unpack_iiqB = struct.Struct(">iiqB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ib = struct.Struct(">ib").pack
_pack_ihqq = struct.Struct(">ihqq").pack
_pack_ihqqi = struct.Struct(">ihqqi").pack
_pack_iiq = struct.Struct(">iiq").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class ListOffsetsPartition(Fields):
    """One lookup for each partition."""

    __slots__ = ("partition_index", "current_leader_epoch", "timestamp", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    current_leader_epoch: int
    """Versions 4-11. Leader epoch the caller believes in (KIP-320): behind gives
    FENCED_LEADER_EPOCH, ahead UNKNOWN_LEADER_EPOCH, -1 skips the check.
    """
    timestamp: int
    """Time in ms since 1970, or -1 latest, -2 earliest, -3 maximum timestamp (7+), -4 earliest
    local (8+), -5 last tiered (9+), -6 earliest pending upload (11+).
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp
        self.unknown_tagged_fields = unknown_tagged_fields


class ListOffsetsTopic(Fields):
    """Partitions to look up, grouped by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic to look up; an unknown one gets UNKNOWN_TOPIC_OR_PARTITION."""
    partitions: list[ListOffsetsPartition]
    """One lookup for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[ListOffsetsPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ListOffsetsRequest(Fields):
    """A client asks the partition leader for the offset that belongs to a timestamp or to a special
    position such as earliest or latest.
    """

    NAME: ClassVar[str] = "ListOffsetsRequest"
    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    __slots__ = (
        "replica_id",
        "isolation_level",
        "topics",
        "timeout_ms",
        "unknown_tagged_fields",
    )

    replica_id: int
    """Broker id of a follower; -1 for a client."""
    isolation_level: int
    """Versions 2-11. Decides what latest (Timestamp -1) means: 0 the high watermark, 1 the last
    stable offset.
    """
    topics: list[ListOffsetsTopic]
    """Partitions to look up, grouped by topic."""
    timeout_ms: int
    """Versions 10-11. Longest wait in ms for a lookup in tiered storage (KIP-1075)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsTopic] = MADE_ANEW,
        timeout_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = [] if topics is MADE_ANEW else topics
        self.timeout_ms = timeout_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 11:
                raise unknown_version("ListOffsetsRequest", version, 1, 11)
            if version >= 6:
                out += _pack_ib(self.replica_id, self.isolation_level)
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
                        out += _pack_iiq(
                            partition.partition_index,
                            partition.current_leader_epoch,
                            partition.timestamp,
                        )
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                if version >= 10:
                    out += _pack_i(self.timeout_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(self.replica_id)
                if version >= 2:
                    out += _pack_b(self.isolation_level)
                elif self.isolation_level != 0:
                    raise not_in_version("isolation_level", "2-11")
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_i(partition.partition_index)
                        if version >= 4:
                            out += _pack_i(partition.current_leader_epoch)
                        out += _pack_q(partition.timestamp)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListOffsetsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListOffsetsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 11:
                raise unknown_version("ListOffsetsRequest", version, 1, 11)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListOffsetsRequest)
            if version >= 6:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.replica_id, m.isolation_level, n = _unpack_ibB(data, pos)
                pos += 6
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(ListOffsetsTopic)
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
                        partition = new(ListOffsetsPartition)
                        partition_list.append(partition)
                        (
                            partition.partition_index,
                            partition.current_leader_epoch,
                            partition.timestamp,
                            n,
                        ) = _unpack_iiqB(data, pos)
                        pos += 17
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
                if version >= 10:
                    m.timeout_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.timeout_ms = 0
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.timeout_ms = 0
                m.replica_id = _unpack_i(data, pos)[0]
                pos += 4
                if version >= 2:
                    m.isolation_level = (data[pos] ^ 128) - 128
                    pos += 1
                else:
                    m.isolation_level = 0
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n
                while topic_left:
                    topic_left -= 1
                    topic = new(ListOffsetsTopic)
                    topic_list.append(topic)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic.name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.partitions = partition_list = []
                    partition_left = n
                    while partition_left:
                        partition_left -= 1
                        partition = new(ListOffsetsPartition)
                        partition_list.append(partition)
                        partition.partition_index = _unpack_i(data, pos)[0]
                        pos += 4
                        if version >= 4:
                            partition.current_leader_epoch = _unpack_i(data, pos)[0]
                            pos += 4
                        else:
                            partition.current_leader_epoch = -1
                        partition.unknown_tagged_fields = ()
                        partition.timestamp = _unpack_q(data, pos)[0]
                        pos += 8
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ListOffsetsRequest", version, buf, start, cause) from cause


class ListOffsetsPartitionResponse(Fields):
    """One result for each partition asked for."""

    __slots__ = (
        "partition_index",
        "error_code",
        "timestamp",
        "offset",
        "leader_epoch",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or e.g. NOT_LEADER_OR_FOLLOWER, OFFSET_NOT_AVAILABLE; UNSUPPORTED_VERSION for a special
    Timestamp this version lacks.
    """
    timestamp: int
    """Timestamp in ms of the record found; -1 if nothing matched, and for latest or earliest."""
    offset: int
    """First offset at or after the time asked for, or the special position; -1 if nothing matched.
    """
    leader_epoch: int
    """Versions 4-11. Leader epoch in which the record at Offset was written (KIP-320); -1 when
    unknown.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class ListOffsetsTopicResponse(Fields):
    """What was found, grouped by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic the results are for."""
    partitions: list[ListOffsetsPartitionResponse]
    """One result for each partition asked for."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[ListOffsetsPartitionResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ListOffsetsResponse(Fields):
    """The offsets found for a ListOffsetsRequest. Finding nothing is no error: NONE with offset -1.
    """

    NAME: ClassVar[str] = "ListOffsetsResponse"
    API_KEY: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    __slots__ = ("throttle_time_ms", "topics", "unknown_tagged_fields")

    throttle_time_ms: int
    """Versions 2-11. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    topics: list[ListOffsetsTopicResponse]
    """What was found, grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsTopicResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 11:
                raise unknown_version("ListOffsetsResponse", version, 1, 11)
            if version >= 6:
                out += _pack_i(self.throttle_time_ms)
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
                        out += _pack_ihqqi(
                            partition.partition_index,
                            partition.error_code,
                            partition.timestamp,
                            partition.offset,
                            partition.leader_epoch,
                        )
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
            else:
                if version >= 2:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_ihqq(
                            partition.partition_index,
                            partition.error_code,
                            partition.timestamp,
                            partition.offset,
                        )
                        if version >= 4:
                            out += _pack_i(partition.leader_epoch)
                        elif partition.leader_epoch != -1:
                            raise not_in_version("topics.partitions.leader_epoch", "4-11")
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListOffsetsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListOffsetsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 11:
                raise unknown_version("ListOffsetsResponse", version, 1, 11)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListOffsetsResponse)
            if version >= 6:
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
                    topic = new(ListOffsetsTopicResponse)
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
                        partition = new(ListOffsetsPartitionResponse)
                        partition_list.append(partition)
                        (
                            partition.partition_index,
                            partition.error_code,
                            partition.timestamp,
                            partition.offset,
                            partition.leader_epoch,
                            n,
                        ) = _unpack_ihqqiB(data, pos)
                        pos += 27
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
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version >= 2:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n
                while topic_left:
                    topic_left -= 1
                    topic = new(ListOffsetsTopicResponse)
                    topic_list.append(topic)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic.name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.partitions = partition_list = []
                    partition_left = n
                    while partition_left:
                        partition_left -= 1
                        partition = new(ListOffsetsPartitionResponse)
                        partition_list.append(partition)
                        (
                            partition.partition_index,
                            partition.error_code,
                            partition.timestamp,
                            partition.offset,
                        ) = _unpack_ihqq(data, pos)
                        pos += 22
                        if version >= 4:
                            partition.leader_epoch = _unpack_i(data, pos)[0]
                            pos += 4
                        else:
                            partition.leader_epoch = -1
                        partition.unknown_tagged_fields = ()
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ListOffsetsResponse", version, buf, start, cause) from cause


__all__ = [
    "ListOffsetsPartition",
    "ListOffsetsTopic",
    "ListOffsetsRequest",
    "ListOffsetsPartitionResponse",
    "ListOffsetsTopicResponse",
    "ListOffsetsResponse",
]
