# Generated from schemas/messages/ReadShareGroupStateSummaryRequest.json (sha256 41bea9899ffde061)
# Generated from schemas/messages/ReadShareGroupStateSummaryResponse.json (sha256 eea709577057c0ad)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ReadShareGroupStateSummary (API key 87)."""

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
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_unpack_iiq = struct.Struct(">iiq").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iiq = struct.Struct(">iiq").pack
new = object.__new__


class PartitionData(Fields):
    """Share partitions to sum up."""

    __slots__ = ("partition", "leader_epoch", "unknown_tagged_fields")

    partition: int
    """Number of the partition."""
    leader_epoch: int
    """Leader epoch that the asker knows; -1 when none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        leader_epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class ReadStateSummaryData(Fields):
    """Topics of the share partitions."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[PartitionData]
    """Share partitions to sum up."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ReadShareGroupStateSummaryRequest(Fields):
    """The group coordinator asks a share coordinator for start offsets of share partitions, to
    describe a group's offsets (KIP-932).
    """

    NAME: ClassVar[str] = "ReadShareGroupStateSummaryRequest"
    API_KEY: ClassVar[int] = 87
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("group_id", "topics", "unknown_tagged_fields")

    group_id: str
    """Share group whose state is summed up."""
    topics: list[ReadStateSummaryData]
    """Topics of the share partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[ReadStateSummaryData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ReadShareGroupStateSummaryRequest", version, 0, 1)
            raw = self.group_id.encode()
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
                out += _pack_U(uuid_bytes(topic.topic_id))
                n = len(topic.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition in topic.partitions:
                    out += _pack_ii(partition.partition, partition.leader_epoch)
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
            raise encode_failure("ReadShareGroupStateSummaryRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ReadShareGroupStateSummaryRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ReadShareGroupStateSummaryRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ReadShareGroupStateSummaryRequest)
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
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(ReadStateSummaryData)
                topic_list.append(topic)
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
                    partition = new(PartitionData)
                    partition_list.append(partition)
                    partition.partition, partition.leader_epoch, n = _unpack_iiB(data, pos)
                    pos += 9
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
            raise decode_failure("ReadShareGroupStateSummaryRequest", version, buf, start, cause) from cause


class PartitionResult(Fields):
    """Share partitions of the topic."""

    __slots__ = (
        "partition",
        "error_code",
        "error_message",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "unknown_tagged_fields",
    )

    partition: int
    """Number of the partition."""
    error_code: int
    """NONE, or e.g. UNKNOWN_TOPIC_OR_PARTITION, NOT_COORDINATOR."""
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    state_epoch: int
    """Epoch of the state."""
    leader_epoch: int
    """Greatest leader epoch that has read or written it."""
    start_offset: int
    """Offset to start at; -1 when not decided yet."""
    delivery_complete_count: int
    """Versions 1. Records from the start offset on whose delivery is complete; -1 when not known.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.unknown_tagged_fields = unknown_tagged_fields


class ReadStateSummaryResult(Fields):
    """Summaries by topic."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[PartitionResult]
    """Share partitions of the topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ReadShareGroupStateSummaryResponse(Fields):
    """Epochs, start offset and progress of each share partition, without its batches (KIP-932)."""

    NAME: ClassVar[str] = "ReadShareGroupStateSummaryResponse"
    API_KEY: ClassVar[int] = 87
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("results", "unknown_tagged_fields")

    results: list[ReadStateSummaryResult]
    """Summaries by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        results: list[ReadStateSummaryResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ReadShareGroupStateSummaryResponse", version, 0, 1)
            n = len(self.results) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for result in self.results:
                out += _pack_U(uuid_bytes(result.topic_id))
                n = len(result.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition in result.partitions:
                    out += _pack_ih(partition.partition, partition.error_code)
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
                    out += _pack_iiq(
                        partition.state_epoch,
                        partition.leader_epoch,
                        partition.start_offset,
                    )
                    if version >= 1:
                        out += _pack_i(partition.delivery_complete_count)
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
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ReadShareGroupStateSummaryResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ReadShareGroupStateSummaryResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ReadShareGroupStateSummaryResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ReadShareGroupStateSummaryResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
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
                result = new(ReadStateSummaryResult)
                result_list.append(result)
                result.topic_id, n = _unpack_UB(data, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                result.partitions = partition_list = []
                partition_left = n - 1
                while partition_left:
                    partition_left -= 1
                    partition = new(PartitionResult)
                    partition_list.append(partition)
                    partition.partition, partition.error_code, n = _unpack_ihB(data, pos)
                    pos += 7
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        partition.error_message = None
                    else:
                        end = pos + n - 1
                        partition.error_message = data[pos:end].decode()
                        pos = end
                    (
                        partition.state_epoch,
                        partition.leader_epoch,
                        partition.start_offset,
                    ) = _unpack_iiq(data, pos)
                    pos += 16
                    if version >= 1:
                        partition.delivery_complete_count = _unpack_i(data, pos)[0]
                        pos += 4
                    else:
                        partition.delivery_complete_count = -1
                    n = data[pos]
                    pos += 1
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
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ReadShareGroupStateSummaryResponse", version, buf, start, cause) from cause


__all__ = [
    "PartitionData",
    "ReadStateSummaryData",
    "ReadShareGroupStateSummaryRequest",
    "PartitionResult",
    "ReadStateSummaryResult",
    "ReadShareGroupStateSummaryResponse",
]
