"""The log of one partition, as the rest of the broker uses it.

``log_start_offset <= last_stable_offset <= high_watermark <= log_end_offset``. With one replica the
high watermark follows the log's end by itself. With several, replication clears
``follows_log_end`` and calls :meth:`set_high_watermark`.

The work is done by functions over :class:`.LogState` in other modules: :mod:`.appending` and
:mod:`.reading` (whose functions are assigned as methods, to save a call on the hot paths),
:mod:`.lookup`, :mod:`.loading`, :mod:`.upkeep` (rolling, retention, truncation) and
:mod:`.compaction`.
"""

from __future__ import annotations

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import NO_TIMESTAMP

from fencepost_broker.storage.log import appending, lookup, reading, upkeep
from fencepost_broker.storage.log.disk import StorageError
from fencepost_broker.storage.log.producers import VerificationGuard
from fencepost_broker.storage.log.results import (
    EpochEnd,
    FoundOffset,
    LogEvent,
    ProducerDescription,
    UpperBound,
)
from fencepost_broker.storage.log.state import LogState
from fencepost_broker.storage.log.upkeep import FlushTask


class PartitionLog(LogState):
    """One partition's log. Made by ``loading.load_partition`` or by a ``LogManager``."""

    __slots__ = ()

    # --- appending ------------------------------------------------------------------------------

    append_as_leader = appending.append_as_leader
    examine_first = appending.examine_first
    append_built = appending.append_built
    append_marker = appending.append_marker
    append_as_follower = appending.append_as_follower

    def begin_leader_epoch(self, epoch: int) -> None:
        """Note that this replica leads from now on: the epoch begins at the log's end."""
        if epoch > self.epochs.latest:
            self.epochs.assign(epoch, self.log_end_offset)

    # --- offsets ------------------------------------------------------------------------------

    @property
    def latest_epoch(self) -> int:
        """The newest leader epoch that is known here; -1 before the first."""
        return self.epochs.latest

    @property
    def size_in_bytes(self) -> int:
        """The size of all segments together."""
        return self.segments.size_in_bytes

    @property
    def unflushed_messages(self) -> int:
        """How many offsets are not known to be on disk."""
        return self.log_end_offset - self.recovery_point

    def flush_is_due(self, now_ms: int) -> bool:
        """Whether a rolled segment, ``flush.messages`` or ``flush.ms`` asks for a flush now."""
        unflushed = self.log_end_offset - self.recovery_point
        return unflushed > 0 and (
            self.recovery_point < self.segments.active.base_offset  # a segment was rolled
            or self.log_end_offset >= self.flush_at_offset
            or now_ms - self.last_flush_ms >= self.config.flush_ms
        )

    def begin_flush(self) -> FlushTask:
        """Say what has to be synced for all that is in the log now to be durable.

        Run the task, wherever, then call :meth:`flushed` or :meth:`flush_failed`. An append is
        durable when a flush that began after it is done.
        """
        return upkeep.begin_flush(self)

    def flushed(self, task: FlushTask, now_ms: int) -> None:
        """Take note that a flush is done."""
        if task.generation == self.generation:
            durable_offset = task.up_to_offset
            segments = self.segments
            rolled = task.active is not segments.active
            if rolled and segments.at(durable_offset).base_offset == durable_offset:
                # It has been rolled meanwhile. With this recovery point neither the next flush nor
                # a recovery would look at it, and its indexes may need one of them.
                durable_offset = task.active.base_offset
            self.recovery_point = max(self.recovery_point, durable_offset)
        self.last_flush_ms = now_ms
        self.flushes += 1

    def flush_failed(self, error: StorageError) -> None:
        """Stop appending: after a failed sync the kernel may have dropped what was not written."""
        self.failure = error

    # --- reading ------------------------------------------------------------------------------

    read = reading.read

    def bytes_available(self, offset: int, bound: UpperBound) -> int:
        """About how many bytes a read from ``offset`` could give: for ``fetch.min.bytes``."""
        return reading.bytes_available(self, offset, self.bound_offset(bound))

    def offset_for_timestamp(self, timestamp_ms: int) -> FoundOffset | None:
        """Find the first record that is not older than ``timestamp_ms``."""
        return lookup.offset_for_timestamp(self, timestamp_ms)

    def offset_of_max_timestamp(self) -> FoundOffset | None:
        """Find the (first) record with the largest timestamp."""
        return lookup.offset_of_max_timestamp(self)

    def earliest_offset(self) -> FoundOffset:
        """What ListOffsets answers for -2."""
        start = self.log_start_offset
        return FoundOffset(start, NO_TIMESTAMP, self.epochs.epoch_of(start))

    def latest_offset(self, bound: UpperBound = UpperBound.HIGH_WATERMARK) -> FoundOffset:
        """What ListOffsets answers for -1."""
        return FoundOffset(self.bound_offset(bound), NO_TIMESTAMP, self.epochs.latest)

    def offset_for_leader_epoch(self, epoch: int) -> EpochEnd:
        """Where an epoch ends; (-1, -1) when nothing is known of it (OffsetForLeaderEpoch)."""
        return self.epochs.end_of(epoch, self.log_end_offset)

    def diverging_epoch(self, offset: int, last_fetched_epoch: int) -> EpochEnd | None:
        """Where a fetcher's log leaves ours, if it does (KIP-595's Fetch)."""
        return lookup.diverging_epoch(self, offset, last_fetched_epoch)

    def describe_producers(self) -> list[ProducerDescription]:
        """What DescribeProducers answers."""
        return self.producers.describe()

    # --- producers and transactions -----------------------------------------------------------

    def has_ongoing_transaction(self, producer_id: int, producer_epoch: int) -> bool:
        """Whether this producer has a transaction open here."""
        return self.producers.has_ongoing_transaction(producer_id, producer_epoch)

    def is_fenced(self, producer_id: int, producer_epoch: int) -> bool:
        """Whether a newer epoch of this producer was seen here."""
        return self.producers.is_fenced(producer_id, producer_epoch)

    def open_transaction_of(self, producer_id: int) -> int | None:
        """The first offset of what this producer has open here, in any epoch."""
        producer = self.producers.producers.get(producer_id)
        return (
            None
            if producer is None or producer.transaction_start < 0
            else (producer.transaction_start)
        )

    def start_verification(
        self,
        producer_id: int,
        producer_epoch: int,
        sequence: int,
        *,
        supports_epoch_bump: bool,
        now_ms: int,
    ) -> VerificationGuard | None:
        """Begin the verification of a transactional append (KIP-890).

        ``None``: the transaction is open here, append at once. Otherwise ask the coordinator, then
        append with this guard; a marker that arrives in between makes it worthless.
        """
        return self.producers.start_verification(
            producer_id,
            producer_epoch,
            sequence,
            supports_epoch_bump=supports_epoch_bump,
            now_ms=now_ms,
        )

    def is_verified(
        self, producer_id: int, producer_epoch: int, guard: VerificationGuard | None
    ) -> bool:
        """Whether no marker has come since ``start_verification`` gave this guard."""
        return self.producers.is_verified(producer_id, producer_epoch, guard)

    # --- changing the log ---------------------------------------------------------------------

    def roll(self, now_ms: int) -> None:
        """Go on in a new segment, unless the active one is empty."""
        if self.segments.active.size:
            upkeep.roll(self, self.log_end_offset, now_ms)

    def delete_records(self, offset: int) -> ErrorCode:
        """Let the log begin at ``offset`` (-1: the high watermark), as DeleteRecords does."""
        if offset == -1:
            offset = self.high_watermark
        if offset < 0 or offset > self.high_watermark:
            return ErrorCode.OFFSET_OUT_OF_RANGE
        upkeep.advance_log_start(self, offset)
        return ErrorCode.NONE

    def truncate_to(self, offset: int, now_ms: int) -> None:
        """Drop everything from ``offset`` on: what the leader does not have."""
        upkeep.truncate_to(self, offset, now_ms)

    def restart_at(self, offset: int, now_ms: int) -> None:
        """Drop everything and go on at ``offset``, the start of the leader's log."""
        upkeep.restart_at(self, offset, now_ms)

    def apply_retention(self, now_ms: int) -> int:
        """Remove segments that are too old or too many, or deleted; return how many."""
        return upkeep.apply_retention(self, now_ms)

    def forget_producer(self, producer_id: int) -> bool:
        """Forget a producer as if it had expired; return whether it had no open transaction."""
        return self.producers.forget(producer_id)

    def expire_producers(self, now_ms: int) -> int:
        """Forget producers that were idle for ``producer.id.expiration.ms``."""
        return self.producers.remove_expired(now_ms, self.config.producer_id_expiration_ms)

    def take_events(self) -> list[LogEvent]:
        """Return what happened since the last call."""
        events = self.events
        if events:
            self.events = []
        return events

    def reopen_files(self) -> None:
        """Open all files again, since the disk gives others for them now."""
        self.stop_compaction()
        for segment in self.segments:
            segment.reopen(is_sealed=segment is not self.segments.active)

    def close(self) -> None:
        """Write everything that the next start reads: indexes, a producer snapshot."""
        upkeep.close(self)
