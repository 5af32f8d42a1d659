# Generated from schemas/messages/ShareGroupHeartbeatRequest.json (sha256 4f03682a6eeed0d7)
# Generated from schemas/messages/ShareGroupHeartbeatResponse.json (sha256 d9f845a7250fe886)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ShareGroupHeartbeat (API key 76)."""

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
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_compact_string_array,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_compact_string_array,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_iib = struct.Struct(">iib").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_b = struct.Struct(">b").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class ShareGroupHeartbeatRequest(Fields):
    """A member of a share group joins, stays alive, changes its subscription and leaves, all with
    this request to the group coordinator (KIP-932).
    """

    NAME: ClassVar[str] = "ShareGroupHeartbeatRequest"
    API_KEY: ClassVar[int] = 76
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "rack_id",
        "subscribed_topic_names",
        "unknown_tagged_fields",
    )

    group_id: str
    """Share group to join or stay in; an empty one is refused."""
    member_id: str
    """UUID that the client makes once and keeps as long as the consumer lives."""
    member_epoch: int
    """Member's current epoch; 0 joins, -1 leaves. One that is too old or too new gives
    FENCED_MEMBER_EPOCH.
    """
    rack_id: str | None
    """Rack of the consumer, client.rack; null when not set or unchanged."""
    subscribed_topic_names: list[str] | None
    """Topics subscribed to; null when unchanged since the last heartbeat, required on joining."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: list[str] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ShareGroupHeartbeatRequest", version, 1, 1)
            raw = self.group_id.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            raw = self.member_id.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            out += _pack_i(self.member_epoch)
            if self.rack_id is None:
                out.append(0)
            else:
                raw = self.rack_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            if self.subscribed_topic_names is None:
                out.append(0)
            else:
                n = len(self.subscribed_topic_names) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_compact_string_array(out, self.subscribed_topic_names)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupHeartbeatRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupHeartbeatRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ShareGroupHeartbeatRequest", version, 1, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupHeartbeatRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.group_id = data[pos:end].decode()
            pos = end
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_string_length(data, pos, n)
            end = pos + n - 1
            m.member_id = data[pos:end].decode()
            pos = end
            m.member_epoch, n = _unpack_iB(data, pos)
            pos += 5
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.rack_id = None
            else:
                end = pos + n - 1
                m.rack_id = data[pos:end].decode()
                pos = end
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.subscribed_topic_names = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.subscribed_topic_names, pos = read_compact_string_array(data, pos, n - 1)
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
            raise decode_failure("ShareGroupHeartbeatRequest", version, buf, start, cause) from cause


class TopicPartitions(Fields):
    """Part of ShareGroupHeartbeatResponse."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of an assigned topic; names come from Metadata."""
    partitions: list[int]
    """Numbers of the assigned partitions; other members may have the same ones."""
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


class Assignment(Fields):
    """Partitions to fetch from, from now on; null when nothing changed. Nothing has to be given up
    first.
    """

    __slots__ = ("topic_partitions", "unknown_tagged_fields")

    topic_partitions: list[TopicPartitions]
    """Assigned partitions by topic; an empty list takes everything away."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_partitions: list[TopicPartitions] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_partitions = [] if topic_partitions is MADE_ANEW else topic_partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ShareGroupHeartbeatResponse(Fields):
    """The coordinator's answer to each heartbeat; it carries the member's epoch, and its assignment
    when that is new to it (KIP-932).
    """

    NAME: ClassVar[str] = "ShareGroupHeartbeatResponse"
    API_KEY: ClassVar[int] = 76
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "assignment",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. UNKNOWN_MEMBER_ID or FENCED_MEMBER_EPOCH (join anew), GROUP_MAX_SIZE_REACHED,
    GROUP_ID_NOT_FOUND, NOT_COORDINATOR.
    """
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    member_id: str | None
    """Member's id, the one of the request; null on error."""
    member_epoch: int
    """Epoch the member must send next; -1 confirms a departure."""
    heartbeat_interval_ms: int
    """Pause in ms until the next heartbeat, set by the broker (group.share.heartbeat.interval.ms).
    """
    assignment: Assignment | None
    """Partitions to fetch from, from now on; null when nothing changed. Nothing has to be given up
    first.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ShareGroupHeartbeatResponse", version, 1, 1)
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
            out += _pack_ii(self.member_epoch, self.heartbeat_interval_ms)
            if self.assignment is None:
                out += _pack_b(-1)
            else:
                out += _pack_b(1)
                n = len(self.assignment.topic_partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic_partition in self.assignment.topic_partitions:
                    out += _pack_U(uuid_bytes(topic_partition.topic_id))
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
                if self.assignment.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.assignment.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ShareGroupHeartbeatResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ShareGroupHeartbeatResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 1:
                raise unknown_version("ShareGroupHeartbeatResponse", version, 1, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ShareGroupHeartbeatResponse)
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
            m.member_epoch, m.heartbeat_interval_ms, n = _unpack_iib(data, pos)
            pos += 9
            if n < 0:
                m.assignment = None
            else:
                m.assignment = assignment = new(Assignment)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                assignment.topic_partitions = topic_partition_list = []
                topic_partition_left = n - 1
                while topic_partition_left:
                    topic_partition_left -= 1
                    topic_partition = new(TopicPartitions)
                    topic_partition_list.append(topic_partition)
                    topic_partition.topic_id, n = _unpack_UB(data, pos)
                    pos += 17
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
                n = data[pos]
                pos += 1
                if n:
                    assignment.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    assignment.unknown_tagged_fields = ()
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
            raise decode_failure("ShareGroupHeartbeatResponse", version, buf, start, cause) from cause


__all__ = [
    "ShareGroupHeartbeatRequest",
    "TopicPartitions",
    "Assignment",
    "ShareGroupHeartbeatResponse",
]
