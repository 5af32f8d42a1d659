"""Compaction: of each key only the newest record stays.

One run has two passes. The first reads the dirty part (what was appended since the last run, up to
the first segment that must not be touched) and notes the last offset of each key. The second copies
all segments up to there, without the records whose key has a later one, into ``.cleaned`` segments;
small neighbours are put together. A finished one is renamed to ``.swap`` (from now on it counts: a
start after a crash completes the exchange), takes the place of its originals, and gets its name.

Never touched: the active segment, anything at or after the last stable offset (so every transaction
met here has ended), segments younger than ``min.compaction.lag.ms``.

These records stay although their key has a later record, or their value is null:

- Records without a value (tombstones) stay for ``delete.retention.ms``, so that slow consumers see
  them. The first run that meets one notes in its batch when it may go: the delete horizon
  (KIP-534).
- A marker stays as long as a record of its transaction does, then likewise until a horizon.
- The batch with the last record of each active producer stays, without records if need be: a
  restarted broker learns the sequence number from it.
- The last batch of a run stays, empty if need be, so that the log keeps its end offset.

Records of aborted transactions are dropped at once. A transaction's entry in the index is dropped
with its last record.

A run is a generator that pauses after each bounded piece of work, so that the thread can serve
clients in between. If the log is truncated or shortened meanwhile, the run is given up and its
``.cleaned`` files are removed; nothing else has changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from fencepost_protocol import limits
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.records.batch import BatchHeader, RawHeader, read_header
from fencepost_protocol.records.reader import open_records, read_fields
from fencepost_protocol.records.rewrite import empty_batch, rewrite_batch

from fencepost_broker.storage.log import upkeep
from fencepost_broker.storage.log.cleaned_transactions import CleanedTransactions
from fencepost_broker.storage.log.disk import CorruptFileError, StorageError
from fencepost_broker.storage.log.names import CLEANED, SWAP
from fencepost_broker.storage.log.reading import aborted_entries
from fencepost_broker.storage.log.segment import Segment

if TYPE_CHECKING:
    from fencepost_broker.storage.log.state import LogState

_STEP_BYTES: Final = 128 * 1024
_WRITE_BYTES: Final = 256 * 1024
_LONGEST_PLAIN_KEY: Final = 24
_DIGEST_SIZE: Final = 25


class Dirt(NamedTuple):
    """What a compaction of a log would have to do."""

    first_dirty: int
    first_uncleanable: int
    ratio: float
    """The dirty part of what would be read."""
    is_overdue: bool
    """A record has waited longer than ``max.compaction.lag.ms``."""


def measure(log: LogState, now_ms: int) -> Dirt | None:
    """Say how much there is to clean; ``None`` if there is nothing to do now."""
    config = log.config
    if not config.compact or len(log.segments) < 2:
        return None
    first_dirty = log.log_start_offset if log.cleaned_up_to is None else log.cleaned_up_to
    if not log.log_start_offset <= first_dirty <= log.log_end_offset:
        first_dirty = log.log_start_offset
    active = log.segments.active
    first_uncleanable = min(log.last_stable_offset, active.base_offset)
    dirty = [each for each in log.segments.from_offset(first_dirty) if each is not active]
    if config.min_compaction_lag_ms > 0:
        for segment in dirty:
            if segment.max_timestamp > now_ms - config.min_compaction_lag_ms:
                first_uncleanable = min(first_uncleanable, segment.base_offset)
                break
    if first_uncleanable <= first_dirty:
        return None
    cleanable = [segment for segment in dirty if segment.base_offset < first_uncleanable]
    dirty_bytes = sum(segment.size for segment in cleanable)
    clean_bytes = sum(
        segment.size for segment in log.segments if segment.base_offset < first_dirty
    ) - sum(segment.size for segment in cleanable if segment.base_offset < first_dirty)
    if not dirty_bytes:
        return None
    oldest = min(
        (stamp for segment in cleanable if (stamp := segment.first_batch_timestamp()) > 0),
        default=now_ms,
    )
    is_overdue = oldest < now_ms - config.max_compaction_lag_ms
    ratio = dirty_bytes / (dirty_bytes + clean_bytes)
    if ratio > config.min_cleanable_dirty_ratio or is_overdue:
        return Dirt(first_dirty, first_uncleanable, ratio, is_overdue)
    return None


class _Batch(NamedTuple):
    """A batch that a run has read."""

    header: BatchHeader
    raw_header: RawHeader
    data: memoryview


class Compaction:
    """One run over one log."""

    def __init__(self, log: LogState, dirt: Dirt, now_ms: int) -> None:
        self._log = log
        self._dirt = dirt
        self._now_ms = now_ms
        self._latest: dict[bytes, int] = {}
        """The last offset of each key of the dirty part."""
        self._mapped_up_to = dirt.first_dirty
        """Below it the keys of all dirty records are known."""
        self._cleaned: Segment | None = None
        self._read_bytes = 0
        self._written_bytes = 0
        self._steps = self._run()

    def step(self) -> bool:
        """Do a bounded piece of work; says whether there is more. ``StorageError`` ends the run."""
        try:
            next(self._steps)
        except StopIteration:
            return False
        except ProtocolError as error:
            raise CorruptFileError(self._log.folder, f"compaction: {error}") from error
        return True

    def cancel(self) -> None:
        """Give up the run; the log has not changed."""
        self._steps.close()
        if self._cleaned is not None:
            try:
                self._cleaned.remove()
            except StorageError as error:
                self._log.tell("storage-error", str(error), unexpected=True)
            self._cleaned = None

    def _run(self) -> Generator[None, None, None]:
        log = self._log
        yield from self._map_keys()
        end_offset = self._mapped_up_to
        before = sum(segment.size for segment in log.segments if segment.base_offset < end_offset)
        transactions = CleanedTransactions()
        for group in self._groups(end_offset):
            yield from self._clean_group(group, transactions)
        log.cleaned_up_to = end_offset
        log.tell(
            "compacted",
            f"cleaned up to offset {end_offset}: {before} bytes became {self._written_bytes}, "
            f"{len(self._latest)} keys",
        )

    def _batches(self, segment: Segment, from_offset: int) -> Iterator[_Batch | None]:
        """Yield a segment's batches, and ``None`` whenever it is time to pause."""
        file = segment.open()
        since_pause = 0
        for position, raw in segment.headers(segment.position_of(from_offset)):
            header = BatchHeader._make(raw)
            size = header.size_in_bytes
            yield _Batch(header, raw, memoryview(file.pread(position, size)))
            self._read_bytes += size
            since_pause += size
            if since_pause >= _STEP_BYTES:
                since_pause = 0
                yield None

    # --- the first pass -------------------------------------------------------------------------

    def _map_keys(self) -> Iterator[None]:
        log, dirt = self._log, self._dirt
        transactions = CleanedTransactions()
        transactions.add(aborted_entries(log, dirt.first_dirty, dirt.first_uncleanable))
        room = log.config.cleaner_keys_max
        for segment in log.segments.from_offset(dirt.first_dirty):
            if segment.base_offset >= dirt.first_uncleanable:
                break
            for batch in self._batches(segment, dirt.first_dirty):
                if batch is None:
                    yield
                    continue
                header = batch.header
                if header.base_offset >= dirt.first_uncleanable:
                    break
                if header.is_control:
                    transactions.on_marker(header, batch.data)
                elif not transactions.on_data(header) and not self._map_batch(batch, room):
                    return
                self._mapped_up_to = header.next_offset
            # Earlier runs may have left a gap at the segment's end.
            self._mapped_up_to = min(log.segments.end_of(segment), dirt.first_uncleanable)

    def _map_batch(self, batch: _Batch, room: int) -> bool:
        """Note the keys of a batch; says whether there was room for all of them."""
        first_dirty = self._dirt.first_dirty
        latest = self._latest
        base_offset = batch.header.base_offset
        body, shift = open_records(batch.data, batch.raw_header, limits.MAX_DECOMPRESSED_BYTES)
        view = memoryview(body)
        position = 0
        for _ in range(batch.header.record_count):
            position, _, delta, key_start, key_end, _, _, _ = read_fields(view, position, shift)
            offset = base_offset + delta
            if key_start < 0 or offset < first_dirty:
                continue
            key = _map_key(view[key_start:key_end])
            if key not in latest and len(latest) >= room:
                return False
            latest[key] = offset
        return True

    # --- the second pass ------------------------------------------------------------------------

    def _groups(self, end_offset: int) -> list[list[Segment]]:
        """Group neighbours that fit into one segment."""
        log = self._log
        config = log.config
        groups: list[list[Segment]] = []
        size = index_size = time_size = 0
        for segment in log.segments:
            if segment.base_offset >= end_offset:
                break
            last_offset = min(log.segments.end_of(segment), self._dirt.first_uncleanable) - 1
            fits = (
                groups
                and size + segment.size <= config.segment_bytes
                and index_size + segment.offsets.size <= config.segment_index_bytes
                and time_size + segment.times.size <= config.segment_index_bytes
                and (not segment.size or groups[-1][0].can_hold(last_offset))
            )
            if fits:
                groups[-1].append(segment)
                size += segment.size
                index_size += segment.offsets.size
                time_size += segment.times.size
            else:
                groups.append([segment])
                size, index_size, time_size = (
                    segment.size,
                    segment.offsets.size,
                    segment.times.size,
                )
        return groups

    def _clean_group(
        self, group: list[Segment], transactions: CleanedTransactions
    ) -> Iterator[None]:
        log = self._log
        cleaned = upkeep.new_segment(log, group[0].base_offset, self._now_ms, state=CLEANED)
        cleaned.remove()  # what an earlier run may have left
        self._cleaned = cleaned
        cleaned.open().pwrite(0, b"")
        transactions.kept = []
        last_offsets = {
            producer_id: (producer.last_data_offset, producer.epoch)
            for producer_id, producer in log.producers.producers.items()
        }
        out = bytearray()
        batches: list[tuple[int, int, int]] = []
        for segment in group:
            end_offset = log.segments.end_of(segment)
            transactions.add(aborted_entries(log, segment.base_offset, end_offset))
            for batch in self._batches(segment, segment.base_offset):
                if batch is None:
                    yield
                    continue
                kept = self._filter(batch, transactions, last_offsets)
                if kept is None:
                    continue
                out += kept
                header = read_header(kept)  # its largest timestamp may have gone with a record
                batches.append((header.last_offset, len(kept), header.max_timestamp))
                if len(out) >= _WRITE_BYTES:
                    self._write(cleaned, out, batches)
                    out, batches = bytearray(), []
                    yield
        if out:
            self._write(cleaned, out, batches)
        for entry in transactions.kept:
            cleaned.transactions.append(entry)
        cleaned.write_out_indexes(final=True)
        cleaned.appended_ms = group[-1].appended_ms
        yield
        _sync(cleaned)
        self._swap(cleaned, group)
        self._cleaned = None
        yield

    def _write(
        self, cleaned: Segment, data: bytearray, batches: list[tuple[int, int, int]]
    ) -> None:
        cleaned.write(data, batches, self._log.config.index_interval_bytes)
        self._written_bytes += len(data)

    def _filter(
        self,
        batch: _Batch,
        transactions: CleanedTransactions,
        last_offsets: dict[int, tuple[int, int]],
    ) -> memoryview | bytearray | None:
        """Return what stays of a batch; ``None`` if nothing does."""
        header = batch.header
        horizon = header.delete_horizon_ms
        is_past = horizon is not None and horizon <= self._now_ms
        is_free_marker = False
        if header.is_control:
            is_free_marker = transactions.on_marker(header, batch.data)
            discard = is_free_marker and is_past
        else:
            discard = transactions.on_data(header)
        is_last = header.next_offset == self._dirt.first_uncleanable
        keeps_shell = is_last or self._is_last_of_producer(header, last_offsets)
        if discard:
            return empty_batch(header) if keeps_shell else None
        if header.is_control:
            if not header.record_count:
                return batch.data if keeps_shell else None
            if is_free_marker and horizon is None:
                return self._with_horizon(batch.data, None)
            return batch.data
        retained, has_tombstone = self._retained(batch, is_past=is_past)
        if not retained:
            return empty_batch(header) if keeps_shell else None
        if has_tombstone and horizon is None:
            return self._with_horizon(batch.data, retained)
        if len(retained) == header.record_count:
            return batch.data
        return rewrite_batch(batch.data, retained.__contains__)

    def _with_horizon(self, batch: memoryview, retained: set[int] | None) -> bytearray:
        return rewrite_batch(
            batch,
            None if retained is None else retained.__contains__,
            delete_horizon_ms=self._now_ms + self._log.config.delete_retention_ms,
        )

    def _retained(self, batch: _Batch, *, is_past: bool) -> tuple[set[int], bool]:
        """Return the offsets of the records that stay, and whether one of them has no value."""
        latest = self._latest
        mapped_up_to = self._mapped_up_to
        retained = set()
        has_tombstone = False
        base_offset = batch.header.base_offset
        body, shift = open_records(batch.data, batch.raw_header, limits.MAX_DECOMPRESSED_BYTES)
        view = memoryview(body)
        position = 0
        for _ in range(batch.header.record_count):
            position, _, delta, key_start, key_end, value_start, _, _ = read_fields(
                view, position, shift
            )
            offset = base_offset + delta
            if offset < mapped_up_to:
                if key_start < 0:
                    continue
                if offset < latest.get(_map_key(view[key_start:key_end]), -1):
                    continue
                if value_start < 0 and is_past:
                    continue
            retained.add(offset)
            has_tombstone = has_tombstone or value_start < 0
        return retained, has_tombstone

    @staticmethod
    def _is_last_of_producer(header: BatchHeader, last_offsets: dict[int, tuple[int, int]]) -> bool:
        if header.producer_id < 0:
            return False
        last = last_offsets.get(header.producer_id)
        if last is None:
            return False
        last_data_offset, epoch = last
        if last_data_offset >= 0:
            return header.last_offset == last_data_offset
        return header.is_control and header.producer_epoch == epoch

    def _swap(self, cleaned: Segment, group: list[Segment]) -> None:
        """Put the cleaned segment in the place of its originals."""
        log = self._log
        present = log.segments.from_offset(cleaned.base_offset)
        assert present[: len(group)] == group, "the log changed under a run"
        cleaned.rename(SWAP)
        self._cleaned = None  # from here on it counts
        log.segments.replace(group, cleaned)
        upkeep.doom(log, group, self._now_ms, keep_snapshot=cleaned.base_offset)
        cleaned.rename("")
        cleaned.open().seal()
        log.names_changed = True


def _sync(segment: Segment) -> None:
    """Make a segment durable: it replaces others, which are removed soon."""
    segment.open().sync_later()()
    for index in (segment.offsets, segment.times, segment.transactions):
        if index.count:
            index.open().sync_later()()


def _map_key(key: memoryview) -> bytes:
    """Return a short key itself, or the digest of a long one, which no short key can equal."""
    if len(key) <= _LONGEST_PLAIN_KEY:
        return bytes(key)
    return hashlib.blake2b(key, digest_size=_DIGEST_SIZE).digest()
