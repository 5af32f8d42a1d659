# Generated from schemas/messages/DescribeProducersRequest.json (sha256 eba9215f1288aa1c)
# Generated from schemas/messages/DescribeProducersResponse.json (sha256 6fe198d97235153a)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeProducers (API key 61)."""

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
    long_nullable_string_length,
    long_string_length,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_qiiqiqB = struct.Struct(">qiiqiqB").unpack_from
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_qiiqiq = struct.Struct(">qiiqiq").pack
new = object.__new__


class TopicRequest(Fields):
    """Partitions of interest, by topic."""

    __slots__ = ("name", "partition_indexes", "unknown_tagged_fields")

    name: str
    """Topic of interest; an unknown one gets UNKNOWN_TOPIC_OR_PARTITION."""
    partition_indexes: list[int]
    """Partition numbers of interest; each must be asked of its leader."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is MADE_ANEW else partition_indexes
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeProducersRequest(Fields):
    """An admin client asks partition leaders which producers they remember, to find hanging
    transactions (KIP-664). Needs read on the topic.
    """

    NAME: ClassVar[str] = "DescribeProducersRequest"
    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("topics", "unknown_tagged_fields")

    topics: list[TopicRequest]
    """Partitions of interest, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[TopicRequest] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeProducersRequest", version, 0, 0)
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
                n = len(topic.partition_indexes) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_int32_array(out, topic.partition_indexes)
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
            raise encode_failure("DescribeProducersRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeProducersRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeProducersRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeProducersRequest)
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
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partition_indexes, pos = read_int32_array(data, pos, n - 1)
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
            raise decode_failure("DescribeProducersRequest", version, buf, start, cause) from cause


class ProducerState(Fields):
    """Producers not yet forgotten; silent ones go after producer.id.expiration.ms."""

    __slots__ = (
        "producer_id",
        "producer_epoch",
        "last_sequence",
        "last_timestamp",
        "coordinator_epoch",
        "current_txn_start_offset",
        "unknown_tagged_fields",
    )

    producer_id: int
    """Producer id as found in its batches."""
    producer_epoch: int
    """Latest epoch seen, from a batch or a marker; 32 bits here, 16 everywhere else."""
    last_sequence: int
    """Sequence of its last record; -1 when none counts, as after a marker with a new epoch."""
    last_timestamp: int
    """Timestamp in ms of its latest write; -1 when unknown."""
    coordinator_epoch: int
    """Coordinator epoch in its last marker; -1 before the first one. A marker with a lower epoch is
    fenced.
    """
    current_txn_start_offset: int
    """First offset of its open transaction, which holds the last stable offset back; -1 when none
    is open.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset
        self.unknown_tagged_fields = unknown_tagged_fields


class PartitionResponse(Fields):
    """One entry for each partition."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "active_producers",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED."""
    error_message: str | None
    """Readable detail for the error; may be null."""
    active_producers: list[ProducerState]
    """Producers not yet forgotten; silent ones go after producer.id.expiration.ms."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: list[ProducerState] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = [] if active_producers is MADE_ANEW else active_producers
        self.unknown_tagged_fields = unknown_tagged_fields


class TopicResponse(Fields):
    """State grouped by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic the state is from."""
    partitions: list[PartitionResponse]
    """One entry for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[PartitionResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeProducersResponse(Fields):
    """Idempotent and transactional producers each partition still remembers, with the start of an
    open transaction if any (KIP-664).
    """

    NAME: ClassVar[str] = "DescribeProducersResponse"
    API_KEY: ClassVar[int] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("throttle_time_ms", "topics", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    topics: list[TopicResponse]
    """State grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TopicResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeProducersResponse", version, 0, 0)
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
                    out += _pack_ih(partition.partition_index, partition.error_code)
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
                    n = len(partition.active_producers) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for active_producer in partition.active_producers:
                        out += _pack_qiiqiq(
                            active_producer.producer_id,
                            active_producer.producer_epoch,
                            active_producer.last_sequence,
                            active_producer.last_timestamp,
                            active_producer.coordinator_epoch,
                            active_producer.current_txn_start_offset,
                        )
                        if active_producer.unknown_tagged_fields:
                            write_tagged_fields(out, [], active_producer.unknown_tagged_fields)
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
            raise encode_failure("DescribeProducersResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeProducersResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeProducersResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeProducersResponse)
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
                topic = new(TopicResponse)
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
                    partition = new(PartitionResponse)
                    partition_list.append(partition)
                    partition.partition_index, partition.error_code, n = _unpack_ihB(data, pos)
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
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.active_producers = active_producer_list = []
                    active_producer_left = n - 1
                    while active_producer_left:
                        active_producer_left -= 1
                        active_producer = new(ProducerState)
                        active_producer_list.append(active_producer)
                        (
                            active_producer.producer_id,
                            active_producer.producer_epoch,
                            active_producer.last_sequence,
                            active_producer.last_timestamp,
                            active_producer.coordinator_epoch,
                            active_producer.current_txn_start_offset,
                            n,
                        ) = _unpack_qiiqiqB(data, pos)
                        pos += 37
                        if n:
                            active_producer.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            active_producer.unknown_tagged_fields = ()
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
            raise decode_failure("DescribeProducersResponse", version, buf, start, cause) from cause


__all__ = [
    "TopicRequest",
    "DescribeProducersRequest",
    "ProducerState",
    "PartitionResponse",
    "TopicResponse",
    "DescribeProducersResponse",
]
