# Generated from schemas/messages/TxnOffsetCommitRequest.json (sha256 ac13dbd590516e2b)
# Generated from schemas/messages/TxnOffsetCommitResponse.json (sha256 52ee36a9202e0a90)
# by python -m fencepost_protocol.codegen. Do not edit.
"""TxnOffsetCommit (API key 28)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
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
    negative_length,
    read_unknown_tags,
    too_many_elements,
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
_unpack_iq = struct.Struct(">iq").unpack_from
_unpack_iqiB = struct.Struct(">iqiB").unpack_from
_unpack_qhi = struct.Struct(">qhi").unpack_from
_unpack_qhiB = struct.Struct(">qhiB").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iq = struct.Struct(">iq").pack
_pack_iqi = struct.Struct(">iqi").pack
_pack_qhi = struct.Struct(">qhi").pack
new = object.__new__


class TxnOffsetCommitRequestPartition(Fields):
    """One position for each partition."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "committed_metadata",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition number within the topic, counted from 0."""
    committed_offset: int
    """Next offset to read; other readers see it only after the commit marker."""
    committed_leader_epoch: int
    """Versions 2-5. Leader epoch of the last record consumed, reveals truncation after a restart
    (KIP-320); -1 when unknown.
    """
    committed_metadata: str | None
    """Free text kept with the offset; null for none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata
        self.unknown_tagged_fields = unknown_tagged_fields


class TxnOffsetCommitRequestTopic(Fields):
    """Positions to store, grouped by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic consumed; unknown gives UNKNOWN_TOPIC_OR_PARTITION."""
    partitions: list[TxnOffsetCommitRequestPartition]
    """One position for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[TxnOffsetCommitRequestPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class TxnOffsetCommitRequest(Fields):
    """A transactional producer stores consumer positions at the group coordinator; they stay
    pending until the transaction ends (KIP-98).
    """

    NAME: ClassVar[str] = "TxnOffsetCommitRequest"
    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = (
        "transactional_id",
        "group_id",
        "producer_id",
        "producer_epoch",
        "generation_id",
        "member_id",
        "group_instance_id",
        "topics",
        "unknown_tagged_fields",
    )

    transactional_id: str
    """Transactional id of the producer; unknown gives INVALID_PRODUCER_ID_MAPPING."""
    group_id: str
    """Group that owns the offsets; empty gives INVALID_GROUP_ID."""
    producer_id: int
    """Id from InitProducerId; one that does not belong to the transactional id gives
    INVALID_PRODUCER_ID_MAPPING.
    """
    producer_epoch: int
    """Epoch in use; older or newer gives INVALID_PRODUCER_EPOCH in every version."""
    generation_id: int
    """Versions 3-5. Generation (or KIP-848 epoch) of the consumer, a wrong one gives
    ILLEGAL_GENERATION (KIP-447); -1 with an empty MemberId skips the check.
    """
    member_id: str
    """Versions 3-5. Member id of the consumer, UNKNOWN_MEMBER_ID if not in the group (KIP-447);
    empty with generation -1 skips the check.
    """
    group_instance_id: str | None
    """Versions 3-5. Static membership id (KIP-345), null for a dynamic member; FENCED_INSTANCE_ID
    once another member took it over.
    """
    topics: list[TxnOffsetCommitRequestTopic]
    """Positions to store, grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: list[TxnOffsetCommitRequestTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("TxnOffsetCommitRequest", version, 0, 5)
            if version >= 3:
                raw = self.transactional_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = self.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = self.member_id.encode()
                out += _pack_qhi(self.producer_id, self.producer_epoch, self.generation_id)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if self.group_instance_id is None:
                    out.append(0)
                else:
                    raw = self.group_instance_id.encode()
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
                        out += _pack_iqi(
                            partition.partition_index,
                            partition.committed_offset,
                            partition.committed_leader_epoch,
                        )
                        if partition.committed_metadata is None:
                            out.append(0)
                        else:
                            raw = partition.committed_metadata.encode()
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
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.generation_id != -1:
                    raise not_in_version("generation_id", "3-5")
                if self.member_id:
                    raise not_in_version("member_id", "3-5")
                if self.group_instance_id is not None:
                    raise not_in_version("group_instance_id", "3-5")
                raw = self.transactional_id.encode()
                out += _pack_h(len(raw))
                out += raw
                raw = self.group_id.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_qhi(self.producer_id, self.producer_epoch, len(self.topics))
                for topic in self.topics:
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_iq(partition.partition_index, partition.committed_offset)
                        if version >= 2:
                            out += _pack_i(partition.committed_leader_epoch)
                        if partition.committed_metadata is None:
                            out += _pack_h(-1)
                        else:
                            raw = partition.committed_metadata.encode()
                            out += _pack_h(len(raw))
                            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("TxnOffsetCommitRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[TxnOffsetCommitRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("TxnOffsetCommitRequest", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(TxnOffsetCommitRequest)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.transactional_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.group_id = data[pos:end].decode()
                pos = end
                m.producer_id, m.producer_epoch, m.generation_id, n = _unpack_qhiB(data, pos)
                pos += 15
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.member_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.group_instance_id = None
                else:
                    end = pos + n - 1
                    m.group_instance_id = data[pos:end].decode()
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
                    topic = new(TxnOffsetCommitRequestTopic)
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
                        partition = new(TxnOffsetCommitRequestPartition)
                        partition_list.append(partition)
                        (
                            partition.partition_index,
                            partition.committed_offset,
                            partition.committed_leader_epoch,
                            n,
                        ) = _unpack_iqiB(data, pos)
                        pos += 17
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            partition.committed_metadata = None
                        else:
                            end = pos + n - 1
                            partition.committed_metadata = data[pos:end].decode()
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
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.generation_id = -1
                m.member_id = ""
                m.group_instance_id = None
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.transactional_id = data[pos:end].decode()
                pos = end
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.group_id = data[pos:end].decode()
                pos = end
                m.producer_id, m.producer_epoch, n = _unpack_qhi(data, pos)
                pos += 14
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n
                while topic_left:
                    topic_left -= 1
                    topic = new(TxnOffsetCommitRequestTopic)
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
                        partition = new(TxnOffsetCommitRequestPartition)
                        partition_list.append(partition)
                        (
                            partition.partition_index,
                            partition.committed_offset,
                        ) = _unpack_iq(data, pos)
                        pos += 12
                        if version >= 2:
                            partition.committed_leader_epoch = _unpack_i(data, pos)[0]
                            pos += 4
                        else:
                            partition.committed_leader_epoch = -1
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            partition.committed_metadata = None
                        else:
                            end = pos + n
                            partition.committed_metadata = data[pos:end].decode()
                            pos = end
                        partition.unknown_tagged_fields = ()
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("TxnOffsetCommitRequest", version, buf, start, cause) from cause


class TxnOffsetCommitResponsePartition(Fields):
    """One outcome for each partition; there is no code for the request as a whole."""

    __slots__ = ("partition_index", "error_code", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or e.g. CONCURRENT_TRANSACTIONS (try again), INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE,
    TRANSACTION_ABORTABLE, ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, NOT_COORDINATOR.
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


class TxnOffsetCommitResponseTopic(Fields):
    """Outcome grouped by topic, as in the request."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic the outcome is for."""
    partitions: list[TxnOffsetCommitResponsePartition]
    """One outcome for each partition; there is no code for the request as a whole."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[TxnOffsetCommitResponsePartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class TxnOffsetCommitResponse(Fields):
    """The group coordinator's verdict on each position of a TxnOffsetCommit. NONE means stored but
    pending: readers see it only once the commit marker is in the offsets partition.
    """

    NAME: ClassVar[str] = "TxnOffsetCommitResponse"
    API_KEY: ClassVar[int] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = ("throttle_time_ms", "topics", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    topics: list[TxnOffsetCommitResponseTopic]
    """Outcome grouped by topic, as in the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponseTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("TxnOffsetCommitResponse", version, 0, 5)
            if version >= 3:
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
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_ih(partition.partition_index, partition.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("TxnOffsetCommitResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[TxnOffsetCommitResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("TxnOffsetCommitResponse", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(TxnOffsetCommitResponse)
            if version >= 3:
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
                    topic = new(TxnOffsetCommitResponseTopic)
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
                        partition = new(TxnOffsetCommitResponsePartition)
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
                    topic = new(TxnOffsetCommitResponseTopic)
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
                        partition = new(TxnOffsetCommitResponsePartition)
                        partition_list.append(partition)
                        partition.unknown_tagged_fields = ()
                        partition.partition_index, partition.error_code = _unpack_ih(data, pos)
                        pos += 6
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("TxnOffsetCommitResponse", version, buf, start, cause) from cause


__all__ = [
    "TxnOffsetCommitRequestPartition",
    "TxnOffsetCommitRequestTopic",
    "TxnOffsetCommitRequest",
    "TxnOffsetCommitResponsePartition",
    "TxnOffsetCommitResponseTopic",
    "TxnOffsetCommitResponse",
]
