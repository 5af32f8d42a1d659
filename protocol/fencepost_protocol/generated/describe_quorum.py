# Generated from schemas/messages/DescribeQuorumRequest.json (sha256 8c83b79f247ce241)
# Generated from schemas/messages/DescribeQuorumResponse.json (sha256 756c81db1d36afe6)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeQuorum (API key 55)."""

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
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_HB = struct.Struct(">HB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_iiqB = struct.Struct(">iiqB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qq = struct.Struct(">qq").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_H = struct.Struct(">H").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_iiq = struct.Struct(">iiq").pack
_pack_q = struct.Struct(">q").pack
_pack_qq = struct.Struct(">qq").pack
new = object.__new__


class DescribeQuorumRequestPartitionData(Fields):
    """Partitions asked about."""

    __slots__ = ("partition_index", "unknown_tagged_fields")

    partition_index: int
    """Always 0, the metadata log's only partition; others give UNKNOWN_TOPIC_OR_PARTITION."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeQuorumRequestTopicData(Fields):
    """Raft partitions asked about; none gives an empty answer with NONE."""

    __slots__ = ("topic_name", "partitions", "unknown_tagged_fields")

    topic_name: str
    """Always __cluster_metadata; anything else gives UNKNOWN_TOPIC_OR_PARTITION."""
    partitions: list[DescribeQuorumRequestPartitionData]
    """Partitions asked about."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[DescribeQuorumRequestPartitionData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeQuorumRequest(Fields):
    """An admin client asks how far each member of the metadata quorum has got (KIP-595). Brokers
    pass it on to the active controller.
    """

    NAME: ClassVar[str] = "DescribeQuorumRequest"
    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("topics", "unknown_tagged_fields")

    topics: list[DescribeQuorumRequestTopicData]
    """Raft partitions asked about; none gives an empty answer with NONE."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[DescribeQuorumRequestTopicData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DescribeQuorumRequest", version, 0, 2)
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic in self.topics:
                raw = topic.topic_name.encode()
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
                    out += _pack_i(partition.partition_index)
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
            raise encode_failure("DescribeQuorumRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeQuorumRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DescribeQuorumRequest", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeQuorumRequest)
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
                topic = new(DescribeQuorumRequestTopicData)
                topic_list.append(topic)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                topic.topic_name = data[pos:end].decode()
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
                    partition = new(DescribeQuorumRequestPartitionData)
                    partition_list.append(partition)
                    partition.partition_index, n = _unpack_iB(data, pos)
                    pos += 5
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
            raise decode_failure("DescribeQuorumRequest", version, buf, start, cause) from cause


class ReplicaState(Fields):
    """Part of DescribeQuorumResponse."""

    __slots__ = (
        "replica_id",
        "replica_directory_id",
        "log_end_offset",
        "last_fetch_timestamp",
        "last_caught_up_timestamp",
        "unknown_tagged_fields",
    )

    replica_id: int
    """Node id of the replica."""
    replica_directory_id: bytes
    """Versions 2. UUID of the replica's metadata log directory (KIP-853); all zero when not known.
    """
    log_end_offset: int
    """Offset after the last record the leader knows it to have; -1 when unknown."""
    last_fetch_timestamp: int
    """Versions 1-2. Leader's clock in ms since 1970 at the last fetch by this replica (KIP-836); -1
    when unknown.
    """
    last_caught_up_timestamp: int
    """Versions 1-2. Leader's clock in ms since 1970 when the replica last had everything (KIP-836);
    -1 when unknown.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeQuorumResponsePartitionData(Fields):
    """One entry for each partition."""

    __slots__ = (
        "partition_index",
        "error_code",
        "error_message",
        "leader_id",
        "leader_epoch",
        "high_watermark",
        "current_voters",
        "observers",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Partition of the metadata log, normally 0."""
    error_code: int
    """NONE, or UNKNOWN_TOPIC_OR_PARTITION for anything but the metadata partition."""
    error_message: str | None
    """Versions 2. Readable detail for the partition's error; Apache Kafka sends an empty string
    rather than null on success.
    """
    leader_id: int
    """Node id of the active controller; -1 when there is none."""
    leader_epoch: int
    """Raft epoch of that leader; grows with each election."""
    high_watermark: int
    """Offset up to which a majority holds the log; later records may still be lost."""
    current_voters: list[ReplicaState]
    """Controllers with a vote, leader included."""
    observers: list[ReplicaState]
    """Nodes that follow without a vote, the brokers above all."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[ReplicaState] = MADE_ANEW,
        observers: list[ReplicaState] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = [] if current_voters is MADE_ANEW else current_voters
        self.observers = [] if observers is MADE_ANEW else observers
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeQuorumResponseTopicData(Fields):
    """State grouped by topic; empty when none was asked for."""

    __slots__ = ("topic_name", "partitions", "unknown_tagged_fields")

    topic_name: str
    """Normally __cluster_metadata."""
    partitions: list[DescribeQuorumResponsePartitionData]
    """One entry for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        partitions: list[DescribeQuorumResponsePartitionData] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class Listener(Fields):
    """Where the node can be reached."""

    __slots__ = ("name", "host", "port", "unknown_tagged_fields")

    name: str
    """Versions 2. Listener name, e.g. CONTROLLER."""
    host: str
    """Versions 2. Host name or address of the listener."""
    port: int
    """Versions 2. TCP port of the listener, unsigned 16 bits."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields


class Node(Fields):
    """Addresses of the voters (KIP-853)."""

    __slots__ = ("node_id", "listeners", "unknown_tagged_fields")

    node_id: int
    """Versions 2. Node id, to be looked up in CurrentVoters."""
    listeners: list[Listener]
    """Versions 2. Where the node can be reached."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        node_id: int = 0,
        listeners: list[Listener] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.node_id = node_id
        self.listeners = [] if listeners is MADE_ANEW else listeners
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeQuorumResponse(Fields):
    """State of the metadata quorum as its leader sees it: voters (controllers) and observers
    (brokers) with their log ends (KIP-595).
    """

    NAME: ClassVar[str] = "DescribeQuorumResponse"
    API_KEY: ClassVar[int] = 55
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("error_code", "error_message", "topics", "nodes", "unknown_tagged_fields")

    error_code: int
    """NONE, or a fault of the whole request such as CLUSTER_AUTHORIZATION_FAILED; a wrong topic
    shows up per partition instead.
    """
    error_message: str | None
    """Versions 2. Readable detail for the error; Apache Kafka sends an empty string rather than
    null on success.
    """
    topics: list[DescribeQuorumResponseTopicData]
    """State grouped by topic; empty when none was asked for."""
    nodes: list[Node]
    """Versions 2. Addresses of the voters (KIP-853)."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[DescribeQuorumResponseTopicData] = MADE_ANEW,
        nodes: list[Node] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is MADE_ANEW else topics
        self.nodes = [] if nodes is MADE_ANEW else nodes
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DescribeQuorumResponse", version, 0, 2)
            out += _pack_h(self.error_code)
            if version >= 2:
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
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic in self.topics:
                raw = topic.topic_name.encode()
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
                    if version >= 2:
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
                    out += _pack_iiq(
                        partition.leader_id,
                        partition.leader_epoch,
                        partition.high_watermark,
                    )
                    n = len(partition.current_voters) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for current_voter in partition.current_voters:
                        out += _pack_i(current_voter.replica_id)
                        if version >= 2:
                            out += _pack_U(uuid_bytes(current_voter.replica_directory_id))
                        elif current_voter.replica_directory_id != ZERO_UUID:
                            raise not_in_version("topics.partitions.current_voters.replica_directory_id", "2")
                        out += _pack_q(current_voter.log_end_offset)
                        if version >= 1:
                            out += _pack_qq(
                                current_voter.last_fetch_timestamp,
                                current_voter.last_caught_up_timestamp,
                            )
                        if current_voter.unknown_tagged_fields:
                            write_tagged_fields(out, [], current_voter.unknown_tagged_fields)
                        else:
                            out.append(0)
                    n = len(partition.observers) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for current_voter in partition.observers:
                        out += _pack_i(current_voter.replica_id)
                        if version >= 2:
                            out += _pack_U(uuid_bytes(current_voter.replica_directory_id))
                        elif current_voter.replica_directory_id != ZERO_UUID:
                            raise not_in_version("topics.partitions.observers.replica_directory_id", "2")
                        out += _pack_q(current_voter.log_end_offset)
                        if version >= 1:
                            out += _pack_qq(
                                current_voter.last_fetch_timestamp,
                                current_voter.last_caught_up_timestamp,
                            )
                        if current_voter.unknown_tagged_fields:
                            write_tagged_fields(out, [], current_voter.unknown_tagged_fields)
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
            if version >= 2:
                n = len(self.nodes) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for node in self.nodes:
                    out += _pack_i(node.node_id)
                    n = len(node.listeners) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for listener in node.listeners:
                        raw = listener.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        raw = listener.host.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        out += _pack_H(listener.port)
                        if listener.unknown_tagged_fields:
                            write_tagged_fields(out, [], listener.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if node.unknown_tagged_fields:
                        write_tagged_fields(out, [], node.unknown_tagged_fields)
                    else:
                        out.append(0)
            elif self.nodes:
                raise not_in_version("nodes", "2")
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeQuorumResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeQuorumResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("DescribeQuorumResponse", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeQuorumResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.error_code = _unpack_h(data, pos)[0]
            pos += 2
            if version >= 2:
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.error_message = None
                else:
                    end = pos + n - 1
                    m.error_message = data[pos:end].decode()
                    pos = end
            else:
                m.error_message = ""
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
                topic = new(DescribeQuorumResponseTopicData)
                topic_list.append(topic)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                topic.topic_name = data[pos:end].decode()
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
                    partition = new(DescribeQuorumResponsePartitionData)
                    partition_list.append(partition)
                    partition.partition_index, partition.error_code = _unpack_ih(data, pos)
                    pos += 6
                    if version >= 2:
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            partition.error_message = None
                        else:
                            end = pos + n - 1
                            partition.error_message = data[pos:end].decode()
                            pos = end
                    else:
                        partition.error_message = ""
                    (
                        partition.leader_id,
                        partition.leader_epoch,
                        partition.high_watermark,
                        n,
                    ) = _unpack_iiqB(data, pos)
                    pos += 17
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.current_voters = current_voter_list = []
                    current_voter_left = n - 1
                    while current_voter_left:
                        current_voter_left -= 1
                        current_voter = new(ReplicaState)
                        current_voter_list.append(current_voter)
                        current_voter.replica_id = _unpack_i(data, pos)[0]
                        pos += 4
                        if version >= 2:
                            current_voter.replica_directory_id = _unpack_U(data, pos)[0]
                            pos += 16
                        else:
                            current_voter.replica_directory_id = ZERO_UUID
                        current_voter.log_end_offset = _unpack_q(data, pos)[0]
                        pos += 8
                        if version >= 1:
                            (
                                current_voter.last_fetch_timestamp,
                                current_voter.last_caught_up_timestamp,
                            ) = _unpack_qq(data, pos)
                            pos += 16
                        else:
                            current_voter.last_fetch_timestamp = -1
                            current_voter.last_caught_up_timestamp = -1
                        n = data[pos]
                        pos += 1
                        if n:
                            current_voter.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            current_voter.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    partition.observers = current_voter_list = []
                    current_voter_left = n - 1
                    while current_voter_left:
                        current_voter_left -= 1
                        current_voter = new(ReplicaState)
                        current_voter_list.append(current_voter)
                        current_voter.replica_id = _unpack_i(data, pos)[0]
                        pos += 4
                        if version >= 2:
                            current_voter.replica_directory_id = _unpack_U(data, pos)[0]
                            pos += 16
                        else:
                            current_voter.replica_directory_id = ZERO_UUID
                        current_voter.log_end_offset = _unpack_q(data, pos)[0]
                        pos += 8
                        if version >= 1:
                            (
                                current_voter.last_fetch_timestamp,
                                current_voter.last_caught_up_timestamp,
                            ) = _unpack_qq(data, pos)
                            pos += 16
                        else:
                            current_voter.last_fetch_timestamp = -1
                            current_voter.last_caught_up_timestamp = -1
                        n = data[pos]
                        pos += 1
                        if n:
                            current_voter.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            current_voter.unknown_tagged_fields = ()
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
            if version >= 2:
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.nodes = node_list = []
                node_left = n - 1
                while node_left:
                    node_left -= 1
                    node = new(Node)
                    node_list.append(node)
                    node.node_id, n = _unpack_iB(data, pos)
                    pos += 5
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    node.listeners = listener_list = []
                    listener_left = n - 1
                    while listener_left:
                        listener_left -= 1
                        listener = new(Listener)
                        listener_list.append(listener)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        listener.name = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        listener.host = data[pos:end].decode()
                        pos = end
                        listener.port, n = _unpack_HB(data, pos)
                        pos += 3
                        if n:
                            listener.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            listener.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        node.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        node.unknown_tagged_fields = ()
            else:
                m.nodes = []
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
            raise decode_failure("DescribeQuorumResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribeQuorumRequestPartitionData",
    "DescribeQuorumRequestTopicData",
    "DescribeQuorumRequest",
    "ReplicaState",
    "DescribeQuorumResponsePartitionData",
    "DescribeQuorumResponseTopicData",
    "Listener",
    "Node",
    "DescribeQuorumResponse",
]
