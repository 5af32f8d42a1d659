# Generated from schemas/messages/AssignReplicasToDirsRequest.json (sha256 22314e29fc3705fb)
# Generated from schemas/messages/AssignReplicasToDirsResponse.json (sha256 7e9ef754649e8454)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AssignReplicasToDirs (API key 73)."""

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
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iqB = struct.Struct(">iqB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_iq = struct.Struct(">iq").pack
new = object.__new__


class AssignReplicasToDirsRequestPartitionData(Fields):
    """Replicas of that topic in the directory."""

    __slots__ = ("partition_index", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.unknown_tagged_fields = unknown_tagged_fields


class AssignReplicasToDirsRequestTopicData(Fields):
    """Replicas in this directory, by topic."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[AssignReplicasToDirsRequestPartitionData]
    """Replicas of that topic in the directory."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AssignReplicasToDirsRequestPartitionData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AssignReplicasToDirsRequestDirectoryData(Fields):
    """Log directories with newly placed replicas."""

    __slots__ = ("id", "topics", "unknown_tagged_fields")

    id: bytes
    """UUID of the log directory, from its meta.properties."""
    topics: list[AssignReplicasToDirsRequestTopicData]
    """Replicas in this directory, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        topics: list[AssignReplicasToDirsRequestTopicData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.id = id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields


class AssignReplicasToDirsRequest(Fields):
    """A broker with several log directories reports to the active controller which directory holds
    which replica, so that a failed disk is attributed correctly (KIP-858).
    """

    NAME: ClassVar[str] = "AssignReplicasToDirsRequest"
    API_KEY: ClassVar[int] = 73
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("broker_id", "broker_epoch", "directories", "unknown_tagged_fields")

    broker_id: int
    """Broker that reports its directories."""
    broker_epoch: int
    """Epoch of the broker's registration; an outdated one gives STALE_BROKER_EPOCH."""
    directories: list[AssignReplicasToDirsRequestDirectoryData]
    """Log directories with newly placed replicas."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: list[AssignReplicasToDirsRequestDirectoryData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories = [] if directories is MADE_ANEW else directories
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AssignReplicasToDirsRequest", version, 0, 0)
            out += _pack_iq(self.broker_id, self.broker_epoch)
            n = len(self.directories) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for directory in self.directories:
                out += _pack_U(uuid_bytes(directory.id))
                n = len(directory.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in directory.topics:
                    out += _pack_U(uuid_bytes(topic.topic_id))
                    n = len(topic.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition in topic.partitions:
                        out += _pack_i(partition.partition_index)
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                if directory.unknown_tagged_fields:
                    write_tagged_fields(out, [], directory.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AssignReplicasToDirsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AssignReplicasToDirsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AssignReplicasToDirsRequest", version, 0, 0)
            size = len(buf)
            m = new(AssignReplicasToDirsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.broker_id, m.broker_epoch, n = _unpack_iqB(buf, pos)
            pos += 13
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.directories = directory_list = []
            directory_left = n - 1
            while directory_left:
                directory_left -= 1
                directory = new(AssignReplicasToDirsRequestDirectoryData)
                directory_list.append(directory)
                directory.id, n = _unpack_UB(buf, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                directory.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(AssignReplicasToDirsRequestTopicData)
                    topic_list.append(topic)
                    topic.topic_id, n = _unpack_UB(buf, pos)
                    pos += 17
                    if not n or n > 127:
                        n, pos = long_length(buf, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.partitions = partition_list = []
                    partition_left = n - 1
                    while partition_left:
                        partition_left -= 1
                        partition = new(AssignReplicasToDirsRequestPartitionData)
                        partition_list.append(partition)
                        partition.partition_index, n = _unpack_iB(buf, pos)
                        pos += 5
                        if n:
                            partition.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                        else:
                            partition.unknown_tagged_fields = ()
                    n = buf[pos]
                    pos += 1
                    if n:
                        topic.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                    else:
                        topic.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    directory.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    directory.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AssignReplicasToDirsRequest", version, buf, start, cause) from cause


class AssignReplicasToDirsResponsePartitionData(Fields):
    """One outcome for each replica."""

    __slots__ = ("partition_index", "error_code", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION, or NOT_LEADER_OR_FOLLOWER when the
    broker holds no replica of it.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields


class AssignReplicasToDirsResponseTopicData(Fields):
    """Outcome for this directory, by topic."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[AssignReplicasToDirsResponsePartitionData]
    """One outcome for each replica."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AssignReplicasToDirsResponsePartitionData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AssignReplicasToDirsResponseDirectoryData(Fields):
    """Outcome grouped by log directory, as in the request."""

    __slots__ = ("id", "topics", "unknown_tagged_fields")

    id: bytes
    """UUID of the log directory."""
    topics: list[AssignReplicasToDirsResponseTopicData]
    """Outcome for this directory, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        topics: list[AssignReplicasToDirsResponseTopicData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.id = id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields


class AssignReplicasToDirsResponse(Fields):
    """The controller's verdict on each replica placement of the request (KIP-858)."""

    NAME: ClassVar[str] = "AssignReplicasToDirsResponse"
    API_KEY: ClassVar[int] = 73
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "error_code", "directories", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms for the sender to sit out; between servers normally 0."""
    error_code: int
    """NONE, or why nothing was taken: STALE_BROKER_EPOCH, NOT_CONTROLLER,
    CLUSTER_AUTHORIZATION_FAILED.
    """
    directories: list[AssignReplicasToDirsResponseDirectoryData]
    """Outcome grouped by log directory, as in the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: list[AssignReplicasToDirsResponseDirectoryData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.directories = [] if directories is MADE_ANEW else directories
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AssignReplicasToDirsResponse", version, 0, 0)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            n = len(self.directories) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for directory in self.directories:
                out += _pack_U(uuid_bytes(directory.id))
                n = len(directory.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in directory.topics:
                    out += _pack_U(uuid_bytes(topic.topic_id))
                    n = len(topic.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition in topic.partitions:
                        out += _pack_ih(partition.partition_index, partition.error_code)
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                if directory.unknown_tagged_fields:
                    write_tagged_fields(out, [], directory.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AssignReplicasToDirsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AssignReplicasToDirsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("AssignReplicasToDirsResponse", version, 0, 0)
            size = len(buf)
            m = new(AssignReplicasToDirsResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(buf, pos)
            pos += 7
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.directories = directory_list = []
            directory_left = n - 1
            while directory_left:
                directory_left -= 1
                directory = new(AssignReplicasToDirsResponseDirectoryData)
                directory_list.append(directory)
                directory.id, n = _unpack_UB(buf, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                directory.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(AssignReplicasToDirsResponseTopicData)
                    topic_list.append(topic)
                    topic.topic_id, n = _unpack_UB(buf, pos)
                    pos += 17
                    if not n or n > 127:
                        n, pos = long_length(buf, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.partitions = partition_list = []
                    partition_left = n - 1
                    while partition_left:
                        partition_left -= 1
                        partition = new(AssignReplicasToDirsResponsePartitionData)
                        partition_list.append(partition)
                        partition.partition_index, partition.error_code, n = _unpack_ihB(buf, pos)
                        pos += 7
                        if n:
                            partition.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                        else:
                            partition.unknown_tagged_fields = ()
                    n = buf[pos]
                    pos += 1
                    if n:
                        topic.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                    else:
                        topic.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    directory.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    directory.unknown_tagged_fields = ()
            n = buf[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AssignReplicasToDirsResponse", version, buf, start, cause) from cause


__all__ = [
    "AssignReplicasToDirsRequestPartitionData",
    "AssignReplicasToDirsRequestTopicData",
    "AssignReplicasToDirsRequestDirectoryData",
    "AssignReplicasToDirsRequest",
    "AssignReplicasToDirsResponsePartitionData",
    "AssignReplicasToDirsResponseTopicData",
    "AssignReplicasToDirsResponseDirectoryData",
    "AssignReplicasToDirsResponse",
]
