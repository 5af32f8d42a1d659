# Generated from schemas/messages/ElectLeadersRequest.json (sha256 1d1482b2aeb827ba)
# Generated from schemas/messages/ElectLeadersResponse.json (sha256 44ae74d02e1b3b01)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ElectLeaders (API key 43)."""

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
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_bB = struct.Struct(">bB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_ihh = struct.Struct(">ihh").unpack_from
_pack_b = struct.Struct(">b").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class TopicPartitions(Fields):
    """Partitions to elect leaders for, by topic; null means every partition."""

    __slots__ = ("topic", "partitions", "unknown_tagged_fields")

    topic: str
    """Topic of the partitions."""
    partitions: list[int]
    """Partition numbers within that topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ElectLeadersRequest(Fields):
    """An admin client asks for leader elections: back to the preferred replica (KIP-183), or an
    unclean one that may lose records (KIP-460). Needs alter on the cluster.
    """

    NAME: ClassVar[str] = "ElectLeadersRequest"
    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("election_type", "topic_partitions", "timeout_ms", "unknown_tagged_fields")

    election_type: int
    """Versions 1-2. 0 elects the preferred replica, 1 any live replica if there is no leader, at
    the risk of lost records (KIP-460).
    """
    topic_partitions: list[TopicPartitions] | None
    """Partitions to elect leaders for, by topic; null means every partition."""
    timeout_ms: int
    """Longest wait in ms for the elections to finish."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = MADE_ANEW,
        timeout_ms: int = 60000,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = [] if topic_partitions is MADE_ANEW else topic_partitions
        self.timeout_ms = timeout_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("ElectLeadersRequest", version, 0, 2)
            if version >= 2:
                out += _pack_b(self.election_type)
                if self.topic_partitions is None:
                    out.append(0)
                else:
                    n = len(self.topic_partitions) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for topic_partition in self.topic_partitions:
                        raw = topic_partition.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(topic_partition.partitions) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, topic_partition.partitions)
                        if topic_partition.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic_partition.unknown_tagged_fields)
                        else:
                            out.append(0)
                out += _pack_i(self.timeout_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if version >= 1:
                    out += _pack_b(self.election_type)
                elif self.election_type != 0:
                    raise not_in_version("election_type", "1-2")
                if self.topic_partitions is None:
                    out += _pack_i(-1)
                else:
                    out += _pack_i(len(self.topic_partitions))
                    for topic_partition in self.topic_partitions:
                        raw = topic_partition.topic.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_i(len(topic_partition.partitions))
                        write_int32_array(out, topic_partition.partitions)
                out += _pack_i(self.timeout_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ElectLeadersRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ElectLeadersRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("ElectLeadersRequest", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(ElectLeadersRequest)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.election_type, n = _unpack_bB(data, pos)
                pos += 2
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                if not n:
                    m.topic_partitions = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.topic_partitions = topic_partition_list = []
                    topic_partition_left = n - 1
                    while topic_partition_left:
                        topic_partition_left -= 1
                        topic_partition = new(TopicPartitions)
                        topic_partition_list.append(topic_partition)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        topic_partition.topic = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        topic_partition.partitions, pos = read_int32_array(data, pos, n - 1)
                        n = data[pos]
                        pos += 1
                        if n:
                            topic_partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            topic_partition.unknown_tagged_fields = ()
                m.timeout_ms, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version >= 1:
                    m.election_type = (data[pos] ^ 128) - 128
                    pos += 1
                else:
                    m.election_type = 0
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    m.topic_partitions = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.topic_partitions = topic_partition_list = []
                    topic_partition_left = n
                    while topic_partition_left:
                        topic_partition_left -= 1
                        topic_partition = new(TopicPartitions)
                        topic_partition_list.append(topic_partition)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        topic_partition.topic = data[pos:end].decode()
                        pos = end
                        n = _unpack_i(data, pos)[0]
                        pos += 4
                        if n < 0:
                            raise negative_length(n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        topic_partition.partitions, pos = read_int32_array(data, pos, n)
                        topic_partition.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.timeout_ms = _unpack_i(data, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ElectLeadersRequest", version, buf, start, cause) from cause


class PartitionResult(Fields):
    """One outcome for each partition."""

    __slots__ = ("partition_id", "error_code", "error_message", "unknown_tagged_fields")

    partition_id: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, ELECTION_NOT_NEEDED (right leader already), PREFERRED_LEADER_NOT_AVAILABLE,
    ELIGIBLE_LEADERS_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class ReplicaElectionResult(Fields):
    """Outcome grouped by topic; if all partitions were asked for, those that needed no election are
    left out.
    """

    __slots__ = ("topic", "partition_result", "unknown_tagged_fields")

    topic: str
    """Topic the outcome is for."""
    partition_result: list[PartitionResult]
    """One outcome for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        partition_result: list[PartitionResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partition_result = [] if partition_result is MADE_ANEW else partition_result
        self.unknown_tagged_fields = unknown_tagged_fields


class ElectLeadersResponse(Fields):
    """Outcome of the elections asked for with ElectLeaders, partition by partition."""

    NAME: ClassVar[str] = "ElectLeadersResponse"
    API_KEY: ClassVar[int] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "replica_election_results",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """Versions 1-2. NONE, or a fault of the whole request such as CLUSTER_AUTHORIZATION_FAILED or
    NOT_CONTROLLER.
    """
    replica_election_results: list[ReplicaElectionResult]
    """Outcome grouped by topic; if all partitions were asked for, those that needed no election are
    left out.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = [] if replica_election_results is MADE_ANEW else replica_election_results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("ElectLeadersResponse", version, 0, 2)
            if version >= 2:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                n = len(self.replica_election_results) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for replica_election_result in self.replica_election_results:
                    raw = replica_election_result.topic.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    n = len(replica_election_result.partition_result) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for partition_result in replica_election_result.partition_result:
                        out += _pack_ih(partition_result.partition_id, partition_result.error_code)
                        if partition_result.error_message is None:
                            out.append(0)
                        else:
                            raw = partition_result.error_message.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        if partition_result.unknown_tagged_fields:
                            write_tagged_fields(out, [], partition_result.unknown_tagged_fields)
                        else:
                            out.append(0)
                    if replica_election_result.unknown_tagged_fields:
                        write_tagged_fields(out, [], replica_election_result.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(self.throttle_time_ms)
                if version >= 1:
                    out += _pack_h(self.error_code)
                elif self.error_code != 0:
                    raise not_in_version("error_code", "1-2")
                out += _pack_i(len(self.replica_election_results))
                for replica_election_result in self.replica_election_results:
                    raw = replica_election_result.topic.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(replica_election_result.partition_result))
                    for partition_result in replica_election_result.partition_result:
                        out += _pack_ih(partition_result.partition_id, partition_result.error_code)
                        if partition_result.error_message is None:
                            out += _pack_h(-1)
                        else:
                            raw = partition_result.error_message.encode()
                            out += _pack_h(len(raw))
                            out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ElectLeadersResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ElectLeadersResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("ElectLeadersResponse", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(ElectLeadersResponse)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
                pos += 7
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.replica_election_results = replica_election_result_list = []
                replica_election_result_left = n - 1
                while replica_election_result_left:
                    replica_election_result_left -= 1
                    replica_election_result = new(ReplicaElectionResult)
                    replica_election_result_list.append(replica_election_result)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    replica_election_result.topic = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    replica_election_result.partition_result = partition_result_list = []
                    partition_result_left = n - 1
                    while partition_result_left:
                        partition_result_left -= 1
                        partition_result = new(PartitionResult)
                        partition_result_list.append(partition_result)
                        (
                            partition_result.partition_id,
                            partition_result.error_code,
                            n,
                        ) = _unpack_ihB(data, pos)
                        pos += 7
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            partition_result.error_message = None
                        else:
                            end = pos + n - 1
                            partition_result.error_message = data[pos:end].decode()
                            pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            partition_result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            partition_result.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        replica_election_result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        replica_election_result.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms = _unpack_i(data, pos)[0]
                pos += 4
                if version >= 1:
                    m.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                else:
                    m.error_code = 0
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.replica_election_results = replica_election_result_list = []
                replica_election_result_left = n
                while replica_election_result_left:
                    replica_election_result_left -= 1
                    replica_election_result = new(ReplicaElectionResult)
                    replica_election_result_list.append(replica_election_result)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    replica_election_result.topic = data[pos:end].decode()
                    pos = end
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    replica_election_result.partition_result = partition_result_list = []
                    partition_result_left = n
                    while partition_result_left:
                        partition_result_left -= 1
                        partition_result = new(PartitionResult)
                        partition_result_list.append(partition_result)
                        (
                            partition_result.partition_id,
                            partition_result.error_code,
                            n,
                        ) = _unpack_ihh(data, pos)
                        pos += 8
                        if n < 0:
                            partition_result.error_message = None
                        else:
                            end = pos + n
                            partition_result.error_message = data[pos:end].decode()
                            pos = end
                        partition_result.unknown_tagged_fields = ()
                    replica_election_result.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ElectLeadersResponse", version, buf, start, cause) from cause


__all__ = [
    "TopicPartitions",
    "ElectLeadersRequest",
    "PartitionResult",
    "ReplicaElectionResult",
    "ElectLeadersResponse",
]
