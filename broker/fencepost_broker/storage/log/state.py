"""The state of one partition's log, on which the functions of this room work.

``PartitionLog`` is this class with those functions as methods.
"""

from __future__ import annotations

from typing import Final, Protocol

from fencepost_broker.storage.log.checkpoints import format_epochs
from fencepost_broker.storage.log.config import LogConfig
from fencepost_broker.storage.log.disk import Disk, StorageError
from fencepost_broker.storage.log.epochs import LeaderEpochs
from fencepost_broker.storage.log.log_segments import LogSegments
from fencepost_broker.storage.log.names import LEADER_EPOCHS
from fencepost_broker.storage.log.producer_replay import rebuild_producers
from fencepost_broker.storage.log.producer_snapshots import ProducerSnapshots
from fencepost_broker.storage.log.producers import ProducerState
from fencepost_broker.storage.log.removals import Removals
from fencepost_broker.storage.log.results import (
    LogEvent,
    UpperBound,
)
from fencepost_broker.storage.log.segment import Segment

_HIGH_WATERMARK: Final = UpperBound.HIGH_WATERMARK


class RunningCompaction(Protocol):
    """A compaction that is under way."""

    def step(self) -> bool:
        """Do a piece of it; False when it is done."""

    def cancel(self) -> None:
        """Give it up; nothing of the log has changed."""


class LogState:
    """The segments, offsets and producers of one partition's log."""

    __slots__ = (
        "_recovery_point",
        "built_attributes",
        "cleaned_up_to",
        "compaction",
        "config",
        "counted_codecs",
        "disk",
        "epochs",
        "events",
        "failure",
        "flush_at_offset",
        "flushes",
        "folder",
        "follows_log_end",
        "generation",
        "high_watermark",
        "is_refusing",
        "is_uncleanable",
        "last_flush_ms",
        "last_stable_offset",
        "log_end_offset",
        "log_start_offset",
        "names_changed",
        "plain_attributes",
        "producers",
        "removals",
        "segments",
        "size_max",
        "snapshots",
        "topic_id",
        "walked_records_max",
    )

    def __init__(
        self,
        disk: Disk,
        folder: str,
        config: LogConfig,
        now_ms: int,
        removals: Removals | None = None,
    ) -> None:
        self.disk = disk
        self.folder = folder
        self.topic_id: bytes | None = None
        first = Segment(disk, folder, 0, now_ms, config.segment_index_bytes)
        first.roll_jitter_ms = config.jitter_ms(folder, 0)
        self.segments = LogSegments([first])
        self.log_start_offset = 0
        self.log_end_offset = 0
        self.high_watermark = 0
        self.last_stable_offset = 0
        self.follows_log_end = True
        self._recovery_point = 0
        self.flush_at_offset = 0
        """An append that brings the log's end here is one that ``flush.messages`` wants on disk."""
        self.cleaned_up_to: int | None = None
        """Where the next compaction begins; ``None`` before the first."""
        self.producers = ProducerState()
        self.epochs = LeaderEpochs()
        self.snapshots = ProducerSnapshots(disk, folder)
        self.removals = Removals(disk) if removals is None else removals
        self.events: list[LogEvent] = []
        """Events that :meth:`take_events` has not returned yet."""
        self.failure: StorageError | None = None
        """Set when what is on disk is not known any more (a failed fsync): nothing is appended."""
        self.is_refusing = False
        """The last append failed because of the disk."""
        self.last_flush_ms = now_ms
        self.flushes = 0
        """How many flushes were done, for metrics."""
        self.generation = 0
        self.names_changed = True
        self.compaction: RunningCompaction | None = None
        self.is_uncleanable = False
        """A batch in it cannot be read, so that compaction leaves it alone."""
        self.configure(config)

    def configure(self, config: LogConfig) -> None:
        """Use other settings from now on."""
        self.config = config
        self.plain_attributes = config.plain_attributes
        self.built_attributes = config.built_attributes
        self.size_max = config.size_max
        self.walked_records_max = config.walked_records_max
        self.counted_codecs = config.counted_codecs
        self.flush_at_offset = self._recovery_point + config.flush_messages

    @property
    def recovery_point(self) -> int:
        """Below it everything is on disk for certain."""
        return self._recovery_point

    @recovery_point.setter
    def recovery_point(self, offset: int) -> None:
        self._recovery_point = offset
        self.flush_at_offset = offset + self.config.flush_messages

    def write_epochs_with(self, epoch: int, start_offset: int) -> None:
        """Write to the file that an epoch begins, before its first record is appended."""
        changed = self.epochs.copy()
        if epoch > changed.latest:
            changed.assign(epoch, start_offset)
        self.write_epochs(changed)

    def write_epochs(self, epochs: LeaderEpochs) -> None:
        """Write other epochs, then use them."""
        self.disk.write(
            f"{self.folder}/{LEADER_EPOCHS}", format_epochs(epochs.entries()), durable=False
        )
        epochs.written = epochs.latest
        self.epochs = epochs

    def set_high_watermark(self, offset: int) -> bool:
        """Set the high watermark, within the log; return whether it or the stable offset moved."""
        offset = min(max(offset, self.log_start_offset), self.log_end_offset)
        before = self.high_watermark, self.last_stable_offset
        self.high_watermark = offset
        self.update_last_stable_offset()
        return before != (self.high_watermark, self.last_stable_offset)

    def show_all(self) -> None:
        """Set the high watermark to the log's end, until ``set_high_watermark`` sets a lower one.

        Transactions that ended above that lower one are still known then.
        """
        self.high_watermark = self.log_end_offset
        first = next(iter(self.producers.ongoing), self.log_end_offset)
        self.last_stable_offset = max(first, self.log_start_offset)

    def update_last_stable_offset(self) -> None:
        """Let the last stable offset follow the high watermark and the transactions."""
        producers = self.producers
        high_watermark = self.high_watermark
        if producers.unreplicated:
            producers.forget_replicated(high_watermark)
        unstable = producers.first_unstable_offset
        if unstable is None or unstable >= high_watermark:
            self.last_stable_offset = high_watermark
        else:
            self.last_stable_offset = max(unstable, self.log_start_offset)

    def rebuild_producers(self, now_ms: int, *, trust_missing: bool = False) -> None:
        """Learn the state of producers at the log's end from what is on disk."""
        for complaint in rebuild_producers(
            self.producers,
            self.segments,
            self.snapshots,
            self.log_end_offset,
            trust_missing=trust_missing,
        ):
            self.tell("snapshot-ignored", complaint, unexpected=True)
        self.producers.remove_expired(now_ms, self.config.producer_id_expiration_ms)

    def bound_offset(self, bound: UpperBound) -> int:
        """The first offset that a reader of that kind does not see."""
        if bound is _HIGH_WATERMARK:
            return self.high_watermark
        return self.last_stable_offset if bound is UpperBound.LAST_STABLE else self.log_end_offset

    def stop_compaction(self) -> None:
        """Give up the running compaction, if there is one: the log is about to change under it."""
        if self.compaction is not None:
            self.compaction.cancel()
            self.compaction = None

    def tell(self, kind: str, text: str, *, unexpected: bool = False, area: str = "log") -> None:
        """Note something for :meth:`take_events`."""
        self.events.append(LogEvent(kind, self.folder, text, unexpected, area))
