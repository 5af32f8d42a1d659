# Generated from schemas/messages/ConsumerGroupHeartbeatRequest.json (sha256 f2f2eb59d07369ff)
# Generated from schemas/messages/ConsumerGroupHeartbeatResponse.json (sha256 2c39aacf04bd459a)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ConsumerGroupHeartbeat (API key 68)."""

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


class ConsumerGroupHeartbeatRequestTopicPartitions(Fields):
    """Partitions the member owns at present; null when unchanged, an empty list on joining."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of a topic with owned partitions."""
    partitions: list[int]
    """Numbers of the owned partitions."""
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


class ConsumerGroupHeartbeatRequest(Fields):
    """A member of a consumer group under the new protocol joins, stays alive, reports what it owns
    and leaves, all with this request to the group coordinator (KIP-848).
    """

    NAME: ClassVar[str] = "ConsumerGroupHeartbeatRequest"
    API_KEY: ClassVar[int] = 68
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "server_assignor",
        "topic_partitions",
        "unknown_tagged_fields",
    )

    group_id: str
    """Group to join or stay in; an empty one is refused."""
    member_id: str
    """Member's id: version 0 leaves it empty on joining and the coordinator assigns it, from
    version 1 the client makes a UUID (KIP-1082).
    """
    member_epoch: int
    """Member's current epoch; 0 joins, -1 leaves, -2 leaves for a while as a static member. A wrong
    one gives FENCED_MEMBER_EPOCH.
    """
    instance_id: str | None
    """Static membership id, group.instance.id (KIP-345); null for a dynamic member or if unchanged.
    """
    rack_id: str | None
    """Rack of the consumer, client.rack; null when not set or unchanged."""
    rebalance_timeout_ms: int
    """How long in ms the member may take to give up partitions; -1 when unchanged, required on
    joining.
    """
    subscribed_topic_names: list[str] | None
    """Topics subscribed to by name; null when unchanged since the last heartbeat."""
    subscribed_topic_regex: str | None
    """Versions 1. Subscription as a regular expression resolved by the broker; null when unchanged,
    malformed gives INVALID_REGULAR_EXPRESSION.
    """
    server_assignor: str | None
    """Assignor wanted on the broker, such as uniform or range; null for no wish or no change.
    Unknown gives UNSUPPORTED_ASSIGNOR.
    """
    topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None
    """Partitions the member owns at present; null when unchanged, an empty list on joining."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: list[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ConsumerGroupHeartbeatRequest", version, 0, 1)
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
            if self.instance_id is None:
                out.append(0)
            else:
                raw = self.instance_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
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
            out += _pack_i(self.rebalance_timeout_ms)
            if self.subscribed_topic_names is None:
                out.append(0)
            else:
                n = len(self.subscribed_topic_names) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                write_compact_string_array(out, self.subscribed_topic_names)
            if version >= 1:
                if self.subscribed_topic_regex is None:
                    out.append(0)
                else:
                    raw = self.subscribed_topic_regex.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
            elif self.subscribed_topic_regex is not None:
                raise not_in_version("subscribed_topic_regex", "1")
            if self.server_assignor is None:
                out.append(0)
            else:
                raw = self.server_assignor.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
            if self.topic_partitions is None:
                out.append(0)
            else:
                n = len(self.topic_partitions) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic_partition in self.topic_partitions:
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
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ConsumerGroupHeartbeatRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupHeartbeatRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ConsumerGroupHeartbeatRequest", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupHeartbeatRequest)
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
                m.instance_id = None
            else:
                end = pos + n - 1
                m.instance_id = data[pos:end].decode()
                pos = end
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.rack_id = None
            else:
                end = pos + n - 1
                m.rack_id = data[pos:end].decode()
                pos = end
            m.rebalance_timeout_ms, n = _unpack_iB(data, pos)
            pos += 5
            if n > 127:
                n, pos = read_uvarint_tail(data, pos, n)
            if not n:
                m.subscribed_topic_names = None
            else:
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.subscribed_topic_names, pos = read_compact_string_array(data, pos, n - 1)
            if version >= 1:
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.subscribed_topic_regex = None
                else:
                    end = pos + n - 1
                    m.subscribed_topic_regex = data[pos:end].decode()
                    pos = end
            else:
                m.subscribed_topic_regex = None
            n = data[pos]
            pos += 1
            if n > 127:
                n, pos = long_nullable_string_length(data, pos, n)
            if not n:
                m.server_assignor = None
            else:
                end = pos + n - 1
                m.server_assignor = data[pos:end].decode()
                pos = end
            n = data[pos]
            pos += 1
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
                    topic_partition = new(ConsumerGroupHeartbeatRequestTopicPartitions)
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
                m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
            else:
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("ConsumerGroupHeartbeatRequest", version, buf, start, cause) from cause


class ConsumerGroupHeartbeatResponseTopicPartitions(Fields):
    """Part of ConsumerGroupHeartbeatResponse."""

    __slots__ = ("topic_id", "partitions", "unknown_tagged_fields")

    topic_id: bytes
    """UUID of an assigned topic; names come from Metadata."""
    partitions: list[int]
    """Numbers of the assigned partitions."""
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
    """What the member may own from now on; null when nothing changed. Partitions no longer listed
    must be given up.
    """

    __slots__ = ("topic_partitions", "unknown_tagged_fields")

    topic_partitions: list[ConsumerGroupHeartbeatResponseTopicPartitions]
    """Assigned partitions by topic; an empty list takes everything away."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_partitions: list[ConsumerGroupHeartbeatResponseTopicPartitions] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_partitions = [] if topic_partitions is MADE_ANEW else topic_partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class ConsumerGroupHeartbeatResponse(Fields):
    """The coordinator's answer to each heartbeat; it carries a new epoch and a new assignment
    whenever the member has to move on (KIP-848).
    """

    NAME: ClassVar[str] = "ConsumerGroupHeartbeatResponse"
    API_KEY: ClassVar[int] = 68
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0

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
    """NONE, or e.g. UNKNOWN_MEMBER_ID or FENCED_MEMBER_EPOCH (join anew), UNRELEASED_INSTANCE_ID,
    UNSUPPORTED_ASSIGNOR, GROUP_MAX_SIZE_REACHED, NOT_COORDINATOR.
    """
    error_message: str | None
    """Readable detail for the error; null when there is none."""
    member_id: str | None
    """Member's id, to be kept for all further heartbeats; null on error."""
    member_epoch: int
    """Epoch the member must send next; -1 or -2 confirms a departure."""
    heartbeat_interval_ms: int
    """Pause in ms until the next heartbeat, set by the broker
    (group.consumer.heartbeat.interval.ms).
    """
    assignment: Assignment | None
    """What the member may own from now on; null when nothing changed. Partitions no longer listed
    must be given up.
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
            if not 0 <= version <= 1:
                raise unknown_version("ConsumerGroupHeartbeatResponse", version, 0, 1)
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
            raise encode_failure("ConsumerGroupHeartbeatResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ConsumerGroupHeartbeatResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 1:
                raise unknown_version("ConsumerGroupHeartbeatResponse", version, 0, 1)
            size = len(buf)
            data = buf.tobytes()
            m = new(ConsumerGroupHeartbeatResponse)
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
                    topic_partition = new(ConsumerGroupHeartbeatResponseTopicPartitions)
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
            raise decode_failure("ConsumerGroupHeartbeatResponse", version, buf, start, cause) from cause


__all__ = [
    "ConsumerGroupHeartbeatRequestTopicPartitions",
    "ConsumerGroupHeartbeatRequest",
    "ConsumerGroupHeartbeatResponseTopicPartitions",
    "Assignment",
    "ConsumerGroupHeartbeatResponse",
]
