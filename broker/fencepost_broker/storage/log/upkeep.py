"""What keeps a log's segments in order: rolling, flushing, retention, truncation, removal.

A segment that goes is first taken out of the log. Then its files are renamed to ``.deleted``, and
removed after ``file.delete.delay.ms``, so that no file vanishes while another process reads it or
backs it up. A file that cannot be renamed stays. The next start finds it, and those that a crash
has left: they are below the log's start by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fencepost_broker.storage.log.config import NO_LIMIT
from fencepost_broker.storage.log.disk import StorageError, Sync
from fencepost_broker.storage.log.epochs import LeaderEpochs
from fencepost_broker.storage.log.log_segments import LogSegments
from fencepost_broker.storage.log.names import DELETED, SEGMENT_SUFFIXES
from fencepost_broker.storage.log.segment import UNTIMED, Segment

if TYPE_CHECKING:
    from fencepost_broker.storage.log.state import LogState


class FlushTask(NamedTuple):
    """What a flush has to make durable. ``run`` may be called in another thread."""

    up_to_offset: int
    generation: int
    active: Segment
    """The active segment when the flush began: its indexes are not synced with it."""
    syncs: list[Sync]

    def run(self) -> None:
        """Sync; a ``StorageError`` goes back to :meth:`PartitionLog.flush_failed`."""
        for sync in self.syncs:
            sync()


# --- rolling ----------------------------------------------------------------------------------


def segment_for(
    log: LogState,
    size: int,
    first_offset: int,
    last_offset: int,
    now_ms: int,
    max_timestamp: int,
) -> Segment:
    """Return the segment that a batch goes into, a new one if the active one is full or old."""
    segment = log.segments.active
    config = log.config
    if not segment.can_hold(last_offset) or (
        segment.size
        and (
            segment.size + size > config.segment_bytes
            or (
                now_ms - segment.created_ms > config.segment_ms - segment.roll_jitter_ms
                if segment.roll_base == UNTIMED
                else max_timestamp - segment.roll_base > config.segment_ms
            )
            or segment.index_is_full
        )
    ):
        segment = roll(log, max(log.log_end_offset, first_offset), now_ms)
    if not segment.size:
        log.names_changed = True
        if config.preallocate:
            segment.open().reserve(config.segment_bytes)
    return segment


def roll(log: LogState, base_offset: int, now_ms: int) -> Segment:
    """Begin a new segment. Everything that may fail comes before the first change."""
    full = log.segments.active
    full.cut_torn()
    full.write_out_indexes(final=True)
    if full.size:
        if log.recovery_point >= base_offset:
            # Recovery will not look at this segment again, and no flush has synced its indexes.
            for sync in full.index_syncs():
                sync()
        log.snapshots.write(log.producers, log.log_end_offset)
        full.seal(preallocated=log.config.preallocate)
    else:
        full.forget()
        full.remove()
    segment = new_segment(log, base_offset, now_ms)
    log.segments.roll(segment)
    log.names_changed = True
    return segment


def new_segment(
    log: LogState,
    base_offset: int,
    now_ms: int,
    *,
    state: str = "",
    sizes: dict[str, int] | None = None,
) -> Segment:
    """Make a segment; without ``sizes`` it has no files yet."""
    config = log.config
    segment = Segment(
        log.disk,
        log.folder,
        base_offset,
        now_ms,
        config.segment_index_bytes,
        sizes=sizes,
        state=state,
    )
    segment.roll_jitter_ms = config.jitter_ms(log.folder, base_offset)
    return segment


# --- flushing ---------------------------------------------------------------------------------


def begin_flush(log: LogState) -> FlushTask:
    """See ``PartitionLog.begin_flush``."""
    syncs = []
    active = log.segments.active
    for segment in log.segments.from_offset(log.recovery_point):
        if not segment.size:
            continue
        syncs.append(segment.open().sync_later())
        if segment is not active:
            # The active segment's indexes are made anew after a crash; these are not.
            segment.write_out_indexes()
            syncs += segment.index_syncs()
    if log.names_changed and syncs:
        syncs += [log.disk.sync_folder_later(path) for path in (log.folder, "")]
        log.names_changed = False
    return FlushTask(log.log_end_offset, log.generation, active, syncs)


# --- retention --------------------------------------------------------------------------------


def advance_log_start(log: LogState, offset: int) -> None:
    """Let the log begin later; the segments that this frees go with the next retention."""
    if offset <= log.log_start_offset:
        return
    log.log_start_offset = offset
    epochs = log.epochs.copy()
    if epochs.truncate_from_start(offset):
        _write_epochs(log, epochs)
    log.set_high_watermark(log.high_watermark)


def apply_retention(log: LogState, now_ms: int) -> int:
    """Remove segments that are too old or too many, or below the log's start; return how many.

    Only segments that are wholly below the high watermark go. If all of them are too old, a new one
    is begun first.
    """
    config = log.config
    count = log.segments.count_below(log.log_start_offset)
    if config.delete:
        count = max(count, _too_old(log, now_ms), _too_many(log))
    if log.high_watermark < log.log_end_offset:
        count = min(count, log.segments.count_below(log.high_watermark))
    if not count:
        return 0
    if count == len(log.segments):
        if not log.segments.active.size:
            count -= 1
        else:
            roll(log, log.log_end_offset, now_ms)
    if not count:
        return 0
    gone = log.segments.drop_first(count)
    start = log.segments.first.base_offset
    log.tell("retention", f"removed {count} segments; the log start offset is {start}")
    advance_log_start(log, start)
    log.stop_compaction()
    doom(log, gone, now_ms)
    return count


def _too_old(log: LogState, now_ms: int) -> int:
    if log.config.retention_ms < 0:
        return 0
    count = 0
    for segment in log.segments:
        timestamp = segment.max_timestamp
        last_ms = timestamp if timestamp >= 0 else segment.appended_ms
        if not segment.size and segment is log.segments.active:
            break
        if now_ms - last_ms <= log.config.retention_ms:
            break
        count += 1
    return count


def _too_many(log: LogState) -> int:
    if log.config.retention_bytes == NO_LIMIT:
        return 0
    excess = log.segments.size_in_bytes - log.config.retention_bytes
    count = 0
    for segment in log.segments:
        excess -= segment.size
        if excess < 0:
            break
        count += 1
    return count


# --- removal ----------------------------------------------------------------------------------


def doom(
    log: LogState, segments: list[Segment], now_ms: int, *, keep_snapshot: int | None = None
) -> None:
    """Rename the files of segments that are off the log, and note when they go.

    A segment's snapshot goes with it, but for the one at the offset ``keep_snapshot``. What cannot
    be renamed stays: its name may be in use again by the time it were removed.
    """
    due_ms = now_ms + log.config.file_delete_delay_ms
    for segment in segments:
        try:
            log.removals.add(due_ms, _set_aside(log, segment, keep_snapshot))
        except StorageError as error:
            log.tell("storage-error", str(error), unexpected=True)


def _set_aside(log: LogState, segment: Segment, keep_snapshot: int | None = None) -> list[str]:
    """Rename the files of a segment; return their new names."""
    segment.rename(DELETED)
    paths = [segment.path(suffix) for suffix in SEGMENT_SUFFIXES]
    if segment.base_offset != keep_snapshot:
        snapshot = log.snapshots.set_aside(segment.base_offset)
        if snapshot is not None:
            paths.append(snapshot)
    return paths


# --- truncation -------------------------------------------------------------------------------


def truncate_to(log: LogState, offset: int, now_ms: int) -> None:
    """See ``PartitionLog.truncate_to``."""
    if offset >= log.log_end_offset:
        # A leader that wrote nothing knows an epoch that no other replica has. As long as it names
        # that epoch, the next leader tells it to truncate. The file may keep it: see LeaderEpochs.
        log.epochs.truncate_from_end(log.log_end_offset)
        return
    if offset < log.segments.first.base_offset:
        restart_at(log, offset, now_ms)
        return
    end = log.log_end_offset
    log.generation += 1
    log.stop_compaction()
    try:
        # First of all: a snapshot of what is cut off must never be taken for one of what comes.
        log.snapshots.remove_above(offset)
        while (segment := log.segments.active).base_offset > offset:
            paths = _set_aside(log, segment)
            log.removals.add(now_ms + log.config.file_delete_delay_ms, paths)
            log.segments.drop_active()
        # Otherwise, a power cut could bring these files back beside those of new records.
        log.disk.sync_folder_later(log.folder)()
        segment.truncate(segment.position_of(offset), offset)
    except StorageError as error:
        log.failure = error  # half of it is done; the next start finds out which half
        raise
    log.log_end_offset = offset
    log.recovery_point = min(log.recovery_point, offset)
    log.log_start_offset = min(log.log_start_offset, offset)
    epochs = log.epochs.copy()
    if epochs.truncate_from_end(offset):
        _write_epochs(log, epochs)
    log.rebuild_producers(now_ms)
    log.set_high_watermark(min(log.high_watermark, offset))
    text = f"truncated from offset {end} to {offset}: the leader does not have these records"
    log.tell("truncated", text)


def restart_at(log: LogState, offset: int, now_ms: int) -> None:
    """See ``PartitionLog.restart_at``."""
    log.generation += 1
    log.stop_compaction()
    try:
        log.snapshots.remove_above(-1)
        # The new segment may have the name of an old one.
        for segment in reversed(list(log.segments)):
            paths = _set_aside(log, segment)
            log.removals.add(now_ms + log.config.file_delete_delay_ms, paths)
    except StorageError as error:
        log.failure = error
        raise
    log.segments = LogSegments([new_segment(log, offset, now_ms)])
    log.log_start_offset = log.log_end_offset = log.recovery_point = offset
    log.producers.clear()
    _write_epochs(log, LeaderEpochs())
    log.set_high_watermark(offset)
    log.cleaned_up_to = None
    log.tell(
        "truncated", f"all records were removed: the log starts at offset {offset}, as its leader's"
    )


def _write_epochs(log: LogState, epochs: LeaderEpochs) -> None:
    """Use other epochs even if they cannot be written: the file is only less exact then."""
    try:
        log.write_epochs(epochs)
    except StorageError as error:
        log.epochs = epochs
        log.tell("storage-error", str(error), unexpected=True)


# --- the end ----------------------------------------------------------------------------------


def close(log: LogState) -> None:
    """See ``PartitionLog.close``."""
    log.stop_compaction()
    if log.log_end_offset > log.segments.first.base_offset:
        log.snapshots.write(log.producers, log.log_end_offset)
    for segment in log.segments:
        is_active = segment is log.segments.active
        segment.close(cut=is_active and segment.file is not None)
