# Generated from schemas/messages/AlterPartitionReassignmentsRequest.json (sha256 23fb4be27e791cfa)
# Generated from schemas/messages/AlterPartitionReassignmentsResponse.json (sha256 a4eb556d020a1323)
# by python -m fencepost_protocol.codegen. Do not edit.
"""AlterPartitionReassignments (API key 45)."""

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
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class ReassignablePartition(Fields):
    """One target for each partition."""

    __slots__ = ("partition_index", "replicas", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    replicas: list[int] | None
    """Brokers wanted as replicas, preferred leader first; null cancels the move under way,
    NO_REASSIGNMENT_IN_PROGRESS if there is none.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas
        self.unknown_tagged_fields = unknown_tagged_fields


class ReassignableTopic(Fields):
    """Partitions to move or to cancel, by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic of the partitions."""
    partitions: list[ReassignablePartition]
    """One target for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[ReassignablePartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterPartitionReassignmentsRequest(Fields):
    """An admin client moves partitions to other brokers, or calls such a move off (KIP-455). Needs
    alter on the cluster.
    """

    NAME: ClassVar[str] = "AlterPartitionReassignmentsRequest"
    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "timeout_ms",
        "allow_replication_factor_change",
        "topics",
        "unknown_tagged_fields",
    )

    timeout_ms: int
    """Longest wait in ms for the request to be accepted; the move itself goes on afterwards."""
    allow_replication_factor_change: bool
    """Versions 1. False makes a target with more or fewer replicas than now fail with
    INVALID_REPLICATION_FACTOR (KIP-860); true allows it.
    """
    topics: list[ReassignableTopic]
    """Partitions to move or to cancel, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AlterPartitionReassignmentsRequest", version, 0, 1)
            out += _pack_i(self.timeout_ms)
            if version >= 1:
                out += _pack_t(self.allow_replication_factor_change)
            elif not self.allow_replication_factor_change:
                raise not_in_version("allow_replication_factor_change", "1")
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
                    out += _pack_i(partition.partition_index)
                    if partition.replicas is None:
                        out.append(0)
                    else:
                        n = len(partition.replicas) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        write_int32_array(out, partition.replicas)
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
            raise encode_failure("AlterPartitionReassignmentsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterPartitionReassignmentsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AlterPartitionReassignmentsRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterPartitionReassignmentsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.timeout_ms = _unpack_i(data, pos)[0]
            pos += 4
            if version >= 1:
                m.allow_replication_factor_change = data[pos] != 0
                pos += 1
            else:
                m.allow_replication_factor_change = True
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
                topic = new(ReassignableTopic)
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
                    partition = new(ReassignablePartition)
                    partition_list.append(partition)
                    partition.partition_index, n = _unpack_iB(data, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    if not n:
                        partition.replicas = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        partition.replicas, pos = read_int32_array(data, pos, n - 1)
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
            raise decode_failure("AlterPartitionReassignmentsRequest", version, buf, start, cause) from cause


class ReassignablePartitionResponse(Fields):
    """One outcome for each partition."""

    __slots__ = ("partition_index", "error_code", "error_message", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, or INVALID_REPLICA_ASSIGNMENT, INVALID_REPLICATION_FACTOR, NO_REASSIGNMENT_IN_PROGRESS,
    UNKNOWN_TOPIC_OR_PARTITION.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class ReassignableTopicResponse(Fields):
    """Outcome grouped by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic the outcome is for."""
    partitions: list[ReassignablePartitionResponse]
    """One outcome for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[ReassignablePartitionResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class AlterPartitionReassignmentsResponse(Fields):
    """Tells which moves were accepted or cancelled, not which are complete: see
    ListPartitionReassignments for that (KIP-455).
    """

    NAME: ClassVar[str] = "AlterPartitionReassignmentsResponse"
    API_KEY: ClassVar[int] = 45
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "allow_replication_factor_change",
        "error_code",
        "error_message",
        "responses",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    allow_replication_factor_change: bool
    """Versions 1. Whether the request let the number of replicas change, repeated from it
    (KIP-860).
    """
    error_code: int
    """NONE, or a fault of the whole request such as CLUSTER_AUTHORIZATION_FAILED, NOT_CONTROLLER,
    REQUEST_TIMED_OUT.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    responses: list[ReassignableTopicResponse]
    """Outcome grouped by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: list[ReassignableTopicResponse] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is MADE_ANEW else responses
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AlterPartitionReassignmentsResponse", version, 0, 1)
            out += _pack_i(self.throttle_time_ms)
            if version >= 1:
                out += _pack_t(self.allow_replication_factor_change)
            out += _pack_h(self.error_code)
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
            n = len(self.responses) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for response in self.responses:
                raw = response.name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
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
                    if partition.unknown_tagged_fields:
                        write_tagged_fields(out, [], partition.unknown_tagged_fields)
                    else:
                        out.append(0)
                if response.unknown_tagged_fields:
                    write_tagged_fields(out, [], response.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("AlterPartitionReassignmentsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[AlterPartitionReassignmentsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("AlterPartitionReassignmentsResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(AlterPartitionReassignmentsResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms = _unpack_i(data, pos)[0]
            pos += 4
            if version >= 1:
                m.allow_replication_factor_change = data[pos] != 0
                pos += 1
            else:
                m.allow_replication_factor_change = True
            m.error_code, n = _unpack_hB(data, pos)
            pos += 3
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.error_message = None
            else:
                end = pos + n - 1
                m.error_message = data[pos:end].decode()
                pos = end
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
                response = new(ReassignableTopicResponse)
                response_list.append(response)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                response.name = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                response.partitions = partition_list = []
                partition_left = n - 1
                while partition_left:
                    partition_left -= 1
                    partition = new(ReassignablePartitionResponse)
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
            if n:
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("AlterPartitionReassignmentsResponse", version, buf, start, cause) from cause


__all__ = [
    "ReassignablePartition",
    "ReassignableTopic",
    "AlterPartitionReassignmentsRequest",
    "ReassignablePartitionResponse",
    "ReassignableTopicResponse",
    "AlterPartitionReassignmentsResponse",
]
