# Generated from schemas/messages/ShareFetchRequest.json (sha256 6217003a90bcb77b)
# Generated from schemas/messages/ShareFetchResponse.json (sha256 53c78c9bc0698063)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareFetch (API key 78)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    not_nullable,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    PIECE_BYTES_MIN,
    ZERO_UUID,
    Buffer,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_int32_array,
    read_int_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_int32_array,
    write_int_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_bt = struct.Struct(">b?").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_unpack_iiiiii = struct.Struct(">iiiiii").unpack_from
_unpack_qqB = struct.Struct(">qqB").unpack_from
_unpack_qqhB = struct.Struct(">qqhB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_bt = struct.Struct(">b?").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iiiiii = struct.Struct(">iiiiii").pack
_pack_qq = struct.Struct(">qq").pack
_pack_qqh = struct.Struct(">qqh").pack
new = object.__new__


class AcknowledgementBatch(Fields):
    """Acknowledgements, by ascending offsets and without overlaps."""

    __slots__ = ("first_offset", "last_offset", "acknowledge_types", "unknown_tagged_fields")

    first_offset: int
    """First offset of the batch."""
    last_offset: int
    """Offset of the batch's last record, itself included."""
    acknowledge_types: list[int]
    """One type for all offsets, or one for each: accept (1), release (2), reject (3), renew (4); 0
    marks an offset without a record.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = [] if acknowledge_types is MADE_ANEW else acknowledge_types
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchPartition(Fields):
    """Partitions to add to the session, or to acknowledge records of."""

    __slots__ = ("partition_index", "acknowledgement_batches", "unknown_tagged_fields")

    partition_index: int
    """Number of the partition."""
    acknowledgement_batches: list[AcknowledgementBatch]
    """Acknowledgements, by ascending offsets and without overlaps."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = [] if acknowledgement_batches is MADE_ANEW else acknowledgement_batches
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchTopic(Fields):
    """Topics with partitions that are new to the session or have acknowledgements."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[FetchPartition]
    """Partitions to add to the session, or to acknowledge records of."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ForgottenTopic(Fields):
    """Partitions that leave the session."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[int]
    """Partition numbers to forget."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ShareFetchRequest(Fields):
    """Acquires records of share partitions for one member, within a share session, and acknowledges
    earlier ones on the way; it goes to each partition's leader (KIP-932).
    """

    NAME: ClassVar[str] = "ShareFetchRequest"
    API_KEY: ClassVar[int] = 78
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = (
        "group_id",
        "member_id",
        "share_session_epoch",
        "max_wait_ms",
        "min_bytes",
        "max_bytes",
        "max_records",
        "batch_size",
        "share_acquire_mode",
        "is_renew_ack",
        "topics",
        "forgotten_topics_data",
        "unknown_tagged_fields",
    )

    group_id: str | None
    """Share group of the member; null is refused."""
    member_id: str | None
    """Member's id, the one of its heartbeats."""
    share_session_epoch: int
    """Epoch of the share session: 0 opens one, -1 closes it, else one more than in the last
    request; not the one expected gives INVALID_SHARE_SESSION_EPOCH.
    """
    max_wait_ms: int
    """How long in ms the broker may wait for records."""
    min_bytes: int
    """Bytes to wait for before the response leaves."""
    max_bytes: int
    """Bytes of records the response may have; the first batch is sent whole even if larger."""
    max_records: int
    """Records to acquire at most, max.poll.records; batches are acquired whole, so more may come.
    """
    batch_size: int
    """Records for one batch of acquired ones, at best; batches of the log are split along it."""
    share_acquire_mode: int
    """Versions 2. 0 lets whole batches exceed MaxRecords (batch_optimized), 1 keeps to it
    (record_limit) (KIP-1206).
    """
    is_renew_ack: bool
    """Versions 2. True when acknowledgements of this request renew locks; then nothing is fetched
    and the limits are 0 (KIP-1222).
    """
    topics: list[FetchTopic]
    """Topics with partitions that are new to the session or have acknowledgements."""
    forgotten_topics_data: list[ForgottenTopic]
    """Partitions that leave the session."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: list[FetchTopic] = MADE_ANEW,
        forgotten_topics_data: list[ForgottenTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is MADE_ANEW else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is MADE_ANEW else forgotten_topics_data
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ShareFetchRequest", version, 1, 2)
            if self.group_id is None:
                out.append(0)
            else:
                raw = self.group_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            if self.member_id is None:
                out.append(0)
            else:
                raw = self.member_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            out += _pack_iiiiii(
                self.share_session_epoch,
                self.max_wait_ms,
                self.min_bytes,
                self.max_bytes,
                self.max_records,
                self.batch_size,
            )
            if version >= 2:
                out += _pack_bt(self.share_acquire_mode, self.is_renew_ack)
            elif self.is_renew_ack:
                raise not_in_version("is_renew_ack", "2")
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
                    out += _pack_i(partition.partition_index)
                    n = len(partition.acknowledgement_batches) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for acknowledgement_batche in partition.acknowledgement_batches:
                        out += _pack_qq(
                            acknowledgement_batche.first_offset,
                            acknowledgement_batche.last_offset,
                        )
                        n = len(acknowledgement_batche.acknowledge_types) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int_array(out, acknowledgement_batche.acknowledge_types, "b")
                        if acknowledgement_batche.unknown_tagged_fields:
                            write_tagged_fields(out, [], acknowledgement_batche.unknown_tagged_fields)
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
            n = len(self.forgotten_topics_data) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for forgotten_topic in self.forgotten_topics_data:
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
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareFetchRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareFetchRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ShareFetchRequest", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareFetchRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.group_id = None
            else:
                end = pos + n - 1
                m.group_id = data[pos:end].decode()
                pos = end
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.member_id = None
            else:
                end = pos + n - 1
                m.member_id = data[pos:end].decode()
                pos = end
            (
                m.share_session_epoch,
                m.max_wait_ms,
                m.min_bytes,
                m.max_bytes,
                m.max_records,
                m.batch_size,
            ) = _unpack_iiiiii(data, pos)
            pos += 24
            if version >= 2:
                m.share_acquire_mode, m.is_renew_ack = _unpack_bt(data, pos)
                pos += 2
            else:
                m.share_acquire_mode = 0
                m.is_renew_ack = False
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
                topic = new(FetchTopic)
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
                    partition = new(FetchPartition)
                    partition_list.append(partition)
                    partition.partition_index, n = _unpack_iB(data, pos)
                    pos += 5
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.acknowledgement_batches = acknowledgement_batche_list = []
                    acknowledgement_batche_left = n - 1
                    while acknowledgement_batche_left:
                        acknowledgement_batche_left -= 1
                        acknowledgement_batche = new(AcknowledgementBatch)
                        acknowledgement_batche_list.append(acknowledgement_batche)
                        (
                            acknowledgement_batche.first_offset,
                            acknowledgement_batche.last_offset,
                            n,
                        ) = _unpack_qqB(data, pos)
                        pos += 17
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        acknowledgement_batche.acknowledge_types, pos = read_int_array(data, pos, n - 1, "b")
                        n = data[pos]
                        pos += 1
                        if n:
                            acknowledgement_batche.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            acknowledgement_batche.unknown_tagged_fields = ()
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
                forgotten_topic.topic_id, n = _unpack_UB(data, pos)
                pos += 17
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
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareFetchRequest", version, buf, start, cause) from cause


class LeaderIdAndEpoch(Fields):
    """Where the partition is led now, if not here."""

    __slots__ = ("leader_id", "leader_epoch", "unknown_tagged_fields")

    leader_id: int
    """Broker id of the leader; -1 when unknown."""
    leader_epoch: int
    """Epoch in which it leads."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class AcquiredRecords(Fields):
    """Runs of offsets that the member has acquired."""

    __slots__ = ("first_offset", "last_offset", "delivery_count", "unknown_tagged_fields")

    first_offset: int
    """First offset of the run."""
    last_offset: int
    """Offset of the run's last record, itself included."""
    delivery_count: int
    """How often these records have been delivered, this time included."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count
        self.unknown_tagged_fields = unknown_tagged_fields


class PartitionData(Fields):
    """Partitions of the topic."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "acknowledge_error_code",
        "acknowledge_error_message",
        "current_leader",
        "records",
        "acquired_records",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Number of the partition."""
    error_code: int
    """Error of fetching, e.g. NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID,
    TOPIC_AUTHORIZATION_FAILED.
    """
    error_message: str | None
    """Readable detail for the fetch error; null when there is none."""
    acknowledge_error_code: int
    """Outcome of this partition's acknowledgements: NONE, or e.g. INVALID_RECORD_STATE,
    INVALID_REQUEST.
    """
    acknowledge_error_message: str | None
    """Readable detail for the acknowledgement error; null when there is none."""
    current_leader: LeaderIdAndEpoch
    """Where the partition is led now, if not here."""
    records: Buffer | None
    """Batches of the log that hold acquired records; they may hold others too, which the client
    skips.
    """
    acquired_records: list[AcquiredRecords]
    """Runs of offsets that the member has acquired."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = MADE_ANEW,
        records: Buffer | None = b"",
        acquired_records: list[AcquiredRecords] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is MADE_ANEW else current_leader
        self.records = records
        self.acquired_records = [] if acquired_records is MADE_ANEW else acquired_records
        self.unknown_tagged_fields = unknown_tagged_fields


class ShareFetchableTopicResponse(Fields):
    """Partitions with records or with something to tell, by topic."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[PartitionData]
    """Partitions of the topic."""
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


class NodeEndpoint(Fields):
    """Addresses of the leaders named in CurrentLeader."""

    __slots__ = ("node_id", "host", "port", "rack", "unknown_tagged_fields")

    node_id: int
    """Broker id of a leader."""
    host: str
    """Host name of that broker's listener."""
    port: int
    """TCP port of that listener."""
    rack: str | None
    """Rack of the broker; null when not set."""
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


class ShareFetchResponse(Fields):
    """Records by partition and which of them the member has acquired, together with the outcome of
    its acknowledgements (KIP-932).
    """

    NAME: ClassVar[str] = "ShareFetchResponse"
    API_KEY: ClassVar[int] = 78
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "acquisition_lock_timeout_ms",
        "responses",
        "node_endpoints",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """Error of the whole request, e.g. SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH,
    SHARE_SESSION_LIMIT_REACHED, GROUP_AUTHORIZATION_FAILED.
    """
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    acquisition_lock_timeout_ms: int
    """How long in ms acquired records stay locked for this member
    (group.share.record.lock.duration.ms).
    """
    responses: list[ShareFetchableTopicResponse]
    """Partitions with records or with something to tell, by topic."""
    node_endpoints: list[NodeEndpoint]
    """Addresses of the leaders named in CurrentLeader."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareFetchableTopicResponse] = MADE_ANEW,
        node_endpoints: list[NodeEndpoint] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = [] if responses is MADE_ANEW else responses
        self.node_endpoints = [] if node_endpoints is MADE_ANEW else node_endpoints
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ShareFetchResponse", version, 1, 2)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            if self.error_message is None:
                out.append(0)
            else:
                raw = self.error_message.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            out += _pack_i(self.acquisition_lock_timeout_ms)
            n = len(self.responses) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for response in self.responses:
                out += _pack_U(uuid_bytes(response.topic_id))
                n = len(response.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition in response.partitions:
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
                    out += _pack_h(partition.acknowledge_error_code)
                    if partition.acknowledge_error_message is None:
                        out.append(0)
                    else:
                        raw = partition.acknowledge_error_message.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    out += _pack_ii(
                        partition.current_leader.leader_id,
                        partition.current_leader.leader_epoch,
                    )
                    if partition.current_leader.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.current_leader.unknown_tagged_fields)
                    else:
                        out.append(0)
                    if partition.records is None:
                        raise not_nullable("responses.partitions.records")
                    else:
                        records = partition.records
                        n = len(records) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        out += records
                    n = len(partition.acquired_records) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for acquired_record in partition.acquired_records:
                        out += _pack_qqh(
                            acquired_record.first_offset,
                            acquired_record.last_offset,
                            acquired_record.delivery_count,
                        )
                        if acquired_record.unknown_tagged_fields:
                            write_tagged_fields(out, [], acquired_record.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if partition.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.unknown_tagged_fields)
                    else:
                        out.append(0)
                if response.unknown_tagged_fields:
                    write_tagged_fields(out, [], response.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.node_endpoints) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for node_endpoint in self.node_endpoints:
                raw = node_endpoint.host.encode()
                out += _pack_i(node_endpoint.node_id)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_i(node_endpoint.port)
                if node_endpoint.rack is None:
                    out.append(0)
                else:
                    raw = node_endpoint.rack.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                if node_endpoint.unknown_tagged_fields:
                    write_tagged_fields(out, [], node_endpoint.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareFetchResponse", version, self, cause) from cause

    def encode_pieces(self, version: int, head: bytearray) -> list[Buffer]:
        """As ``encode``, but large records stay pieces of their own, not copied into ``head``,
        which is the first piece.
        """
        start = len(head)
        out = head
        pieces: list[Buffer] = [head]
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ShareFetchResponse", version, 1, 2)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            if self.error_message is None:
                out.append(0)
            else:
                raw = self.error_message.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            out += _pack_i(self.acquisition_lock_timeout_ms)
            n = len(self.responses) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for response in self.responses:
                out += _pack_U(uuid_bytes(response.topic_id))
                n = len(response.partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for partition in response.partitions:
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
                    out += _pack_h(partition.acknowledge_error_code)
                    if partition.acknowledge_error_message is None:
                        out.append(0)
                    else:
                        raw = partition.acknowledge_error_message.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    out += _pack_ii(
                        partition.current_leader.leader_id,
                        partition.current_leader.leader_epoch,
                    )
                    if partition.current_leader.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.current_leader.unknown_tagged_fields)
                    else:
                        out.append(0)
                    if partition.records is None:
                        raise not_nullable("responses.partitions.records")
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
                    n = len(partition.acquired_records) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for acquired_record in partition.acquired_records:
                        out += _pack_qqh(
                            acquired_record.first_offset,
                            acquired_record.last_offset,
                            acquired_record.delivery_count,
                        )
                        if acquired_record.unknown_tagged_fields:
                            write_tagged_fields(out, [], acquired_record.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if partition.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.unknown_tagged_fields)
                    else:
                        out.append(0)
                if response.unknown_tagged_fields:
                    write_tagged_fields(out, [], response.unknown_tagged_fields)
                else:
                    out.append(0)
            n = len(self.node_endpoints) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for node_endpoint in self.node_endpoints:
                raw = node_endpoint.host.encode()
                out += _pack_i(node_endpoint.node_id)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_i(node_endpoint.port)
                if node_endpoint.rack is None:
                    out.append(0)
                else:
                    raw = node_endpoint.rack.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                if node_endpoint.unknown_tagged_fields:
                    write_tagged_fields(out, [], node_endpoint.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del head[start:]
            raise encode_failure("ShareFetchResponse", version, self, cause) from cause
        return pieces

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareFetchResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ShareFetchResponse", version, 1, 2)
            size = len(buf)
            m = new(ShareFetchResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = long_nullable_string_length(buf, pos, n)
            if not n:
                m.error_message = None
            else:
                end = pos + n - 1
                m.error_message = buf[pos:end].tobytes().decode()
                pos = end
            m.acquisition_lock_timeout_ms, n = _unpack_iB(buf, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.responses = response_list = []
            response_left = n - 1
            while response_left:
                response_left -= 1
                response = new(ShareFetchableTopicResponse)
                response_list.append(response)
                response.topic_id, n = _unpack_UB(buf, pos)
                pos += 17
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
                    partition.partition_index, partition.error_code, n = _unpack_ihB(buf, pos)
                    pos += 7
                    if n > 127:
                        n, pos = long_nullable_string_length(buf, pos, n)
                    if not n:
                        partition.error_message = None
                    else:
                        end = pos + n - 1
                        partition.error_message = buf[pos:end].tobytes().decode()
                        pos = end
                    partition.acknowledge_error_code, n = _unpack_hB(buf, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(buf, pos, n)
                    if not n:
                        partition.acknowledge_error_message = None
                    else:
                        end = pos + n - 1
                        partition.acknowledge_error_message = buf[pos:end].tobytes().decode()
                        pos = end
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
                    n = buf[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(buf, pos, n)
                    end = pos + n - 1
                    partition.records = buf[pos:end]
                    pos = end
                    n = buf[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(buf, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.acquired_records = acquired_record_list = []
                    acquired_record_left = n - 1
                    while acquired_record_left:
                        acquired_record_left -= 1
                        acquired_record = new(AcquiredRecords)
                        acquired_record_list.append(acquired_record)
                        (
                            acquired_record.first_offset,
                            acquired_record.last_offset,
                            acquired_record.delivery_count,
                            n,
                        ) = _unpack_qqhB(buf, pos)
                        pos += 19
                        if n:
                            acquired_record.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                        else:
                            acquired_record.unknown_tagged_fields = ()
                    n = buf[pos]
                    pos += 1
                    if n:
                        partition.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                    else:
                        partition.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    response.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    response.unknown_tagged_fields = ()
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
            n = buf[pos]
            pos += 1
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareFetchResponse", version, buf, start, cause) from cause


__all__ = [
    "AcknowledgementBatch",
    "FetchPartition",
    "FetchTopic",
    "ForgottenTopic",
    "ShareFetchRequest",
    "LeaderIdAndEpoch",
    "AcquiredRecords",
    "PartitionData",
    "ShareFetchableTopicResponse",
    "NodeEndpoint",
    "ShareFetchResponse",
]
