# Generated from schemas/messages/CreateTopicsRequest.json (sha256 66f83862b2710b97)
# Generated from schemas/messages/CreateTopicsResponse.json (sha256 8374f9a6ee4980ea)
# by python -m fencepost_protocol.codegen. Do not edit.
"""CreateTopics (API key 19)."""

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
    TAG_SIZE_WRONG,
    ZERO_UUID,
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_tag,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    with_unknown_tag,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_tbtB = struct.Struct(">?b?B").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hh = struct.Struct(">hh").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_it = struct.Struct(">i?").unpack_from
_unpack_itB = struct.Struct(">i?B").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_ihi = struct.Struct(">ihi").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_tbt = struct.Struct(">?b?").pack
_pack_bbh = struct.Struct(">bbh").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_it = struct.Struct(">i?").pack
_pack_ih = struct.Struct(">ih").pack
_pack_ihi = struct.Struct(">ihi").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class CreatableReplicaAssignment(Fields):
    """Placement by hand, then both counts are -1; empty lets the controller place replicas."""

    __slots__ = ("partition_index", "broker_ids", "unknown_tagged_fields")

    partition_index: int
    """Partition to place; the numbers must run from 0 without gaps."""
    broker_ids: list[int]
    """Brokers for its replicas, preferred leader first; as many for every partition."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = [] if broker_ids is MADE_ANEW else broker_ids
        self.unknown_tagged_fields = unknown_tagged_fields


class CreatableTopicConfig(Fields):
    """Topic settings that differ from the broker's defaults."""

    __slots__ = ("name", "value", "unknown_tagged_fields")

    name: str
    """Topic setting, such as cleanup.policy; an unknown one gives INVALID_CONFIG."""
    value: str | None
    """Value as text; null is not a usable value when creating."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.unknown_tagged_fields = unknown_tagged_fields


class CreatableTopic(Fields):
    """Topics to create; naming one twice gives INVALID_REQUEST for it."""

    __slots__ = (
        "name",
        "num_partitions",
        "replication_factor",
        "assignments",
        "configs",
        "unknown_tagged_fields",
    )

    name: str
    """Name to create: up to 249 of letters, digits, dot, underscore, hyphen, else
    INVALID_TOPIC_EXCEPTION.
    """
    num_partitions: int
    """Partition count; -1 for num.partitions (4+, KIP-464) or when Assignments is given."""
    replication_factor: int
    """Copies of each partition; -1 for default.replication.factor (4+, KIP-464) or when Assignments
    is given.
    """
    assignments: list[CreatableReplicaAssignment]
    """Placement by hand, then both counts are -1; empty lets the controller place replicas."""
    configs: list[CreatableTopicConfig]
    """Topic settings that differ from the broker's defaults."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = MADE_ANEW,
        configs: list[CreatableTopicConfig] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = [] if assignments is MADE_ANEW else assignments
        self.configs = [] if configs is MADE_ANEW else configs
        self.unknown_tagged_fields = unknown_tagged_fields


class CreateTopicsRequest(Fields):
    """An administrator asks the controller, directly or through any broker, to create topics. Each
    topic succeeds or fails on its own.
    """

    NAME: ClassVar[str] = "CreateTopicsRequest"
    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    __slots__ = ("topics", "timeout_ms", "validate_only", "unknown_tagged_fields")

    topics: list[CreatableTopic]
    """Topics to create; naming one twice gives INVALID_REQUEST for it."""
    timeout_ms: int
    """How long the caller waits for the outcome, in ms; then it is REQUEST_TIMED_OUT, and the work
    may still be done later.
    """
    validate_only: bool
    """True runs all checks but creates nothing."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[CreatableTopic] = MADE_ANEW,
        timeout_ms: int = 60000,
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
            if not 2 <= version <= 7:
                raise unknown_version("CreateTopicsRequest", version, 2, 7)
            if version >= 5:
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
                    out += _pack_ih(topic.num_partitions, topic.replication_factor)
                    n = len(topic.assignments) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for assignment in topic.assignments:
                        out += _pack_i(assignment.partition_index)
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
                    n = len(topic.configs) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for config in topic.configs:
                        raw = config.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                        if config.value is None:
                            out.append(0)
                        else:
                            raw = config.value.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        if config.unknown_tagged_fields:
                            write_tagged_fields(out, [], config.unknown_tagged_fields)
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
                    out += _pack_ihi(
                        topic.num_partitions,
                        topic.replication_factor,
                        len(topic.assignments),
                    )
                    for assignment in topic.assignments:
                        out += _pack_ii(assignment.partition_index, len(assignment.broker_ids))
                        write_int32_array(out, assignment.broker_ids)
                    out += _pack_i(len(topic.configs))
                    for config in topic.configs:
                        raw = config.name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                        if config.value is None:
                            out += _pack_h(-1)
                        else:
                            raw = config.value.encode()
                            out += _pack_h(len(raw))
                            out += raw
                out += _pack_it(self.timeout_ms, self.validate_only)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("CreateTopicsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[CreateTopicsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 2 <= version <= 7:
                raise unknown_version("CreateTopicsRequest", version, 2, 7)
            size = len(buf)
            data = buf.tobytes()
            m = new(CreateTopicsRequest)
            if version >= 5:
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
                    topic = new(CreatableTopic)
                    topic_list.append(topic)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    topic.name = data[pos:end].decode()
                    pos = end
                    topic.num_partitions, topic.replication_factor, n = _unpack_ihB(data, pos)
                    pos += 7
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.assignments = assignment_list = []
                    assignment_left = n - 1
                    while assignment_left:
                        assignment_left -= 1
                        assignment = new(CreatableReplicaAssignment)
                        assignment_list.append(assignment)
                        assignment.partition_index, n = _unpack_iB(data, pos)
                        pos += 5
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
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.configs = config_list = []
                    config_left = n - 1
                    while config_left:
                        config_left -= 1
                        config = new(CreatableTopicConfig)
                        config_list.append(config)
                        n = data[pos]
                        pos += 1
                        if not n or n > 127:
                            n, pos = long_string_length(data, pos, n)
                        end = pos + n - 1
                        config.name = data[pos:end].decode()
                        pos = end
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            config.value = None
                        else:
                            end = pos + n - 1
                            config.value = data[pos:end].decode()
                            pos = end
                        n = data[pos]
                        pos += 1
                        if n:
                            config.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            config.unknown_tagged_fields = ()
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
                    topic = new(CreatableTopic)
                    topic_list.append(topic)
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic.name = data[pos:end].decode()
                    pos = end
                    topic.num_partitions, topic.replication_factor, n = _unpack_ihi(data, pos)
                    pos += 10
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.assignments = assignment_list = []
                    assignment_left = n
                    while assignment_left:
                        assignment_left -= 1
                        assignment = new(CreatableReplicaAssignment)
                        assignment_list.append(assignment)
                        assignment.partition_index, n = _unpack_ii(data, pos)
                        pos += 8
                        if n < 0:
                            raise negative_length(n)
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        assignment.broker_ids, pos = read_int32_array(data, pos, n)
                        assignment.unknown_tagged_fields = ()
                    n = _unpack_i(data, pos)[0]
                    pos += 4
                    if n < 0:
                        raise negative_length(n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    topic.configs = config_list = []
                    config_left = n
                    while config_left:
                        config_left -= 1
                        config = new(CreatableTopicConfig)
                        config_list.append(config)
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            raise negative_length(n)
                        end = pos + n
                        config.name = data[pos:end].decode()
                        pos = end
                        n = _unpack_h(data, pos)[0]
                        pos += 2
                        if n < 0:
                            config.value = None
                        else:
                            end = pos + n
                            config.value = data[pos:end].decode()
                            pos = end
                        config.unknown_tagged_fields = ()
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
                m.timeout_ms, m.validate_only = _unpack_it(data, pos)
                pos += 5
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("CreateTopicsRequest", version, buf, start, cause) from cause


class CreatableTopicConfigs(Fields):
    """Effective settings of the new topic; null when withheld or on an error."""

    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
        "unknown_tagged_fields",
    )

    name: str
    """Versions 5-7. Name of one topic setting."""
    value: str | None
    """Versions 5-7. Effective value as text; null when it is sensitive or unset."""
    read_only: bool
    """Versions 5-7. True if the setting cannot be altered."""
    config_source: int
    """Versions 5-7. Where the value comes from: 1 topic, 2 broker, 3 all brokers, 4 broker's file,
    5 built-in default; -1 not given.
    """
    is_sensitive: bool
    """Versions 5-7. True for secrets, whose Value is held back."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.unknown_tagged_fields = unknown_tagged_fields


class CreatableTopicResult(Fields):
    """One outcome for each topic of the request."""

    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "topic_config_error_code",
        "num_partitions",
        "replication_factor",
        "configs",
        "unknown_tagged_fields",
    )

    name: str
    """Topic the outcome is for."""
    topic_id: bytes
    """Versions 7. UUID the new topic got (KIP-516); all zero on an error."""
    error_code: int
    """NONE, or e.g. TOPIC_ALREADY_EXISTS, INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR,
    INVALID_CONFIG, POLICY_VIOLATION, THROTTLING_QUOTA_EXCEEDED.
    """
    error_message: str | None
    """Readable detail for the error; null on success."""
    topic_config_error_code: int
    """Versions 5-7. NONE, or TOPIC_AUTHORIZATION_FAILED when the caller may not read the settings,
    which are then withheld.
    """
    num_partitions: int
    """Versions 5-7. Partition count of the new topic; -1 when withheld or on an error."""
    replication_factor: int
    """Versions 5-7. Copies of each partition; -1 when withheld or on an error."""
    configs: list[CreatableTopicConfigs] | None
    """Versions 5-7. Effective settings of the new topic; null when withheld or on an error."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = [] if configs is MADE_ANEW else configs
        self.unknown_tagged_fields = unknown_tagged_fields


class CreateTopicsResponse(Fields):
    """Outcome for each topic to be created, from version 5 with its final partition count and
    settings (KIP-525).
    """

    NAME: ClassVar[str] = "CreateTopicsResponse"
    API_KEY: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int | None] = 5

    __slots__ = ("throttle_time_ms", "topics", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    topics: list[CreatableTopicResult]
    """One outcome for each topic of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is MADE_ANEW else topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 2 <= version <= 7:
                raise unknown_version("CreateTopicsResponse", version, 2, 7)
            if version >= 5:
                out += _pack_i(self.throttle_time_ms)
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
                    if version >= 7:
                        out += _pack_U(uuid_bytes(topic.topic_id))
                    out += _pack_h(topic.error_code)
                    if topic.error_message is None:
                        out.append(0)
                    else:
                        raw = topic.error_message.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    out += _pack_ih(topic.num_partitions, topic.replication_factor)
                    if topic.configs is None:
                        out.append(0)
                    else:
                        n = len(topic.configs) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_uvarint(out, n)
                        for config in topic.configs:
                            raw = config.name.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                            if config.value is None:
                                out.append(0)
                            else:
                                raw = config.value.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    out.append(n)
                                else:
                                    write_string_length(out, n)
                                out += raw
                            out += _pack_tbt(
                                config.read_only,
                                config.config_source,
                                config.is_sensitive,
                            )
                            if config.unknown_tagged_fields:
                                write_tagged_fields(out, [], config.unknown_tagged_fields)
                            else:
                                out.append(0)
                    tagged_1: list[bytes] = []
                    if topic.topic_config_error_code != 0:
                        tagged_1.append(_pack_bbh(0, 2, topic.topic_config_error_code))
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, tagged_1, topic.unknown_tagged_fields)
                    elif tagged_1:
                        out.append(len(tagged_1))
                        out += b"".join(tagged_1)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ii(self.throttle_time_ms, len(self.topics))
                for topic in self.topics:
                    raw = topic.name.encode()
                    out += _pack_h(len(raw))
                    out += raw
                    out += _pack_h(topic.error_code)
                    if topic.error_message is None:
                        out += _pack_h(-1)
                    else:
                        raw = topic.error_message.encode()
                        out += _pack_h(len(raw))
                        out += raw
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("CreateTopicsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[CreateTopicsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 2 <= version <= 7:
                raise unknown_version("CreateTopicsResponse", version, 2, 7)
            size = len(buf)
            data = buf.tobytes()
            m = new(CreateTopicsResponse)
            if version >= 5:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(CreatableTopicResult)
                    topic_list.append(topic)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    topic.name = data[pos:end].decode()
                    pos = end
                    if version >= 7:
                        topic.topic_id = _unpack_U(data, pos)[0]
                        pos += 16
                    else:
                        topic.topic_id = ZERO_UUID
                    topic.error_code, n = _unpack_hB(data, pos)
                    pos += 3
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        topic.error_message = None
                    else:
                        end = pos + n - 1
                        topic.error_message = data[pos:end].decode()
                        pos = end
                    topic.num_partitions, topic.replication_factor, n = _unpack_ihB(data, pos)
                    pos += 7
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    if not n:
                        topic.configs = None
                    else:
                        budget -= n
                        if budget < 0:
                            raise too_many_elements(budget)
                        topic.configs = config_list = []
                        config_left = n - 1
                        while config_left:
                            config_left -= 1
                            config = new(CreatableTopicConfigs)
                            config_list.append(config)
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_string_length(data, pos, n)
                            end = pos + n - 1
                            config.name = data[pos:end].decode()
                            pos = end
                            n = data[pos]
                            pos += 1
                            if n > 127:
                                n, pos = long_nullable_string_length(data, pos, n)
                            if not n:
                                config.value = None
                            else:
                                end = pos + n - 1
                                config.value = data[pos:end].decode()
                                pos = end
                            (
                                config.read_only,
                                config.config_source,
                                config.is_sensitive,
                                n,
                            ) = _unpack_tbtB(data, pos)
                            pos += 4
                            if n:
                                config.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                            else:
                                config.unknown_tagged_fields = ()
                    topic.topic_config_error_code = 0
                    topic.unknown_tagged_fields = ()
                    n = data[pos]
                    pos += 1
                    if n:
                        if n > 127:
                            n, pos = read_uvarint_tail(data, pos, n)
                        for _ in range(n):
                            tag_1, tag_end_1, pos = read_tag(data, pos)
                            if tag_1 == 0:
                                topic.topic_config_error_code = _unpack_h(data, pos)[0]
                                pos += 2
                            else:
                                topic.unknown_tagged_fields = with_unknown_tag(topic.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                                pos = tag_end_1
                            if pos != tag_end_1:
                                raise ValueError(TAG_SIZE_WRONG)
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
                m.topics = topic_list = []
                topic_left = n
                while topic_left:
                    topic_left -= 1
                    topic = new(CreatableTopicResult)
                    topic_list.append(topic)
                    topic.topic_id = ZERO_UUID
                    topic.topic_config_error_code = 0
                    topic.num_partitions = -1
                    topic.replication_factor = -1
                    topic.configs = []
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    topic.name = data[pos:end].decode()
                    pos = end
                    topic.error_code, n = _unpack_hh(data, pos)
                    pos += 4
                    if n < 0:
                        topic.error_message = None
                    else:
                        end = pos + n
                        topic.error_message = data[pos:end].decode()
                        pos = end
                    topic.unknown_tagged_fields = ()
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("CreateTopicsResponse", version, buf, start, cause) from cause


__all__ = [
    "CreatableReplicaAssignment",
    "CreatableTopicConfig",
    "CreatableTopic",
    "CreateTopicsRequest",
    "CreatableTopicConfigs",
    "CreatableTopicResult",
    "CreateTopicsResponse",
]
