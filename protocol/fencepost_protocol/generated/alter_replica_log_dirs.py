# Generated from schemas/messages/AlterReplicaLogDirsRequest.json (sha256 d33502f8f10fa87f)
# Generated from schemas/messages/AlterReplicaLogDirsResponse.json (sha256 c5efec229fb2f956)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AlterReplicaLogDirs (API key 34)."""

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
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class AlterReplicaLogDirTopic(Fields):
    """Partitions to move to this directory, by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic whose replicas move."""
    partitions: list[int]
    """Partition numbers of the replicas to move."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterReplicaLogDir(Fields):
    """Target directories with the replicas to be moved there."""

    __slots__ = ("path", "topics", "unknown_tagged_fields")

    path: str
    """Absolute path of one of this broker's log directories; an unknown one gives
    LOG_DIR_NOT_FOUND.
    """
    topics: list[AlterReplicaLogDirTopic]
    """Partitions to move to this directory, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        path: str = "",
        topics: list[AlterReplicaLogDirTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.path = path
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterReplicaLogDirsRequest(Fields):
    """An admin client tells a broker to keep its own replicas in other log directories; the copy
    goes on in the background (KIP-113).
    """

    NAME: ClassVar[str] = "AlterReplicaLogDirsRequest"
    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("dirs", "unknown_tagged_fields")

    dirs: list[AlterReplicaLogDir]
    """Target directories with the replicas to be moved there."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        dirs: list[AlterReplicaLogDir] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.dirs = [] if dirs is MADE_ANEW else dirs
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("AlterReplicaLogDirsRequest", version, 1, 2)
            if version >= 2:
                n = len(self.dirs) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for dir in self.dirs:
                    raw = dir.path.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(dir.topics) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for topic in dir.topics:
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
                        write_int32_array(out, topic.partitions)
                        if topic.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if dir.unknown_tagged_fields:
                        write_tagged_fields(out, [], dir.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.dirs))
                for dir in self.dirs:
                    raw = dir.path.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(dir.topics))
                    for topic in dir.topics:
                        raw = topic.name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_i(len(topic.partitions))
                        write_int32_array(out, topic.partitions)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterReplicaLogDirsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterReplicaLogDirsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("AlterReplicaLogDirsRequest", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterReplicaLogDirsRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.dirs = dir_list = []
                dir_left = n - 1
                while dir_left:
                    dir_left -= 1
                    dir = new(AlterReplicaLogDir)
                    dir_list.append(dir)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    dir.path = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    dir.topics = topic_list = []
                    topic_left = n - 1
                    while topic_left:
                        topic_left -= 1
                        topic = new(AlterReplicaLogDirTopic)
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
                        topic.partitions, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if n:
                            topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            topic.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        dir.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        dir.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.dirs = dir_list = []
                dir_left = n
                while dir_left:
                    dir_left -= 1
                    dir = new(AlterReplicaLogDir)
                    dir_list.append(dir)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    dir.path = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    dir.topics = topic_list = []
                    topic_left = n
                    while topic_left:
                        topic_left -= 1
                        topic = new(AlterReplicaLogDirTopic)
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
                        topic.partitions, pos = read_int32_array(data, pos, n)
                        topic.unknown_tagged_fields = ()
                    dir.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterReplicaLogDirsRequest", version, buf, start, cause) from cause


class AlterReplicaLogDirPartitionResult(Fields):
    """One outcome for each replica."""

    __slots__ = ("partition_index", "error_code", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE (move begun), or LOG_DIR_NOT_FOUND, KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE (not on
    this broker), CLUSTER_AUTHORIZATION_FAILED.
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


class AlterReplicaLogDirTopicResult(Fields):
    """Outcome grouped by topic."""

    __slots__ = ("topic_name", "partitions", "unknown_tagged_fields")

    topic_name: str
    """Topic the outcome is for."""
    partitions: list[AlterReplicaLogDirPartitionResult]
    """One outcome for each replica."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[AlterReplicaLogDirPartitionResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterReplicaLogDirsResponse(Fields):
    """Tells for each replica whether the move was accepted; DescribeLogDirs shows how far it has
    got (KIP-113).
    """

    NAME: ClassVar[str] = "AlterReplicaLogDirsResponse"
    API_KEY: ClassVar[int] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("throttle_time_ms", "results", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    results: list[AlterReplicaLogDirTopicResult]
    """Outcome grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirTopicResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("AlterReplicaLogDirsResponse", version, 1, 2)
            if version >= 2:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.results) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for result in self.results:
                    raw = result.topic_name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(result.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition in result.partitions:
                        out += _pack_ih(partition.partition_index, partition.error_code)
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if result.unknown_tagged_fields:
                        write_tagged_fields(out, [], result.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ii(self.throttle_time_ms, len(self.results))
                for result in self.results:
                    raw = result.topic_name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(result.partitions))
                    for partition in result.partitions:
                        out += _pack_ih(partition.partition_index, partition.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterReplicaLogDirsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterReplicaLogDirsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("AlterReplicaLogDirsResponse", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterReplicaLogDirsResponse)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.results = result_list = []
                result_left = n - 1
                while result_left:
                    result_left -= 1
                    result = new(AlterReplicaLogDirTopicResult)
                    result_list.append(result)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    result.topic_name = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    result.partitions = partition_list = []
                    partition_left = n - 1
                    while partition_left:
                        partition_left -= 1
                        partition = new(AlterReplicaLogDirPartitionResult)
                        partition_list.append(partition)
                        partition.partition_index, partition.error_code, n = _unpack_ihB(data, pos)
                        pos += 7
                        if n:
                            partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            partition.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        result.unknown_tagged_fields = ()
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
                m.results = result_list = []
                result_left = n
                while result_left:
                    result_left -= 1
                    result = new(AlterReplicaLogDirTopicResult)
                    result_list.append(result)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    result.topic_name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    result.partitions = partition_list = []
                    partition_left = n
                    while partition_left:
                        partition_left -= 1
                        partition = new(AlterReplicaLogDirPartitionResult)
                        partition_list.append(partition)
                        partition.unknown_tagged_fields = ()
                        partition.partition_index, partition.error_code = _unpack_ih(data, pos)
                        pos += 6
                    result.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterReplicaLogDirsResponse", version, buf, start, cause) from cause


__all__ = [
    "AlterReplicaLogDirTopic",
    "AlterReplicaLogDir",
    "AlterReplicaLogDirsRequest",
    "AlterReplicaLogDirPartitionResult",
    "AlterReplicaLogDirTopicResult",
    "AlterReplicaLogDirsResponse",
]
