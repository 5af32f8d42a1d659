"""The positions of a consumer, and the batches that are fetched ahead.

A position has two offsets: ``fetch_offset``, where the next Fetch begins, and ``offset``, that of
the next record to return. Between them are fetched batches, as bytes: records are decoded when they
are returned. A seek moves both, and increments ``era``, which marks answers under way as outdated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final, cast

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import RawHeader, crc_is_valid, verify_crc
from fencepost_protocol.records.columns import RecordColumns, read_columns
from fencepost_protocol.records.spans import read_spans

from fencepost_client.consumer.record_batch import EncodedBatch, RecordBatch, unreadable
from fencepost_client.errors import KafkaError
from fencepost_client.types import ConsumerRecord, Headers, TopicPartition

UNKNOWN: Final = -1
_FIRST_BYTES: Final = 256 << 10
"""Asked for where it is not known yet how large records are, and not all are wanted."""
_SPARE_SHARE: Final = 8
_SPARE_BYTES: Final = 16 << 10
"""By so much later records may be larger before they take a further request."""
_new_record: Final = cast("Callable[..., ConsumerRecord]", tuple.__new__)
"""Does not check what ``ConsumerRecord._make`` checks: that there are seven fields."""


@dataclass(slots=True)
class FetchedBatch:
    """A fetched batch; a marker or an aborted batch has no records, and moves the position."""

    next_offset: int
    records: memoryview | None
    leader_epoch: int = UNKNOWN
    header: RawHeader | None = None
    columns: RecordColumns | None = None
    taken: int = 0


@dataclass(slots=True, eq=False)
class Position:
    """The position in one assigned partition."""

    where: TopicPartition
    offset: int = UNKNOWN
    fetch_offset: int = UNKNOWN
    epoch: int = UNKNOWN
    """The leader epoch of the record before ``offset``, as far as that is known."""
    fetch_epoch: int = UNKNOWN
    """Likewise, before ``fetch_offset``."""
    checked_epoch: int = UNKNOWN
    """That of the leader whose log is known to hold what was fetched (KIP-320)."""
    topic_id: bytes = bytes(16)
    replica: int = UNKNOWN
    """The node that the leader wants to have read from (KIP-392), until ``replica_until_ms``."""
    replica_until_ms: int = 0
    era: int = 0
    is_paused: bool = False
    high_watermark: int = UNKNOWN
    last_stable_offset: int = UNKNOWN
    retry_at_ms: int = 0
    error: KafkaError | None = None
    """The error that the next call for records raises."""
    reset_to: int | None = None
    """The timestamp to look up, -2 for the beginning and -1 for the end, before it goes on."""
    ahead: deque[FetchedBatch] = field(default_factory=deque)
    ahead_bytes: int = 0
    until: int | None = None
    """Nothing is fetched from this offset on."""
    _counted_offsets: int = 0
    _counted_bytes: int = 0

    def seek(self, offset: int, epoch: int = UNKNOWN, until: int | None = None) -> None:
        """Go on from here; with the epoch of what was read before it, the log is checked first."""
        self.until = until
        self._counted_offsets = self._counted_bytes = 0
        self.offset = self.fetch_offset = offset
        self.epoch = self.fetch_epoch = epoch
        self.checked_epoch = UNKNOWN
        self.era += 1
        self.reset_to = None
        self.error = None
        self.ahead.clear()
        self.ahead_bytes = 0

    def seek_to_time(self, timestamp: int) -> None:
        """Go on from what belongs to this time, once that is known."""
        self.seek(UNKNOWN)
        self.reset_to = timestamp

    def add(self, batch: FetchedBatch) -> None:
        """A batch was fetched."""
        self.ahead.append(batch)
        self.ahead_bytes += len(batch.records) if batch.records is not None else 0
        self.fetch_offset = batch.next_offset
        if batch.leader_epoch >= 0:
            self.fetch_epoch = batch.leader_epoch

    def has_all(self) -> bool:
        """Whether all is fetched that was asked for."""
        return self.until is not None and self.fetch_offset >= self.until

    def came(self, from_offset: int, size_bytes: int) -> None:
        """So many bytes were fetched at once, from this offset up to ``fetch_offset``."""
        if self.fetch_offset > from_offset:
            self._counted_offsets += self.fetch_offset - from_offset
            self._counted_bytes += size_bytes

    def fetch_bytes(self, most: int) -> int:
        """How much to ask for: no more than what is left up to ``until`` seems to take."""
        if self.until is None:
            return most
        if not self._counted_offsets:
            return min(most, _FIRST_BYTES)
        left = max(self.until - self.fetch_offset, 0)
        seems = left * self._counted_bytes // self._counted_offsets
        return min(most, seems + seems // _SPARE_SHARE + _SPARE_BYTES)

    def must_be_checked(self, leader_epoch: int) -> bool:
        """Whether a leader of this epoch has yet to say that its log holds what was fetched."""
        if self.fetch_epoch == UNKNOWN:
            self.checked_epoch = leader_epoch
        return leader_epoch > self.checked_epoch

    def is_of(self, topic_id: bytes) -> None:
        """The topic has this id now: leader epochs of one with another id say nothing any more."""
        if topic_id != self.topic_id:
            if any(self.topic_id):
                self.epoch = self.fetch_epoch = self.checked_epoch = UNKNOWN
            self.topic_id = topic_id

    def _pass(self, batch: FetchedBatch) -> None:
        self.ahead.popleft()
        self.offset = batch.next_offset
        if batch.leader_epoch >= 0:
            self.epoch = batch.leader_epoch

    def _is_intact(self, batch: memoryview) -> bool:
        """Whether the CRC of the next batch is right; else it is fetched again after the error."""
        if crc_is_valid(batch):
            return True
        try:
            verify_crc(batch)
        except RemoteProtocolError as error:
            self.seek(self.offset, self.epoch, self.until)
            self.error = unreadable(self.where, self.offset, None, error)
        return False

    def take(self, limit: int, out: list[ConsumerRecord]) -> None:
        """Move records into ``out`` until it has ``limit``, and the position after them.

        A batch that cannot be read stays where it is, and ``error`` says so.
        """
        while self.ahead:
            batch = self.ahead[0]
            if batch.records is not None:
                if batch.columns is None:
                    if not self._is_intact(batch.records):
                        return
                    try:
                        batch.columns = read_columns(batch.records, header=batch.header)
                    except RemoteProtocolError as error:
                        self.error = unreadable(self.where, self.offset, batch.next_offset, error)
                        return
                    batch.taken = _first_from(batch.columns.offsets, self.offset)
                columns = batch.columns
                count = len(columns.offsets)
                start = batch.taken
                end = min(count, start + limit - len(out))
                out += _records(self.where, columns, start, end)
                batch.taken = end
                if end < count:
                    self.offset = columns.offsets[end]
                    if end > start and batch.leader_epoch >= 0:
                        self.epoch = batch.leader_epoch
                    return
                self.ahead_bytes -= len(batch.records)
            self._pass(batch)
            if len(out) >= limit:
                return

    def take_batches(self, limit: int, out: list[RecordBatch]) -> int:
        """Move whole batches into ``out`` until they have ``limit`` records; how many they have."""
        taken = 0
        while self.ahead and taken < limit:
            batch = self.ahead[0]
            if batch.records is not None:
                if not self._is_intact(batch.records):
                    return taken
                try:
                    spans = read_spans(batch.records, header=batch.header)
                except RemoteProtocolError as error:
                    self.error = unreadable(self.where, self.offset, batch.next_offset, error)
                    return taken
                first = _first_from(spans.offsets, self.offset)
                records = len(spans.offsets) - first
                if records:
                    out.append(RecordBatch(self.where, spans, first))
                    taken += records
                self.ahead_bytes -= len(batch.records)
            self._pass(batch)
        return taken

    def take_encoded(self, limit_bytes: int, out: list[EncodedBatch]) -> int:
        """Move whole batches into ``out`` as they are, until they have so many bytes; how many."""
        taken = 0
        while self.ahead and taken < limit_bytes:
            batch = self.ahead[0]
            if batch.records is not None:
                if not self._is_intact(batch.records):
                    return taken
                out.append(EncodedBatch(self.where, self.offset, batch.records))
                taken += len(batch.records)
                self.ahead_bytes -= len(batch.records)
            self._pass(batch)
        return taken


def _records(
    where: TopicPartition, columns: RecordColumns, start: int, end: int
) -> Iterator[ConsumerRecord]:
    """Records of columns, without a line of Python for each: a third of a constructor's cost."""
    found = columns.headers
    headers: Iterable[Headers] = repeat(())
    if found:
        headers = (found.get(index, ()) for index in range(start, end))
    parts: Sequence[Sequence[Any]]
    parts = (columns.offsets, columns.timestamps, columns.keys, columns.values)
    if end - start < len(columns.offsets):
        parts = [part[start:end] for part in parts]
    fields = zip(repeat(where.topic), repeat(where.partition), *parts, headers, strict=False)
    return map(_new_record, repeat(ConsumerRecord), fields)


def _first_from(offsets: Sequence[int], offset: int) -> int:
    """The first record that was asked for: a batch may begin before it."""
    if offsets and offsets[0] >= offset:
        return 0
    for index, found in enumerate(offsets):
        if found >= offset:
            return index
    return len(offsets)
