# Generated from schemas/messages/DescribeLogDirsRequest.json (sha256 22fa85cdb627af0f)
# Generated from schemas/messages/DescribeLogDirsResponse.json (sha256 152e21b9f91457c8)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeLogDirs (API key 35)."""

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
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_unpack_iqqt = struct.Struct(">iqq?").unpack_from
_unpack_iqqtB = struct.Struct(">iqq?B").unpack_from
_unpack_qq = struct.Struct(">qq").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_h = struct.Struct(">h").pack
_pack_hh = struct.Struct(">hh").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iqqt = struct.Struct(">iqq?").pack
_pack_qq = struct.Struct(">qq").pack
new = object.__new__


class DescribableLogDirTopic(Fields):
    """Partitions of interest, by topic; null means all the broker has."""

    __slots__ = ("topic", "partitions", "unknown_tagged_fields")

    topic: str
    """Topic of interest; one the broker does not hold is left out."""
    partitions: list[int]
    """Partition numbers of interest."""
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


class DescribeLogDirsRequest(Fields):
    """An admin client asks one broker what its log directories hold (KIP-113). Needs describe on
    the cluster.
    """

    NAME: ClassVar[str] = "DescribeLogDirsRequest"
    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("topics", "unknown_tagged_fields")

    topics: list[DescribableLogDirTopic] | None
    """Partitions of interest, by topic; null means all the broker has."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[DescribableLogDirTopic] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 5:
                raise unknown_version("DescribeLogDirsRequest", version, 1, 5)
            if version >= 2:
                if self.topics is None:
                    out.append(0)
                else:
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
                        write_int32_array(out, topic.partitions)
                        if topic.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic.unknown_tagged_fields)
                        else:
                            out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.topics is None:
                    out += _pack_i(-1)
                else:
                    out += _pack_i(len(self.topics))
                    for topic in self.topics:
                        raw = topic.topic.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_i(len(topic.partitions))
                        write_int32_array(out, topic.partitions)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeLogDirsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeLogDirsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 5:
                raise unknown_version("DescribeLogDirsRequest", version, 1, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeLogDirsRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
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
                        topic = new(DescribableLogDirTopic)
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
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    m.topics = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.topics = topic_list = []
                    topic_left = n
                    while topic_left:
                        topic_left -= 1
                        topic = new(DescribableLogDirTopic)
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
                        topic.partitions, pos = read_int32_array(data, pos, n)
                        topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeLogDirsRequest", version, buf, start, cause) from cause


class DescribeLogDirsPartition(Fields):
    """One entry for each replica."""

    __slots__ = (
        "partition_index",
        "partition_size",
        "offset_lag",
        "is_future_key",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition number within the topic, counted from 0."""
    partition_size: int
    """Bytes taken by the log segments of this replica."""
    offset_lag: int
    """Offsets still missing: behind the high watermark, or for a future replica behind the current
    one.
    """
    is_future_key: bool
    """True for a copy made by AlterReplicaLogDirs that will take over once it has caught up."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeLogDirsTopic(Fields):
    """Replicas found in it, by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic the replicas belong to."""
    partitions: list[DescribeLogDirsPartition]
    """One entry for each replica."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[DescribeLogDirsPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeLogDirsResult(Fields):
    """One entry for each log directory of this broker."""

    __slots__ = (
        "error_code",
        "log_dir",
        "topics",
        "total_bytes",
        "usable_bytes",
        "is_cordoned",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or KAFKA_STORAGE_ERROR when the directory is offline."""
    log_dir: str
    """Absolute path of the directory."""
    topics: list[DescribeLogDirsTopic]
    """Replicas found in it, by topic."""
    total_bytes: int
    """Versions 4-5. How large the volume under the directory is, in bytes (KIP-827); -1 when
    unknown.
    """
    usable_bytes: int
    """Versions 4-5. Bytes still free on that volume (KIP-827); -1 when unknown."""
    is_cordoned: bool
    """Versions 5. True when the directory takes no new replicas (KIP-1066)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = "",
        topics: list[DescribeLogDirsTopic] = MADE_ANEW,
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = [] if topics is MADE_ANEW else topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeLogDirsResponse(Fields):
    """A broker's log directories with the size of each replica in them, moves in progress included
    (KIP-113).
    """

    NAME: ClassVar[str] = "DescribeLogDirsResponse"
    API_KEY: ClassVar[int] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("throttle_time_ms", "error_code", "results", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """Versions 3-5. NONE, or a fault of the whole request such as CLUSTER_AUTHORIZATION_FAILED,
    which looks like an empty list before version 3.
    """
    results: list[DescribeLogDirsResult]
    """One entry for each log directory of this broker."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 5:
                raise unknown_version("DescribeLogDirsResponse", version, 1, 5)
            if version >= 2:
                out += _pack_i(self.throttle_time_ms)
                if version >= 3:
                    out += _pack_h(self.error_code)
                n = len(self.results) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for result in self.results:
                    raw = result.log_dir.encode()
                    out += _pack_h(result.error_code)
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(result.topics) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for topic in result.topics:
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
                            out += _pack_iqqt(
                                partition.partition_index,
                                partition.partition_size,
                                partition.offset_lag,
                                partition.is_future_key,
                            )
                            if partition.unknown_tagged_fields:
                                write_tagged_fields(out, [], partition.unknown_tagged_fields)
                            else:
                                out.append(0)
                        if topic.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if version >= 4:
                        out += _pack_qq(result.total_bytes, result.usable_bytes)
                    if version >= 5:
                        out += _pack_t(result.is_cordoned)
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
                    raw = result.log_dir.encode()
                    out += _pack_hh(result.error_code, len(raw))
                    out += raw
                    out += _pack_i(len(result.topics))
                    for topic in result.topics:
                        raw = topic.name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_i(len(topic.partitions))
                        for partition in topic.partitions:
                            out += _pack_iqqt(
                                partition.partition_index,
                                partition.partition_size,
                                partition.offset_lag,
                                partition.is_future_key,
                            )
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeLogDirsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeLogDirsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 5:
                raise unknown_version("DescribeLogDirsResponse", version, 1, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeLogDirsResponse)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms = _unpack_i(data, pos)[0]
                pos += 4
                if version >= 3:
                    m.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                else:
                    m.error_code = 0
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.results = result_list = []
                result_left = n - 1
                while result_left:
                    result_left -= 1
                    result = new(DescribeLogDirsResult)
                    result_list.append(result)
                    result.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    result.log_dir = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    result.topics = topic_list = []
                    topic_left = n - 1
                    while topic_left:
                        topic_left -= 1
                        topic = new(DescribeLogDirsTopic)
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
                            partition = new(DescribeLogDirsPartition)
                            partition_list.append(partition)
                            (
                                partition.partition_index,
                                partition.partition_size,
                                partition.offset_lag,
                                partition.is_future_key,
                                n,
                            ) = _unpack_iqqtB(data, pos)
                            pos += 22
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
                    if version >= 4:
                        result.total_bytes, result.usable_bytes = _unpack_qq(data, pos)
                        pos += 16
                    else:
                        result.total_bytes = -1
                        result.usable_bytes = -1
                    if version >= 5:
                        result.is_cordoned = data[pos] != 0
                        pos += 1
                    else:
                        result.is_cordoned = False
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
                m.error_code = 0
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
                    result = new(DescribeLogDirsResult)
                    result_list.append(result)
                    result.total_bytes = -1
                    result.usable_bytes = -1
                    result.is_cordoned = False
                    result.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    result.log_dir = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    result.topics = topic_list = []
                    topic_left = n
                    while topic_left:
                        topic_left -= 1
                        topic = new(DescribeLogDirsTopic)
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
                            partition = new(DescribeLogDirsPartition)
                            partition_list.append(partition)
                            partition.unknown_tagged_fields = ()
                            (
                                partition.partition_index,
                                partition.partition_size,
                                partition.offset_lag,
                                partition.is_future_key,
                            ) = _unpack_iqqt(data, pos)
                            pos += 21
                        topic.unknown_tagged_fields = ()
                    result.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeLogDirsResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribableLogDirTopic",
    "DescribeLogDirsRequest",
    "DescribeLogDirsPartition",
    "DescribeLogDirsTopic",
    "DescribeLogDirsResult",
    "DescribeLogDirsResponse",
]
