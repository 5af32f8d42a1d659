# Generated from schemas/messages/FetchSnapshotRequest.json (sha256 d772c05c5f700f11)
# Generated from schemas/messages/FetchSnapshotResponse.json (sha256 125280f15cabd423)
# by python -m fencepost_protocol.codegen. Do not edit.
"""FetchSnapshot (API key 59)."""

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
_unpack_HB = struct.Struct(">HB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_ihqiB = struct.Struct(">ihqiB").unpack_from
_unpack_iiB = struct.Struct(">iiB").unpack_from
_unpack_iiqiB = struct.Struct(">iiqiB").unpack_from
_unpack_qB = struct.Struct(">qB").unpack_from
_unpack_qqB = struct.Struct(">qqB").unpack_from
_pack_H = struct.Struct(">H").pack
_pack_bbU = struct.Struct(">bb16s").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ihqi = struct.Struct(">ihqi").pack
_pack_ii = struct.Struct(">ii").pack
_pack_iiqi = struct.Struct(">iiqi").pack
_pack_q = struct.Struct(">q").pack
_pack_qq = struct.Struct(">qq").pack
new = object.__new__


class FetchSnapshotRequestSnapshotId(Fields):
    """Which snapshot, as a Fetch response named it."""

    __slots__ = ("end_offset", "epoch", "unknown_tagged_fields")

    end_offset: int
    """End of what the snapshot covers, exclusive."""
    epoch: int
    """Leader epoch the snapshot ends in."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchSnapshotRequestPartitionSnapshot(Fields):
    """Partitions of which snapshots are read."""

    __slots__ = (
        "partition",
        "current_leader_epoch",
        "snapshot_id",
        "position",
        "replica_directory_id",
        "unknown_tagged_fields",
    )

    partition: int
    """Always 0."""
    current_leader_epoch: int
    """Leader epoch that the follower knows: behind gives FENCED_LEADER_EPOCH, ahead
    UNKNOWN_LEADER_EPOCH.
    """
    snapshot_id: FetchSnapshotRequestSnapshotId
    """Which snapshot, as a Fetch response named it."""
    position: int
    """Byte of the file to read from; a negative one, or one behind the end, gives
    POSITION_OUT_OF_RANGE.
    """
    replica_directory_id: bytes
    """Versions 1. Log directory in which the follower keeps its copy."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: FetchSnapshotRequestSnapshotId = MADE_ANEW,
        position: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id = FetchSnapshotRequestSnapshotId() if snapshot_id is MADE_ANEW else snapshot_id
        self.position = position
        self.replica_directory_id = replica_directory_id
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchSnapshotRequestTopicSnapshot(Fields):
    """Topics of which snapshots are read; always __cluster_metadata alone."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Name of the topic."""
    partitions: list[FetchSnapshotRequestPartitionSnapshot]
    """Partitions of which snapshots are read."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[FetchSnapshotRequestPartitionSnapshot] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchSnapshotRequest(Fields):
    """A follower of the metadata log reads a snapshot, piece by piece, because what it needs is no
    longer in the log (KIP-630).
    """

    NAME: ClassVar[str] = "FetchSnapshotRequest"
    API_KEY: ClassVar[int] = 59
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("cluster_id", "replica_id", "max_bytes", "topics", "unknown_tagged_fields")

    cluster_id: str | None
    """Cluster that the follower belongs to; another one gives INCONSISTENT_CLUSTER_ID. Null is not
    checked.
    """
    replica_id: int
    """Node id of the follower."""
    max_bytes: int
    """How many bytes of all snapshots together the answer may hold."""
    topics: list[FetchSnapshotRequestTopicSnapshot]
    """Topics of which snapshots are read; always __cluster_metadata alone."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: list[FetchSnapshotRequestTopicSnapshot] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("FetchSnapshotRequest", version, 0, 1)
            out += _pack_ii(self.replica_id, self.max_bytes)
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
                    out += _pack_iiqi(
                        partition.partition,
                        partition.current_leader_epoch,
                        partition.snapshot_id.end_offset,
                        partition.snapshot_id.epoch,
                    )
                    if partition.snapshot_id.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.snapshot_id.unknown_tagged_fields)
                    else:
                        out.append(0)
                    out += _pack_q(partition.position)
                    tagged_1: list[bytes] = []
                    if partition.replica_directory_id != ZERO_UUID:
                        if version >= 1:
                            tagged_1.append(_pack_bbU(0, 16, uuid_bytes(partition.replica_directory_id)))
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
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("FetchSnapshotRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[FetchSnapshotRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("FetchSnapshotRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(FetchSnapshotRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.replica_id, m.max_bytes, n = _unpack_iiB(data, pos)
            pos += 9
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(FetchSnapshotRequestTopicSnapshot)
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
                    partition = new(FetchSnapshotRequestPartitionSnapshot)
                    partition_list.append(partition)
                    partition.snapshot_id = snapshot_id = new(FetchSnapshotRequestSnapshotId)
                    (
                        partition.partition,
                        partition.current_leader_epoch,
                        snapshot_id.end_offset,
                        snapshot_id.epoch,
                        n,
                    ) = _unpack_iiqiB(data, pos)
                    pos += 21
                    if n:
                        snapshot_id.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        snapshot_id.unknown_tagged_fields = ()
                    partition.replica_directory_id = ZERO_UUID
                    partition.unknown_tagged_fields = ()
                    partition.position, n = _unpack_qB(data, pos)
                    pos += 9
                    if n:
                        if n > 127:
                            n, pos = read_uvarint_tail(data, pos, n)
                        for _ in range(n):
                            tag_1, tag_end_1, pos = read_tag(data, pos)
                            if tag_1 == 0:
                                if not (version >= 1):
                                    raise ValueError(TAG_NOT_IN_VERSION)
                                partition.replica_directory_id = _unpack_U(data, pos)[0]
                                pos += 16
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
            m.cluster_id = None
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
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("FetchSnapshotRequest", version, buf, start, cause) from cause


class FetchSnapshotResponseSnapshotId(Fields):
    """Which snapshot it is a piece of."""

    __slots__ = ("end_offset", "epoch", "unknown_tagged_fields")

    end_offset: int
    """End of what the snapshot covers, exclusive."""
    epoch: int
    """Leader epoch the snapshot ends in."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class LeaderIdAndEpoch(Fields):
    """Who leads the log, where the follower asked somebody else."""

    __slots__ = ("leader_id", "leader_epoch", "unknown_tagged_fields")

    leader_id: int
    """Node id of the leader; -1 when it is unknown."""
    leader_epoch: int
    """Epoch of that leadership."""
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


class FetchSnapshotResponsePartitionSnapshot(Fields):
    """What was read, by partition."""

    __slots__ = (
        "index",
        "error_code",
        "snapshot_id",
        "current_leader",
        "size",
        "position",
        "unaligned_records",
        "unknown_tagged_fields",
    )

    index: int
    """Number of the partition."""
    error_code: int
    """NONE, SNAPSHOT_NOT_FOUND, POSITION_OUT_OF_RANGE, or what is wrong with the leader epoch."""
    snapshot_id: FetchSnapshotResponseSnapshotId
    """Which snapshot it is a piece of."""
    current_leader: LeaderIdAndEpoch | None
    """Who leads the log, where the follower asked somebody else."""
    size: int
    """Bytes of the whole snapshot."""
    position: int
    """Byte of the snapshot at which this piece begins."""
    unaligned_records: Buffer
    """The piece: bytes of record batches, cut anywhere."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: FetchSnapshotResponseSnapshotId = MADE_ANEW,
        current_leader: LeaderIdAndEpoch | None = None,
        size: int = 0,
        position: int = 0,
        unaligned_records: Buffer = b"",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.snapshot_id = FetchSnapshotResponseSnapshotId() if snapshot_id is MADE_ANEW else snapshot_id
        self.current_leader = current_leader
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchSnapshotResponseTopicSnapshot(Fields):
    """What was read, by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Name of the topic."""
    partitions: list[FetchSnapshotResponsePartitionSnapshot]
    """What was read, by partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[FetchSnapshotResponsePartitionSnapshot] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class NodeEndpoint(Fields):
    """Addresses of the leaders that the answer names."""

    __slots__ = ("node_id", "host", "port", "unknown_tagged_fields")

    node_id: int
    """Versions 1. Node id."""
    host: str
    """Versions 1. Host name or address of the node."""
    port: int
    """Versions 1. TCP port of the node."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.unknown_tagged_fields = unknown_tagged_fields


class FetchSnapshotResponse(Fields):
    """A piece of a snapshot of the metadata log (KIP-630)."""

    NAME: ClassVar[str] = "FetchSnapshotResponse"
    API_KEY: ClassVar[int] = 59
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "topics",
        "node_endpoints",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the follower has to sit out itself; 0 when within quota."""
    error_code: int
    """NONE, or a fault of the whole request, such as INCONSISTENT_CLUSTER_ID."""
    topics: list[FetchSnapshotResponseTopicSnapshot]
    """What was read, by topic."""
    node_endpoints: list[NodeEndpoint]
    """Versions 1. Addresses of the leaders that the answer names."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[FetchSnapshotResponseTopicSnapshot] = MADE_ANEW,
        node_endpoints: list[NodeEndpoint] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is MADE_ANEW else topics
        self.node_endpoints = [] if node_endpoints is MADE_ANEW else node_endpoints
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("FetchSnapshotResponse", version, 0, 1)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
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
                    out += _pack_ihqi(
                        partition.index,
                        partition.error_code,
                        partition.snapshot_id.end_offset,
                        partition.snapshot_id.epoch,
                    )
                    if partition.snapshot_id.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.snapshot_id.unknown_tagged_fields)
                    else:
                        out.append(0)
                    records = partition.unaligned_records
                    out += _pack_qq(partition.size, partition.position)
                    n = len(records) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    out += records
                    tagged_1: list[bytes] = []
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
                        tagged_1.append(tagged_field(0, content_1))
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
            tagged_1 = []
            if self.node_endpoints:
                if not (version >= 1):
                    raise not_in_version("node_endpoints", "1")
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
                    content_1 += _pack_H(node_endpoint.port)
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
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("FetchSnapshotResponse", version, self, cause) from cause

    def encode_pieces(self, version: int, head: bytearray) -> list[Buffer]:
        """As ``encode``, but large records stay pieces of their own, not copied into ``head``,
        which is the first piece.
        """
        start = len(head)
        out = head
        pieces: list[Buffer] = [head]
        try:
            if not 0 <= version <= 1:
                raise unknown_version("FetchSnapshotResponse", version, 0, 1)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
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
                    out += _pack_ihqi(
                        partition.index,
                        partition.error_code,
                        partition.snapshot_id.end_offset,
                        partition.snapshot_id.epoch,
                    )
                    if partition.snapshot_id.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.snapshot_id.unknown_tagged_fields)
                    else:
                        out.append(0)
                    records = partition.unaligned_records
                    out += _pack_qq(partition.size, partition.position)
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
                        tagged_1.append(tagged_field(0, content_1))
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
            tagged_1 = []
            if self.node_endpoints:
                if not (version >= 1):
                    raise not_in_version("node_endpoints", "1")
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
                    content_1 += _pack_H(node_endpoint.port)
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
        except ENCODE_ERRORS as cause:
            del head[start:]
            raise encode_failure("FetchSnapshotResponse", version, self, cause) from cause
        return pieces

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[FetchSnapshotResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("FetchSnapshotResponse", version, 0, 1)
            size = len(buf)
            m = new(FetchSnapshotResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(buf, pos)
            pos += 7
            if not n or n > 127:
                n, pos = long_length(buf, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(FetchSnapshotResponseTopicSnapshot)
                topic_list.append(topic)
                n = buf[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(buf, pos, n)
                end = pos + n - 1
                topic.name = buf[pos:end].tobytes().decode()
                pos = end
                n = buf[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(buf, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partitions = partition_list = []
                partition_left = n - 1
                while partition_left:
                    partition_left -= 1
                    partition = new(FetchSnapshotResponsePartitionSnapshot)
                    partition_list.append(partition)
                    partition.snapshot_id = snapshot_id = new(FetchSnapshotResponseSnapshotId)
                    (
                        partition.index,
                        partition.error_code,
                        snapshot_id.end_offset,
                        snapshot_id.epoch,
                        n,
                    ) = _unpack_ihqiB(buf, pos)
                    pos += 19
                    if n:
                        snapshot_id.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                    else:
                        snapshot_id.unknown_tagged_fields = ()
                    partition.size, partition.position, n = _unpack_qqB(buf, pos)
                    pos += 17
                    if not n or n > 127:
                        n, pos = long_length(buf, pos, n)
                    end = pos + n - 1
                    partition.unaligned_records = buf[pos:end]
                    pos = end
                    partition.current_leader = None
                    partition.unknown_tagged_fields = ()
                    n = buf[pos]
                    pos += 1
                    if n:
                        if n > 127:
                            n, pos = read_uvarint_tail(buf, pos, n)
                        for _ in range(n):
                            tag_1, tag_end_1, pos = read_tag(buf, pos)
                            if tag_1 == 0:
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
                            else:
                                partition.unknown_tagged_fields = with_unknown_tag(partition.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                                pos = tag_end_1
                            if pos != tag_end_1:
                                raise ValueError(TAG_SIZE_WRONG)
                n = buf[pos]
                pos += 1
                if n:
                    topic.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    topic.unknown_tagged_fields = ()
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
                        if not (version >= 1):
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
                            node_endpoint.port, n = _unpack_HB(buf, pos)
                            pos += 3
                            if n:
                                node_endpoint.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                            else:
                                node_endpoint.unknown_tagged_fields = ()
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, buf[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("FetchSnapshotResponse", version, buf, start, cause) from cause


__all__ = [
    "FetchSnapshotRequestSnapshotId",
    "FetchSnapshotRequestPartitionSnapshot",
    "FetchSnapshotRequestTopicSnapshot",
    "FetchSnapshotRequest",
    "FetchSnapshotResponseSnapshotId",
    "LeaderIdAndEpoch",
    "FetchSnapshotResponsePartitionSnapshot",
    "FetchSnapshotResponseTopicSnapshot",
    "NodeEndpoint",
    "FetchSnapshotResponse",
]
