# Generated from schemas/records/OffsetCommitKey.json (sha256 d0b4c297d218b935)
# Generated from schemas/messages/OffsetCommitRequest.json (sha256 8e47fec7b7b586a2)
# Generated from schemas/messages/OffsetCommitResponse.json (sha256 17183486794d7680)
# Generated from schemas/records/OffsetCommitValue.json (sha256 d63d70098868d5cd)
# by python -m fencepost_protocol.codegen. Do not edit.
"""OffsetCommit (coordinator record 1)."""

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
    TAG_SIZE_WRONG,
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_tag,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iq = struct.Struct(">iq").unpack_from
_unpack_iqiB = struct.Struct(">iqiB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qB = struct.Struct(">qB").unpack_from
_unpack_qiB = struct.Struct(">qiB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_bbU = struct.Struct(">bb16s").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_iq = struct.Struct(">iq").pack
_pack_iqi = struct.Struct(">iqi").pack
_pack_q = struct.Struct(">q").pack
_pack_qi = struct.Struct(">qi").pack
new = object.__new__


class OffsetCommitKey(Fields):
    """Key in __consumer_offsets of a committed offset; a null value deletes the offset."""

    NAME: ClassVar[str] = "OffsetCommitKey"
    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group", "topic", "partition", "unknown_tagged_fields")

    group: str
    """Group that committed."""
    topic: str
    """Topic the offset is for."""
    partition: int
    """Partition number within the topic, counted from 0."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group: str = "",
        topic: str = "",
        partition: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("OffsetCommitKey", version, 0, 0)
            raw = self.group.encode()
            out += _pack_h(len(raw))
            out += raw
            raw = self.topic.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(self.partition)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetCommitKey", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetCommitKey, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("OffsetCommitKey", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetCommitKey)
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group = data[pos:end].decode()
            pos = end
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.topic = data[pos:end].decode()
            pos = end
            m.unknown_tagged_fields = ()
            m.partition = _unpack_i(data, pos)[0]
            pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("OffsetCommitKey", version, buf, start, cause) from cause


class OffsetCommitRequestPartition(Fields):
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
    """Next offset to read, one behind the last record handled."""
    committed_leader_epoch: int
    """Versions 6-10. Leader epoch of the last record consumed, reveals truncation after a restart
    (KIP-320); -1 when unknown.
    """
    committed_metadata: str | None
    """Free text kept with the offset, null for none; longer than offset.metadata.max.bytes gives
    OFFSET_METADATA_TOO_LARGE.
    """
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


class OffsetCommitRequestTopic(Fields):
    """Positions to store, grouped by topic."""

    __slots__ = ("name", "topic_id", "partitions", "unknown_tagged_fields")

    name: str
    """Versions 2-9. Topic consumed; from version 10 TopicId stands in its place."""
    topic_id: bytes
    """Versions 10. UUID of the topic consumed; an unknown one gets UNKNOWN_TOPIC_ID."""
    partitions: list[OffsetCommitRequestPartition]
    """One position for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitRequestPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetCommitRequest(Fields):
    """A consumer, or an administrator on its behalf, stores its positions at the group coordinator.
    Offsets that belong to a transaction go by TxnOffsetCommit instead.
    """

    NAME: ClassVar[str] = "OffsetCommitRequest"
    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 8

    __slots__ = (
        "group_id",
        "generation_id_or_member_epoch",
        "member_id",
        "group_instance_id",
        "retention_time_ms",
        "topics",
        "unknown_tagged_fields",
    )

    group_id: str
    """Group that owns the offsets; the request must go to its coordinator, else NOT_COORDINATOR."""
    generation_id_or_member_epoch: int
    """Generation of a classic group (else ILLEGAL_GENERATION) or epoch of a KIP-848 member (else
    STALE_MEMBER_EPOCH); -1 when not a member.
    """
    member_id: str
    """Member that commits; empty when not a member; UNKNOWN_MEMBER_ID if the group does not know
    it.
    """
    group_instance_id: str | None
    """Versions 7-10. Static membership id (KIP-345), null for a dynamic member; FENCED_INSTANCE_ID
    once another member took it over.
    """
    retention_time_ms: int
    """Versions 2-4. How long to keep the offsets, in ms; -1 leaves it to offsets.retention.minutes.
    """
    topics: list[OffsetCommitRequestTopic]
    """Positions to store, grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequestTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 2 <= version <= 10:
                raise unknown_version("OffsetCommitRequest", version, 2, 10)
            if version >= 8:
                raw = self.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = self.member_id.encode()
                out += _pack_i(self.generation_id_or_member_epoch)
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
                    if version <= 9:
                        raw = topic.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 10:
                        out += _pack_U(uuid_bytes(topic.topic_id))
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
                raw = self.group_id.encode()
                out += _pack_h(len(raw))
                out += raw
                raw = self.member_id.encode()
                out += _pack_ih(self.generation_id_or_member_epoch, len(raw))
                out += raw
                if version >= 7:
                    if self.group_instance_id is None:
                        out += _pack_h(-1)
                    else:
                        raw = self.group_instance_id.encode()
                        out += _pack_h(len(raw))
                        out += raw
                elif self.group_instance_id is not None:
                    raise not_in_version("group_instance_id", "7-10")
                if version <= 4:
                    out += _pack_q(self.retention_time_ms)
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_iq(partition.partition_index, partition.committed_offset)
                        if version >= 6:
                            out += _pack_i(partition.committed_leader_epoch)
                        if partition.committed_metadata is None:
                            out += _pack_h(-1)
                        else:
                            raw = partition.committed_metadata.encode()
                            out += _pack_h(len(raw))
                            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetCommitRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetCommitRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 2 <= version <= 10:
                raise unknown_version("OffsetCommitRequest", version, 2, 10)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetCommitRequest)
            if version >= 8:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.retention_time_ms = -1
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.group_id = data[pos:end].decode()
                pos = end
                m.generation_id_or_member_epoch, n = _unpack_iB(data, pos)
                pos += 5
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
                    topic = new(OffsetCommitRequestTopic)
                    topic_list.append(topic)
                    if version <= 9:
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic.name = data[pos:end].decode()
                        pos = end
                    else:
                        topic.name = ""
                    if version >= 10:
                        topic.topic_id = _unpack_U(data, pos)[0]
                        pos += 16
                    else:
                        topic.topic_id = ZERO_UUID
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
                        partition = new(OffsetCommitRequestPartition)
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
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.group_id = data[pos:end].decode()
                pos = end
                m.generation_id_or_member_epoch, n = _unpack_ih(data, pos)
                pos += 6
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.member_id = data[pos:end].decode()
                pos = end
                if version >= 7:
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        m.group_instance_id = None
                    else:
                        end = pos + n
                        m.group_instance_id = data[pos:end].decode()
                        pos = end
                else:
                    m.group_instance_id = None
                if version <= 4:
                    m.retention_time_ms = _unpack_q(data, pos)[0]
                    pos += 8
                else:
                    m.retention_time_ms = -1
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n
                while topic_left:
                    topic_left -= 1
                    topic = new(OffsetCommitRequestTopic)
                    topic_list.append(topic)
                    topic.topic_id = ZERO_UUID
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
                        partition = new(OffsetCommitRequestPartition)
                        partition_list.append(partition)
                        (
                            partition.partition_index,
                            partition.committed_offset,
                        ) = _unpack_iq(data, pos)
                        pos += 12
                        if version >= 6:
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
            raise decode_failure("OffsetCommitRequest", version, buf, start, cause) from cause


class OffsetCommitResponsePartition(Fields):
    """One outcome for each partition of the request."""

    __slots__ = ("partition_index", "error_code", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or e.g. UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS,
    STALE_MEMBER_EPOCH, NOT_COORDINATOR, UNKNOWN_TOPIC_OR_PARTITION.
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


class OffsetCommitResponseTopic(Fields):
    """Outcome of each partition, grouped by topic."""

    __slots__ = ("name", "topic_id", "partitions", "unknown_tagged_fields")

    name: str
    """Versions 2-9. Topic the outcome is for; from version 10 TopicId stands in its place."""
    topic_id: bytes
    """Versions 10. UUID of the topic, repeated from the request."""
    partitions: list[OffsetCommitResponsePartition]
    """One outcome for each partition of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitResponsePartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetCommitResponse(Fields):
    """Tells the committer, partition by partition, whether its positions were stored; a fault of
    the group or member is repeated on every partition.
    """

    NAME: ClassVar[str] = "OffsetCommitResponse"
    API_KEY: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 8

    __slots__ = ("throttle_time_ms", "topics", "unknown_tagged_fields")

    throttle_time_ms: int
    """Versions 3-10. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    topics: list[OffsetCommitResponseTopic]
    """Outcome of each partition, grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetCommitResponseTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 2 <= version <= 10:
                raise unknown_version("OffsetCommitResponse", version, 2, 10)
            if version >= 8:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in self.topics:
                    if version <= 9:
                        raw = topic.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 10:
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
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if version >= 3:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        out += _pack_ih(partition.partition_index, partition.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetCommitResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetCommitResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 2 <= version <= 10:
                raise unknown_version("OffsetCommitResponse", version, 2, 10)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetCommitResponse)
            if version >= 8:
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
                    topic = new(OffsetCommitResponseTopic)
                    topic_list.append(topic)
                    if version <= 9:
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic.name = data[pos:end].decode()
                        pos = end
                    else:
                        topic.name = ""
                    if version >= 10:
                        topic.topic_id = _unpack_U(data, pos)[0]
                        pos += 16
                    else:
                        topic.topic_id = ZERO_UUID
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
                        partition = new(OffsetCommitResponsePartition)
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
                if version >= 3:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n
                while topic_left:
                    topic_left -= 1
                    topic = new(OffsetCommitResponseTopic)
                    topic_list.append(topic)
                    topic.topic_id = ZERO_UUID
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
                        partition = new(OffsetCommitResponsePartition)
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
            raise decode_failure("OffsetCommitResponse", version, buf, start, cause) from cause


class OffsetCommitValue(Fields):
    """One committed offset; inside a transaction it counts only after the commit marker."""

    NAME: ClassVar[str] = "OffsetCommitValue"
    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = (
        "offset",
        "leader_epoch",
        "metadata",
        "commit_timestamp",
        "expire_timestamp",
        "topic_id",
        "unknown_tagged_fields",
    )

    offset: int
    """Next offset the group will read."""
    leader_epoch: int
    """Versions 3-4. Leader epoch of the last record read, reveals a truncated log (KIP-320); -1
    when not given.
    """
    metadata: str
    """Free text that the client stored along with it."""
    commit_timestamp: int
    """When it was committed, in ms since 1970; expiry may count from here."""
    expire_timestamp: int
    """Versions 1. When the offset expires, in ms since 1970; -1 leaves it to the broker's
    offsets.retention.minutes.
    """
    topic_id: bytes
    """Versions 4. UUID of the topic, tells a topic created anew from the old one; all zero when not
    recorded.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 4:
                raise unknown_version("OffsetCommitValue", version, 0, 4)
            if version >= 4:
                raw = self.metadata.encode()
                out += _pack_qi(self.offset, self.leader_epoch)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_q(self.commit_timestamp)
                tagged_1: list[bytes] = []
                if self.topic_id != ZERO_UUID:
                    tagged_1.append(_pack_bbU(0, 16, uuid_bytes(self.topic_id)))
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            else:
                out += _pack_q(self.offset)
                if version >= 3:
                    out += _pack_i(self.leader_epoch)
                raw = self.metadata.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_q(self.commit_timestamp)
                if 1 <= version <= 1:
                    out += _pack_q(self.expire_timestamp)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetCommitValue", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetCommitValue, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 4:
                raise unknown_version("OffsetCommitValue", version, 0, 4)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetCommitValue)
            if version >= 4:
                m.expire_timestamp = -1
                m.offset, m.leader_epoch, n = _unpack_qiB(data, pos)
                pos += 13
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.metadata = data[pos:end].decode()
                pos = end
                m.topic_id = ZERO_UUID
                m.unknown_tagged_fields = ()
                m.commit_timestamp, n = _unpack_qB(data, pos)
                pos += 9
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            m.topic_id = _unpack_U(data, pos)[0]
                            pos += 16
                        else:
                            m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            else:
                m.topic_id = ZERO_UUID
                m.offset = _unpack_q(data, pos)[0]
                pos += 8
                if version >= 3:
                    m.leader_epoch = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.leader_epoch = -1
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.metadata = data[pos:end].decode()
                pos = end
                m.commit_timestamp = _unpack_q(data, pos)[0]
                pos += 8
                if 1 <= version <= 1:
                    m.expire_timestamp = _unpack_q(data, pos)[0]
                    pos += 8
                else:
                    m.expire_timestamp = -1
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("OffsetCommitValue", version, buf, start, cause) from cause


__all__ = [
    "OffsetCommitKey",
    "OffsetCommitRequestPartition",
    "OffsetCommitRequestTopic",
    "OffsetCommitRequest",
    "OffsetCommitResponsePartition",
    "OffsetCommitResponseTopic",
    "OffsetCommitResponse",
    "OffsetCommitValue",
]
