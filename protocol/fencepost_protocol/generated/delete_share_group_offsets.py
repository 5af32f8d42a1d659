# Generated from schemas/messages/DeleteShareGroupOffsetsRequest.json (sha256 2c77199aaf866883)
# Generated from schemas/messages/DeleteShareGroupOffsetsResponse.json (sha256 0f512f474404041c)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DeleteShareGroupOffsets (API key 92)."""

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
    read_unknown_tags,
    too_many_elements,
    uuid_bytes,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_UhB = struct.Struct(">16shB").unpack_from
_unpack_ihB = struct.Struct(">ihB").unpack_from
_pack_Uh = struct.Struct(">16sh").pack
_pack_ih = struct.Struct(">ih").pack
new = object.__new__


class DeleteShareGroupOffsetsRequestTopic(Fields):
    """Topics to remove."""

    __slots__ = ("topic_name", "unknown_tagged_fields")

    topic_name: str
    """Name of the topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.unknown_tagged_fields = unknown_tagged_fields


class DeleteShareGroupOffsetsRequest(Fields):
    """Removes what a share group without members has stored about topics (KIP-932)."""

    NAME: ClassVar[str] = "DeleteShareGroupOffsetsRequest"
    API_KEY: ClassVar[int] = 92
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("group_id", "topics", "unknown_tagged_fields")

    group_id: str
    """Share group whose offsets are removed."""
    topics: list[DeleteShareGroupOffsetsRequestTopic]
    """Topics to remove."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        group_id: str = "",
        topics: list[DeleteShareGroupOffsetsRequestTopic] = MADE_ANEW,
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
                raise unknown_version("DeleteShareGroupOffsetsRequest", version, 0, 0)
            raw = self.group_id.encode()
            n = len(raw) + 1
            if n < 128:
                out.append(n)
            else:
                write_string_length(out, n)
            out += raw
            n = len(self.topics) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for topic in self.topics:
                raw = topic.topic_name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
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
            raise encode_failure("DeleteShareGroupOffsetsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DeleteShareGroupOffsetsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DeleteShareGroupOffsetsRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DeleteShareGroupOffsetsRequest)
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
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.topics = topic_list = []
            topic_left = n - 1
            while topic_left:
                topic_left -= 1
                topic = new(DeleteShareGroupOffsetsRequestTopic)
                topic_list.append(topic)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                topic.topic_name = data[pos:end].decode()
                pos = end
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
            raise decode_failure("DeleteShareGroupOffsetsRequest", version, buf, start, cause) from cause


class DeleteShareGroupOffsetsResponseTopic(Fields):
    """Outcomes by topic."""

    __slots__ = (
        "topic_name",
        "topic_id",
        "error_code",
        "error_message",
        "unknown_tagged_fields",
    )

    topic_name: str
    """Name of the topic."""
    topic_id: bytes
    """UUID of the topic; zero when it is unknown."""
    error_code: int
    """NONE, or e.g. UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED."""
    error_message: str | None
    """Readable detail for the topic's error; null when there is none."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.unknown_tagged_fields = unknown_tagged_fields


class DeleteShareGroupOffsetsResponse(Fields):
    """Outcome of the removal by topic (KIP-932)."""

    NAME: ClassVar[str] = "DeleteShareGroupOffsetsResponse"
    API_KEY: ClassVar[int] = 92
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "responses",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND, GROUP_AUTHORIZATION_FAILED,
    NOT_COORDINATOR.
    """
    error_message: str | None
    """Readable detail for the group's error; null when there is none."""
    responses: list[DeleteShareGroupOffsetsResponseTopic]
    """Outcomes by topic."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[DeleteShareGroupOffsetsResponseTopic] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is MADE_ANEW else responses
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DeleteShareGroupOffsetsResponse", version, 0, 0)
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
            n = len(self.responses) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for response in self.responses:
                raw = response.topic_name.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_Uh(uuid_bytes(response.topic_id), response.error_code)
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
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DeleteShareGroupOffsetsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DeleteShareGroupOffsetsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DeleteShareGroupOffsetsResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DeleteShareGroupOffsetsResponse)
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
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.responses = response_list = []
            response_left = n - 1
            while response_left:
                response_left -= 1
                response = new(DeleteShareGroupOffsetsResponseTopic)
                response_list.append(response)
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                response.topic_name = data[pos:end].decode()
                pos = end
                response.topic_id, response.error_code, n = _unpack_UhB(data, pos)
                pos += 19
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    response.error_message = None
                else:
                    end = pos + n - 1
                    response.error_message = data[pos:end].decode()
                    pos = end
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
            raise decode_failure("DeleteShareGroupOffsetsResponse", version, buf, start, cause) from cause


__all__ = [
    "DeleteShareGroupOffsetsRequestTopic",
    "DeleteShareGroupOffsetsRequest",
    "DeleteShareGroupOffsetsResponseTopic",
    "DeleteShareGroupOffsetsResponse",
]
