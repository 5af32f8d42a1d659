# Generated from schemas/messages/DeleteTopicsRequest.json (sha256 19e219f5ddd06c13)
# Generated from schemas/messages/DeleteTopicsResponse.json (sha256 ed6db3999ea8a19e)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DeleteTopics (API key 20)."""

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
    negative_length,
    read_compact_string_array,
    read_string_array,
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_compact_string_array,
    write_string_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_U = struct.Struct(">16s").unpack_from
_unpack_UB = struct.Struct(">16sB").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_ii = struct.Struct(">ii").unpack_from
_pack_U = struct.Struct(">16s").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_ii = struct.Struct(">ii").pack
new = object.__new__


class DeleteTopicState(Fields):
    """Topics to delete, each by name or by id (6+)."""

    __slots__ = ("name", "topic_id", "unknown_tagged_fields")

    name: str | None
    """Versions 6. Topic by name; null when TopicId is used, both together are invalid."""
    topic_id: bytes
    """Versions 6. Topic by UUID, spares a new topic of the same name; all zero when Name is used.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.unknown_tagged_fields = unknown_tagged_fields


class DeleteTopicsRequest(Fields):
    """An administrator asks the controller, directly or through any broker, to delete topics by
    name or, from version 6, by id.
    """

    NAME: ClassVar[str] = "DeleteTopicsRequest"
    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = ("topics", "topic_names", "timeout_ms", "unknown_tagged_fields")

    topics: list[DeleteTopicState]
    """Versions 6. Topics to delete, each by name or by id (6+)."""
    topic_names: list[str]
    """Versions 1-5. Topics to delete by name, up to version 5."""
    timeout_ms: int
    """How long the caller waits for the outcome, in ms; then it is REQUEST_TIMED_OUT, and the work
    may still be done later.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topics: list[DeleteTopicState] = MADE_ANEW,
        topic_names: list[str] = MADE_ANEW,
        timeout_ms: int = 0,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topics = [] if topics is MADE_ANEW else topics
        self.topic_names = [] if topic_names is MADE_ANEW else topic_names
        self.timeout_ms = timeout_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 6:
                raise unknown_version("DeleteTopicsRequest", version, 1, 6)
            if version >= 4:
                if version >= 6:
                    n = len(self.topics) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    for topic in self.topics:
                        if topic.name is None:
                            out.append(0)
                        else:
                            raw = topic.name.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                        out += _pack_U(uuid_bytes(topic.topic_id))
                        if topic.unknown_tagged_fields:
                            write_tagged_fields(out, [], topic.unknown_tagged_fields)
                        else:
                            out.append(0)
                elif self.topics:
                    raise not_in_version("topics", "6")
                if version <= 5:
                    n = len(self.topic_names) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_uvarint(out, n)
                    write_compact_string_array(out, self.topic_names)
                out += _pack_i(self.timeout_ms)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                if self.topics:
                    raise not_in_version("topics", "6")
                out += _pack_i(len(self.topic_names))
                write_string_array(out, self.topic_names)
                out += _pack_i(self.timeout_ms)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DeleteTopicsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DeleteTopicsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 6:
                raise unknown_version("DeleteTopicsRequest", version, 1, 6)
            size = len(buf)
            data = buf.tobytes()
            m = new(DeleteTopicsRequest)
            if version >= 4:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                if version >= 6:
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
                        topic = new(DeleteTopicState)
                        topic_list.append(topic)
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            topic.name = None
                        else:
                            end = pos + n - 1
                            topic.name = data[pos:end].decode()
                            pos = end
                        topic.topic_id, n = _unpack_UB(data, pos)
                        pos += 17
                        if n:
                            topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                        else:
                            topic.unknown_tagged_fields = ()
                else:
                    m.topics = []
                if version <= 5:
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_length(data, pos, n)
                    budget -= n
                    if budget < 0:
                        raise too_many_elements(budget)
                    m.topic_names, pos = read_compact_string_array(data, pos, n - 1)
                else:
                    m.topic_names = []
                m.timeout_ms, n = _unpack_iB(data, pos)
                pos += 5
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.topics = []
                n = _unpack_i(data, pos)[0]
                pos += 4
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.topic_names, pos = read_string_array(data, pos, n)
                m.unknown_tagged_fields = ()
                m.timeout_ms = _unpack_i(data, pos)[0]
                pos += 4
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DeleteTopicsRequest", version, buf, start, cause) from cause


class DeletableTopicResult(Fields):
    """One outcome for each topic of the request."""

    __slots__ = ("name", "topic_id", "error_code", "error_message", "unknown_tagged_fields")

    name: str | None
    """Topic the outcome is for; null if asked for by an id without known or visible name."""
    topic_id: bytes
    """Versions 6. UUID of the topic; all zero when it is not known."""
    error_code: int
    """NONE, or e.g. UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, TOPIC_DELETION_DISABLED,
    TOPIC_AUTHORIZATION_FAILED.
    """
    error_message: str | None
    """Versions 5-6. Readable detail for the error; null on success."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class DeleteTopicsResponse(Fields):
    """Outcome for each topic to be deleted; partitions may vanish from brokers a little later."""

    NAME: ClassVar[str] = "DeleteTopicsResponse"
    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 4

    __slots__ = ("throttle_time_ms", "responses", "unknown_tagged_fields")

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    responses: list[DeletableTopicResult]
    """One outcome for each topic of the request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is MADE_ANEW else responses
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 1 <= version <= 6:
                raise unknown_version("DeleteTopicsResponse", version, 1, 6)
            if version >= 4:
                out += _pack_i(self.throttle_time_ms)
                n = len(self.responses) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for response in self.responses:
                    if response.name is None:
                        if not (version >= 6):
                            raise not_nullable("responses.name")
                        out.append(0)
                    else:
                        raw = response.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            write_string_length(out, n)
                        out += raw
                    if version >= 6:
                        out += _pack_U(uuid_bytes(response.topic_id))
                    out += _pack_h(response.error_code)
                    if version >= 5:
                        if response.error_message is None:
                            out.append(0)
                        else:
                            raw = response.error_message.encode()
                            n = len(raw) + 1
                            if n < 128:
                                out.append(n)
                            else:
                                write_string_length(out, n)
                            out += raw
                    if response.unknown_tagged_fields:
                        write_tagged_fields(out, [], response.unknown_tagged_fields)
                    else:
                        out.append(0)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ii(self.throttle_time_ms, len(self.responses))
                for response in self.responses:
                    if response.name is None:
                        raise not_nullable("responses.name")
                    else:
                        raw = response.name.encode()
                        out += _pack_h(len(raw))
                        out += raw
                    out += _pack_h(response.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DeleteTopicsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DeleteTopicsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 1 <= version <= 6:
                raise unknown_version("DeleteTopicsResponse", version, 1, 6)
            size = len(buf)
            data = buf.tobytes()
            m = new(DeleteTopicsResponse)
            if version >= 4:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_iB(data, pos)
                pos += 5
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.responses = response_list = []
                response_left = n - 1
                while response_left:
                    response_left -= 1
                    response = new(DeletableTopicResult)
                    response_list.append(response)
                    n = data[pos]
                    pos += 1
                    if n > 127:
                        n, pos = long_nullable_string_length(data, pos, n)
                    if not n:
                        if not (version >= 6):
                            raise ValueError(NULL_REFUSED)
                        response.name = None
                    else:
                        end = pos + n - 1
                        response.name = data[pos:end].decode()
                        pos = end
                    if version >= 6:
                        response.topic_id = _unpack_U(data, pos)[0]
                        pos += 16
                    else:
                        response.topic_id = ZERO_UUID
                    response.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                    if version >= 5:
                        n = data[pos]
                        pos += 1
                        if n > 127:
                            n, pos = long_nullable_string_length(data, pos, n)
                        if not n:
                            response.error_message = None
                        else:
                            end = pos + n - 1
                            response.error_message = data[pos:end].decode()
                            pos = end
                    else:
                        response.error_message = None
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
            else:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                m.throttle_time_ms, n = _unpack_ii(data, pos)
                pos += 8
                if n < 0:
                    raise negative_length(n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                m.responses = response_list = []
                response_left = n
                while response_left:
                    response_left -= 1
                    response = new(DeletableTopicResult)
                    response_list.append(response)
                    response.topic_id = ZERO_UUID
                    response.error_message = None
                    n = _unpack_h(data, pos)[0]
                    pos += 2
                    if n < 0:
                        raise negative_length(n)
                    end = pos + n
                    response.name = data[pos:end].decode()
                    pos = end
                    response.unknown_tagged_fields = ()
                    response.error_code = _unpack_h(data, pos)[0]
                    pos += 2
                m.unknown_tagged_fields = ()
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DeleteTopicsResponse", version, buf, start, cause) from cause


__all__ = [
    "DeleteTopicState",
    "DeleteTopicsRequest",
    "DeletableTopicResult",
    "DeleteTopicsResponse",
]
