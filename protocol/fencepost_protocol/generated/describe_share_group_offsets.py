# Generated from schemas/messages/DescribeShareGroupOffsetsRequest.json (sha256 622a7e125cb93c36)
# Generated from schemas/messages/DescribeShareGroupOffsetsResponse.json (sha256 26c9b4f51c718689)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeShareGroupOffsets (API key 90)."""

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

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_iqi = struct.Struct(">iqi").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_iqi = struct.Struct(">iqi").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class DescribeShareGroupOffsetsRequestTopic(Fields):
    """Topics to describe; null asks for all that the group has state of."""

    __slots__ = ("topic_name", "partitions", "unknown_tagged_fields")

    topic_name: str
    """Name of the topic."""
    partitions: list[int]
    """Partitions to describe."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeShareGroupOffsetsRequestGroup(Fields):
    """Groups to describe."""

    __slots__ = ("group_id", "topics", "unknown_tagged_fields")

    group_id: str
    """Share group whose offsets are asked for."""
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None
    """Topics to describe; null asks for all that the group has state of."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeShareGroupOffsetsRequest(Fields):
    """Asks the group coordinator for the start offsets of share groups (KIP-932)."""

    NAME: ClassVar[str] = "DescribeShareGroupOffsetsRequest"
    API_KEY: ClassVar[int] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("groups", "unknown_tagged_fields")

    groups: list[DescribeShareGroupOffsetsRequestGroup]
    """Groups to describe."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        groups: list[DescribeShareGroupOffsetsRequestGroup] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.groups = [] if groups is MADE_ANEW else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("DescribeShareGroupOffsetsRequest", version, 0, 1)
            n = len(self.groups) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for group in self.groups:
                raw = group.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if group.topics is None:
                    out.append(0)
                else:
                    n = len(group.topics) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for topic in group.topics:
                        raw = topic.topic_name.encode()
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
            raise encode_failure("DescribeShareGroupOffsetsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeShareGroupOffsetsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("DescribeShareGroupOffsetsRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeShareGroupOffsetsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.groups = group_list = []
            group_left = n - 1
            while group_left:
                group_left -= 1
                group = new(DescribeShareGroupOffsetsRequestGroup)
                group_list.append(group)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                group.group_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                if not n:
                    group.topics = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    group.topics = topic_list = []
                    topic_left = n - 1
                    while topic_left:
                        topic_left -= 1
                        topic = new(DescribeShareGroupOffsetsRequestTopic)
                        topic_list.append(topic)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic.topic_name = data[pos:end].decode()
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
            raise decode_failure("DescribeShareGroupOffsetsRequest", version, buf, start, cause) from cause


class DescribeShareGroupOffsetsResponsePartition(Fields):
    """Partitions of the topic."""

    __slots__ = (
        "partition_index",
        "start_offset",
        "leader_epoch",
        "lag",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Number of the partition."""
    start_offset: int
    """Offset to start at; -1 when the group has no state of the partition."""
    leader_epoch: int
    """Leader epoch of the partition as the share coordinator knows it."""
    lag: int
    """Versions 1. Records that are still to be delivered; -1 when not known."""
    error_code: int
    """NONE, or e.g. UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED."""
    error_message: str | None
    """Readable detail for the partition's error; null when there is none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeShareGroupOffsetsResponseTopic(Fields):
    """Offsets by topic."""

    __slots__ = ("topic_name", "topic_id", "partitions", "unknown_tagged_fields")

    topic_name: str
    """Name of the topic."""
    topic_id: bytes
    """UUID of the topic; zero when it is unknown."""
    partitions: list[DescribeShareGroupOffsetsResponsePartition]
    """Partitions of the topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeShareGroupOffsetsResponseGroup(Fields):
    """Outcomes by group."""

    __slots__ = ("group_id", "topics", "error_code", "error_message", "unknown_tagged_fields")

    group_id: str
    """Group that the offsets belong to."""
    topics: list[DescribeShareGroupOffsetsResponseTopic]
    """Offsets by topic."""
    error_code: int
    """NONE, or e.g. GROUP_ID_NOT_FOUND, GROUP_AUTHORIZATION_FAILED, NOT_COORDINATOR."""
    error_message: str | None
    """Readable detail for the group's error; null when there is none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[DescribeShareGroupOffsetsResponseTopic] = MADE_ANEW,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeShareGroupOffsetsResponse(Fields):
    """Start offsets of share groups (KIP-932)."""

    NAME: ClassVar[str] = "DescribeShareGroupOffsetsResponse"
    API_KEY: ClassVar[int] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "groups", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    groups: list[DescribeShareGroupOffsetsResponseGroup]
    """Outcomes by group."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribeShareGroupOffsetsResponseGroup] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is MADE_ANEW else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("DescribeShareGroupOffsetsResponse", version, 0, 1)
            out += _pack_i(self.throttle_time_ms)
            n = len(self.groups) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for group in self.groups:
                raw = group.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                n = len(group.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in group.topics:
                    raw = topic.topic_name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_U(uuid_bytes(topic.topic_id))
                    n = len(topic.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition in topic.partitions:
                        out += _pack_iqi(
                            partition.partition_index,
                            partition.start_offset,
                            partition.leader_epoch,
                        )
                        if version >= 1:
                            out += _pack_q(partition.lag)
                        out += _pack_h(partition.error_code)
                        if partition.error_message is None:
                            out.append(0)
                        else:
                            raw = partition.error_message.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
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
            raise encode_failure("DescribeShareGroupOffsetsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeShareGroupOffsetsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("DescribeShareGroupOffsetsResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeShareGroupOffsetsResponse)
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
                group = new(DescribeShareGroupOffsetsResponseGroup)
                group_list.append(group)
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
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                group.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(DescribeShareGroupOffsetsResponseTopic)
                    topic_list.append(topic)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    topic.topic_name = data[pos:end].decode()
                    pos = end
                    topic.topic_id, n = _unpack_UB(data, pos)
                    pos += 17
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.partitions = partition_list = []
                    partition_left = n - 1
                    while partition_left:
                        partition_left -= 1
                        partition = new(DescribeShareGroupOffsetsResponsePartition)
                        partition_list.append(partition)
                        (
                            partition.partition_index,
                            partition.start_offset,
                            partition.leader_epoch,
                        ) = _unpack_iqi(data, pos)
                        pos += 16
                        if version >= 1:
                            partition.lag = _unpack_q(data, pos)[0]
                            pos += 8
                        else:
                            partition.lag = -1
                        partition.error_code, n = _unpack_hB(data, pos)
                        pos += 3
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            partition.error_message = None
                        else:
                            end = pos + n - 1
                            partition.error_message = data[pos:end].decode()
                            pos = end
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
            raise decode_failure("DescribeShareGroupOffsetsResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribeShareGroupOffsetsRequestTopic",
    "DescribeShareGroupOffsetsRequestGroup",
    "DescribeShareGroupOffsetsRequest",
    "DescribeShareGroupOffsetsResponsePartition",
    "DescribeShareGroupOffsetsResponseTopic",
    "DescribeShareGroupOffsetsResponseGroup",
    "DescribeShareGroupOffsetsResponse",
]
