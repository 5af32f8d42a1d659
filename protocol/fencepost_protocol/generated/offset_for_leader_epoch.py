# Generated from schemas/messages/OffsetForLeaderEpochRequest.json (sha256 ad517afba1ec82a3)
# Generated from schemas/messages/OffsetForLeaderEpochResponse.json (sha256 131f1800e04c0539)
# by python -m fencepost_protocol.codegen. Do not edit.
"""OffsetForLeaderEpoch (API key 23)."""

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
    read_unknown_tags,
    too_many_elements,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hiiq = struct.Struct(">hiiq").unpack_from
_unpack_hiiqB = struct.Struct(">hiiqB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_unpack_iii = struct.Struct(">iii").unpack_from
_unpack_iiiB = struct.Struct(">iiiB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_hiiq = struct.Struct(">hiiq").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iii = struct.Struct(">iii").pack
new = object.__new__


class OffsetForLeaderPartition(Fields):
    """One lookup for each partition."""

    __slots__ = ("partition", "current_leader_epoch", "leader_epoch", "unknown_tagged_fields")

    partition: int
    """Partition number within the topic, counted from 0."""
    current_leader_epoch: int
    """Leader epoch the caller believes in (KIP-320): behind gives FENCED_LEADER_EPOCH, ahead
    UNKNOWN_LEADER_EPOCH, -1 skips the check.
    """
    leader_epoch: int
    """Epoch whose end is wanted, usually that of the last record read."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetForLeaderTopic(Fields):
    """Partitions to look up, grouped by topic."""

    __slots__ = ("topic", "partitions", "unknown_tagged_fields")

    topic: str
    """Topic whose partitions are looked up."""
    partitions: list[OffsetForLeaderPartition]
    """One lookup for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        partitions: list[OffsetForLeaderPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetForLeaderEpochRequest(Fields):
    """A follower or a consumer asks the leader where a leader epoch ends in its log, to find out
    whether its own position was truncated away (KIP-101, KIP-320).
    """

    NAME: ClassVar[str] = "OffsetForLeaderEpochRequest"
    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = ("replica_id", "topics", "unknown_tagged_fields")

    replica_id: int
    """Versions 3-4. Broker id of a follower, -1 for a consumer; -2 when not told, as before version
    3.
    """
    topics: list[OffsetForLeaderTopic]
    """Partitions to look up, grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        replica_id: int = -2,
        topics: list[OffsetForLeaderTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.replica_id = replica_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 2 <= version <= 4:
                raise unknown_version("OffsetForLeaderEpochRequest", version, 2, 4)
            if version >= 4:
                out += _pack_i(self.replica_id)
                n = len(self.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in self.topics:
                    raw = topic.topic.encode()
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
                        out += _pack_iii(
                            partition.partition,
                            partition.current_leader_epoch,
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
                if version >= 3:
                    out += _pack_i(self.replica_id)
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    raw = topic.topic.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_iii(
                            partition.partition,
                            partition.current_leader_epoch,
                            partition.leader_epoch,
                        )
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetForLeaderEpochRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetForLeaderEpochRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 2 <= version <= 4:
                raise unknown_version("OffsetForLeaderEpochRequest", version, 2, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetForLeaderEpochRequest)
            if version >= 4:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.replica_id, n = _unpack_iB(data, pos)
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
                    topic = new(OffsetForLeaderTopic)
                    topic_list.append(topic)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    topic.topic = data[pos:end].decode()
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
                        partition = new(OffsetForLeaderPartition)
                        partition_list.append(partition)
                        (
                            partition.partition,
                            partition.current_leader_epoch,
                            partition.leader_epoch,
                            n,
                        ) = _unpack_iiiB(data, pos)
                        pos += 13
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
                if version >= 3:
                    m.replica_id = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.replica_id = -2
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
                    topic = new(OffsetForLeaderTopic)
                    topic_list.append(topic)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic.topic = data[pos:end].decode()
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
                        partition = new(OffsetForLeaderPartition)
                        partition_list.append(partition)
                        partition.unknown_tagged_fields = ()
                        (
                            partition.partition,
                            partition.current_leader_epoch,
                            partition.leader_epoch,
                        ) = _unpack_iii(data, pos)
                        pos += 12
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("OffsetForLeaderEpochRequest", version, buf, start, cause) from cause


class EpochEndOffset(Fields):
    """One result for each partition asked for."""

    __slots__ = (
        "error_code",
        "partition",
        "leader_epoch",
        "end_offset",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER,
    UNKNOWN_TOPIC_OR_PARTITION.
    """
    partition: int
    """Partition number within the topic, counted from 0."""
    leader_epoch: int
    """Largest epoch in the log that is not above the one asked for; -1 when there is none."""
    end_offset: int
    """Offset at which that epoch ends, exclusive; -1 when unknown."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetForLeaderTopicResult(Fields):
    """What was found, grouped by topic."""

    __slots__ = ("topic", "partitions", "unknown_tagged_fields")

    topic: str
    """Topic the results are for."""
    partitions: list[EpochEndOffset]
    """One result for each partition asked for."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        partitions: list[EpochEndOffset] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetForLeaderEpochResponse(Fields):
    """Where the asked leader epochs end; an end below the caller's own position means that its log
    or position must be truncated.
    """

    NAME: ClassVar[str] = "OffsetForLeaderEpochResponse"
    API_KEY: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = ("throttle_time_ms", "topics", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    topics: list[OffsetForLeaderTopicResult]
    """What was found, grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetForLeaderTopicResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 2 <= version <= 4:
                raise unknown_version("OffsetForLeaderEpochResponse", version, 2, 4)
            if version >= 4:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in self.topics:
                    raw = topic.topic.encode()
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
                        out += _pack_hiiq(
                            partition.error_code,
                            partition.partition,
                            partition.leader_epoch,
                            partition.end_offset,
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
                out += _pack_ii(self.throttle_time_ms, len(self.topics))
                for topic in self.topics:
                    raw = topic.topic.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_hiiq(
                            partition.error_code,
                            partition.partition,
                            partition.leader_epoch,
                            partition.end_offset,
                        )
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetForLeaderEpochResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetForLeaderEpochResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 2 <= version <= 4:
                raise unknown_version("OffsetForLeaderEpochResponse", version, 2, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetForLeaderEpochResponse)
            if version >= 4:
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
                    topic = new(OffsetForLeaderTopicResult)
                    topic_list.append(topic)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    topic.topic = data[pos:end].decode()
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
                        partition = new(EpochEndOffset)
                        partition_list.append(partition)
                        (
                            partition.error_code,
                            partition.partition,
                            partition.leader_epoch,
                            partition.end_offset,
                            n,
                        ) = _unpack_hiiqB(data, pos)
                        pos += 19
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
                m.throttle_time_ms, n = _unpack_ii(data, pos)
                pos += 8
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n
                while topic_left:
                    topic_left -= 1
                    topic = new(OffsetForLeaderTopicResult)
                    topic_list.append(topic)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic.topic = data[pos:end].decode()
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
                        partition = new(EpochEndOffset)
                        partition_list.append(partition)
                        partition.unknown_tagged_fields = ()
                        (
                            partition.error_code,
                            partition.partition,
                            partition.leader_epoch,
                            partition.end_offset,
                        ) = _unpack_hiiq(data, pos)
                        pos += 18
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("OffsetForLeaderEpochResponse", version, buf, start, cause) from cause


__all__ = [
    "OffsetForLeaderPartition",
    "OffsetForLeaderTopic",
    "OffsetForLeaderEpochRequest",
    "EpochEndOffset",
    "OffsetForLeaderTopicResult",
    "OffsetForLeaderEpochResponse",
]
