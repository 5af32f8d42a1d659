# Generated from schemas/messages/OffsetFetchRequest.json (sha256 2617582bd5dea754)
# Generated from schemas/messages/OffsetFetchResponse.json (sha256 dec79a948b7a929f)
# by python -m fencepost_protocol.codegen. Do not edit.
"""OffsetFetch (API key 9)."""

from __future__ import annotations

import struct
from typing import ClassVar

from fencepost_protocol.failures import (
    ENCODE_ERRORS,
    decode_failure,
    encode_failure,
    not_in_version,
    not_nullable,
    unknown_version,
)
from fencepost_protocol.fields import MADE_ANEW, Fields
from fencepost_protocol.primitives import (
    CUT_SHORT,
    DECODE_ERRORS,
    NULL_REFUSED,
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iq = struct.Struct(">iq").unpack_from
_unpack_iqiB = struct.Struct(">iqiB").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_t = struct.Struct(">?").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_iq = struct.Struct(">iq").pack
_pack_iqi = struct.Struct(">iqi").pack
new = object.__new__


class OffsetFetchRequestTopic(Fields):
    """Partitions to read; null, allowed from version 2, means all with a stored offset."""

    __slots__ = ("name", "partition_indexes", "unknown_tagged_fields")

    name: str
    """Versions 1-7. Topic to read offsets of."""
    partition_indexes: list[int]
    """Versions 1-7. Partition numbers to read offsets of."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partition_indexes: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is MADE_ANEW else partition_indexes
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetFetchRequestTopics(Fields):
    """Partitions to read; null means all with a stored offset."""

    __slots__ = ("name", "topic_id", "partition_indexes", "unknown_tagged_fields")

    name: str
    """Versions 8-9. Topic to read offsets of; from version 10 TopicId stands in its place."""
    topic_id: bytes
    """Versions 10. UUID of the topic to read offsets of; an unknown one gets UNKNOWN_TOPIC_ID."""
    partition_indexes: list[int]
    """Versions 8-10. Partition numbers to read offsets of."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_indexes: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = [] if partition_indexes is MADE_ANEW else partition_indexes
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetFetchRequestGroup(Fields):
    """Groups to read in one go, all kept by the same coordinator (KIP-709)."""

    __slots__ = ("group_id", "member_id", "member_epoch", "topics", "unknown_tagged_fields")

    group_id: str
    """Versions 8-10. Group whose offsets are read; an unknown one answers -1 with NONE."""
    member_id: str | None
    """Versions 9-10. KIP-848 member that asks; null together with epoch -1 skips the membership
    check.
    """
    member_epoch: int
    """Versions 9-10. Epoch of that member, a wrong one gives STALE_MEMBER_EPOCH; -1 when not a
    member.
    """
    topics: list[OffsetFetchRequestTopics] | None
    """Versions 8-10. Partitions to read; null means all with a stored offset."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: list[OffsetFetchRequestTopics] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetFetchRequest(Fields):
    """A consumer about to start, or an administrator, asks the group coordinator for the stored
    positions of one group, from version 8 of several.
    """

    NAME: ClassVar[str] = "OffsetFetchRequest"
    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    __slots__ = ("group_id", "topics", "groups", "require_stable", "unknown_tagged_fields")

    group_id: str
    """Versions 1-7. Group whose offsets are read; from version 8 inside Groups."""
    topics: list[OffsetFetchRequestTopic] | None
    """Versions 1-7. Partitions to read; null, allowed from version 2, means all with a stored
    offset.
    """
    groups: list[OffsetFetchRequestGroup]
    """Versions 8-10. Groups to read in one go, all kept by the same coordinator (KIP-709)."""
    require_stable: bool
    """Versions 7-10. True hides offsets that a running transaction may still change:
    UNSTABLE_OFFSET_COMMIT instead (KIP-447).
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetFetchRequestTopic] | None = MADE_ANEW,
        groups: list[OffsetFetchRequestGroup] = MADE_ANEW,
        require_stable: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.groups = [] if groups is MADE_ANEW else groups
        self.require_stable = require_stable
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 10:
                raise unknown_version("OffsetFetchRequest", version, 1, 10)
            if version >= 6:
                if version <= 7:
                    raw = self.group_id.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
                    if self.topics is None:
                        out.append(0)
                    else:
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
                            n = len(topic.partition_indexes) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            write_int32_array(out, topic.partition_indexes)
                            if topic.unknown_tagged_fields:
                                write_tagged_fields(out, [], topic.unknown_tagged_fields)
                            else:
                                out.append(0)
                else:
                    if self.group_id:
                        raise not_in_version("group_id", "1-7")
                    if self.topics is None or self.topics:
                        raise not_in_version("topics", "1-7")
                if version >= 8:
                    n = len(self.groups) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for group in self.groups:
                        raw = group.group_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        if version >= 9:
                            if group.member_id is None:
                                out.append(0)
                            else:
                                raw = group.member_id.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_string_length(out, n)
                                out += raw
                            out += _pack_i(group.member_epoch)
                        if group.topics is None:
                            out.append(0)
                        else:
                            n = len(group.topics) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            for offset_fetch_request_topics in group.topics:
                                if version <= 9:
                                    raw = offset_fetch_request_topics.name.encode()
                                    n = len(raw) + 1
                                    if n < 128:
                                        out.append(n)
                                    else:
                                        write_string_length(out, n)
                                    out += raw
                                if version >= 10:
                                    out += _pack_U(uuid_bytes(offset_fetch_request_topics.topic_id))
                                n = len(offset_fetch_request_topics.partition_indexes) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_uvarint(out, n)
                                write_int32_array(out, offset_fetch_request_topics.partition_indexes)
                                if offset_fetch_request_topics.unknown_tagged_fields:
                                    write_tagged_fields(out, [], offset_fetch_request_topics.unknown_tagged_fields)
                                else:
                                    out.append(0)
                        if group.unknown_tagged_fields:
                            write_tagged_fields(out, [], group.unknown_tagged_fields)
                        else:
                            out.append(0)
                elif self.groups:
                    raise not_in_version("groups", "8-10")
                if version >= 7:
                    out += _pack_t(self.require_stable)
                elif self.require_stable:
                    raise not_in_version("require_stable", "7-10")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.groups:
                    raise not_in_version("groups", "8-10")
                if self.require_stable:
                    raise not_in_version("require_stable", "7-10")
                raw = self.group_id.encode()
                out += _pack_h(len(raw))
                out += raw
                if self.topics is None:
                    if not (version >= 2):
                        raise not_nullable("topics")
                    out += _pack_i(-1)
                else:
                    out += _pack_i(len(self.topics))
                    for topic in self.topics:
                        raw = topic.name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        out += _pack_i(len(topic.partition_indexes))
                        write_int32_array(out, topic.partition_indexes)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetFetchRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetFetchRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 10:
                raise unknown_version("OffsetFetchRequest", version, 1, 10)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetFetchRequest)
            if version >= 6:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version <= 7:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    m.group_id = data[pos:end].decode()
                    pos = end
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    if not n:
                        m.topics = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        m.topics = topic_list = []
                        topic_left = n - 1
                        while topic_left:
                            topic_left -= 1
                            topic = new(OffsetFetchRequestTopic)
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
                            topic.partition_indexes, pos = read_int32_array(data, pos, n - 1)
                            n = data[pos]
                            pos += 1
                            if n:
                                topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                topic.unknown_tagged_fields = ()
                else:
                    m.group_id = ""
                    m.topics = []
                if version >= 8:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.groups = group_list = []
                    group_left = n - 1
                    while group_left:
                        group_left -= 1
                        group = new(OffsetFetchRequestGroup)
                        group_list.append(group)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        group.group_id = data[pos:end].decode()
                        pos = end
                        if version >= 9:
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = long_nullable_string_length(data, pos, n)
                            if not n:
                                group.member_id = None
                            else:
                                end = pos + n - 1
                                group.member_id = data[pos:end].decode()
                                pos = end
                            group.member_epoch = _unpack_i(data, pos)[0]
                            pos += 4
                        else:
                            group.member_id = None
                            group.member_epoch = -1
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = read_uvarint_tail(data, pos, n)
                        if not n:
                            group.topics = None
                        else:
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            group.topics = offset_fetch_request_topics_list = []
                            offset_fetch_request_topics_left = n - 1
                            while offset_fetch_request_topics_left:
                                offset_fetch_request_topics_left -= 1
                                offset_fetch_request_topics = new(OffsetFetchRequestTopics)
                                offset_fetch_request_topics_list.append(offset_fetch_request_topics)
                                if version <= 9:
                                    n = data[pos]
                                    pos += 1
                                    if not n or n > 127:
                                        n, pos = long_string_length(data, pos, n)
                                    end = pos + n - 1
                                    offset_fetch_request_topics.name = data[pos:end].decode()
                                    pos = end
                                else:
                                    offset_fetch_request_topics.name = ""
                                if version >= 10:
                                    offset_fetch_request_topics.topic_id = _unpack_U(data, pos)[0]
                                    pos += 16
                                else:
                                    offset_fetch_request_topics.topic_id = ZERO_UUID
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_length(data, pos, n)
                                budget -= n
                                if budget < 0:
                                    raise too_many_elements(budget)
                                offset_fetch_request_topics.partition_indexes, pos = read_int32_array(data, pos, n - 1)
                                n = data[pos]
                                pos += 1
                                if n:
                                    offset_fetch_request_topics.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    offset_fetch_request_topics.unknown_tagged_fields = ()
                        n = data[pos]
                        pos += 1
                        if n:
                            group.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            group.unknown_tagged_fields = ()
                else:
                    m.groups = []
                if version >= 7:
                    m.require_stable = data[pos] != 0
                    pos += 1
                else:
                    m.require_stable = False
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.groups = []
                m.require_stable = False
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
                    if not (version >= 2):
                        raise ValueError(NULL_REFUSED)
                    m.topics = None
                else:
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.topics = topic_list = []
                    topic_left = n
                    while topic_left:
                        topic_left -= 1
                        topic = new(OffsetFetchRequestTopic)
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
                        topic.partition_indexes, pos = read_int32_array(data, pos, n)
                        topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("OffsetFetchRequest", version, buf, start, cause) from cause


class OffsetFetchResponsePartition(Fields):
    """One position for each partition."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Versions 1-7. Partition number within the topic, counted from 0."""
    committed_offset: int
    """Versions 1-7. Next offset to read; -1 if none is stored, and with UNSTABLE_OFFSET_COMMIT."""
    committed_leader_epoch: int
    """Versions 5-7. Leader epoch stored with the offset (KIP-320); -1 when unknown."""
    metadata: str | None
    """Versions 1-7. Free text stored with the offset; empty if there is none."""
    error_code: int
    """Versions 1-7. NONE, or UNSTABLE_OFFSET_COMMIT (version 7) and the like; in version 1 also
    faults of the group.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetFetchResponseTopic(Fields):
    """Positions by topic, up to version 7; empty if ErrorCode is set."""

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Versions 1-7. Topic the positions are for."""
    partitions: list[OffsetFetchResponsePartition]
    """Versions 1-7. One position for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[OffsetFetchResponsePartition] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetFetchResponsePartitions(Fields):
    """One position for each partition."""

    __slots__ = (
        "partition_index",
        "committed_offset",
        "committed_leader_epoch",
        "metadata",
        "error_code",
        "unknown_tagged_fields",
    )

    partition_index: int
    """Versions 8-10. Partition number within the topic, counted from 0."""
    committed_offset: int
    """Versions 8-10. Next offset to read; -1 if none is stored, and with UNSTABLE_OFFSET_COMMIT."""
    committed_leader_epoch: int
    """Versions 8-10. Leader epoch stored with the offset (KIP-320); -1 when unknown."""
    metadata: str | None
    """Versions 8-10. Free text stored with the offset; empty if there is none."""
    error_code: int
    """Versions 8-10. NONE, or UNSTABLE_OFFSET_COMMIT while a transaction is pending there, or a
    fault of this topic.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetFetchResponseTopics(Fields):
    """Positions by topic; empty if the group's ErrorCode is set."""

    __slots__ = ("name", "topic_id", "partitions", "unknown_tagged_fields")

    name: str
    """Versions 8-9. Topic the positions are for; from version 10 TopicId stands in its place."""
    topic_id: bytes
    """Versions 10. UUID of the topic the positions are for."""
    partitions: list[OffsetFetchResponsePartitions]
    """Versions 8-10. One position for each partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetFetchResponsePartitions] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetFetchResponseGroup(Fields):
    """One result for each group asked for."""

    __slots__ = ("group_id", "topics", "error_code", "unknown_tagged_fields")

    group_id: str
    """Versions 8-10. Group the positions belong to."""
    topics: list[OffsetFetchResponseTopics]
    """Versions 8-10. Positions by topic; empty if the group's ErrorCode is set."""
    error_code: int
    """Versions 8-10. NONE, or a fault of this group: NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS,
    UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[OffsetFetchResponseTopics] = MADE_ANEW,
        error_code: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is MADE_ANEW else topics
        self.error_code = error_code
        self.unknown_tagged_fields = unknown_tagged_fields


class OffsetFetchResponse(Fields):
    """The positions a group has stored. A missing position is no error but offset -1; in version 1
    a fault of the group shows on every partition, later at group level.
    """

    NAME: ClassVar[str] = "OffsetFetchResponse"
    API_KEY: ClassVar[int] = 9
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 10
    FLEXIBLE_FROM: ClassVar[int | None] = 6

    __slots__ = ("throttle_time_ms", "topics", "error_code", "groups", "unknown_tagged_fields")

    throttle_time_ms: int
    """Versions 3-10. Quota delay in ms that the client has to sit out itself (KIP-219); 0 when
    within quota.
    """
    topics: list[OffsetFetchResponseTopic]
    """Versions 1-7. Positions by topic, up to version 7; empty if ErrorCode is set."""
    error_code: int
    """Versions 2-7. NONE, or a fault of the group: NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS,
    GROUP_AUTHORIZATION_FAILED; then no topics follow.
    """
    groups: list[OffsetFetchResponseGroup]
    """Versions 8-10. One result for each group asked for."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetFetchResponseTopic] = MADE_ANEW,
        error_code: int = 0,
        groups: list[OffsetFetchResponseGroup] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.error_code = error_code
        self.groups = [] if groups is MADE_ANEW else groups
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 10:
                raise unknown_version("OffsetFetchResponse", version, 1, 10)
            if version >= 6:
                out += _pack_i(self.throttle_time_ms)
                if version <= 7:
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
                        for offset_fetch_response_partition in topic.partitions:
                            out += _pack_iqi(
                                offset_fetch_response_partition.partition_index,
                                offset_fetch_response_partition.committed_offset,
                                offset_fetch_response_partition.committed_leader_epoch,
                            )
                            if offset_fetch_response_partition.metadata is None:
                                out.append(0)
                            else:
                                raw = offset_fetch_response_partition.metadata.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_string_length(out, n)
                                out += raw
                            out += _pack_h(offset_fetch_response_partition.error_code)
                            if offset_fetch_response_partition.unknown_tagged_fields:
                                write_tagged_fields(out, [], offset_fetch_response_partition.unknown_tagged_fields)
                            else:
                                out.append(0)
                        if topic.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic.unknown_tagged_fields)
                        else:
                            out.append(0)
                    out += _pack_h(self.error_code)
                elif self.topics:
                    raise not_in_version("topics", "1-7")
                if version >= 8:
                    n = len(self.groups) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for group in self.groups:
                        raw = group.group_id.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        n = len(group.topics) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for offset_fetch_response_topics in group.topics:
                            if version <= 9:
                                raw = offset_fetch_response_topics.name.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_string_length(out, n)
                                out += raw
                            if version >= 10:
                                out += _pack_U(uuid_bytes(offset_fetch_response_topics.topic_id))
                            n = len(offset_fetch_response_topics.partitions) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_uvarint(out, n)
                            for partition in offset_fetch_response_topics.partitions:
                                out += _pack_iqi(
                                    partition.partition_index,
                                    partition.committed_offset,
                                    partition.committed_leader_epoch,
                                )
                                if partition.metadata is None:
                                    out.append(0)
                                else:
                                    raw = partition.metadata.encode()
                                    n = len(raw) + 1
                                    if n < 128:
                                        out.append(n)
                                    else:
                                        write_string_length(out, n)
                                    out += raw
                                out += _pack_h(partition.error_code)
                                if partition.unknown_tagged_fields:
                                    write_tagged_fields(out, [], partition.unknown_tagged_fields)
                                else:
                                    out.append(0)
                            if offset_fetch_response_topics.unknown_tagged_fields:
                                write_tagged_fields(out, [], offset_fetch_response_topics.unknown_tagged_fields)
                            else:
                                out.append(0)
                        out += _pack_h(group.error_code)
                        if group.unknown_tagged_fields:
                            write_tagged_fields(out, [], group.unknown_tagged_fields)
                        else:
                            out.append(0)
                elif self.groups:
                    raise not_in_version("groups", "8-10")
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.groups:
                    raise not_in_version("groups", "8-10")
                if version >= 3:
                    out += _pack_i(self.throttle_time_ms)
                out += _pack_i(len(self.topics))
                for topic in self.topics:
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_i(len(topic.partitions))
                    for offset_fetch_response_partition in topic.partitions:
                        out += _pack_iq(
                            offset_fetch_response_partition.partition_index,
                            offset_fetch_response_partition.committed_offset,
                        )
                        if version >= 5:
                            out += _pack_i(offset_fetch_response_partition.committed_leader_epoch)
                        if offset_fetch_response_partition.metadata is None:
                            out += _pack_h(-1)
                        else:
                            raw = offset_fetch_response_partition.metadata.encode()
                            out += _pack_h(len(raw))
                            out += raw
                        out += _pack_h(offset_fetch_response_partition.error_code)
                if version >= 2:
                    out += _pack_h(self.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("OffsetFetchResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[OffsetFetchResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 10:
                raise unknown_version("OffsetFetchResponse", version, 1, 10)
            size = len(buf)
            data = buf.tobytes()
            m = new(OffsetFetchResponse)
            if version >= 6:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms = _unpack_i(data, pos)[0]
                pos += 4
                if version <= 7:
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
                        topic = new(OffsetFetchResponseTopic)
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
                        topic.partitions = offset_fetch_response_partition_list = []
                        offset_fetch_response_partition_left = n - 1
                        while offset_fetch_response_partition_left:
                            offset_fetch_response_partition_left -= 1
                            offset_fetch_response_partition = new(OffsetFetchResponsePartition)
                            offset_fetch_response_partition_list.append(offset_fetch_response_partition)
                            (
                                offset_fetch_response_partition.partition_index,
                                offset_fetch_response_partition.committed_offset,
                                offset_fetch_response_partition.committed_leader_epoch,
                                n,
                            ) = _unpack_iqiB(data, pos)
                            pos += 17
                            if n > 127:
                                n, pos = long_nullable_string_length(data, pos, n)
                            if not n:
                                offset_fetch_response_partition.metadata = None
                            else:
                                end = pos + n - 1
                                offset_fetch_response_partition.metadata = data[pos:end].decode()
                                pos = end
                            offset_fetch_response_partition.error_code, n = _unpack_hB(data, pos)
                            pos += 3
                            if n:
                                offset_fetch_response_partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                offset_fetch_response_partition.unknown_tagged_fields = ()
                        n = data[pos]
                        pos += 1
                        if n:
                            topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            topic.unknown_tagged_fields = ()
                    m.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                else:
                    m.topics = []
                    m.error_code = 0
                if version >= 8:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.groups = group_list = []
                    group_left = n - 1
                    while group_left:
                        group_left -= 1
                        group = new(OffsetFetchResponseGroup)
                        group_list.append(group)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        group.group_id = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_length(data, pos, n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        group.topics = offset_fetch_response_topics_list = []
                        offset_fetch_response_topics_left = n - 1
                        while offset_fetch_response_topics_left:
                            offset_fetch_response_topics_left -= 1
                            offset_fetch_response_topics = new(OffsetFetchResponseTopics)
                            offset_fetch_response_topics_list.append(offset_fetch_response_topics)
                            if version <= 9:
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                offset_fetch_response_topics.name = data[pos:end].decode()
                                pos = end
                            else:
                                offset_fetch_response_topics.name = ""
                            if version >= 10:
                                offset_fetch_response_topics.topic_id = _unpack_U(data, pos)[0]
                                pos += 16
                            else:
                                offset_fetch_response_topics.topic_id = ZERO_UUID
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            offset_fetch_response_topics.partitions = partition_list = []
                            partition_left = n - 1
                            while partition_left:
                                partition_left -= 1
                                partition = new(OffsetFetchResponsePartitions)
                                partition_list.append(partition)
                                (
                                    partition.partition_index,
                                    partition.committed_offset,
                                    partition.committed_leader_epoch,
                                    n,
                                ) = _unpack_iqiB(data, pos)
                                pos += 17
                                if n > 127:
                                    n, pos = long_nullable_string_length(data, pos, n)
                                if not n:
                                    partition.metadata = None
                                else:
                                    end = pos + n - 1
                                    partition.metadata = data[pos:end].decode()
                                    pos = end
                                partition.error_code, n = _unpack_hB(data, pos)
                                pos += 3
                                if n:
                                    partition.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    partition.unknown_tagged_fields = ()
                            n = data[pos]
                            pos += 1
                            if n:
                                offset_fetch_response_topics.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                offset_fetch_response_topics.unknown_tagged_fields = ()
                        group.error_code, n = _unpack_hB(data, pos)
                        pos += 3
                        if n:
                            group.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            group.unknown_tagged_fields = ()
                else:
                    m.groups = []
                n = data[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.groups = []
                if version >= 3:
                    m.throttle_time_ms = _unpack_i(data, pos)[0]
                    pos += 4
                else:
                    m.throttle_time_ms = 0
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
                    topic = new(OffsetFetchResponseTopic)
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
                    topic.partitions = offset_fetch_response_partition_list = []
                    offset_fetch_response_partition_left = n
                    while offset_fetch_response_partition_left:
                        offset_fetch_response_partition_left -= 1
                        offset_fetch_response_partition = new(OffsetFetchResponsePartition)
                        offset_fetch_response_partition_list.append(offset_fetch_response_partition)
                        (
                            offset_fetch_response_partition.partition_index,
                            offset_fetch_response_partition.committed_offset,
                        ) = _unpack_iq(data, pos)
                        pos += 12
                        if version >= 5:
                            offset_fetch_response_partition.committed_leader_epoch = _unpack_i(data, pos)[0]
                            pos += 4
                        else:
                            offset_fetch_response_partition.committed_leader_epoch = -1
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            offset_fetch_response_partition.metadata = None
                        else:
                            end = pos + n
                            offset_fetch_response_partition.metadata = data[pos:end].decode()
                            pos = end
                        offset_fetch_response_partition.unknown_tagged_fields = ()
                        offset_fetch_response_partition.error_code = _unpack_h(data, pos)[0]
                        pos += 2
                    topic.unknown_tagged_fields = ()
                if version >= 2:
                    m.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                else:
                    m.error_code = 0
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("OffsetFetchResponse", version, buf, start, cause) from cause


__all__ = [
    "OffsetFetchRequestTopic",
    "OffsetFetchRequestTopics",
    "OffsetFetchRequestGroup",
    "OffsetFetchRequest",
    "OffsetFetchResponsePartition",
    "OffsetFetchResponseTopic",
    "OffsetFetchResponsePartitions",
    "OffsetFetchResponseTopics",
    "OffsetFetchResponseGroup",
    "OffsetFetchResponse",
]
