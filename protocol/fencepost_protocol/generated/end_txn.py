# Generated from schemas/messages/EndTxnRequest.json (sha256 6f82551d3988812b)
# Generated from schemas/messages/EndTxnResponse.json (sha256 35a831a5566d4aca)
# by python -m fencepost_protocol.codegen. Do not edit.
"""EndTxn (API key 26)."""

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
    TAG_SIZE_WRONG,
    TaggedFields,
    long_length,
    long_string_length,
    negative_length,
    read_int32_array,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_h = struct.Struct(">h").unpack_from
_unpack_ih = struct.Struct(">ih").unpack_from
_unpack_qh = struct.Struct(">qh").unpack_from
_unpack_qht = struct.Struct(">qh?").unpack_from
_unpack_qhtB = struct.Struct(">qh?B").unpack_from
_pack_h = struct.Struct(">h").pack
_pack_ih = struct.Struct(">ih").pack
_pack_qh = struct.Struct(">qh").pack
_pack_qht = struct.Struct(">qh?").pack
new = object.__new__


class EndTxnTopic(Fields):
    """Fencepost's tag 60900 (KIP-609): partitions really written, markers go only there; null means
    all registered; Apache Kafka ignores it.
    """

    __slots__ = ("name", "partitions", "unknown_tagged_fields")

    name: str
    """Versions 3-5. Topic with partitions really written."""
    partitions: list[int]
    """Versions 3-5. Partition numbers that get a marker."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        name: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class EndTxnRequest(Fields):
    """A producer tells its transaction coordinator to commit or abort. The answer comes once the
    decision is logged; the markers are written afterwards.
    """

    NAME: ClassVar[str] = "EndTxnRequest"
    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = (
        "transactional_id",
        "producer_id",
        "producer_epoch",
        "committed",
        "topics",
        "unknown_tagged_fields",
    )

    transactional_id: str
    """Transactional id of the producer; empty gives INVALID_REQUEST, unknown
    INVALID_PRODUCER_ID_MAPPING.
    """
    producer_id: int
    """Id from InitProducerId; one that does not belong to the transactional id gives
    INVALID_PRODUCER_ID_MAPPING.
    """
    producer_epoch: int
    """Epoch in use; in version 5 the previous one is a retry; otherwise PRODUCER_FENCED (0-1:
    INVALID_PRODUCER_EPOCH).
    """
    committed: bool
    """True commits, false aborts; with nothing open INVALID_TXN_STATE, except that version 5
    accepts an abort.
    """
    topics: list[EndTxnTopic] | None
    """Versions 3-5. Fencepost's tag 60900 (KIP-609): partitions really written, markers go only
    there; null means all registered; Apache Kafka ignores it.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
        topics: list[EndTxnTopic] | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed
        self.topics = topics
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("EndTxnRequest", version, 0, 5)
            if version >= 3:
                raw = self.transactional_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_qht(self.producer_id, self.producer_epoch, self.committed)
                tagged_1: list[bytes] = []
                if self.topics is not None:
                    content_1 = bytearray()
                    n = len(self.topics) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for topic in self.topics:
                        raw = topic.name.encode()
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        n = len(topic.partitions) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_uvarint(content_1, n)
                        write_int32_array(content_1, topic.partitions)
                        if topic.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], topic.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    tagged_1.append(tagged_field(60900, content_1))
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            else:
                if self.topics is not None:
                    raise not_in_version("topics", "3-5")
                raw = self.transactional_id.encode()
                out += _pack_h(len(raw))
                out += raw
                out += _pack_qht(self.producer_id, self.producer_epoch, self.committed)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("EndTxnRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[EndTxnRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("EndTxnRequest", version, 0, 5)
            size = len(buf)
            data = buf.tobytes()
            m = new(EndTxnRequest)
            if version >= 3:
                budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                m.transactional_id = data[pos:end].decode()
                pos = end
                m.topics = None
                m.unknown_tagged_fields = ()
                m.producer_id, m.producer_epoch, m.committed, n = _unpack_qhtB(data, pos)
                pos += 12
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 60900:
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
                                    topic = new(EndTxnTopic)
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
                                    topic.partitions, pos = read_int32_array(data, pos, n - 1)
                                    n = data[pos]
                                    pos += 1
                                    if n:
                                        topic.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                    else:
                                        topic.unknown_tagged_fields = ()
                        else:
                            m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            else:
                m.topics = None
                n = _unpack_h(data, pos)[0]
                pos += 2
                if n < 0:
                    raise negative_length(n)
                end = pos + n
                m.transactional_id = data[pos:end].decode()
                pos = end
                m.unknown_tagged_fields = ()
                m.producer_id, m.producer_epoch, m.committed = _unpack_qht(data, pos)
                pos += 11
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("EndTxnRequest", version, buf, start, cause) from cause


class EndTxnResponse(Fields):
    """Says that the commit or abort is decided, or why not. CONCURRENT_TRANSACTIONS: markers of an
    earlier end are still outstanding, try again.
    """

    NAME: ClassVar[str] = "EndTxnResponse"
    API_KEY: ClassVar[int] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id",
        "producer_epoch",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. CONCURRENT_TRANSACTIONS, INVALID_TXN_STATE, PRODUCER_FENCED,
    INVALID_PRODUCER_ID_MAPPING, NOT_COORDINATOR.
    """
    producer_id: int
    """Versions 5. Id for the next transaction, a new one once the epochs are used up; -1 on an
    error.
    """
    producer_epoch: int
    """Versions 5. Bumped epoch for the next transaction, sequences begin at 0 again; -1 on an
    error.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 5:
                raise unknown_version("EndTxnResponse", version, 0, 5)
            if version >= 3:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
                if version >= 5:
                    out += _pack_qh(self.producer_id, self.producer_epoch)
                if self.unknown_tagged_fields:
                    write_tagged_fields(out, [], self.unknown_tagged_fields)
                else:
                    out.append(0)
            else:
                out += _pack_ih(self.throttle_time_ms, self.error_code)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("EndTxnResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[EndTxnResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 5:
                raise unknown_version("EndTxnResponse", version, 0, 5)
            size = len(buf)
            m = new(EndTxnResponse)
            if version >= 3:
                m.throttle_time_ms, m.error_code = _unpack_ih(buf, pos)
                pos += 6
                if version >= 5:
                    m.producer_id, m.producer_epoch = _unpack_qh(buf, pos)
                    pos += 10
                else:
                    m.producer_id = -1
                    m.producer_epoch = -1
                n = buf[pos]
                pos += 1
                if n:
                    m.unknown_tagged_fields, pos = read_unknown_tags(buf, pos, n)
                else:
                    m.unknown_tagged_fields = ()
            else:
                m.producer_id = -1
                m.producer_epoch = -1
                m.unknown_tagged_fields = ()
                m.throttle_time_ms, m.error_code = _unpack_ih(buf, pos)
                pos += 6
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("EndTxnResponse", version, buf, start, cause) from cause


__all__ = [
    "EndTxnTopic",
    "EndTxnRequest",
    "EndTxnResponse",
]
