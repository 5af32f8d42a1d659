# Generated from schemas/messages/OffsetDeleteRequest.json (sha256 12ad947f4144861e)
# Generated from schemas/messages/OffsetDeleteResponse.json (sha256 73e7def0e5316cec)
# by python -m fencepost_protocol.codegen. Do not edit.
"""OffsetDelete (API key 47)."""

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
    negative_length,
    too_many_elements,
)

_unpack_h = struct.Struct(">h").unpack_from
_unpack_hii = struct.Struct(">hii").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_hii = struct.Struct(">hii").pack
_pack_i = struct.Struct(">i").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class OffsetDeleteRequestPartition(Fields):
    """One entry for each partition."""

    __slots__ = ("partition_index", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetDeleteRequestTopic(Fields):
    """Offsets to remove, by topic."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic to forget offsets of; one the group is subscribed to gives GROUP_SUBSCRIBED_TO_TOPIC.
    """
    partitions: list[OffsetDeleteRequestPartition]
    """One entry for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[OffsetDeleteRequestPartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetDeleteRequest(Fields):
    """An admin client removes a group's committed offsets for chosen partitions (KIP-496). Goes to
    the coordinator of the group.
    """

    NAME: ClassVar[str] = "OffsetDeleteRequest"
    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("group_id", "topics", "unknown_tagged_fields")

    group_id: str
    """Group that owns the offsets; unknown gives GROUP_ID_NOT_FOUND."""
    topics: list[OffsetDeleteRequestTopic]
    """Offsets to remove, by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetDeleteRequestTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("OffsetDeleteRequest", version, 0, 0)
            raw = self.group_id.encode()
            out += _pack_h(len(raw))
            out += raw
            out += _pack_i(len(self.topics))
            for topic in self.topics:
                raw = topic.name.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_i(len(topic.partitions))
                for partition in topic.partitions:
                    out += _pack_i(partition.partition_index)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetDeleteRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetDeleteRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("OffsetDeleteRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetDeleteRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = _unpack_h(data, pos)[0]
            pos += 2
            if n < 0:
                raise negative_length(n)
            end = pos + n
            m.group_id = data[pos:end].decode()
            pos = end
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
                topic = new(OffsetDeleteRequestTopic)
                topic_list.append(topic)
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                topic.name = data[pos:end].decode()
                pos = end
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partitions = partition_list = []
                partition_left = n
                while partition_left:
                    partition_left -= 1
                    partition = new(OffsetDeleteRequestPartition)
                    partition_list.append(partition)
                    partition.unknown_tagged_fields = ()
                    partition.partition_index = _unpack_i(data, pos)[0]
                    pos += 4
                topic.unknown_tagged_fields = ()
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("OffsetDeleteRequest", version, buf, start, cause) from cause


class OffsetDeleteResponsePartition(Fields):
    """One outcome for each partition."""

    __slots__ = ("partition_index", "error_code", "unknown_tagged_fields")

    partition_index: int
    """Partition number within the topic, counted from 0."""
    error_code: int
    """NONE, also when no offset was stored, or GROUP_SUBSCRIBED_TO_TOPIC,
    UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetDeleteResponseTopic(Fields):
    """Outcome grouped by topic; empty when the top-level ErrorCode is set."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Topic the outcome is for."""
    partitions: list[OffsetDeleteResponsePartition]
    """One outcome for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[OffsetDeleteResponsePartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetDeleteResponse(Fields):
    """Outcome of an OffsetDelete request (KIP-496). A pending transactional offset goes too, and
    its later commit brings nothing back.
    """

    NAME: ClassVar[str] = "OffsetDeleteResponse"
    API_KEY: ClassVar[int] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None

    __slots__ = ("error_code", "throttle_time_ms", "topics", "unknown_tagged_fields")

    error_code: int
    """NONE, or a fault of the group: GROUP_ID_NOT_FOUND, NOT_COORDINATOR, INVALID_GROUP_ID,
    NON_EMPTY_GROUP, GROUP_AUTHORIZATION_FAILED; stands before ThrottleTimeMs.
    """
    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    topics: list[OffsetDeleteResponseTopic]
    """Outcome grouped by topic; empty when the top-level ErrorCode is set."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: list[OffsetDeleteResponseTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("OffsetDeleteResponse", version, 0, 0)
            out += _pack_hii(self.error_code, self.throttle_time_ms, len(self.topics))
            for topic in self.topics:
                raw = topic.name.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_i(len(topic.partitions))
                for partition in topic.partitions:
                    out += _pack_ih(partition.partition_index, partition.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetDeleteResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetDeleteResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("OffsetDeleteResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetDeleteResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.error_code, m.throttle_time_ms, n = _unpack_hii(data, pos)
            pos += 10
            if n < 0:
                raise negative_length(n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n
            while topic_left:
                topic_left -= 1
                topic = new(OffsetDeleteResponseTopic)
                topic_list.append(topic)
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                topic.name = data[pos:end].decode()
                pos = end
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                topic.partitions = partition_list = []
                partition_left = n
                while partition_left:
                    partition_left -= 1
                    partition = new(OffsetDeleteResponsePartition)
                    partition_list.append(partition)
                    partition.unknown_tagged_fields = ()
                    partition.partition_index, partition.error_code = _unpack_ih(data, pos)
                    pos += 6
                topic.unknown_tagged_fields = ()
            m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("OffsetDeleteResponse", version, buf, start, cause) from cause


__all__ = [
    "OffsetDeleteRequestPartition",
    "OffsetDeleteRequestTopic",
    "OffsetDeleteRequest",
    "OffsetDeleteResponsePartition",
    "OffsetDeleteResponseTopic",
    "OffsetDeleteResponse",
]
