# Generated from schemas/messages/WriteShareGroupStateRequest.json (sha256 cce58730bbddaab2)
# Generated from schemas/messages/WriteShareGroupStateResponse.json (sha256 b0a2b41b758eddb9)
# by python -m fencepost_protocol.codegen. Do not edit.
"""WriteShareGroupState (API key 85)."""

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
_unpack_iiiq = struct.Struct(">iiiq").unpack_from
_unpack_qqbhB = struct.Struct(">qqbhB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_iiiq = struct.Struct(">iiiq").pack
_pack_qqbh = struct.Struct(">qqbh").pack
new = object.__new__


class StateBatch(Fields):
    """Runs of offsets whose state has changed."""

    __slots__ = (
        "first_offset",
        "last_offset",
        "delivery_state",
        "delivery_count",
        "unknown_tagged_fields",
    )

    first_offset: int
    """First offset of the run."""
    last_offset: int
    """Offset of the run's last record, itself included."""
    delivery_state: int
    """0 available, 2 acknowledged, 4 archived."""
    delivery_count: int
    """How often these records have been delivered."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        self.unknown_tagged_fields = unknown_tagged_fields


class PartitionData(Fields):
    """Share partitions to write."""

    __slots__ = (
        "partition",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "state_batches",
        "unknown_tagged_fields",
    )

    partition: int
    """Number of the partition."""
    state_epoch: int
    """Epoch of the state as it was read; not the known one gives FENCED_STATE_EPOCH."""
    leader_epoch: int
    """Leader epoch of the writer; an older one than the known gives FENCED_LEADER_EPOCH."""
    start_offset: int
    """Offset to start at; -1 when it has not changed."""
    delivery_complete_count: int
    """Versions 1. Records from the start offset on whose delivery is complete; -1 when not known.
    """
    state_batches: list[StateBatch]
    """Runs of offsets whose state has changed."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: list[StateBatch] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = [] if state_batches is MADE_ANEW else state_batches
        self.unknown_tagged_fields = unknown_tagged_fields


class WriteStateData(Fields):
    """Topics of the share partitions."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[PartitionData]
    """Share partitions to write."""
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


class WriteShareGroupStateRequest(Fields):
    """The leader of share partitions has changes to their state stored by the share coordinator
    (KIP-932).
    """

    NAME: ClassVar[str] = "WriteShareGroupStateRequest"
    API_KEY: ClassVar[int] = 85
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("group_id", "topics", "unknown_tagged_fields")

    group_id: str
    """Share group whose state is written."""
    topics: list[WriteStateData]
    """Topics of the share partitions."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[WriteStateData] = MADE_ANEW,
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
                raise unknown_version("WriteShareGroupStateRequest", version, 0, 1)
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
                    out += _pack_iiiq(
                        partition.partition,
                        partition.state_epoch,
                        partition.leader_epoch,
                        partition.start_offset,
                    )
                    if version >= 1:
                        out += _pack_i(partition.delivery_complete_count)
                    n = len(partition.state_batches) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for state_batche in partition.state_batches:
                        out += _pack_qqbh(
                            state_batche.first_offset,
                            state_batche.last_offset,
                            state_batche.delivery_state,
                            state_batche.delivery_count,
                        )
                        if state_batche.unknown_tagged_fields:
                            write_tagged_fields(out, [], state_batche.unknown_tagged_fields)
                        else:
                            out.append(0)
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
            raise encode_failure("WriteShareGroupStateRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[WriteShareGroupStateRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("WriteShareGroupStateRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(WriteShareGroupStateRequest)
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
                topic = new(WriteStateData)
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
                        partition.leader_epoch,
                        partition.start_offset,
                    ) = _unpack_iiiq(data, pos)
                    pos += 20
                    if version >= 1:
                        partition.delivery_complete_count = _unpack_i(data, pos)[0]
                        pos += 4
                    else:
                        partition.delivery_complete_count = -1
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.state_batches = state_batche_list = []
                    state_batche_left = n - 1
                    while state_batche_left:
                        state_batche_left -= 1
                        state_batche = new(StateBatch)
                        state_batche_list.append(state_batche)
                        (
                            state_batche.first_offset,
                            state_batche.last_offset,
                            state_batche.delivery_state,
                            state_batche.delivery_count,
                            n,
                        ) = _unpack_qqbhB(data, pos)
                        pos += 20
                        if n:
                            state_batche.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            state_batche.unknown_tagged_fields = ()
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
            raise decode_failure("WriteShareGroupStateRequest", version, buf, start, cause) from cause


class PartitionResult(Fields):
    """Share partitions of the topic."""

    __slots__ = ("partition", "error_code", "error_message", "unknown_tagged_fields")

    partition: int
    """Number of the partition."""
    error_code: int
    """NONE, or e.g. FENCED_STATE_EPOCH, FENCED_LEADER_EPOCH, UNKNOWN_TOPIC_OR_PARTITION,
    NOT_COORDINATOR.
    """
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


class WriteStateResult(Fields):
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


class WriteShareGroupStateResponse(Fields):
    """Outcome of storing the state, for each share partition (KIP-932)."""

    NAME: ClassVar[str] = "WriteShareGroupStateResponse"
    API_KEY: ClassVar[int] = 85
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("results", "unknown_tagged_fields")

    results: list[WriteStateResult]
    """Outcomes by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        results: list[WriteStateResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("WriteShareGroupStateResponse", version, 0, 1)
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
            raise encode_failure("WriteShareGroupStateResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[WriteShareGroupStateResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("WriteShareGroupStateResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(WriteShareGroupStateResponse)
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
                result = new(WriteStateResult)
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
            raise decode_failure("WriteShareGroupStateResponse", version, buf, start, cause) from cause


__all__ = [
    "StateBatch",
    "PartitionData",
    "WriteStateData",
    "WriteShareGroupStateRequest",
    "PartitionResult",
    "WriteStateResult",
    "WriteShareGroupStateResponse",
]
