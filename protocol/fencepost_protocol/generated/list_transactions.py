# Generated from schemas/messages/ListTransactionsRequest.json (sha256 1d0db992f11e879d)
# Generated from schemas/messages/ListTransactionsResponse.json (sha256 f904517cc4936032)
# by python -m fencepost_protocol.codegen. Do not edit.
"""ListTransactions (API key 66)."""

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
    TaggedFields,
    long_length,
    long_nullable_string_length,
    long_string_length,
    read_compact_string_array,
    read_int_array,
    read_unknown_tags,
    too_many_elements,
    write_compact_string_array,
    write_int_array,
    write_string_length,
    write_tagged_fields,
)
from fencepost_protocol.varint import write_uvarint

_unpack_ihB = struct.Struct(">ihB").unpack_from
_unpack_q = struct.Struct(">q").unpack_from
_unpack_qB = struct.Struct(">qB").unpack_from
_pack_ih = struct.Struct(">ih").pack
_pack_q = struct.Struct(">q").pack
new = object.__new__


class ListTransactionsRequest(Fields):
    """An administrative client asks a broker which transactional ids it coordinates, narrowed by
    filters that must all match (KIP-664).
    """

    NAME: ClassVar[str] = "ListTransactionsRequest"
    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "state_filters",
        "producer_id_filters",
        "duration_filter",
        "transactional_id_pattern",
        "unknown_tagged_fields",
    )

    state_filters: list[str]
    """State names to keep, such as Ongoing; empty keeps all, unknown names come back in
    UnknownStateFilters.
    """
    producer_id_filters: list[int]
    """Producer ids to keep; empty keeps all."""
    duration_filter: int
    """Versions 1-2. Keeps transactions that have run longer than this many ms (KIP-994); -1
    switches the filter off.
    """
    transactional_id_pattern: str | None
    """Versions 2. Regular expression for transactional ids (KIP-1152); null keeps all, a malformed
    one gives INVALID_REGULAR_EXPRESSION.
    """
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        state_filters: list[str] = MADE_ANEW,
        producer_id_filters: list[int] = MADE_ANEW,
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.state_filters = [] if state_filters is MADE_ANEW else state_filters
        self.producer_id_filters = [] if producer_id_filters is MADE_ANEW else producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("ListTransactionsRequest", version, 0, 2)
            n = len(self.state_filters) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.state_filters)
            n = len(self.producer_id_filters) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_int_array(out, self.producer_id_filters, "q")
            if version >= 1:
                out += _pack_q(self.duration_filter)
            elif self.duration_filter != -1:
                raise not_in_version("duration_filter", "1-2")
            if version >= 2:
                if self.transactional_id_pattern is None:
                    out.append(0)
                else:
                    raw = self.transactional_id_pattern.encode()
                    n = len(raw) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        write_string_length(out, n)
                    out += raw
            elif self.transactional_id_pattern is not None:
                raise not_in_version("transactional_id_pattern", "2")
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListTransactionsRequest", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListTransactionsRequest, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("ListTransactionsRequest", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListTransactionsRequest)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.state_filters, pos = read_compact_string_array(data, pos, n - 1)
            n = data[pos]
            pos += 1
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.producer_id_filters, pos = read_int_array(data, pos, n - 1, "q")
            if version >= 1:
                m.duration_filter = _unpack_q(data, pos)[0]
                pos += 8
            else:
                m.duration_filter = -1
            if version >= 2:
                n = data[pos]
                pos += 1
                if n > 127:
                    n, pos = long_nullable_string_length(data, pos, n)
                if not n:
                    m.transactional_id_pattern = None
                else:
                    end = pos + n - 1
                    m.transactional_id_pattern = data[pos:end].decode()
                    pos = end
            else:
                m.transactional_id_pattern = None
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
            raise decode_failure("ListTransactionsRequest", version, buf, start, cause) from cause


class TransactionState(Fields):
    """Transactions that match; ids the caller may not describe are left out."""

    __slots__ = ("transactional_id", "producer_id", "transaction_state", "unknown_tagged_fields")

    transactional_id: str
    """Transactional id that the broker coordinates."""
    producer_id: int
    """Producer id now tied to it."""
    transaction_state: str
    """Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit or CompleteAbort."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state
        self.unknown_tagged_fields = unknown_tagged_fields


class ListTransactionsResponse(Fields):
    """The transactional ids that one broker coordinates and that pass the filters; clients ask
    every broker and merge the answers (KIP-664).
    """

    NAME: ClassVar[str] = "ListTransactionsResponse"
    API_KEY: ClassVar[int] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "unknown_state_filters",
        "transaction_states",
        "unknown_tagged_fields",
    )

    throttle_time_ms: int
    """Quota delay in ms that the client has to sit out itself (KIP-219); 0 when within quota."""
    error_code: int
    """NONE, or e.g. COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE,
    INVALID_REGULAR_EXPRESSION.
    """
    unknown_state_filters: list[str]
    """Names in StateFilters that are no transaction states; normally empty."""
    transaction_states: list[TransactionState]
    """Transactions that match; ids the caller may not describe are left out."""
    unknown_tagged_fields: TaggedFields

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] = MADE_ANEW,
        transaction_states: list[TransactionState] = MADE_ANEW,
        unknown_tagged_fields: TaggedFields = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = [] if unknown_state_filters is MADE_ANEW else unknown_state_filters
        self.transaction_states = [] if transaction_states is MADE_ANEW else transaction_states
        self.unknown_tagged_fields = unknown_tagged_fields

    def encode(self, version: int, out: bytearray) -> None:
        """Append the message to ``out``; on an error ``out`` is as it was."""
        start = len(out)
        try:
            if not 0 <= version <= 2:
                raise unknown_version("ListTransactionsResponse", version, 0, 2)
            out += _pack_ih(self.throttle_time_ms, self.error_code)
            n = len(self.unknown_state_filters) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            write_compact_string_array(out, self.unknown_state_filters)
            n = len(self.transaction_states) + 1
            if n < 128:
                out.append(n)
            else:
                write_uvarint(out, n)
            for transaction_state in self.transaction_states:
                raw = transaction_state.transactional_id.encode()
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                raw = transaction_state.transaction_state.encode()
                out += _pack_q(transaction_state.producer_id)
                n = len(raw) + 1
                if n < 128:
                    out.append(n)
                else:
                    write_string_length(out, n)
                out += raw
                if transaction_state.unknown_tagged_fields:
                    write_tagged_fields(out, [], transaction_state.unknown_tagged_fields)
                else:
                    out.append(0)
            if self.unknown_tagged_fields:
                write_tagged_fields(out, [], self.unknown_tagged_fields)
            else:
                out.append(0)
        except ENCODE_ERRORS as cause:
            del out[start:]
            raise encode_failure("ListTransactionsResponse", version, self, cause) from cause

    @staticmethod
    def decode(buf: memoryview, version: int, pos: int = 0) -> tuple[ListTransactionsResponse, int]:
        """Read the message at ``pos``; gives it and the position behind it."""
        start = pos
        try:
            if not 0 <= version <= 2:
                raise unknown_version("ListTransactionsResponse", version, 0, 2)
            size = len(buf)
            data = buf.tobytes()
            m = new(ListTransactionsResponse)
            budget = size if size < 4_000_000 else 4_000_000  # limits.MAX_ELEMENTS
            m.throttle_time_ms, m.error_code, n = _unpack_ihB(data, pos)
            pos += 7
            if not n or n > 127:
                n, pos = long_length(data, pos, n)
            budget -= n
            if budget < 0:
                raise too_many_elements(budget)
            m.unknown_state_filters, pos = read_compact_string_array(data, pos, n - 1)
            n = data[pos]
            pos += 1
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
                n = data[pos]
                pos += 1
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                transaction_state.transactional_id = data[pos:end].decode()
                pos = end
                transaction_state.producer_id, n = _unpack_qB(data, pos)
                pos += 9
                if not n or n > 127:
                    n, pos = long_string_length(data, pos, n)
                end = pos + n - 1
                transaction_state.transaction_state = data[pos:end].decode()
                pos = end
                n = data[pos]
                pos += 1
                if n:
                    transaction_state.unknown_tagged_fields, pos = read_unknown_tags(data, pos, n)
                else:
                    transaction_state.unknown_tagged_fields = ()
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
            raise decode_failure("ListTransactionsResponse", version, buf, start, cause) from cause


__all__ = [
    "ListTransactionsRequest",
    "TransactionState",
    "ListTransactionsResponse",
]
