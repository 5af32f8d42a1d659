# Generated from schemas/messages/InitializeShareGroupStateRequest.json (sha256 28d7c7c6803c42ff)
# Generated from schemas/messages/InitializeShareGroupStateResponse.json (sha256 7b1c991972abb5dd)
# by python -m fencepost_protocol.codegen. Do not edit.
"""InitializeShareGroupState (API key 83)."""

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
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iiqB = struct.Struct(">iiqB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_ih = struct.Struct(">ih").pack
_pack_iiq = struct.Struct(">iiq").pack
new = object.__new__


class PartitionData(Fields):
    """Share partitions to begin."""

    __slots__ = ("partition", "state_epoch", "start_offset", "unknown_tagged_fields")

    partition: int
    """Number of the partition."""
    state_epoch: int
    """Epoch of the state; an older one than the known gives FENCED_STATE_EPOCH."""
    start_offset: int
    """Offset to start at; -1 leaves it to share.auto.offset.reset at the leader."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        start_offset: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.unknown_tagged_fields = unknown_tagged_fields


class InitializeStateData(Fields):
    """Topics of the share partitions."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[PartitionData]
    """Share partitions to begin."""
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


class InitializeShareGroupStateRequest(Fields):
    """The group coordinator asks a share coordinator to begin the state of share partitions
    (KIP-932).
    """

    NAME: ClassVar[str] = "InitializeShareGroupStateRequest"
    API_KEY: ClassVar[int] = 83
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("group_id", "topics", "unknown_tagged_fields")

    group_id: str
    """Share group whose state begins."""
    topics: list[InitializeStateData]
    """Topics of the share partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[InitializeStateData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("InitializeShareGroupStateRequest", version, 0, 0)
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
                    out += _pack_iiq(
                        partition.partition,
                        partition.state_epoch,
                        partition.start_offset,
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
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("InitializeShareGroupStateRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[InitializeShareGroupStateRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("InitializeShareGroupStateRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(InitializeShareGroupStateRequest)
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
                topic = new(InitializeStateData)
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
                    (
                        partition.partition,
                        partition.state_epoch,
                        partition.start_offset,
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
            raise decode_failure("InitializeShareGroupStateRequest", version, buf, start, cause) from cause


class PartitionResult(Fields):
    """Share partitions of the topic."""

    __slots__ = ("partition", "error_code", "error_message", "unknown_tagged_fields")

    partition: int
    """Number of the partition."""
    error_code: int
    """NONE, or e.g. FENCED_STATE_EPOCH, UNKNOWN_TOPIC_OR_PARTITION, NOT_COORDINATOR."""
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class InitializeStateResult(Fields):
    """Outcomes by topic."""

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


class InitializeShareGroupStateResponse(Fields):
    """Outcome for each share partition whose state was to begin (KIP-932)."""

    NAME: ClassVar[str] = "InitializeShareGroupStateResponse"
    API_KEY: ClassVar[int] = 83
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("results", "unknown_tagged_fields")

    results: list[InitializeStateResult]
    """Outcomes by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        results: list[InitializeStateResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("InitializeShareGroupStateResponse", version, 0, 0)
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
            raise encode_failure("InitializeShareGroupStateResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[InitializeShareGroupStateResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("InitializeShareGroupStateResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(InitializeShareGroupStateResponse)
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
                result = new(InitializeStateResult)
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
            raise decode_failure("InitializeShareGroupStateResponse", version, buf, start, cause) from cause


__all__ = [
    "PartitionData",
    "InitializeStateData",
    "InitializeShareGroupStateRequest",
    "PartitionResult",
    "InitializeStateResult",
    "InitializeShareGroupStateResponse",
]
