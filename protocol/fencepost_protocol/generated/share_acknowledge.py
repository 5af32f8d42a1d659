# Generated from schemas/messages/ShareAcknowledgeRequest.json (sha256 22363c0474f1879c)
# Generated from schemas/messages/ShareAcknowledgeResponse.json (sha256 03531a4404b67966)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareAcknowledge (API key 79)."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_int_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_int_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_unpack_qqB = struct.Struct(">qqB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_t = struct.Struct(">?").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
_pack_qq = struct.Struct(">qq").pack
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


class AcknowledgePartition(Fields):
    """Partitions with acknowledgements."""

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


class AcknowledgeTopic(Fields):
    """Topics with acknowledgements."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of the topic."""
    partitions: list[AcknowledgePartition]
    """Partitions with acknowledgements."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AcknowledgePartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ShareAcknowledgeRequest(Fields):
    """Tells leaders what became of acquired records without fetching more (KIP-932)."""

    NAME: ClassVar[str] = "ShareAcknowledgeRequest"
    API_KEY: ClassVar[int] = 79
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = (
        "group_id",
        "member_id",
        "share_session_epoch",
        "is_renew_ack",
        "topics",
        "unknown_tagged_fields",
    )

    group_id: str | None
    """Share group of the member; null is refused."""
    member_id: str | None
    """Member's id, the one of its heartbeats."""
    share_session_epoch: int
    """Epoch of the share session, one more than in the last request; -1 closes it, and what is
    still acquired is released. 0 is refused.
    """
    is_renew_ack: bool
    """Versions 2. True when an acknowledgement of this request renews a lock (KIP-1222)."""
    topics: list[AcknowledgeTopic]
    """Topics with acknowledgements."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: list[AcknowledgeTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ShareAcknowledgeRequest", version, 1, 2)
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
            out += _pack_i(self.share_session_epoch)
            if version >= 2:
                out += _pack_t(self.is_renew_ack)
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
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareAcknowledgeRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareAcknowledgeRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ShareAcknowledgeRequest", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareAcknowledgeRequest)
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
            m.share_session_epoch = _unpack_i(data, pos)[0]
            pos += 4
            if version >= 2:
                m.is_renew_ack = data[pos] != 0
                pos += 1
            else:
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
                topic = new(AcknowledgeTopic)
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
                    partition = new(AcknowledgePartition)
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
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ShareAcknowledgeRequest", version, buf, start, cause) from cause


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


class PartitionData(Fields):
    """Partitions of the topic."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "current_leader",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Number of the partition."""
    error_code: int
    """NONE, or e.g. INVALID_RECORD_STATE, NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION."""
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    current_leader: LeaderIdAndEpoch
    """Where the partition is led now, if not here."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is MADE_ANEW else current_leader
        self.unknown_tagged_fields = unknown_tagged_fields


class ShareAcknowledgeTopicResponse(Fields):
    """Outcomes by topic."""

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


class ShareAcknowledgeResponse(Fields):
    """Outcome of acknowledgements by partition (KIP-932)."""

    NAME: ClassVar[str] = "ShareAcknowledgeResponse"
    API_KEY: ClassVar[int] = 79
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
    GROUP_AUTHORIZATION_FAILED.
    """
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    acquisition_lock_timeout_ms: int
    """Versions 2. How long in ms a renewed lock holds."""
    responses: list[ShareAcknowledgeTopicResponse]
    """Outcomes by topic."""
    node_endpoints: list[NodeEndpoint]
    """Addresses of the leaders named in CurrentLeader."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareAcknowledgeTopicResponse] = MADE_ANEW,
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
                raise unknown_version("ShareAcknowledgeResponse", version, 1, 2)
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
            if version >= 2:
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
                    out += _pack_ii(
                        partition.current_leader.leader_id,
                        partition.current_leader.leader_epoch,
                    )
                    if partition.current_leader.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.current_leader.unknown_tagged_fields)
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
            raise encode_failure("ShareAcknowledgeResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareAcknowledgeResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 2:
                raise unknown_version("ShareAcknowledgeResponse", version, 1, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareAcknowledgeResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
            pos += 7
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.error_message = None
            else:
                end = pos + n - 1
                m.error_message = data[pos:end].decode()
                pos = end
            if version >= 2:
                m.acquisition_lock_timeout_ms = _unpack_i(data, pos)[0]
                pos += 4
            else:
                m.acquisition_lock_timeout_ms = 0
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
                response = new(ShareAcknowledgeTopicResponse)
                response_list.append(response)
                response.topic_id, n = _unpack_UB(data, pos)
                pos += 17
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                response.partitions = partition_list = []
                partition_left = n - 1
                while partition_left:
                    partition_left -= 1
                    partition = new(PartitionData)
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
                    partition.current_leader = leader_id_and_epoch = new(LeaderIdAndEpoch)
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
                    n = data[pos]
                    pos += 1
                    if n:
                        partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        partition.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    response.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    response.unknown_tagged_fields = ()
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
            raise decode_failure("ShareAcknowledgeResponse", version, buf, start, cause) from cause


__all__ = [
    "AcknowledgementBatch",
    "AcknowledgePartition",
    "AcknowledgeTopic",
    "ShareAcknowledgeRequest",
    "LeaderIdAndEpoch",
    "PartitionData",
    "ShareAcknowledgeTopicResponse",
    "NodeEndpoint",
    "ShareAcknowledgeResponse",
]
