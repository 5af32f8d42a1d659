"""``Batch``: columns while it fills, bytes when it is sent, an outcome at the end.

``send`` only appends to three lists. The records are encoded when the batch is sent, in one pass
over the columns. *Rejected:* encoding each record in ``send``, with
``BatchBuilder`` or into one bytearray, which costs 0.25 us more a record. The price is that keys
and values are held until then, so only ``bytes`` are taken as they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    NO_SEQUENCE,
    add_to_sequence,
    read_header,
    set_producer_state,
)
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch

from fencepost_client.errors import KafkaError
from fencepost_client.types import Headers, RecordMetadata

RECORD_OVERHEAD_MAX: Final = 21
"""What a record takes beside key, value and headers, at most, as Kafka reckons it."""
HEADER_OVERHEAD_MAX: Final = 10
NO_OFFSET: Final = -1


class Identity(NamedTuple):
    """A producer id and its epoch."""

    producer_id: int
    epoch: int


NOBODY: Final = Identity(-1, -1)
"""The identity of a producer that is not idempotent."""


class Batch:
    """Records of a partition that are sent, retried and acknowledged together."""

    __slots__ = (
        "_encoded",
        "_has_keys",
        "_identity",
        "attempts",
        "base_offset",
        "base_sequence",
        "created_ms",
        "done",
        "error",
        "first",
        "headers",
        "in_doubt",
        "is_rejected",
        "keys",
        "last_error",
        "limit_bytes",
        "log_append_time_ms",
        "order",
        "partition",
        "parts",
        "reported",
        "retry_at_ms",
        "size_bytes",
        "span",
        "times",
        "topic",
        "values",
        "waiters",
        "whole",
    )

    def __init__(
        self, topic: str, partition: int, limit_bytes: int, created_ms: int, order: float
    ) -> None:
        self.order = order
        self.span = 1.0
        """What lies between this order and the next: the parts' orders do."""
        self.last_error: KafkaError | None = None
        """Why it was sent again, or has to be."""
        self.whole: Batch | None = None
        """What was split, and this a part of it."""
        self.first = 0
        """Where in the whole it begins."""
        self.parts: list[Batch] = []
        """What it was split into: they are sent in its place, and it has their outcomes."""
        self.topic = topic
        self.partition = partition
        self.limit_bytes = limit_bytes
        self.created_ms = created_ms
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.times: list[int] = []
        self.headers: dict[int, Headers] = {}
        self.size_bytes = HEADER_SIZE
        self.base_sequence = NO_SEQUENCE
        self.attempts = 0
        self.retry_at_ms = 0
        self.in_doubt = False
        """An attempt failed in a way that leaves open whether it was written."""
        self.is_rejected = False
        """The broker said for certain that it has not written it: it may be numbered anew."""
        self.done = False
        self.error: KafkaError | None = None
        self.reported = False
        """Whether a caller has got the error."""
        self.base_offset = NO_OFFSET
        self.log_append_time_ms = -1
        self.waiters: list[object] = []
        """Futures of tasks that wait for the outcome."""
        self._encoded: bytearray | None = None
        self._identity = NOBODY
        self._has_keys = False

    @classmethod
    def of_encoded(
        cls, topic: str, partition: int, encoded: bytearray, created_ms: int, order: float
    ) -> Batch:
        """Make a batch of encoded records; only its sequence is set later."""
        header = read_header(encoded)
        batch = cls(topic, partition, len(encoded), created_ms, order)
        batch.size_bytes = len(encoded)
        batch.times = [header.max_timestamp] * header.record_count
        batch._encoded = encoded
        return batch

    def append(
        self, key: bytes | None, value: bytes | None, timestamp_ms: int, headers: Headers
    ) -> int:
        """Add a record that fits; returns its position in the batch."""
        values = self.values
        index = len(values)
        if key is not None:
            self._has_keys = True
        if headers:
            self.headers[index] = headers
        self.keys.append(key)
        values.append(value)
        self.times.append(timestamp_ms)
        return index

    def extend(
        self,
        keys: Sequence[bytes | None] | None,
        values: Sequence[bytes | None],
        timestamp_ms: int,
    ) -> int:
        """Add many records without headers; returns the position of the first."""
        index = len(self.values)
        if keys is None:
            self.keys += [None] * len(values)
        else:
            self._has_keys = True
            self.keys += keys
        self.values += values
        self.times += [timestamp_ms] * len(values)
        return index

    @property
    def record_count(self) -> int:
        """The number of records."""
        return len(self.times)

    def number(self, identity: Identity, base_sequence: int) -> None:
        """Give the batch its place among the producer's batches."""
        self.base_sequence = base_sequence
        self._identity = identity
        self.is_rejected = False
        if self._encoded is not None:
            set_producer_state(self._encoded, *identity, base_sequence)

    def encode(self, codec: Compression, *, transactional: bool) -> bytearray:
        """Encode the batch, and release the records."""
        if self._encoded is None:
            self._encoded = build_batch(
                self.keys if self._has_keys else None,
                self.values,
                self.times,
                self.headers,
                codec=codec,
                producer_id=self._identity.producer_id,
                producer_epoch=self._identity.epoch,
                base_sequence=self.base_sequence,
                transactional=transactional,
            )
            self.keys, self.values, self.headers = [], [], {}
        return self._encoded

    def finish(self, base_offset: int, log_append_time_ms: int, error: KafkaError | None) -> None:
        """The outcome is known; what was sent is no longer needed."""
        self.done = True
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.error = error
        self._encoded = None
        self.keys, self.values, self.headers = [], [], {}

    # -- parts ---------------------------------------------------------------------------------

    def split(self) -> list[Batch]:
        """Halves with the same records under the same numbers, to be sent in its place.

        Half by half finds the size that is taken within a few attempts; nobody has said what it is.
        """
        assert self._encoded is not None, "only a batch that was sent can be too large"
        columns = read_columns(self._encoded)
        middle = len(columns) // 2
        halves = []
        for start, end in ((0, middle), (middle, len(columns))):
            half = Batch(self.topic, self.partition, 0, self.created_ms, self.order)
            half.span = self.span / 2
            if start:
                half.order += half.span
            half.keys, half.values = columns.keys[start:end], columns.values[start:end]
            half.times = columns.timestamps[start:end]
            half.headers = {
                index - start: headers
                for index, headers in columns.headers.items()
                if start <= index < end
            }
            half._has_keys = any(key is not None for key in half.keys)
            half._identity = self._identity
            if self.base_sequence != NO_SEQUENCE:
                half.base_sequence = add_to_sequence(self.base_sequence, start)
            half.size_bytes = HEADER_SIZE + self.size_bytes // 2
            half.attempts = self.attempts
            half.first = self.first + start
            halves.append(half)
        whole = self.whole or self
        for half in halves:
            half.whole = whole
        at = whole.parts.index(self) if self.whole is not None else 0
        whole.parts[at : at + 1] = halves
        self._encoded = None
        return halves

    def part_finished(self, part: Batch) -> bool:
        """A part has its outcome; whether all have."""
        self.error = self.error or part.error
        self.done = all(each.done for each in self.parts)
        return self.done

    def _part_of(self, index: int) -> Batch:
        return self.parts[bisect_right(self.parts, index, key=lambda part: part.first) - 1]

    def error_of(self, index: int) -> KafkaError | None:
        """Why a record was not written, if that is so."""
        error = self._part_of(index).error if self.parts else self.error
        if error is not None:
            self.reported = True
        return error

    def metadata_of(self, index: int) -> RecordMetadata:
        """The metadata of a record; raises the error of the batch."""
        if self.parts:
            part = self._part_of(index)
            self.reported = self.reported or part.error is not None
            return part.metadata_of(index - part.first)
        if self.error is not None:
            self.reported = True
            raise self.error
        offset = self.base_offset if self.base_offset < 0 else self.base_offset + index
        timestamp_ms = self.log_append_time_ms
        return RecordMetadata(
            self.topic,
            self.partition,
            offset,
            self.times[index] if timestamp_ms < 0 else timestamp_ms,
        )


def size_of_headers(headers: Headers) -> int:
    """An upper bound of what the headers of a record take."""
    size = 0
    for name, content in headers:
        # A character takes up to four bytes.
        size += 4 * len(name) + HEADER_OVERHEAD_MAX + (len(content) if content else 0)
    return size
