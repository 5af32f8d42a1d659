# Generated from schemas/messages/DescribeTransactionsRequest.json (sha256 1d68dcf6fc738bb9)
# Generated from schemas/messages/DescribeTransactionsResponse.json (sha256 65a7cb224ae97788)
# by python -m fencepost_protocol.codegen. Do not edit.
"""DescribeTransactions (API key 65)."""

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
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_compact_string_array,
    read_int32_array,
    read_tag,
    read_unknown_tags,
    tagged_field,
    too_many_elements,
    with_unknown_tag,
    write_compact_string_array,
    write_int32_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import read_uvarint_tail, write_uvarint

_unpack_tB = struct.Struct(">?B").unpack_from
_unpack_h = struct.Struct(">h").unpack_from
_unpack_hB = struct.Struct(">hB").unpack_from
_unpack_hb = struct.Struct(">hb").unpack_from
_unpack_iB = struct.Struct(">iB").unpack_from
_unpack_iihtB = struct.Struct(">iih?B").unpack_from
_unpack_iqqhB = struct.Struct(">iqqhB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qqqiB = struct.Struct(">qqqiB").unpack_from
_pack_t = struct.Struct(">?").pack
_pack_b = struct.Struct(">b").pack
_pack_bbh = struct.Struct(">bbh").pack
_pack_bbq = struct.Struct(">bbq").pack
_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack
_pack_iiht = struct.Struct(">iih?").pack
_pack_iqqh = struct.Struct(">iqqh").pack
_pack_q = struct.Struct(">q").pack
_pack_qqqi = struct.Struct(">qqqi").pack
new = object.__new__


class DescribeTransactionsRequest(Fields):
    """An administrative client asks the transaction coordinator for the present state of given
    transactional ids, mostly to find hanging transactions (KIP-664).
    """

    NAME: ClassVar[str] = "DescribeTransactionsRequest"
    API_KEY: ClassVar[int] = 65
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = ("transactional_ids", "explain", "unknown_tagged_fields")

    transactional_ids: list[str]
    """Transactional ids to describe; each must belong to the broker asked, else its entry gets
    NOT_COORDINATOR. An empty list brings an empty answer.
    """
    explain: bool
    """Fencepost's tag 60900: asks for what its coordinator knows beyond this API (tags 60900 of the
    answer); Apache Kafka ignores it.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_ids: list[str] = MADE_ANEW,
        explain: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_ids = [] if transactional_ids is MADE_ANEW else transactional_ids
        self.explain = explain
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeTransactionsRequest", version, 0, 0)
            n = len(self.transactional_ids) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.transactional_ids)
            tagged_1: list[bytes] = []
            if self.explain:
                tagged_1.append(tagged_field(60900, _pack_t(self.explain)))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeTransactionsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeTransactionsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeTransactionsRequest", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeTransactionsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.transactional_ids, pos = read_compact_string_array(data, pos, n - 1)
            m.explain = False
            m.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(data, pos)
                    if tag_1 == 60900:
                        m.explain = data[pos] != 0
                        pos += 1
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeTransactionsRequest", version, buf, start, cause) from cause


class TopicData(Fields):
    """Partitions that take part in the open transaction, by topic; unauthorised topics may be
    missing.
    """

    __slots__ = ("topic", "partitions", "unknown_tagged_fields")

    topic: str
    """Topic with partitions in the transaction; __consumer_offsets stands for committed offsets."""
    partitions: list[int]
    """Partition numbers of that topic which will receive a marker."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        partitions: list[int] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is MADE_ANEW else partitions
        self.unknown_tagged_fields = unknown_tagged_fields


class WaitingMarker(Fields):
    """Markers that nobody has acknowledged yet."""

    __slots__ = (
        "topic",
        "partition_index",
        "leader_id",
        "last_error",
        "is_held",
        "unknown_tagged_fields",
    )

    topic: str
    """Topic that a marker goes to."""
    partition_index: int
    """Partition that it goes to."""
    leader_id: int
    """Broker that it is sent to now; -1 while the partition has no leader."""
    last_error: int
    """What became of the last attempt; NONE while it is under way."""
    is_held: bool
    """A test holds this marker back."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        topic: str = "",
        partition_index: int = 0,
        leader_id: int = -1,
        last_error: int = 0,
        is_held: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.topic = topic
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.last_error = last_error
        self.is_held = is_held
        self.unknown_tagged_fields = unknown_tagged_fields


class ExplainedClient(Fields):
    """Part of DescribeTransactionsResponse."""

    __slots__ = ("client_id", "address", "is_connected", "unknown_tagged_fields")

    client_id: str | None
    """Client's name in its request header."""
    address: str
    """Host and port that the client came from; empty where that is not known."""
    is_connected: bool
    """Connection that the request came by is still open."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        client_id: str | None = "",
        address: str = "",
        is_connected: bool = False,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.client_id = client_id
        self.address = address
        self.is_connected = is_connected
        self.unknown_tagged_fields = unknown_tagged_fields


class WaitingRequest(Fields):
    """Requests that will be answered when the markers are there (KIP-609), in order."""

    __slots__ = ("request_api_key", "client", "unknown_tagged_fields")

    request_api_key: int
    """API of the request; -1 when it is not a client's."""
    client: ExplainedClient | None
    """Client that waits; null when it is not a client's request."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        request_api_key: int = -1,
        client: ExplainedClient | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.request_api_key = request_api_key
        self.client = client
        self.unknown_tagged_fields = unknown_tagged_fields


class Explanation(Fields):
    """Fencepost's tag 60900, only if Explain asked for it: what this id waits for. Apache Kafka
    never sends it.
    """

    __slots__ = (
        "updated_ms",
        "times_out_ms",
        "expires_ms",
        "repeats",
        "markers",
        "requests",
        "last_client",
        "kept_by_id",
        "kept_by_epoch",
        "unknown_tagged_fields",
    )

    updated_ms: int
    """Since when the id is in its state, in ms since 1970 of state time."""
    times_out_ms: int
    """When the open transaction will be aborted; -1 when it will not."""
    expires_ms: int
    """When the id will be forgotten unless somebody uses it; -1 while it cannot be."""
    repeats: int
    """How often markers were sent again because some had failed."""
    markers: list[WaitingMarker]
    """Markers that nobody has acknowledged yet."""
    requests: list[WaitingRequest]
    """Requests that will be answered when the markers are there (KIP-609), in order."""
    last_client: ExplainedClient | None
    """Client that asked the coordinator last about this id; null when none has since it was loaded.
    """
    kept_by_id: int
    """Producer id that has kept the open transaction and may end it (KIP-939); -1 when none has."""
    kept_by_epoch: int
    """Epoch of that producer; -1 when none has."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        updated_ms: int = 0,
        times_out_ms: int = -1,
        expires_ms: int = -1,
        repeats: int = 0,
        markers: list[WaitingMarker] = MADE_ANEW,
        requests: list[WaitingRequest] = MADE_ANEW,
        last_client: ExplainedClient | None = None,
        kept_by_id: int = -1,
        kept_by_epoch: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.updated_ms = updated_ms
        self.times_out_ms = times_out_ms
        self.expires_ms = expires_ms
        self.repeats = repeats
        self.markers = [] if markers is MADE_ANEW else markers
        self.requests = [] if requests is MADE_ANEW else requests
        self.last_client = last_client
        self.kept_by_id = kept_by_id
        self.kept_by_epoch = kept_by_epoch
        self.unknown_tagged_fields = unknown_tagged_fields


class TransactionState(Fields):
    """One description for each transactional id asked for."""

    __slots__ = (
        "error_code",
        "transactional_id",
        "transaction_state",
        "transaction_timeout_ms",
        "transaction_start_time_ms",
        "producer_id",
        "producer_epoch",
        "topics",
        "explanation",
        "unknown_tagged_fields",
    )

    error_code: int
    """NONE, or e.g. TRANSACTIONAL_ID_NOT_FOUND, TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS.
    """
    transactional_id: str
    """Transactional id that this description is about."""
    transaction_state: str
    """Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort; an empty string
    on error.
    """
    transaction_timeout_ms: int
    """Age in ms at which the coordinator aborts the transaction; 2147483647 for two-phase commit
    (KIP-939).
    """
    transaction_start_time_ms: int
    """When the transaction began, in ms since 1970; -1 if none did."""
    producer_id: int
    """Producer id now tied to the transactional id."""
    producer_epoch: int
    """Current epoch of that producer id; already bumped in PrepareX under transaction version 2,
    32767 at exhaustion.
    """
    topics: list[TopicData]
    """Partitions that take part in the open transaction, by topic; unauthorised topics may be
    missing.
    """
    explanation: Explanation | None
    """Fencepost's tag 60900, only if Explain asked for it: what this id waits for. Apache Kafka
    never sends it.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: list[TopicData] = MADE_ANEW,
        explanation: Explanation | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = [] if topics is MADE_ANEW else topics
        self.explanation = explanation
        self.unknown_tagged_fields = unknown_tagged_fields


class DescribeTransactionsResponse(Fields):
    """The coordinator's view of each transactional id asked for: state, producer and partitions of
    the open transaction (KIP-664).
    """

    NAME: ClassVar[str] = "DescribeTransactionsResponse"
    API_KEY: ClassVar[int] = 65
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "transaction_states",
        "state_time_ms",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    transaction_states: list[TransactionState]
    """One description for each transactional id asked for."""
    state_time_ms: int
    """Fencepost's tag 60900, only if Explain asked for it: the state clock, in ms since 1970. Tests
    may have moved it.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        transaction_states: list[TransactionState] = MADE_ANEW,
        state_time_ms: int = -1,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = [] if transaction_states is MADE_ANEW else transaction_states
        self.state_time_ms = state_time_ms
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeTransactionsResponse", version, 0, 0)
            out += _pack_i(self.throttle_time_ms)
            n = len(self.transaction_states) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for transaction_state in self.transaction_states:
                raw = transaction_state.transactional_id.encode()
                out += _pack_h(transaction_state.error_code)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = transaction_state.transaction_state.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                out += _pack_iqqh(
                    transaction_state.transaction_timeout_ms,
                    transaction_state.transaction_start_time_ms,
                    transaction_state.producer_id,
                    transaction_state.producer_epoch,
                )
                n = len(transaction_state.topics) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_uvarint(out, n)
                for topic in transaction_state.topics:
                    raw = topic.topic.encode()
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
                    write_int32_array(out, topic.partitions)
                    if topic.unknown_tagged_fields:
                        write_tagged_fields(out, [], topic.unknown_tagged_fields)
                    else:
                        out.append(0)
                tagged_1: list[bytes] = []
                if transaction_state.explanation is not None and transaction_state.explanation != Explanation():
                    content_1 = bytearray()
                    content_1 += _pack_qqqi(
                        transaction_state.explanation.updated_ms,
                        transaction_state.explanation.times_out_ms,
                        transaction_state.explanation.expires_ms,
                        transaction_state.explanation.repeats,
                    )
                    n = len(transaction_state.explanation.markers) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for marker in transaction_state.explanation.markers:
                        raw = marker.topic.encode()
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        content_1 += _pack_iiht(
                            marker.partition_index,
                            marker.leader_id,
                            marker.last_error,
                            marker.is_held,
                        )
                        if marker.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], marker.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    n = len(transaction_state.explanation.requests) + 1
                    if n < 128:
                        content_1.append(n)
                    else:
                        write_uvarint(content_1, n)
                    for request in transaction_state.explanation.requests:
                        content_1 += _pack_h(request.request_api_key)
                        if request.client is None:
                            content_1 += _pack_b(-1)
                        else:
                            content_1 += _pack_b(1)
                            if request.client.client_id is None:
                                content_1.append(0)
                            else:
                                raw = request.client.client_id.encode()
                                n = len(raw) + 1
                                if n < 128:
                                    content_1.append(n)
                                else:
                                    write_string_length(content_1, n)
                                content_1 += raw
                            raw = request.client.address.encode()
                            n = len(raw) + 1
                            if n < 128:
                                content_1.append(n)
                            else:
                                write_string_length(content_1, n)
                            content_1 += raw
                            content_1 += _pack_t(request.client.is_connected)
                            if request.client.unknown_tagged_fields:
                                write_tagged_fields(content_1, [], request.client.unknown_tagged_fields)
                            else:
                                content_1.append(0)
                        if request.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], request.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    if transaction_state.explanation.last_client is None:
                        content_1 += _pack_b(-1)
                    else:
                        content_1 += _pack_b(1)
                        if transaction_state.explanation.last_client.client_id is None:
                            content_1.append(0)
                        else:
                            raw = transaction_state.explanation.last_client.client_id.encode()
                            n = len(raw) + 1
                            if n < 128:
                                content_1.append(n)
                            else:
                                write_string_length(content_1, n)
                            content_1 += raw
                        raw = transaction_state.explanation.last_client.address.encode()
                        n = len(raw) + 1
                        if n < 128:
                            content_1.append(n)
                        else:
                            write_string_length(content_1, n)
                        content_1 += raw
                        content_1 += _pack_t(transaction_state.explanation.last_client.is_connected)
                        if transaction_state.explanation.last_client.unknown_tagged_fields:
                            write_tagged_fields(content_1, [], transaction_state.explanation.last_client.unknown_tagged_fields)
                        else:
                            content_1.append(0)
                    tagged_2: list[bytes] = []
                    if transaction_state.explanation.kept_by_id != -1:
                        tagged_2.append(_pack_bbq(0, 8, transaction_state.explanation.kept_by_id))
                    if transaction_state.explanation.kept_by_epoch != -1:
                        tagged_2.append(_pack_bbh(1, 2, transaction_state.explanation.kept_by_epoch))
                    if transaction_state.explanation.unknown_tagged_fields:
                        write_tagged_fields(content_1, tagged_2, transaction_state.explanation.unknown_tagged_fields)
                    elif tagged_2:
                        content_1.append(len(tagged_2))
                        content_1 += b"".join(tagged_2)
                    else:
                        content_1.append(0)
                    tagged_1.append(tagged_field(60900, content_1))
                if transaction_state.unknown_tagged_fields:
                    write_tagged_fields(out, tagged_1, transaction_state.unknown_tagged_fields)
                elif tagged_1:
                    out.append(len(tagged_1))
                    out += b"".join(tagged_1)
                else:
                    out.append(0)
            tagged_1 = []
            if self.state_time_ms != -1:
                tagged_1.append(tagged_field(60900, _pack_q(self.state_time_ms)))
            if self.unknown_tagged_fields:
                write_tagged_fields(out, tagged_1, self.unknown_tagged_fields)
            elif tagged_1:
                out.append(len(tagged_1))
                out += b"".join(tagged_1)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("DescribeTransactionsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[DescribeTransactionsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 0:
                raise unknown_version("DescribeTransactionsResponse", version, 0, 0)
            size = len(buf)
            data = buf.tobytes()
            m = new(DescribeTransactionsResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, n = _unpack_iB(data, pos)
            pos += 5
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.transaction_states = transaction_state_list = []
            transaction_state_left = n - 1
            while transaction_state_left:
                transaction_state_left -= 1
                transaction_state = new(TransactionState)
                transaction_state_list.append(transaction_state)
                transaction_state.error_code, n = _unpack_hB(data, pos)
                pos += 3
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                transaction_state.transactional_id = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                transaction_state.transaction_state = data[pos:end].decode()
                pos = end
                (
                    transaction_state.transaction_timeout_ms,
                    transaction_state.transaction_start_time_ms,
                    transaction_state.producer_id,
                    transaction_state.producer_epoch,
                    n,
                ) = _unpack_iqqhB(data, pos)
                pos += 23
                if not n or n > 127:
                    n, pos = long_length(data, pos, n)
                budget -= n
                if budget < 0:
                    raise too_many_elements(budget)
                transaction_state.topics = topic_list = []
                topic_left = n - 1
                while topic_left:
                    topic_left -= 1
                    topic = new(TopicData)
                    topic_list.append(topic)
                    n = data[pos]
                    pos += 1
                    if not n or n > 127:
                        n, pos = long_string_length(data, pos, n)
                    end = pos + n - 1
                    topic.topic = data[pos:end].decode()
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
                transaction_state.explanation = None
                transaction_state.unknown_tagged_fields = ()
                n = data[pos]
                pos += 1
                if n:
                    if n > 127:
                        n, pos = read_uvarint_tail(data, pos, n)
                    for _ in range(n):
                        tag_1, tag_end_1, pos = read_tag(data, pos)
                        if tag_1 == 60900:
                            transaction_state.explanation = explanation = new(Explanation)
                            (
                                explanation.updated_ms,
                                explanation.times_out_ms,
                                explanation.expires_ms,
                                explanation.repeats,
                                n,
                            ) = _unpack_qqqiB(data, pos)
                            pos += 29
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            explanation.markers = marker_list = []
                            marker_left = n - 1
                            while marker_left:
                                marker_left -= 1
                                marker = new(WaitingMarker)
                                marker_list.append(marker)
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                marker.topic = data[pos:end].decode()
                                pos = end
                                (
                                    marker.partition_index,
                                    marker.leader_id,
                                    marker.last_error,
                                    marker.is_held,
                                    n,
                                ) = _unpack_iihtB(data, pos)
                                pos += 12
                                if n:
                                    marker.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    marker.unknown_tagged_fields = ()
                            n = data[pos]
                            pos += 1
                            if not n or n > 127:
                                n, pos = long_length(data, pos, n)
                            budget -= n
                            if budget < 0:
                                raise too_many_elements(budget)
                            explanation.requests = request_list = []
                            request_left = n - 1
                            while request_left:
                                request_left -= 1
                                request = new(WaitingRequest)
                                request_list.append(request)
                                request.request_api_key, n = _unpack_hb(data, pos)
                                pos += 3
                                if n < 0:
                                    request.client = None
                                else:
                                    request.client = explained_client = new(ExplainedClient)
                                    n = data[pos]
                                    pos += 1
                                    if n > 127:
                                        n, pos = long_nullable_string_length(data, pos, n)
                                    if not n:
                                        explained_client.client_id = None
                                    else:
                                        end = pos + n - 1
                                        explained_client.client_id = data[pos:end].decode()
                                        pos = end
                                    n = data[pos]
                                    pos += 1
                                    if not n or n > 127:
                                        n, pos = long_string_length(data, pos, n)
                                    end = pos + n - 1
                                    explained_client.address = data[pos:end].decode()
                                    pos = end
                                    explained_client.is_connected, n = _unpack_tB(data, pos)
                                    pos += 2
                                    if n:
                                        explained_client.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                    else:
                                        explained_client.unknown_tagged_fields = ()
                                n = data[pos]
                                pos += 1
                                if n:
                                    request.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    request.unknown_tagged_fields = ()
                            n = (data[pos] ^ 128) - 128
                            pos += 1
                            if n < 0:
                                explanation.last_client = None
                            else:
                                explanation.last_client = explained_client = new(ExplainedClient)
                                n = data[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = long_nullable_string_length(data, pos, n)
                                if not n:
                                    explained_client.client_id = None
                                else:
                                    end = pos + n - 1
                                    explained_client.client_id = data[pos:end].decode()
                                    pos = end
                                n = data[pos]
                                pos += 1
                                if not n or n > 127:
                                    n, pos = long_string_length(data, pos, n)
                                end = pos + n - 1
                                explained_client.address = data[pos:end].decode()
                                pos = end
                                explained_client.is_connected, n = _unpack_tB(data, pos)
                                pos += 2
                                if n:
                                    explained_client.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                                else:
                                    explained_client.unknown_tagged_fields = ()
                            explanation.kept_by_id = -1
                            explanation.kept_by_epoch = -1
                            explanation.unknown_tagged_fields = ()
                            n = data[pos]
                            pos += 1
                            if n:
                                if n > 127:
                                    n, pos = read_uvarint_tail(data, pos, n)
                                for _ in range(n):
                                    tag_2, tag_end_2, pos = read_tag(data, pos)
                                    if tag_2 == 0:
                                        explanation.kept_by_id = _unpack_q(data, pos)[0]
                                        pos += 8
                                    elif tag_2 == 1:
                                        explanation.kept_by_epoch = _unpack_h(data, pos)[0]
                                        pos += 2
                                    else:
                                        explanation.unknown_tagged_fields = with_unknown_tag(explanation.unknown_tagged_fields, tag_2, data[pos:tag_end_2])
                                        pos = tag_end_2
                                    if pos != tag_end_2:
                                        raise ValueError(TAG_SIZE_WRONG)
                        else:
                            transaction_state.unknown_tagged_fields = with_unknown_tag(transaction_state.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                            pos = tag_end_1
                        if pos != tag_end_1:
                            raise ValueError(TAG_SIZE_WRONG)
            m.state_time_ms = -1
            m.unknown_tagged_fields = ()
            n = data[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = read_uvarint_tail(data, pos, n)
                for _ in range(n):
                    tag_1, tag_end_1, pos = read_tag(data, pos)
                    if tag_1 == 60900:
                        m.state_time_ms = _unpack_q(data, pos)[0]
                        pos += 8
                    else:
                        m.unknown_tagged_fields = with_unknown_tag(m.unknown_tagged_fields, tag_1, data[pos:tag_end_1])
                        pos = tag_end_1
                    if pos != tag_end_1:
                        raise ValueError(TAG_SIZE_WRONG)
            if pos > size:
                raise ValueError(CUT_SHORT)
            return m, pos
        except DECODE_ERRORS as cause:
            raise decode_failure("DescribeTransactionsResponse", version, buf, start, cause) from cause


__all__ = [
    "DescribeTransactionsRequest",
    "TopicData",
    "WaitingMarker",
    "ExplainedClient",
    "WaitingRequest",
    "Explanation",
    "TransactionState",
    "DescribeTransactionsResponse",
]
