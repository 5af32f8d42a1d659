"""The spans of clients that records name, by the header ``traceparent`` (W3C Trace Context)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import Record, iter_records

RECORDS_MAX: Final = 500
"""Only so many records of a request are looked at."""
CONTEXTS_MAX: Final = 32
_UNPACKED_BYTES_MAX: Final = 4 << 20
"""What a batch may have unpacked; a larger one is not looked at."""
_HEADER: Final = "traceparent"
_FORM: Final = re.compile(rb"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_SAMPLED: Final = 1
_INVALID: Final = b"ff"


class TraceContext(NamedTuple):
    """A span of a client."""

    trace_id: bytes
    span_id: bytes


def read_traceparent(value: bytes) -> TraceContext | None:
    """Read a header; ``None`` if it is not valid, or if the client has not recorded its span."""
    match = _FORM.fullmatch(value)
    if match is None or match[1] == _INVALID or (match[1] == b"00" and match[5]):
        return None
    trace_id, span_id = bytes.fromhex(match[2].decode()), bytes.fromhex(match[3].decode())
    if not any(trace_id) or not any(span_id) or not int(match[4], 16) & _SAMPLED:
        return None
    return TraceContext(trace_id, span_id)


def contexts_in(message: ProduceRequest) -> list[TraceContext]:
    """Return the different contexts of a request's records, in their order."""
    found: dict[TraceContext, None] = {}
    try:
        for record in islice(_records(message), RECORDS_MAX):
            for name, value in record.headers:
                if name == _HEADER and value is not None:
                    context = read_traceparent(bytes(value))
                    if context is not None and len(found) < CONTEXTS_MAX:
                        found[context] = None
    except RemoteProtocolError:
        pass  # the broker refuses such records, and the answer says so
    return list(found)


def _records(message: ProduceRequest) -> Iterator[Record]:
    for topic in message.topic_data:
        for data in topic.partition_data:
            records = data.records or b""
            for _, batch in split_batches(records):
                yield from iter_records(batch, _UNPACKED_BYTES_MAX)
