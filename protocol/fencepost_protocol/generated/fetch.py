# Generated from schemas/messages/FetchRequest.json (sha256 c30edb74dfdcf0d1)
# Generated from schemas/messages/FetchResponse.json (sha256 5d43eeea91a00b55)
# by python -m fencepost_protocol.codegen. Do not edit.
"""Fetch (API key 1)."""

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
    PIECE_BYTES_MIN,
    TAG_NOT_IN_VERSION,
    TAG_SIZE_WRONG,
    ZERO_UUID,
    Buffer,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hi = struct.Struct(">hi").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihiB = struct.Struct(">ihiB").unpack_from
_unpack_ihqq = struct.Struct(">ihqq").unpack_from
_unpack_ihqqqB = struct.Struct(">ihqqqB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_unpack_iiibiiB = struct.Struct(">iiibiiB").unpack_from
_unpack_iiiib = struct.Struct(">iiiib").unpack_from
_unpack_iiqiqiB = struct.Struct(">iiqiqiB").unpack_from
_unpack_iqB = struct.Struct(">iqB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qiB = struct.Struct(">qiB").unpack_from
_unpack_qq = struct.Struct(">qq").unpack_from
_unpack_qqB = struct.Struct(">qqB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_bbU = struct.Struct(">bb16s").pack
_pack_bbq = struct.Struct(">bbq").pack
_pack_h = struct.Struct(">h").pack
_pack_hi = struct.Struct(">hi").pack
_pack_i = struct.Struct(">i").pack
_pack_ihi = struct.Struct(">ihi").pack
_pack_ihqq = struct.Struct(">ihqq").pack
_pack_ihqqq = struct.Struct(">ihqqq").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iiibii = struct.Struct(">iiibii").pack
_pack_iiiib = struct.Struct(">iiiib").pack
_pack_iiqiqi = struct.Struct(">iiqiqi").pack
_pack_iq = struct.Struct(">iq").pack
_pack_q = struct.Struct(">q").pack
_pack_qi = struct.Struct(">qi").pack
_pack_qq = struct.Struct(">qq").pack
new = object.__new__


class ReplicaState(Fields):
    """Who is fetching; left out by consumers."""

    __slots__ = ("replica_id", "replica_epoch", "unknown_tagged_fields")

    replica_id: int
    """Versions 15-18. Broker id of the follower; -1 for a consumer."""
    replica_epoch: int
    """Versions 15-18. Broker epoch of the follower, keeps a restarted one out of the ISR (KIP-903);
    -1 when not given.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchPartition(Fields):
    """Positions to read from, one for each partition."""

    __slots__ = (
        "partition",
        "current_leader_epoch",
        "fetch_offset",
        "last_fetched_epoch",
        "log_start_offset",
        "partition_max_bytes",
        "replica_directory_id",
        "high_watermark",
        "unknown_tagged_fields",
    )

    partition: int
    """Partition number within the topic, counted from 0."""
    current_leader_epoch: int
    """Versions 9-18. Leader epoch the caller believes in (KIP-320): behind gives
    FENCED_LEADER_EPOCH, ahead UNKNOWN_LEADER_EPOCH, -1 skips the check.
    """
    fetch_offset: int
    """First offset wanted; outside the log it gives OFFSET_OUT_OF_RANGE."""
    last_fetched_epoch: int
    """Versions 12-18. Leader epoch of the replica's last record, reveals a diverging log (KIP-595);
    -1 means no check.
    """
    log_start_offset: int
    """Versions 5-18. Where the follower's own log begins, so that the leader can follow deletions
    (KIP-107); -1 from consumers.
    """
    partition_max_bytes: int
    """Soft cap on record bytes of this partition; the response's very first batch may exceed it."""
    replica_directory_id: bytes
    """Versions 17-18. UUID of the KRaft replica's log directory (KIP-853); consumers leave it out.
    """
    high_watermark: int
    """Versions 18. High watermark the replica already has, so that a newer one can end the wait
    (KIP-1166); the int64 maximum turns this off.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchTopic(Fields):
    """What to read; inside a session only partitions that are new or changed since the last
    request.
    """

    __slots__ = ("topic", "topic_id", "partitions", "unknown_tagged_fields")

    topic: str
    """Versions 4-12. Topic to read; from version 13 TopicId stands in its place."""
    topic_id: bytes
    """Versions 13-18. UUID of the topic to read (KIP-516); an unknown one gets UNKNOWN_TOPIC_ID."""
    partitions: list[FetchPartition]
    """Positions to read from, one for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ForgottenTopic(Fields):
    """Partitions to drop from the fetch session; empty outside of one."""

    __slots__ = ("topic", "topic_id", "partitions", "unknown_tagged_fields")

    topic: str
    """Versions 7-12. Topic to drop partitions of; from version 13 TopicId stands in its place."""
    topic_id: bytes
    """Versions 13-18. UUID of the topic to drop partitions of."""
    partitions: list[int]
    """Versions 7-18. Partition numbers that leave the session."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchRequest(Fields):
    """A consumer, or a follower replica, asks a broker for records from given offsets on. The
    broker may hold it until MinBytes are there; sessions (KIP-227) keep repeated requests small.
    """

    NAME: ClassVar[str] = "FetchRequest"
    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18
    FLEXIBLE_FROM: ClassVar[int | None] = 12

    __slots__ = (
        "cluster_id",
        "replica_id",
        "replica_state",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "isolation_level",
        "session_id",
        "session_epoch",
        "topics",
        "forgotten_topics_data",
        "rack_id",
        "unknown_tagged_fields",
    )

    cluster_id: str | None
    """Versions 12-18. Cluster a KRaft replica believes it belongs to; null skips the check, another
    one gives INCONSISTENT_CLUSTER_ID.
    """
    replica_id: int
    """Versions 4-14. Broker id of a follower, -1 for a consumer; from version 15 inside
    ReplicaState.
    """
    replica_state: ReplicaState | None
    """Versions 15-18. Who is fetching; left out by consumers."""
    max_wait_ms: int
    """Longest time in ms the broker may hold the request while less than MinBytes is ready."""
    min_bytes: int
    """Record bytes to gather before answering; 0 answers at once."""
    max_bytes: int
    """Soft cap on record bytes in the whole response; a first batch that is larger still comes
    complete.
    """
    isolation_level: int
    """0 (read_uncommitted) reads up to the high watermark, 1 (read_committed) to the last stable
    offset with AbortedTransactions.
    """
    session_id: int
    """Versions 7-18. Fetch session to go on with (KIP-227); 0 while there is none."""
    session_epoch: int
    """Versions 7-18. Request counter of the session: 0 opens one, -1 closes it or does without; a
    wrong count gives INVALID_FETCH_SESSION_EPOCH.
    """
    topics: list[FetchTopic]
    """What to read; inside a session only partitions that are new or changed since the last
    request.
    """
    forgotten_topics_data: list[ForgottenTopic]
    """Versions 7-18. Partitions to drop from the fetch session; empty outside of one."""
    rack_id: str
    """Versions 11-18. Rack of the consumer, lets the leader choose a PreferredReadReplica
    (KIP-392); empty means no preference.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchTopic] = MADE_ANEW,
        forgotten_topics_data: list[ForgottenTopic] = MADE_ANEW,
        rack_id: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = [] if topics is MADE_ANEW else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is MADE_ANEW else forgotten_topics_data
        self.rack_id = rack_id
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 4 <= version <= 18:
                raise unknown_version("FetchRequest", version, 4, 18)
            if version >= 12:
                if version <= 14:
                    out += _pack_i(self.replica_id)
                elif self.replica_id != -1:
                    raise not_in_version("replica_id", "4-14")
                out += _pack_iiibii(
                    self.max_wait_ms,
                    self.min_bytes,
                    self.max_bytes,
                    self.isolation_level,
                    self.session_id,
                    self.session_epoch,
                )
                n = len(self.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in self.topics:
                    if version <= 12:
                        raw = topic.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 13:
                        out += _pack_U(uuid_bytes(topic.topic_id))
                    n = len(topic.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition in topic.partitions:
                        out += _pack_iiqiqi(
                            partition.partition,
                            partition.current_leader_epoch,
                            partition.fetch_offset,
                            partition.last_fetched_epoch,
                            partition.log_start_offset,
                            partition.partition_max_bytes,
                        )
                        tagged_1: list[bytes] = []
                        if partition.replica_directory_id != ZERO_UUID:
                            if version >= 17:
                                tagged_1.append(_pack_bbU(0, 16, uuid_bytes(partition.replica_directory_id)))
                        if partition.high_watermark != 9223372036854775807:
                            if version >= 18:
                                tagged_1.append(_pack_bbq(1, 8, partition.high_watermark))
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, tagged_1, partition.unknown_tagged_fields)
                        elif tagged_1:
                            out.append(len(tagged_1))
                            out += b"".join(tagged_1)
                        else:
                            out.append(0)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                n = len(self.forgotten_topics_data) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for forgotten_topic in self.forgotten_topics_data:
                    if version <= 12:
                        raw = forgotten_topic.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 13:
                        out += _pack_U(uuid_bytes(forgotten_topic.topic_id))
                    n = len(forgotten_topic.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_int32_array(out, forgotten_topic.partitions)
                    if forgotten_topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], forgotten_topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                raw = self.rack_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                tagged_1 = []
                if self.cluster_id is not None:
                    content_1 = bytearray()
                    raw = self.cluster_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_string_length(content_1, n)
                    content_1 += raw
                    tagged_1.append(tagged_field(0, content_1))
                if self.replica_state is not None and self.replica_state != ReplicaState():
                    if not (version >= 15):
                        raise not_in_version("replica_state", "15-18")
                    content_1 = bytearray()
                    content_1 += _pack_iq(
                        self.replica_state.replica_id,
                        self.replica_state.replica_epoch,
                    )
                    if self.replica_state.unknown_tagged_fields:
                        write_tagged_fields(content_1, [], self.replica_state.unknown_tagged_fields)
                    else:
                        content_1.append(0)
                    tagged_1.append(tagged_field(1, content_1))
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            else:
                if self.replica_state is not None and self.replica_state != ReplicaState():
                    raise not_in_version("replica_state", "15-18")
                out += _pack_iiiib(
                    self.replica_id,
                    self.max_wait_ms,
                    self.min_bytes,
                    self.max_bytes,
                    self.isolation_level,
                )
                if version >= 7:
                    out += _pack_ii(self.session_id, self.session_epoch)
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    raw = topic.topic.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for partition in topic.partitions:
                        if partition.last_fetched_epoch != -1:
                            raise not_in_version("topics.partitions.last_fetched_epoch", "12-18")
                        out += _pack_i(partition.partition)
                        if version >= 9:
                            out += _pack_i(partition.current_leader_epoch)
                        out += _pack_q(partition.fetch_offset)
                        if version >= 5:
                            out += _pack_q(partition.log_start_offset)
                        out += _pack_i(partition.partition_max_bytes)
                if version >= 7:
                    out += _pack_i(len(self.forgotten_topics_data))
                    for forgotten_topic in self.forgotten_topics_data:
                        raw = forgotten_topic.topic.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_i(len(forgotten_topic.partitions))
                        write_int32_array(out, forgotten_topic.partitions)
                elif self.forgotten_topics_data:
                    raise not_in_version("forgotten_topics_data", "7-18")
                if version >= 11:
                    raw = self.rack_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("FetchRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[FetchRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 4 <= version <= 18:
                raise unknown_version("FetchRequest", version, 4, 18)
            size = len(buf)
            data = buf.tobytes()
            m = new(FetchRequest)
            if version >= 12:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version <= 14:
                    m.replica_id = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.replica_id = -1
                (
                    m.max_wait_ms,
                    m.min_bytes,
                    m.max_bytes,
                    m.isolation_level,
                    m.session_id,
                    m.session_epoch,
                    n,
                ) = _unpack_iiibiiB(data, pos)
                pos += 22
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(FetchTopic)
                    topic_list.append(topic)
                    if version <= 12:
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic.topic = data[pos:end].decode()
                        pos = end
                    else:
                        topic.topic = ""
                    if version >= 13:
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
                        partition = new(FetchPartition)
                        partition_list.append(partition)
                        partition.replica_directory_id = ZERO_UUID
                        partition.high_watermark = 9223372036854775807
                        partition.unknown_tagged_fields = ()
                        (
                            partition.partition,
                            partition.current_leader_epoch,
                            partition.fetch_offset,
                            partition.last_fetched_epoch,
                            partition.log_start_offset,
                            partition.partition_max_bytes,
                            n,
                        ) = _unpack_iiqiqiB(data, pos)
                        pos += 33
                        if n:
                            if n > 127:
                                n, pos = read_uvarint_tail(data, pos, n)
                            for _ in range(n):
                                tag_1, tag_end_1, pos = read_tag(data, pos)
                                if tag_1 == 0:
                                    if not (version >= 17):
                                        raise ValueError(TAG_NOT_IN_VERSION)
                                    partition.replica_directory_id = _unpack_U(data, pos)[0]
                                    pos += 16
                                elif tag_1 == 1:
                                    if not (version >= 18):
                                        raise ValueError(TAG_NOT_IN_VERSION)
                                    partition.high_watermark = _unpack_q(data, pos)[0]
                                    pos += 8
                                else:
                                    partition.unknown_tagged_fields = with_unknown_tag(partition.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                                    pos = tag_end_1
                                if pos != tag_end_1:
                                    raise ValueError(TAG_SIZE_WRONG)
                    n = data[pos]
                    pos += 1
                    if n:
                        topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        topic.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.forgotten_topics_data = forgotten_topic_list = []
                forgotten_topic_left = n - 1
                while forgotten_topic_left:
                    forgotten_topic_left -= 1
                    forgotten_topic = new(ForgottenTopic)
                    forgotten_topic_list.append(forgotten_topic)
                    if version <= 12:
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        forgotten_topic.topic = data[pos:end].decode()
                        pos = end
                    else:
                        forgotten_topic.topic = ""
                    if version >= 13:
                        forgotten_topic.topic_id = _unpack_U(data, pos)[0]
                        pos += 16
                    else:
                        forgotten_topic.topic_id = ZERO_UUID
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    forgotten_topic.partitions, pos = read_int32_array(data, pos, n - 1)
                    n = data[pos]
                    pos += 1
                    if n:
                        forgotten_topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        forgotten_topic.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.rack_id = data[pos:end].decode()
                pos = end
                m.cluster_id = None
                m.replica_state = None
                m.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = long_nullable_string_length(data, pos, n)
                            if not n:
                                m.cluster_id = None
                            else:
                                end = pos + n - 1
                                m.cluster_id = data[pos:end].decode()
                                pos = end
                        elif tag_1 == 1:
                            if not (version >= 15):
                                raise ValueError(TAG_NOT_IN_VERSION)
                            m.replica_state = replica_state = new(ReplicaState)
                            (
                                replica_state.replica_id,
                                replica_state.replica_epoch,
                                n,
                            ) = _unpack_iqB(data, pos)
                            pos += 13
                            if n:
                                replica_state.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                replica_state.unknown_tagged_fields = ()
                        else:
                            m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.cluster_id = None
                m.replica_state = None
                (
                    m.replica_id,
                    m.max_wait_ms,
                    m.min_bytes,
                    m.max_bytes,
                    m.isolation_level,
                ) = _unpack_iiiib(data, pos)
                pos += 17
                if version >= 7:
                    m.session_id, m.session_epoch = _unpack_ii(data, pos)
                    pos += 8
                else:
                    m.session_id = 0
                    m.session_epoch = -1
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
                    topic = new(FetchTopic)
                    topic_list.append(topic)
                    topic.topic_id = ZERO_UUID
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
                    topic.partitions = partition_list = []
                    partition_left = n
                    while partition_left:
                        partition_left -= 1
                        partition = new(FetchPartition)
                        partition_list.append(partition)
                        partition.last_fetched_epoch = -1
                        partition.replica_directory_id = ZERO_UUID
                        partition.high_watermark = 9223372036854775807
                        partition.partition = _unpack_i(data, pos)[0]
                        pos += 4
                        if version >= 9:
                            partition.current_leader_epoch = _unpack_i(data, pos)[0]
                            pos += 4
                        else:
                            partition.current_leader_epoch = -1
                        partition.fetch_offset = _unpack_q(data, pos)[0]
                        pos += 8
                        if version >= 5:
                            partition.log_start_offset = _unpack_q(data, pos)[0]
                            pos += 8
                        else:
                            partition.log_start_offset = -1
                        partition.unknown_tagged_fields = ()
                        partition.partition_max_bytes = _unpack_i(data, pos)[0]
                        pos += 4
                    topic.unknown_tagged_fields = ()
                if version >= 7:
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.forgotten_topics_data = forgotten_topic_list = []
                    forgotten_topic_left = n
                    while forgotten_topic_left:
                        forgotten_topic_left -= 1
                        forgotten_topic = new(ForgottenTopic)
                        forgotten_topic_list.append(forgotten_topic)
                        forgotten_topic.topic_id = ZERO_UUID
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        forgotten_topic.topic = data[pos:end].decode()
                        pos = end
                        n = _unpack_i(data, pos)[0]
                        pos += 4
                        if n < 0:
                            raise negative_length(n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        forgotten_topic.partitions, pos = read_int32_array(data, pos, n)
                        forgotten_topic.unknown_tagged_fields = ()
                else:
                    m.forgotten_topics_data = []
                if version >= 11:
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    m.rack_id = data[pos:end].decode()
                    pos = end
                else:
                    m.rack_id = ""
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("FetchRequest", version, buf, start, cause) from cause


class EpochEndOffset(Fields):
    """Only if the replica's log differs from the leader's: where to truncate before fetching again
    (KIP-595).
    """

    __slots__ = ("epoch", "end_offset", "unknown_tagged_fields")

    epoch: int
    """Versions 12-18. Largest leader epoch in the leader's log that is not above LastFetchedEpoch;
    -1 when not set.
    """
    end_offset: int
    """Versions 12-18. Offset at which that epoch ends in the leader's log, exclusive; -1 when not
    set.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset
        self.unknown_tagged_fields = unknown_tagged_fields


class LeaderIdAndEpoch(Fields):
    """Hint sent with NOT_LEADER_OR_FOLLOWER or FENCED_LEADER_EPOCH, which saves asking Metadata
    (KIP-951).
    """

    __slots__ = ("leader_id", "leader_epoch", "unknown_tagged_fields")

    leader_id: int
    """Versions 12-18. Broker now leading the partition; -1 when unknown."""
    leader_epoch: int
    """Versions 12-18. Epoch of that leadership; -1 when unknown."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class SnapshotId(Fields):
    """KRaft only: the offset is no longer in the log, load this snapshot with FetchSnapshot first
    (KIP-630).
    """

    __slots__ = ("end_offset", "epoch", "unknown_tagged_fields")

    end_offset: int
    """End of what the snapshot covers, exclusive; -1 names no snapshot."""
    epoch: int
    """Leader epoch the snapshot ends in; -1 names no snapshot."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class AbortedTransaction(Fields):
    """Aborted transactions that overlap the returned range, for the reader to filter; null for
    read_uncommitted.
    """

    __slots__ = ("producer_id", "first_offset", "unknown_tagged_fields")

    producer_id: int
    """Producer whose transactional records are skipped from FirstOffset up to its abort marker."""
    first_offset: int
    """Where the aborted transaction begins in this partition; may lie before the fetched range."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset
        self.unknown_tagged_fields = unknown_tagged_fields


class PartitionData(Fields):
    """Data and watermarks of each partition."""

    __slots__ = (
        "partition_index",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "diverging_epoch",
        "current_leader",
        "snapshot_id",
        "aborted_transactions",
        "preferred_read_replica",
        "records",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or why nothing is read: OFFSET_OUT_OF_RANGE, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_ID,
    FENCED_LEADER_EPOCH and others.
    """
    high_watermark: int
    """Offset just behind the last record that is fully replicated; -1 on an error."""
    last_stable_offset: int
    """Start of the earliest open transaction, or else the high watermark; read_committed data ends
    before it; -1 on an error.
    """
    log_start_offset: int
    """Versions 5-18. First offset still present in the log; -1 on an error."""
    diverging_epoch: EpochEndOffset | None
    """Versions 12-18. Only if the replica's log differs from the leader's: where to truncate before
    fetching again (KIP-595).
    """
    current_leader: LeaderIdAndEpoch | None
    """Versions 12-18. Hint sent with NOT_LEADER_OR_FOLLOWER or FENCED_LEADER_EPOCH, which saves
    asking Metadata (KIP-951).
    """
    snapshot_id: SnapshotId | None
    """Versions 12-18. KRaft only: the offset is no longer in the log, load this snapshot with
    FetchSnapshot first (KIP-630).
    """
    aborted_transactions: list[AbortedTransaction] | None
    """Aborted transactions that overlap the returned range, for the reader to filter; null for
    read_uncommitted.
    """
    preferred_read_replica: int
    """Versions 11-18. Broker id the consumer should read from instead (KIP-392), then without
    records; -1 means stay here.
    """
    records: Buffer | None
    """Batches as stored: the first may start below FetchOffset, the last may be cut off; null or
    empty without data.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: list[AbortedTransaction] | None = MADE_ANEW,
        preferred_read_replica: int = -1,
        records: Buffer | None = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = diverging_epoch
        self.current_leader = current_leader
        self.snapshot_id = snapshot_id
        self.aborted_transactions = [] if aborted_transactions is MADE_ANEW else aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchableTopicResponse(Fields):
    """Data by topic; within a session, whatever is unchanged is left out."""

    __slots__ = ("topic", "topic_id", "partitions", "unknown_tagged_fields")

    topic: str
    """Versions 4-12. Topic the data is from; from version 13 TopicId stands in its place."""
    topic_id: bytes
    """Versions 13-18. UUID of the topic the data is from."""
    partitions: list[PartitionData]
    """Data and watermarks of each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class NodeEndpoint(Fields):
    """Addresses of all brokers named in CurrentLeader (KIP-951); absent without such a hint."""

    __slots__ = ("node_id", "host", "port", "rack", "unknown_tagged_fields")

    node_id: int
    """Versions 16-18. Broker id, matches a CurrentLeader.LeaderId of the same response."""
    host: str
    """Versions 16-18. Host name or address of that broker on the listener in use."""
    port: int
    """Versions 16-18. TCP port of that broker on the listener in use."""
    rack: str | None
    """Versions 16-18. Value of broker.rack there; null when not configured."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchResponse(Fields):
    """Records from the leader (or a nearby replica), with the watermarks a reader needs. Within a
    session it lists only partitions that have something new.
    """

    NAME: ClassVar[str] = "FetchResponse"
    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    MAX_VERSION: ClassVar[int] = 18
    FLEXIBLE_FROM: ClassVar[int | None] = 12

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "session_id",
        "responses",
        "node_endpoints",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """Versions 7-18. NONE, or a fault of the whole fetch: FETCH_SESSION_ID_NOT_FOUND,
    INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR.
    """
    session_id: int
    """Versions 7-18. Session to name in the next fetch (KIP-227); 0 means the broker keeps none."""
    responses: list[FetchableTopicResponse]
    """Data by topic; within a session, whatever is unchanged is left out."""
    node_endpoints: list[NodeEndpoint]
    """Versions 16-18. Addresses of all brokers named in CurrentLeader (KIP-951); absent without
    such a hint.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = MADE_ANEW,
        node_endpoints: list[NodeEndpoint] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = [] if responses is MADE_ANEW else responses
        self.node_endpoints = [] if node_endpoints is MADE_ANEW else node_endpoints
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 4 <= version <= 18:
                raise unknown_version("FetchResponse", version, 4, 18)
            if version >= 12:
                out += _pack_ihi(self.throttle_time_ms, self.error_code, self.session_id)
                n = len(self.responses) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for response in self.responses:
                    if version <= 12:
                        raw = response.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 13:
                        out += _pack_U(uuid_bytes(response.topic_id))
                    n = len(response.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition in response.partitions:
                        out += _pack_ihqqq(
                            partition.partition_index,
                            partition.error_code,
                            partition.high_watermark,
                            partition.last_stable_offset,
                            partition.log_start_offset,
                        )
                        if partition.aborted_transactions is None:
                            out.append(0)
                        else:
                            n = len(partition.aborted_transactions) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            for aborted_transaction in partition.aborted_transactions:
                                out += _pack_qq(
                                    aborted_transaction.producer_id,
                                    aborted_transaction.first_offset,
                                )
                                if aborted_transaction.unknown_tagged_fields:
                                    write_tagged_fields(out, [], aborted_transaction.unknown_tagged_fields)
                                else:
                                    out.append(0)
                        out += _pack_i(partition.preferred_read_replica)
                        if partition.records is None:
                            out.append(0)
                        else:
                            records = partition.records
                            n = len(records) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            out += records
                        tagged_1: list[bytes] = []
                        if partition.diverging_epoch is not None and partition.diverging_epoch != EpochEndOffset():
                            content_1 = bytearray()
                            content_1 += _pack_iq(
                                partition.diverging_epoch.epoch,
                                partition.diverging_epoch.end_offset,
                            )
                            if partition.diverging_epoch.unknown_tagged_fields:
                                write_tagged_fields(content_1, [], partition.diverging_epoch.unknown_tagged_fields)
                            else:
                                content_1.append(0)
                            tagged_1.append(tagged_field(0, content_1))
                        if partition.current_leader is not None and partition.current_leader != LeaderIdAndEpoch():
                            content_1 = bytearray()
                            content_1 += _pack_ii(
                                partition.current_leader.leader_id,
                                partition.current_leader.leader_epoch,
                            )
                            if partition.current_leader.unknown_tagged_fields:
                                write_tagged_fields(content_1, [], partition.current_leader.unknown_tagged_fields)
                            else:
                                content_1.append(0)
                            tagged_1.append(tagged_field(1, content_1))
                        if partition.snapshot_id is not None and partition.snapshot_id != SnapshotId():
                            content_1 = bytearray()
                            content_1 += _pack_qi(
                                partition.snapshot_id.end_offset,
                                partition.snapshot_id.epoch,
                            )
                            if partition.snapshot_id.unknown_tagged_fields:
                                write_tagged_fields(content_1, [], partition.snapshot_id.unknown_tagged_fields)
                            else:
                                content_1.append(0)
                            tagged_1.append(tagged_field(2, content_1))
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, tagged_1, partition.unknown_tagged_fields)
                        elif tagged_1:
                            out.append(len(tagged_1))
                            out += b"".join(tagged_1)
                        else:
                            out.append(0)
                    if response.unknown_tagged_fields:
                        write_tagged_fields(out, [], response.unknown_tagged_fields)
                    else:
                        out.append(0)
                tagged_1 = []
                if self.node_endpoints:
                    if not (version >= 16):
                        raise not_in_version("node_endpoints", "16-18")
                    content_1 = bytearray()
                    n = len(self.node_endpoints) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for node_endpoint in self.node_endpoints:
                        raw = node_endpoint.host.encode()
                        content_1 += _pack_i(node_endpoint.node_id)
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        content_1 += _pack_i(node_endpoint.port)
                        if node_endpoint.rack is None:
                            content_1.append(0)
                        else:
                            raw = node_endpoint.rack.encode()
                            n = len(raw) + 1
                            if n < 128:
                                content_1.append(n)
                            else:
                                write_string_length(content_1, n)
                            content_1 += raw
                        if node_endpoint.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], node_endpoint.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    tagged_1.append(tagged_field(0, content_1))
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            else:
                if self.node_endpoints:
                    raise not_in_version("node_endpoints", "16-18")
                out += _pack_i(self.throttle_time_ms)
                if version >= 7:
                    out += _pack_hi(self.error_code, self.session_id)
                elif self.session_id != 0:
                    raise not_in_version("session_id", "7-18")
                out += _pack_i(len(self.responses))
                for response in self.responses:
                    raw = response.topic.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(response.partitions))
                    for partition in response.partitions:
                        if partition.diverging_epoch is not None and partition.diverging_epoch != EpochEndOffset():
                            raise not_in_version("responses.partitions.diverging_epoch", "12-18")
                        if partition.current_leader is not None and partition.current_leader != LeaderIdAndEpoch():
                            raise not_in_version("responses.partitions.current_leader", "12-18")
                        if partition.snapshot_id is not None and partition.snapshot_id != SnapshotId():
                            raise not_in_version("responses.partitions.snapshot_id", "12-18")
                        out += _pack_ihqq(
                            partition.partition_index,
                            partition.error_code,
                            partition.high_watermark,
                            partition.last_stable_offset,
                        )
                        if version >= 5:
                            out += _pack_q(partition.log_start_offset)
                        if partition.aborted_transactions is None:
                            out += _pack_i(-1)
                        else:
                            out += _pack_i(len(partition.aborted_transactions))
                            for aborted_transaction in partition.aborted_transactions:
                                out += _pack_qq(
                                    aborted_transaction.producer_id,
                                    aborted_transaction.first_offset,
                                )
                        if version >= 11:
                            out += _pack_i(partition.preferred_read_replica)
                        elif partition.preferred_read_replica != -1:
                            raise not_in_version("responses.partitions.preferred_read_replica", "11-18")
                        if partition.records is None:
                            out += _pack_i(-1)
                        else:
                            records = partition.records
                            out += _pack_i(len(records))
                            out += records
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("FetchResponse", version, self, cause) from cause

    def encode_pieces(self, version: int, head: bytearray) -> list[Buffer]:
        """As ``encode``, but large records stay pieces of their own, not copied into ``head``,
        which is the first piece.
        """
        start = len(head)
        out = head
        pieces: list[Buffer] = [head]
        try:
            if not 4 <= version <= 18:
                raise unknown_version("FetchResponse", version, 4, 18)
            if version >= 12:
                out += _pack_ihi(self.throttle_time_ms, self.error_code, self.session_id)
                n = len(self.responses) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for response in self.responses:
                    if version <= 12:
                        raw = response.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 13:
                        out += _pack_U(uuid_bytes(response.topic_id))
                    n = len(response.partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition in response.partitions:
                        out += _pack_ihqqq(
                            partition.partition_index,
                            partition.error_code,
                            partition.high_watermark,
                            partition.last_stable_offset,
                            partition.log_start_offset,
                        )
                        if partition.aborted_transactions is None:
                            out.append(0)
                        else:
                            n = len(partition.aborted_transactions) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            for aborted_transaction in partition.aborted_transactions:
                                out += _pack_qq(
                                    aborted_transaction.producer_id,
                                    aborted_transaction.first_offset,
                                )
                                if aborted_transaction.unknown_tagged_fields:
                                    write_tagged_fields(out, [], aborted_transaction.unknown_tagged_fields)
                                else:
                                    out.append(0)
                        out += _pack_i(partition.preferred_read_replica)
                        if partition.records is None:
                            out.append(0)
                        else:
                            records = partition.records
                            n = len(records) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            if len(records) < PIECE_BYTES_MIN:
                                out += records
                            else:
                                out = bytearray()
                                pieces += (records, out)
                        tagged_1: list[bytes] = []
                        if partition.diverging_epoch is not None and partition.diverging_epoch != EpochEndOffset():
                            content_1 = bytearray()
                            content_1 += _pack_iq(
                                partition.diverging_epoch.epoch,
                                partition.diverging_epoch.end_offset,
                            )
                            if partition.diverging_epoch.unknown_tagged_fields:
                                write_tagged_fields(content_1, [], partition.diverging_epoch.unknown_tagged_fields)
                            else:
                                content_1.append(0)
                            tagged_1.append(tagged_field(0, content_1))
                        if partition.current_leader is not None and partition.current_leader != LeaderIdAndEpoch():
                            content_1 = bytearray()
                            content_1 += _pack_ii(
                                partition.current_leader.leader_id,
                                partition.current_leader.leader_epoch,
                            )
                            if partition.current_leader.unknown_tagged_fields:
                                write_tagged_fields(content_1, [], partition.current_leader.unknown_tagged_fields)
                            else:
                                content_1.append(0)
                            tagged_1.append(tagged_field(1, content_1))
                        if partition.snapshot_id is not None and partition.snapshot_id != SnapshotId():
                            content_1 = bytearray()
                            content_1 += _pack_qi(
                                partition.snapshot_id.end_offset,
                                partition.snapshot_id.epoch,
                            )
                            if partition.snapshot_id.unknown_tagged_fields:
                                write_tagged_fields(content_1, [], partition.snapshot_id.unknown_tagged_fields)
                            else:
                                content_1.append(0)
                            tagged_1.append(tagged_field(2, content_1))
                        if partition.unknown_tagged_fields:
                            write_tagged_fields(out, tagged_1, partition.unknown_tagged_fields)
                        elif tagged_1:
                            out.append(len(tagged_1))
                            out += b"".join(tagged_1)
                        else:
                            out.append(0)
                    if response.unknown_tagged_fields:
                        write_tagged_fields(out, [], response.unknown_tagged_fields)
                    else:
                        out.append(0)
                tagged_1 = []
                if self.node_endpoints:
                    if not (version >= 16):
                        raise not_in_version("node_endpoints", "16-18")
                    content_1 = bytearray()
                    n = len(self.node_endpoints) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for node_endpoint in self.node_endpoints:
                        raw = node_endpoint.host.encode()
                        content_1 += _pack_i(node_endpoint.node_id)
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        content_1 += _pack_i(node_endpoint.port)
                        if node_endpoint.rack is None:
                            content_1.append(0)
                        else:
                            raw = node_endpoint.rack.encode()
                            n = len(raw) + 1
                            if n < 128:
                                content_1.append(n)
                            else:
                                write_string_length(content_1, n)
                            content_1 += raw
                        if node_endpoint.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], node_endpoint.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    tagged_1.append(tagged_field(0, content_1))
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            else:
                if self.node_endpoints:
                    raise not_in_version("node_endpoints", "16-18")
                out += _pack_i(self.throttle_time_ms)
                if version >= 7:
                    out += _pack_hi(self.error_code, self.session_id)
                elif self.session_id != 0:
                    raise not_in_version("session_id", "7-18")
                out += _pack_i(len(self.responses))
                for response in self.responses:
                    raw = response.topic.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(response.partitions))
                    for partition in response.partitions:
                        if partition.diverging_epoch is not None and partition.diverging_epoch != EpochEndOffset():
                            raise not_in_version("responses.partitions.diverging_epoch", "12-18")
                        if partition.current_leader is not None and partition.current_leader != LeaderIdAndEpoch():
                            raise not_in_version("responses.partitions.current_leader", "12-18")
                        if partition.snapshot_id is not None and partition.snapshot_id != SnapshotId():
                            raise not_in_version("responses.partitions.snapshot_id", "12-18")
                        out += _pack_ihqq(
                            partition.partition_index,
                            partition.error_code,
                            partition.high_watermark,
                            partition.last_stable_offset,
                        )
                        if version >= 5:
                            out += _pack_q(partition.log_start_offset)
                        if partition.aborted_transactions is None:
                            out += _pack_i(-1)
                        else:
                            out += _pack_i(len(partition.aborted_transactions))
                            for aborted_transaction in partition.aborted_transactions:
                                out += _pack_qq(
                                    aborted_transaction.producer_id,
                                    aborted_transaction.first_offset,
                                )
                        if version >= 11:
                            out += _pack_i(partition.preferred_read_replica)
                        elif partition.preferred_read_replica != -1:
                            raise not_in_version("responses.partitions.preferred_read_replica", "11-18")
                        if partition.records is None:
                            out += _pack_i(-1)
                        else:
                            records = partition.records
                            out += _pack_i(len(records))
                            if len(records) < PIECE_BYTES_MIN:
                                out += records
                            else:
                                out = bytearray()
                                pieces += (records, out)
        except ENCODE_ERRORS as cause:
            del head[start:]
            raise encode_failure("FetchResponse", version, self, cause) from cause
        return pieces

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[FetchResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 4 <= version <= 18:
                raise unknown_version("FetchResponse", version, 4, 18)
            size = len(buf)
            m = new(FetchResponse)
            if version >= 12:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, m.error_code, m.session_id, n = _unpack_ihiB(buf, pos)
                pos += 11
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.responses = response_list = []
                response_left = n - 1
                while response_left:
                    response_left -= 1
                    response = new(FetchableTopicResponse)
                    response_list.append(response)
                    if version <= 12:
                        n = buf[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(buf, pos, n)
                        end = pos + n - 1
                        response.topic = buf[pos:end].tobytes().decode()
                        pos = end
                    else:
                        response.topic = ""
                    if version >= 13:
                        response.topic_id = _unpack_U(buf, pos)[0]
                        pos += 16
                    else:
                        response.topic_id = ZERO_UUID
                    n = buf[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(buf, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    response.partitions = partition_list = []
                    partition_left = n - 1
                    while partition_left:
                        partition_left -= 1
                        partition = new(PartitionData)
                        partition_list.append(partition)
                        (
                            partition.partition_index,
                            partition.error_code,
                            partition.high_watermark,
                            partition.last_stable_offset,
                            partition.log_start_offset,
                            n,
                        ) = _unpack_ihqqqB(buf, pos)
                        pos += 31
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            partition.aborted_transactions = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            partition.aborted_transactions = aborted_transaction_list = []
                            aborted_transaction_left = n - 1
                            while aborted_transaction_left:
                                aborted_transaction_left -= 1
                                aborted_transaction = new(AbortedTransaction)
                                aborted_transaction_list.append(aborted_transaction)
                                (
                                    aborted_transaction.producer_id,
                                    aborted_transaction.first_offset,
                                    n,
                                ) = _unpack_qqB(buf, pos)
                                pos += 17
                                if n:
                                    aborted_transaction.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                                else:
                                    aborted_transaction.unknown_tagged_fields = ()
                        partition.preferred_read_replica, n = _unpack_iB(buf, pos)
                        pos += 5
                        if n > 127:
                            more = buf[pos]
                            if more < 128:
                                n = n & 127 | more << 7
                                pos += 1
                            else:
                                n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            partition.records = None
                        else:
                            end = pos + n - 1
                            partition.records = buf[pos:end]
                            pos = end
                        partition.diverging_epoch = None
                        partition.current_leader = None
                        partition.snapshot_id = None
                        partition.unknown_tagged_fields = ()
                        n = buf[pos]
                        pos += 1
                        if n:
                            if n > 127:
                                n, pos = read_uvarint_tail(buf, pos, n)
                            for _ in range(n):
                                tag_1, tag_end_1, pos = read_tag(buf, pos)
                                if tag_1 == 0:
                                    partition.diverging_epoch = epoch_end_offset = new(EpochEndOffset)
                                    (
                                        epoch_end_offset.epoch,
                                        epoch_end_offset.end_offset,
                                        n,
                                    ) = _unpack_iqB(buf, pos)
                                    pos += 13
                                    if n:
                                        epoch_end_offset.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                                    else:
                                        epoch_end_offset.unknown_tagged_fields = ()
                                elif tag_1 == 1:
                                    partition.current_leader = leader_id_and_epoch = new(LeaderIdAndEpoch)
                                    (
                                        leader_id_and_epoch.leader_id,
                                        leader_id_and_epoch.leader_epoch,
                                        n,
                                    ) = _unpack_iiB(buf, pos)
                                    pos += 9
                                    if n:
                                        leader_id_and_epoch.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                                    else:
                                        leader_id_and_epoch.unknown_tagged_fields = ()
                                elif tag_1 == 2:
                                    partition.snapshot_id = snapshot_id = new(SnapshotId)
                                    (
                                        snapshot_id.end_offset,
                                        snapshot_id.epoch,
                                        n,
                                    ) = _unpack_qiB(buf, pos)
                                    pos += 13
                                    if n:
                                        snapshot_id.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                                    else:
                                        snapshot_id.unknown_tagged_fields = ()
                                else:
                                    partition.unknown_tagged_fields = with_unknown_tag(partition.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                                    pos = tag_end_1
                                if pos != tag_end_1:
                                    raise ValueError(TAG_SIZE_WRONG)
                    n = buf[pos]
                    pos += 1
                    if n:
                        response.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                    else:
                        response.unknown_tagged_fields = ()
                m.node_endpoints = []
                m.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(buf, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(buf, pos)
                        if tag_1 == 0:
                            if not (version >= 16):
                                raise ValueError(TAG_NOT_IN_VERSION)
                            n = buf[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(buf, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.node_endpoints = node_endpoint_list = []
                            node_endpoint_left = n - 1
                            while node_endpoint_left:
                                node_endpoint_left -= 1
                                node_endpoint = new(NodeEndpoint)
                                node_endpoint_list.append(node_endpoint)
                                node_endpoint.node_id, n = _unpack_iB(buf, pos)
                                pos += 5
                                if not n or n > 127:
                                    n, pos = long_string_length(buf, pos, n)
                                end = pos + n - 1
                                node_endpoint.host = buf[pos:end].tobytes().decode()
                                pos = end
                                node_endpoint.port, n = _unpack_iB(buf, pos)
                                pos += 5
                                if n > 127:
                                    n, pos = long_nullable_string_length(buf, pos, n)
                                if not n:
                                    node_endpoint.rack = None
                                else:
                                    end = pos + n - 1
                                    node_endpoint.rack = buf[pos:end].tobytes().decode()
                                    pos = end
                                n = buf[pos]
                                pos += 1
                                if n:
                                    node_endpoint.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                                else:
                                    node_endpoint.unknown_tagged_fields = ()
                        else:
                            m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.node_endpoints = []
                m.throttle_time_ms = _unpack_i(buf, pos)[0]
                pos += 4
                if version >= 7:
                    m.error_code, m.session_id = _unpack_hi(buf, pos)
                    pos += 6
                else:
                    m.error_code = 0
                    m.session_id = 0
                n = _unpack_i(buf, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.responses = response_list = []
                response_left = n
                while response_left:
                    response_left -= 1
                    response = new(FetchableTopicResponse)
                    response_list.append(response)
                    response.topic_id = ZERO_UUID
                    n = _unpack_h(buf, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    response.topic = buf[pos:end].tobytes().decode()
                    pos = end
                    n = _unpack_i(buf, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    response.partitions = partition_list = []
                    partition_left = n
                    while partition_left:
                        partition_left -= 1
                        partition = new(PartitionData)
                        partition_list.append(partition)
                        partition.diverging_epoch = None
                        partition.current_leader = None
                        partition.snapshot_id = None
                        (
                            partition.partition_index,
                            partition.error_code,
                            partition.high_watermark,
                            partition.last_stable_offset,
                        ) = _unpack_ihqq(buf, pos)
                        pos += 22
                        if version >= 5:
                            partition.log_start_offset = _unpack_q(buf, pos)[0]
                            pos += 8
                        else:
                            partition.log_start_offset = -1
                        n = _unpack_i(buf, pos)[0]
                        pos += 4
                        if n < 0:
                            partition.aborted_transactions = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            partition.aborted_transactions = aborted_transaction_list = []
                            aborted_transaction_left = n
                            while aborted_transaction_left:
                                aborted_transaction_left -= 1
                                aborted_transaction = new(AbortedTransaction)
                                aborted_transaction_list.append(aborted_transaction)
                                aborted_transaction.unknown_tagged_fields = ()
                                (
                                    aborted_transaction.producer_id,
                                    aborted_transaction.first_offset,
                                ) = _unpack_qq(buf, pos)
                                pos += 16
                        if version >= 11:
                            partition.preferred_read_replica = _unpack_i(buf, pos)[0]
                            pos += 4
                        else:
                            partition.preferred_read_replica = -1
                        n = _unpack_i(buf, pos)[0]
                        pos += 4
                        if n < 0:
                            partition.records = None
                        else:
                            end = pos + n
                            partition.records = buf[pos:end]
                            pos = end
                        partition.unknown_tagged_fields = ()
                    response.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("FetchResponse", version, buf, start, cause) from cause


__all__ = [
    "ReplicaState",
    "FetchPartition",
    "FetchTopic",
    "ForgottenTopic",
    "FetchRequest",
    "EpochEndOffset",
    "LeaderIdAndEpoch",
    "SnapshotId",
    "AbortedTransaction",
    "PartitionData",
    "FetchableTopicResponse",
    "NodeEndpoint",
    "FetchResponse",
]
