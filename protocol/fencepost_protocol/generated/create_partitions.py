# Generated from schemas/messages/CreatePartitionsRequest.json (sha256 a2ba8da4ae1df46a)
# Generated from schemas/messages/CreatePartitionsResponse.json (sha256 152b97b74c325f96)
# by python -m fencepost_protocol.codegen. Do not edit.
"""CreatePartitions (API key 37)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
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

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_it = struct.Struct(">i?").unpack_from
_unpack_itB = struct.Struct(">i?B").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_it = struct.Struct(">i?").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class CreatePartitionsAssignment(Fields):
    """Replicas of the added partitions only, in order; null lets the controller choose, a wrong
    number gives INVALID_REPLICA_ASSIGNMENT.
    """

    __slots__ = ("broker_ids", "unknown_tagged_fields")

    broker_ids: list[int]
    """Brokers for the replicas of one new partition; the first is its preferred leader."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        broker_ids: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.broker_ids = [] if broker_ids is MADE_ANEW else broker_ids
        self.unknown_tagged_fields = unknown_tagged_fields


class CreatePartitionsTopic(Fields):
    """Topics to grow; each succeeds or fails alone."""

    __slots__ = ("name", "count", "assignments", "unknown_tagged_fields")

    name: str
    """Existing topic; unknown gives UNKNOWN_TOPIC_OR_PARTITION, listed twice INVALID_REQUEST."""
    count: int
    """Partitions in all afterwards, not the number to add; no more than now gives
    INVALID_PARTITIONS.
    """
    assignments: list[CreatePartitionsAssignment] | None
    """Replicas of the added partitions only, in order; null lets the controller choose, a wrong
    number gives INVALID_REPLICA_ASSIGNMENT.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = [] if assignments is MADE_ANEW else assignments
        self.unknown_tagged_fields = unknown_tagged_fields


class CreatePartitionsRequest(Fields):
    """An admin client adds partitions to existing topics; the number can only grow (KIP-195)."""

    NAME: ClassVar[str] = "CreatePartitionsRequest"
    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("topics", "timeout_ms", "validate_only", "unknown_tagged_fields")

    topics: list[CreatePartitionsTopic]
    """Topics to grow; each succeeds or fails alone."""
    timeout_ms: int
    """How long the caller waits, in ms, until the new partitions are there."""
    validate_only: bool
    """True checks the request and reports, but creates nothing."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[CreatePartitionsTopic] = MADE_ANEW,
        timeout_ms: int = 0,
        validate_only: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 3:
                raise unknown_version("CreatePartitionsRequest", version, 0, 3)
            if version >= 2:
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
                    out += _pack_i(topic.count)
                    if topic.assignments is None:
                        out.append(0)
                    else:
                        n = len(topic.assignments) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for assignment in topic.assignments:
                            n = len(assignment.broker_ids) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            write_int32_array(out, assignment.broker_ids)
                            if assignment.unknown_tagged_fields:
                                write_tagged_fields(out, [], assignment.unknown_tagged_fields)
                            else:
                                out.append(0)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                out += _pack_it(self.timeout_ms, self.validate_only)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(topic.count)
                    if topic.assignments is None:
                        out += _pack_i(-1)
                    else:
                        out += _pack_i(len(topic.assignments))
                        for assignment in topic.assignments:
                            out += _pack_i(len(assignment.broker_ids))
                            write_int32_array(out, assignment.broker_ids)
                out += _pack_it(self.timeout_ms, self.validate_only)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("CreatePartitionsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[CreatePartitionsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 3:
                raise unknown_version("CreatePartitionsRequest", version, 0, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(CreatePartitionsRequest)
            if version >= 2:
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
                    topic = new(CreatePartitionsTopic)
                    topic_list.append(topic)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    topic.name = data[pos:end].decode()
                    pos = end
                    topic.count, n = _unpack_iB(data, pos)
                    pos += 5
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    if not n:
                        topic.assignments = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        topic.assignments = assignment_list = []
                        assignment_left = n - 1
                        while assignment_left:
                            assignment_left -= 1
                            assignment = new(CreatePartitionsAssignment)
                            assignment_list.append(assignment)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            assignment.broker_ids, pos = read_int32_array(data, pos, n - 1)
                            n = data[pos]
                            pos += 1
                            if n:
                                assignment.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                assignment.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        topic.unknown_tagged_fields = ()
                m.timeout_ms, m.validate_only, n = _unpack_itB(data, pos)
                pos += 6
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
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
                    topic = new(CreatePartitionsTopic)
                    topic_list.append(topic)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic.name = data[pos:end].decode()
                    pos = end
                    topic.count, n = _unpack_ii(data, pos)
                    pos += 8
                    if n < 0:
                        topic.assignments = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        topic.assignments = assignment_list = []
                        assignment_left = n
                        while assignment_left:
                            assignment_left -= 1
                            assignment = new(CreatePartitionsAssignment)
                            assignment_list.append(assignment)
                            n = _unpack_i(data, pos)[0]
                            pos += 4
                            if n < 0:
                                raise negative_length(n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            assignment.broker_ids, pos = read_int32_array(data, pos, n)
                            assignment.unknown_tagged_fields = ()
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.timeout_ms, m.validate_only = _unpack_it(data, pos)
                pos += 5
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("CreatePartitionsRequest", version, buf, start, cause) from cause


class CreatePartitionsTopicResult(Fields):
    """One outcome for each topic of the request."""

    __slots__ = ("name", "error_code", "error_message", "unknown_tagged_fields")

    name: str
    """Topic the outcome is for."""
    error_code: int
    """NONE, or e.g. INVALID_PARTITIONS, INVALID_REPLICA_ASSIGNMENT, UNKNOWN_TOPIC_OR_PARTITION,
    TOPIC_AUTHORIZATION_FAILED, THROTTLING_QUOTA_EXCEEDED.
    """
    error_message: str | None
    """Readable detail for the error; may be null."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class CreatePartitionsResponse(Fields):
    """Outcome of a CreatePartitions request for each topic. Brokers may need a moment more to show
    the new partitions in Metadata.
    """

    NAME: ClassVar[str] = "CreatePartitionsResponse"
    API_KEY: ClassVar[int] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2

    __slots__ = ("throttle_time_ms", "results", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    results: list[CreatePartitionsTopicResult]
    """One outcome for each topic of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[CreatePartitionsTopicResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is MADE_ANEW else results
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 3:
                raise unknown_version("CreatePartitionsResponse", version, 0, 3)
            if version >= 2:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.results) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for result in self.results:
                    raw = result.name.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    out += _pack_h(result.error_code)
                    if result.error_message is None:
                        out.append(0)
                    else:
                        raw = result.error_message.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if result.unknown_tagged_fields:
                        write_tagged_fields(out, [], result.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ii(self.throttle_time_ms, len(self.results))
                for result in self.results:
                    raw = result.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_h(result.error_code)
                    if result.error_message is None:
                        out += _pack_h(-1)
                    else:
                        raw = result.error_message.encode()
                        out += _pack_h(len(raw))
                        out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("CreatePartitionsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[CreatePartitionsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 3:
                raise unknown_version("CreatePartitionsResponse", version, 0, 3)
            size = len(buf)
            data = buf.tobytes()
            m = new(CreatePartitionsResponse)
            if version >= 2:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.results = result_list = []
                result_left = n - 1
                while result_left:
                    result_left -= 1
                    result = new(CreatePartitionsTopicResult)
                    result_list.append(result)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    result.name = data[pos:end].decode()
                    pos = end
                    result.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        result.error_message = None
                    else:
                        end = pos + n - 1
                        result.error_message = data[pos:end].decode()
                        pos = end
                    n = data[pos]
                    pos += 1
                    if n:
                        result.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                    else:
                        result.unknown_tagged_fields = ()
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
                m.results = result_list = []
                result_left = n
                while result_left:
                    result_left -= 1
                    result = new(CreatePartitionsTopicResult)
                    result_list.append(result)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    result.name = data[pos:end].decode()
                    pos = end
                    result.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        result.error_message = None
                    else:
                        end = pos + n
                        result.error_message = data[pos:end].decode()
                        pos = end
                    result.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("CreatePartitionsResponse", version, buf, start, cause) from cause


__all__ = [
    "CreatePartitionsAssignment",
    "CreatePartitionsTopic",
    "CreatePartitionsRequest",
    "CreatePartitionsTopicResult",
    "CreatePartitionsResponse",
]
