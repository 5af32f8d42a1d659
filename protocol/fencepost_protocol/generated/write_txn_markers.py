# Generated from schemas/messages/WriteTxnMarkersRequest.json (sha256 54aff3ca9bf855ee)
# Generated from schemas/messages/WriteTxnMarkersResponse.json (sha256 d57fd1dc01f80430)
# by python -m fencepost_protocol.codegen. Do not edit.
"""WriteTxnMarkers (API key 27)."""

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
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_i = struct.Struct(">i").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_qB = struct.Struct(">qB").unpack_from
_unpack_qhtB = struct.Struct(">qh?B").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_q = struct.Struct(">q").pack
_pack_qht = struct.Struct(">qh?").pack
new = object.__new__


class WritableTxnMarkerTopic(Fields):
    """Partitions on this broker to mark, by topic."""

    __slots__ = ("name", "partition_indexes", "unknown_tagged_fields")

    name: str
    """Topic to mark; __consumer_offsets when offsets were part of it."""
    partition_indexes: list[int]
    """Partition numbers to mark; repeating one appends another control record."""
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


class WritableTxnMarker(Fields):
    """One entry for each ended transaction."""

    __slots__ = (
        "producer_id",
        "producer_epoch",
        "transaction_result",
        "topics",
        "coordinator_epoch",
        "transaction_version",
        "unknown_tagged_fields",
    )

    producer_id: int
    """Id of the producer whose transaction ends."""
    producer_epoch: int
    """Epoch for the marker, under transaction version 2 the bumped one; behind the partition's
    gives INVALID_PRODUCER_EPOCH.
    """
    transaction_result: bool
    """True writes commit markers, false abort markers."""
    topics: list[WritableTxnMarkerTopic]
    """Partitions on this broker to mark, by topic."""
    coordinator_epoch: int
    """Leader epoch of the sender's __transaction_state partition; lower than last seen gives
    TRANSACTION_COORDINATOR_FENCED.
    """
    transaction_version: int
    """Versions 2. At 2 the epoch must exceed that of the open transaction, else
    INVALID_PRODUCER_EPOCH; 0 and 1 allow the same (KIP-1228).
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = MADE_ANEW,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = [] if topics is MADE_ANEW else topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version
        self.unknown_tagged_fields = unknown_tagged_fields


class WriteTxnMarkersRequest(Fields):
    """The transaction coordinator has partition leaders append the commit or abort markers of ended
    transactions; an administrator can abort a hanging transaction with it (KIP-664). Needs
    cluster rights.
    """

    NAME: ClassVar[str] = "WriteTxnMarkersRequest"
    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = ("markers", "unknown_tagged_fields")

    markers: list[WritableTxnMarker]
    """One entry for each ended transaction."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        markers: list[WritableTxnMarker] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.markers = [] if markers is MADE_ANEW else markers
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("WriteTxnMarkersRequest", version, 1, 2)
            n = len(self.markers) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for marker in self.markers:
                out += _pack_qht(
                    marker.producer_id,
                    marker.producer_epoch,
                    marker.transaction_result,
                )
                n = len(marker.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in marker.topics:
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
                out += _pack_i(marker.coordinator_epoch)
                if version >= 2:
                    out += _pack_b(marker.transaction_version)
                if marker.unknown_tagged_fields:
                    write_tagged_fields(out, [], marker.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("WriteTxnMarkersRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[WriteTxnMarkersRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("WriteTxnMarkersRequest", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(WriteTxnMarkersRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.markers = marker_list = []
            marker_left = n - 1
            while marker_left:
                marker_left -= 1
                marker = new(WritableTxnMarker)
                marker_list.append(marker)
                (
                    marker.producer_id,
                    marker.producer_epoch,
                    marker.transaction_result,
                    n,
                ) = _unpack_qhtB(data, pos)
                pos += 12
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                marker.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(WritableTxnMarkerTopic)
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
                marker.coordinator_epoch = _unpack_i(data, pos)[0]
                pos += 4
                if version >= 2:
                    marker.transaction_version = (data[pos] ^ 128) - 128
                    pos += 1
                else:
                    marker.transaction_version = 0
                n = data[pos]
                pos += 1
                if n:
                    marker.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    marker.unknown_tagged_fields = ()
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
            raise decode_failure("WriteTxnMarkersRequest", version, buf, start, cause) from cause


class WritableTxnMarkerPartitionResult(Fields):
    """One outcome for each partition."""

    __slots__ = ("partition_index", "error_code", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE; INVALID_PRODUCER_EPOCH or TRANSACTION_COORDINATOR_FENCED: give up;
    NOT_LEADER_OR_FOLLOWER and similar: send again.
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


class WritableTxnMarkerTopicResult(Fields):
    """Outcome of each partition, grouped by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic the outcome is for."""
    partitions: list[WritableTxnMarkerPartitionResult]
    """One outcome for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[WritableTxnMarkerPartitionResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class WritableTxnMarkerResult(Fields):
    """One result for each entry of the request."""

    __slots__ = ("producer_id", "topics", "unknown_tagged_fields")

    producer_id: int
    """Producer the result is for."""
    topics: list[WritableTxnMarkerTopicResult]
    """Outcome of each partition, grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields


class WriteTxnMarkersResponse(Fields):
    """Tells the transaction coordinator which markers are in the logs; it repeats those that failed
    for reasons that pass.
    """

    NAME: ClassVar[str] = "WriteTxnMarkersResponse"
    API_KEY: ClassVar[int] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = ("markers", "unknown_tagged_fields")

    markers: list[WritableTxnMarkerResult]
    """One result for each entry of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        markers: list[WritableTxnMarkerResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.markers = [] if markers is MADE_ANEW else markers
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("WriteTxnMarkersResponse", version, 1, 2)
            n = len(self.markers) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for marker in self.markers:
                out += _pack_q(marker.producer_id)
                n = len(marker.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in marker.topics:
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
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                if marker.unknown_tagged_fields:
                    write_tagged_fields(out, [], marker.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("WriteTxnMarkersResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[WriteTxnMarkersResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("WriteTxnMarkersResponse", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(WriteTxnMarkersResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.markers = marker_list = []
            marker_left = n - 1
            while marker_left:
                marker_left -= 1
                marker = new(WritableTxnMarkerResult)
                marker_list.append(marker)
                marker.producer_id, n = _unpack_qB(data, pos)
                pos += 9
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                marker.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(WritableTxnMarkerTopicResult)
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
                        partition = new(WritableTxnMarkerPartitionResult)
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
                        topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        topic.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    marker.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    marker.unknown_tagged_fields = ()
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
            raise decode_failure("WriteTxnMarkersResponse", version, buf, start, cause) from cause


__all__ = [
    "WritableTxnMarkerTopic",
    "WritableTxnMarker",
    "WriteTxnMarkersRequest",
    "WritableTxnMarkerPartitionResult",
    "WritableTxnMarkerTopicResult",
    "WritableTxnMarkerResult",
    "WriteTxnMarkersResponse",
]
