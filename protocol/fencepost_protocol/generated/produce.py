# Generated from schemas/messages/ProduceRequest.json (sha256 0adf436bfc0f5d0b)
# Generated from schemas/messages/ProduceResponse.json (sha256 3ae460fade7d0f29)
# by python -m fencepost_protocol.codegen. Do not edit.
"""Produce (API key 0)."""

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
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hiB = struct.Struct(">hiB").unpack_from
_unpack_hii = struct.Struct(">hii").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_ihqq = struct.Struct(">ihqq").unpack_from
_unpack_ihqqqB = struct.Struct(">ihqqqB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_h = struct.Struct(">h").pack
_pack_hi = struct.Struct(">hi").pack
_pack_hii = struct.Struct(">hii").pack
_pack_i = struct.Struct(">i").pack
_pack_ihqq = struct.Struct(">ihqq").pack
_pack_ihqqq = struct.Struct(">ihqqq").pack
_pack_ii = struct.Struct(">ii").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class PartitionProduceData(Fields):
    """One entry for each partition written to."""

    __slots__ = ("index", "records", "unknown_tagged_fields")

    index: int
    """Partition number within the topic, counted from 0."""
    records: Buffer | None
    """Exactly one record batch of magic 2; none, several or magic 1 gives INVALID_RECORD, a bad CRC
    CORRUPT_MESSAGE.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        index: int = 0,
        records: Buffer | None = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.index = index
        self.records = records
        self.unknown_tagged_fields = unknown_tagged_fields


class TopicProduceData(Fields):
    """Record batches, grouped by the topic they go to."""

    __slots__ = ("name", "topic_id", "partition_data", "unknown_tagged_fields")

    name: str
    """Versions 3-12. Topic written to; from version 13 TopicId stands in its place."""
    topic_id: bytes
    """Versions 13. UUID of the topic written to (KIP-516); an unknown one gets UNKNOWN_TOPIC_ID."""
    partition_data: list[PartitionProduceData]
    """One entry for each partition written to."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_data: list[PartitionProduceData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = [] if partition_data is MADE_ANEW else partition_data
        self.unknown_tagged_fields = unknown_tagged_fields


class ProduceRequest(Fields):
    """A producer hands record batches to the leader of each partition. With Acks 0 nothing comes
    back; from version 12 a transactional write also enters its partition into the transaction
    (KIP-890).
    """

    NAME: ClassVar[str] = "ProduceRequest"
    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    __slots__ = ("transactional_id", "acks", "timeout_ms", "topic_data", "unknown_tagged_fields")

    transactional_id: str | None
    """Transactional id of the producer, null if none; transactional batches without it get
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED.
    """
    acks: int
    """Wanted acknowledgement: -1 all in-sync replicas, 1 leader only, 0 no response at all;
    anything else gives INVALID_REQUIRED_ACKS.
    """
    timeout_ms: int
    """Longest wait in ms for the other replicas when Acks is -1; afterwards REQUEST_TIMED_OUT."""
    topic_data: list[TopicProduceData]
    """Record batches, grouped by the topic they go to."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = [] if topic_data is MADE_ANEW else topic_data
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 3 <= version <= 13:
                raise unknown_version("ProduceRequest", version, 3, 13)
            if version >= 9:
                if self.transactional_id is None:
                    out.append(0)
                else:
                    raw = self.transactional_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                out += _pack_hi(self.acks, self.timeout_ms)
                n = len(self.topic_data) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic_produce_data in self.topic_data:
                    if version <= 12:
                        raw = topic_produce_data.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 13:
                        out += _pack_U(uuid_bytes(topic_produce_data.topic_id))
                    n = len(topic_produce_data.partition_data) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition_produce_data in topic_produce_data.partition_data:
                        out += _pack_i(partition_produce_data.index)
                        if partition_produce_data.records is None:
                            out.append(0)
                        else:
                            records = partition_produce_data.records
                            n = len(records) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            out += records
                        if partition_produce_data.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition_produce_data.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if topic_produce_data.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic_produce_data.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.transactional_id is None:
                    out += _pack_h(-1)
                else:
                    raw = self.transactional_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_hii(self.acks, self.timeout_ms, len(self.topic_data))
                for topic_produce_data in self.topic_data:
                    raw = topic_produce_data.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic_produce_data.partition_data))
                    for partition_produce_data in topic_produce_data.partition_data:
                        out += _pack_i(partition_produce_data.index)
                        if partition_produce_data.records is None:
                            out += _pack_i(-1)
                        else:
                            records = partition_produce_data.records
                            out += _pack_i(len(records))
                            out += records
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ProduceRequest", version, self, cause) from cause

    def encode_pieces(self, version: int, head: bytearray) -> list[Buffer]:
        """As ``encode``, but large records stay pieces of their own, not copied into ``head``,
        which is the first piece.
        """
        start = len(head)
        out = head
        pieces: list[Buffer] = [head]
        try:
            if not 3 <= version <= 13:
                raise unknown_version("ProduceRequest", version, 3, 13)
            if version >= 9:
                if self.transactional_id is None:
                    out.append(0)
                else:
                    raw = self.transactional_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                out += _pack_hi(self.acks, self.timeout_ms)
                n = len(self.topic_data) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic_produce_data in self.topic_data:
                    if version <= 12:
                        raw = topic_produce_data.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 13:
                        out += _pack_U(uuid_bytes(topic_produce_data.topic_id))
                    n = len(topic_produce_data.partition_data) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition_produce_data in topic_produce_data.partition_data:
                        out += _pack_i(partition_produce_data.index)
                        if partition_produce_data.records is None:
                            out.append(0)
                        else:
                            records = partition_produce_data.records
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
                        if partition_produce_data.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition_produce_data.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if topic_produce_data.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic_produce_data.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.transactional_id is None:
                    out += _pack_h(-1)
                else:
                    raw = self.transactional_id.encode()
                    out += _pack_h(len(raw))
                    out += raw
                out += _pack_hii(self.acks, self.timeout_ms, len(self.topic_data))
                for topic_produce_data in self.topic_data:
                    raw = topic_produce_data.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic_produce_data.partition_data))
                    for partition_produce_data in topic_produce_data.partition_data:
                        out += _pack_i(partition_produce_data.index)
                        if partition_produce_data.records is None:
                            out += _pack_i(-1)
                        else:
                            records = partition_produce_data.records
                            out += _pack_i(len(records))
                            if len(records) < PIECE_BYTES_MIN:
                                out += records
                            else:
                                out = bytearray()
                                pieces += (records, out)
        except ENCODE_ERRORS as cause:
            del head[start:]
            raise encode_failure("ProduceRequest", version, self, cause) from cause
        return pieces

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ProduceRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 3 <= version <= 13:
                raise unknown_version("ProduceRequest", version, 3, 13)
            size = len(buf)
            m = new(ProduceRequest)
            if version >= 9:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(buf, pos, n)
                if not n:
                    m.transactional_id = None
                else:
                    end = pos + n - 1
                    m.transactional_id = buf[pos:end].tobytes().decode()
                    pos = end
                m.acks, m.timeout_ms, n = _unpack_hiB(buf, pos)
                pos += 7
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topic_data = topic_produce_data_list = []
                topic_produce_data_left = n - 1
                while topic_produce_data_left:
                    topic_produce_data_left -= 1
                    topic_produce_data = new(TopicProduceData)
                    topic_produce_data_list.append(topic_produce_data)
                    if version <= 12:
                        n = buf[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(buf, pos, n)
                        end = pos + n - 1
                        topic_produce_data.name = buf[pos:end].tobytes().decode()
                        pos = end
                    else:
                        topic_produce_data.name = ""
                    if version >= 13:
                        topic_produce_data.topic_id = _unpack_U(buf, pos)[0]
                        pos += 16
                    else:
                        topic_produce_data.topic_id = ZERO_UUID
                    n = buf[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(buf, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic_produce_data.partition_data = partition_produce_data_list = []
                    partition_produce_data_left = n - 1
                    while partition_produce_data_left:
                        partition_produce_data_left -= 1
                        partition_produce_data = new(PartitionProduceData)
                        partition_produce_data_list.append(partition_produce_data)
                        partition_produce_data.index, n = _unpack_iB(buf, pos)
                        pos += 5
                        if n > 127:
                            more = buf[pos]
                            if more < 128:
                                n = n & 127 | more << 7
                                pos += 1
                            else:
                                n, pos = read_uvarint_tail(buf, pos, n)
                        if not n:
                            partition_produce_data.records = None
                        else:
                            end = pos + n - 1
                            partition_produce_data.records = buf[pos:end]
                            pos = end
                        n = buf[pos]
                        pos += 1
                        if n:
                            partition_produce_data.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                        else:
                            partition_produce_data.unknown_tagged_fields = ()
                    n = buf[pos]
                    pos += 1
                    if n:
                        topic_produce_data.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                    else:
                        topic_produce_data.unknown_tagged_fields = ()
                n = buf[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = _unpack_h(buf, pos)[0]
                pos += 2
                if n < 0:
                    m.transactional_id = None
                else:
                    end = pos + n
                    m.transactional_id = buf[pos:end].tobytes().decode()
                    pos = end
                m.acks, m.timeout_ms, n = _unpack_hii(buf, pos)
                pos += 10
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topic_data = topic_produce_data_list = []
                topic_produce_data_left = n
                while topic_produce_data_left:
                    topic_produce_data_left -= 1
                    topic_produce_data = new(TopicProduceData)
                    topic_produce_data_list.append(topic_produce_data)
                    topic_produce_data.topic_id = ZERO_UUID
                    n = _unpack_h(buf, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic_produce_data.name = buf[pos:end].tobytes().decode()
                    pos = end
                    n = _unpack_i(buf, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic_produce_data.partition_data = partition_produce_data_list = []
                    partition_produce_data_left = n
                    while partition_produce_data_left:
                        partition_produce_data_left -= 1
                        partition_produce_data = new(PartitionProduceData)
                        partition_produce_data_list.append(partition_produce_data)
                        partition_produce_data.index, n = _unpack_ii(buf, pos)
                        pos += 8
                        if n < 0:
                            partition_produce_data.records = None
                        else:
                            end = pos + n
                            partition_produce_data.records = buf[pos:end]
                            pos = end
                        partition_produce_data.unknown_tagged_fields = ()
                    topic_produce_data.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ProduceRequest", version, buf, start, cause) from cause


class BatchIndexAndErrorMessage(Fields):
    """Records to blame for the refusal of the whole batch (KIP-467); empty when none is singled
    out.
    """

    __slots__ = ("batch_index", "batch_index_error_message", "unknown_tagged_fields")

    batch_index: int
    """Versions 8-13. Position of the offending record inside its batch, from 0."""
    batch_index_error_message: str | None
    """Versions 8-13. What is wrong with this record; null leaves it to ErrorMessage."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class LeaderIdAndEpoch(Fields):
    """Hint sent with NOT_LEADER_OR_FOLLOWER, so that the producer need not ask Metadata first
    (KIP-951).
    """

    __slots__ = ("leader_id", "leader_epoch", "unknown_tagged_fields")

    leader_id: int
    """Versions 10-13. Broker now leading the partition, see NodeEndpoints; -1 when unknown."""
    leader_epoch: int
    """Versions 10-13. Epoch of that leadership; clients ignore a hint older than what they have; -1
    when unknown.
    """
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


class PartitionProduceResponse(Fields):
    """One outcome for each partition of the request."""

    __slots__ = (
        "index",
        "error_code",
        "base_offset",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
        "error_message",
        "current_leader",
        "unknown_tagged_fields",
    )

    index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or why the batch was refused: NOT_LEADER_OR_FOLLOWER, OUT_OF_ORDER_SEQUENCE_NUMBER,
    INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE and others.
    """
    base_offset: int
    """Offset given to the first record of the batch, also for a recognised duplicate; -1 on an
    error.
    """
    log_append_time_ms: int
    """Broker's clock in ms, stamped on the records, if the topic uses LogAppendTime; otherwise -1.
    """
    log_start_offset: int
    """Versions 5-13. First offset still present in the partition's log; -1 when unknown."""
    record_errors: list[BatchIndexAndErrorMessage]
    """Versions 8-13. Records to blame for the refusal of the whole batch (KIP-467); empty when none
    is singled out.
    """
    error_message: str | None
    """Versions 8-13. Readable reason for the whole batch; null when ErrorCode says enough."""
    current_leader: LeaderIdAndEpoch | None
    """Versions 10-13. Hint sent with NOT_LEADER_OR_FOLLOWER, so that the producer need not ask
    Metadata first (KIP-951).
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: list[BatchIndexAndErrorMessage] = MADE_ANEW,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = [] if record_errors is MADE_ANEW else record_errors
        self.error_message = error_message
        self.current_leader = current_leader
        self.unknown_tagged_fields = unknown_tagged_fields


class TopicProduceResponse(Fields):
    """Outcome grouped by topic, as in the request."""

    __slots__ = ("name", "topic_id", "partition_responses", "unknown_tagged_fields")

    name: str
    """Versions 3-12. Topic the outcome is for; from version 13 TopicId stands in its place."""
    topic_id: bytes
    """Versions 13. UUID of the topic, repeated from the request."""
    partition_responses: list[PartitionProduceResponse]
    """One outcome for each partition of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_responses: list[PartitionProduceResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = [] if partition_responses is MADE_ANEW else partition_responses
        self.unknown_tagged_fields = unknown_tagged_fields


class NodeEndpoint(Fields):
    """Addresses of all brokers named in CurrentLeader (KIP-951); absent without such a hint."""

    __slots__ = ("node_id", "host", "port", "rack", "unknown_tagged_fields")

    node_id: int
    """Versions 10-13. Broker id, matches a CurrentLeader.LeaderId of the same response."""
    host: str
    """Versions 10-13. Host name or address of that broker on the listener in use."""
    port: int
    """Versions 10-13. TCP port of that broker on the listener in use."""
    rack: str | None
    """Versions 10-13. Value of broker.rack there; null when not configured."""
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


class ProduceResponse(Fields):
    """The leader's verdict on each batch of a ProduceRequest, with the offset it received. Not sent
    at all when Acks was 0; such a request that fails closes the connection instead.
    """

    NAME: ClassVar[str] = "ProduceResponse"
    API_KEY: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 3
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9

    __slots__ = ("responses", "throttle_time_ms", "node_endpoints", "unknown_tagged_fields")

    responses: list[TopicProduceResponse]
    """Outcome grouped by topic, as in the request."""
    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    node_endpoints: list[NodeEndpoint]
    """Versions 10-13. Addresses of all brokers named in CurrentLeader (KIP-951); absent without
    such a hint.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        responses: list[TopicProduceResponse] = MADE_ANEW,
        throttle_time_ms: int = 0,
        node_endpoints: list[NodeEndpoint] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.responses = [] if responses is MADE_ANEW else responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = [] if node_endpoints is MADE_ANEW else node_endpoints
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 3 <= version <= 13:
                raise unknown_version("ProduceResponse", version, 3, 13)
            if version >= 9:
                n = len(self.responses) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for response in self.responses:
                    if version <= 12:
                        raw = response.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 13:
                        out += _pack_U(uuid_bytes(response.topic_id))
                    n = len(response.partition_responses) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition_response in response.partition_responses:
                        out += _pack_ihqqq(
                            partition_response.index,
                            partition_response.error_code,
                            partition_response.base_offset,
                            partition_response.log_append_time_ms,
                            partition_response.log_start_offset,
                        )
                        n = len(partition_response.record_errors) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for record_error in partition_response.record_errors:
                            out += _pack_i(record_error.batch_index)
                            if record_error.batch_index_error_message is None:
                                out.append(0)
                            else:
                                raw = record_error.batch_index_error_message.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_string_length(out, n)
                                out += raw
                            if record_error.unknown_tagged_fields:
                                write_tagged_fields(out, [], record_error.unknown_tagged_fields)
                            else:
                                out.append(0)
                        if partition_response.error_message is None:
                            out.append(0)
                        else:
                            raw = partition_response.error_message.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        tagged_1: list[bytes] = []
                        if partition_response.current_leader is not None and partition_response.current_leader != LeaderIdAndEpoch():
                            if not (version >= 10):
                                raise not_in_version("responses.partition_responses.current_leader", "10-13")
                            content_1 = bytearray()
                            content_1 += _pack_ii(
                                partition_response.current_leader.leader_id,
                                partition_response.current_leader.leader_epoch,
                            )
                            if partition_response.current_leader.unknown_tagged_fields:
                                write_tagged_fields(content_1, [], partition_response.current_leader.unknown_tagged_fields)
                            else:
                                content_1.append(0)
                            tagged_1.append(tagged_field(0, content_1))
                        if partition_response.unknown_tagged_fields:
                            write_tagged_fields(out, tagged_1, partition_response.unknown_tagged_fields)
                        elif tagged_1:
                            out.append(len(tagged_1))
                            out += b"".join(tagged_1)
                        else:
                            out.append(0)
                    if response.unknown_tagged_fields:
                        write_tagged_fields(out, [], response.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_i(self.throttle_time_ms)
                tagged_1 = []
                if self.node_endpoints:
                    if not (version >= 10):
                        raise not_in_version("node_endpoints", "10-13")
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
                    raise not_in_version("node_endpoints", "10-13")
                out += _pack_i(len(self.responses))
                for response in self.responses:
                    raw = response.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(response.partition_responses))
                    for partition_response in response.partition_responses:
                        if partition_response.current_leader is not None and partition_response.current_leader != LeaderIdAndEpoch():
                            raise not_in_version("responses.partition_responses.current_leader", "10-13")
                        out += _pack_ihqq(
                            partition_response.index,
                            partition_response.error_code,
                            partition_response.base_offset,
                            partition_response.log_append_time_ms,
                        )
                        if version >= 5:
                            out += _pack_q(partition_response.log_start_offset)
                        if version >= 8:
                            out += _pack_i(len(partition_response.record_errors))
                            for record_error in partition_response.record_errors:
                                out += _pack_i(record_error.batch_index)
                                if record_error.batch_index_error_message is None:
                                    out += _pack_h(-1)
                                else:
                                    raw = record_error.batch_index_error_message.encode()
                                    out += _pack_h(len(raw))
                                    out += raw
                            if partition_response.error_message is None:
                                out += _pack_h(-1)
                            else:
                                raw = partition_response.error_message.encode()
                                out += _pack_h(len(raw))
                                out += raw
                out += _pack_i(self.throttle_time_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ProduceResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ProduceResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 3 <= version <= 13:
                raise unknown_version("ProduceResponse", version, 3, 13)
            size = len(buf)
            data = buf.tobytes()
            m = new(ProduceResponse)
            if version >= 9:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.responses = response_list = []
                response_left = n - 1
                while response_left:
                    response_left -= 1
                    response = new(TopicProduceResponse)
                    response_list.append(response)
                    if version <= 12:
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        response.name = data[pos:end].decode()
                        pos = end
                    else:
                        response.name = ""
                    if version >= 13:
                        response.topic_id = _unpack_U(data, pos)[0]
                        pos += 16
                    else:
                        response.topic_id = ZERO_UUID
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    response.partition_responses = partition_response_list = []
                    partition_response_left = n - 1
                    while partition_response_left:
                        partition_response_left -= 1
                        partition_response = new(PartitionProduceResponse)
                        partition_response_list.append(partition_response)
                        (
                            partition_response.index,
                            partition_response.error_code,
                            partition_response.base_offset,
                            partition_response.log_append_time_ms,
                            partition_response.log_start_offset,
                            n,
                        ) = _unpack_ihqqqB(data, pos)
                        pos += 31
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition_response.record_errors = record_error_list = []
                        record_error_left = n - 1
                        while record_error_left:
                            record_error_left -= 1
                            record_error = new(BatchIndexAndErrorMessage)
                            record_error_list.append(record_error)
                            record_error.batch_index, n = _unpack_iB(data, pos)
                            pos += 5
                            if n > 127:
                                n, pos = long_nullable_string_length(data, pos, n)
                            if not n:
                                record_error.batch_index_error_message = None
                            else:
                                end = pos + n - 1
                                record_error.batch_index_error_message = data[pos:end].decode()
                                pos = end
                            n = data[pos]
                            pos += 1
                            if n:
                                record_error.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                record_error.unknown_tagged_fields = ()
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            partition_response.error_message = None
                        else:
                            end = pos + n - 1
                            partition_response.error_message = data[pos:end].decode()
                            pos = end
                        partition_response.current_leader = None
                        partition_response.unknown_tagged_fields = ()
                        n = data[pos]
                        pos += 1
                        if n:
                            if n > 127:
                                n, pos = read_uvarint_tail(data, pos, n)
                            for _ in range(n):
                                tag_1, tag_end_1, pos = read_tag(data, pos)
                                if tag_1 == 0:
                                    if not (version >= 10):
                                        raise ValueError(TAG_NOT_IN_VERSION)
                                    partition_response.current_leader = leader_id_and_epoch = new(LeaderIdAndEpoch)
                                    (
                                        leader_id_and_epoch.leader_id,
                                        leader_id_and_epoch.leader_epoch,
                                        n,
                                    ) = _unpack_iiB(data, pos)
                                    pos += 9
                                    if n:
                                        leader_id_and_epoch.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                    else:
                                        leader_id_and_epoch.unknown_tagged_fields = ()
                                else:
                                    partition_response.unknown_tagged_fields = with_unknown_tag(partition_response.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                                    pos = tag_end_1
                                if pos != tag_end_1:
                                    raise ValueError(TAG_SIZE_WRONG)
                    n = data[pos]
                    pos += 1
                    if n:
                        response.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        response.unknown_tagged_fields = ()
                m.node_endpoints = []
                m.unknown_tagged_fields = ()
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 0:
                            if not (version >= 10):
                                raise ValueError(TAG_NOT_IN_VERSION)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            m.node_endpoints = node_endpoint_list = []
                            node_endpoint_left = n - 1
                            while node_endpoint_left:
                                node_endpoint_left -= 1
                                node_endpoint = new(NodeEndpoint)
                                node_endpoint_list.append(node_endpoint)
                                node_endpoint.node_id, n = _unpack_iB(data, pos)
                                pos += 5
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                node_endpoint.host = data[pos:end].decode()
                                pos = end
                                node_endpoint.port, n = _unpack_iB(data, pos)
                                pos += 5
                                if n > 127:
                                    n, pos = long_nullable_string_length(data, pos, n)
                                if not n:
                                    node_endpoint.rack = None
                                else:
                                    end = pos + n - 1
                                    node_endpoint.rack = data[pos:end].decode()
                                    pos = end
                                n = data[pos]
                                pos += 1
                                if n:
                                    node_endpoint.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    node_endpoint.unknown_tagged_fields = ()
                        else:
                            m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.node_endpoints = []
                n = _unpack_i(data, pos)[0]
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
                    response = new(TopicProduceResponse)
                    response_list.append(response)
                    response.topic_id = ZERO_UUID
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    response.name = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    response.partition_responses = partition_response_list = []
                    partition_response_left = n
                    while partition_response_left:
                        partition_response_left -= 1
                        partition_response = new(PartitionProduceResponse)
                        partition_response_list.append(partition_response)
                        partition_response.current_leader = None
                        (
                            partition_response.index,
                            partition_response.error_code,
                            partition_response.base_offset,
                            partition_response.log_append_time_ms,
                        ) = _unpack_ihqq(data, pos)
                        pos += 22
                        if version >= 5:
                            partition_response.log_start_offset = _unpack_q(data, pos)[0]
                            pos += 8
                        else:
                            partition_response.log_start_offset = -1
                        if version >= 8:
                            n = _unpack_i(data, pos)[0]
                            pos += 4
                            if n < 0:
                                raise negative_length(n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            partition_response.record_errors = record_error_list = []
                            record_error_left = n
                            while record_error_left:
                                record_error_left -= 1
                                record_error = new(BatchIndexAndErrorMessage)
                                record_error_list.append(record_error)
                                record_error.batch_index, n = _unpack_ih(data, pos)
                                pos += 6
                                if n < 0:
                                    record_error.batch_index_error_message = None
                                else:
                                    end = pos + n
                                    record_error.batch_index_error_message = data[pos:end].decode()
                                    pos = end
                                record_error.unknown_tagged_fields = ()
                            n = _unpack_h(data, pos)[0]
                            pos += 2
                            if n < 0:
                                partition_response.error_message = None
                            else:
                                end = pos + n
                                partition_response.error_message = data[pos:end].decode()
                                pos = end
                        else:
                            partition_response.record_errors = []
                            partition_response.error_message = None
                        partition_response.unknown_tagged_fields = ()
                    response.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.throttle_time_ms = _unpack_i(data, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ProduceResponse", version, buf, start, cause) from cause


__all__ = [
    "PartitionProduceData",
    "TopicProduceData",
    "ProduceRequest",
    "BatchIndexAndErrorMessage",
    "LeaderIdAndEpoch",
    "PartitionProduceResponse",
    "TopicProduceResponse",
    "NodeEndpoint",
    "ProduceResponse",
]
