"""Opening a partition: quickly after a clean stop, by reading it again after any other.

The files of a clean stop are trusted: they are listed, the last index entry of the active segment
tells where to look for the log's end, and the newest producer snapshot is the state. After an
unclean stop the segments from the recovery point on are read: every batch's CRC is computed,
indexes, leader epochs and producers are made anew, and the log ends before the first batch that is
not whole. All bytes after it are cut, since nothing promised that they were on disk.

In both cases a compaction or removal that the last process had begun is finished or undone, and an
index that is missing or does not fit its segment is made anew. Events tell what was done.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fencepost_protocol.records.batch import BatchHeader, crc_is_valid

from fencepost_broker.storage.log.checkpoints import parse_epochs, parse_partition_metadata
from fencepost_broker.storage.log.config import LogConfig
from fencepost_broker.storage.log.disk import CorruptFileError, Disk
from fencepost_broker.storage.log.epochs import LeaderEpochs
from fencepost_broker.storage.log.log_segments import LogSegments
from fencepost_broker.storage.log.names import (
    CLEANED,
    DELETED,
    LEADER_EPOCHS,
    LOG,
    OFFSET_INDEX,
    PARTITION_METADATA,
    SEGMENT_SUFFIXES,
    SNAPSHOT,
    SWAP,
    TIME_INDEX,
    TRANSACTION_INDEX,
    SegmentFile,
    file_name,
    parse_file_name,
)
from fencepost_broker.storage.log.partition import PartitionLog
from fencepost_broker.storage.log.producer_replay import note_replayed, rebuild_producers
from fencepost_broker.storage.log.producer_snapshots import ProducerSnapshots
from fencepost_broker.storage.log.producers import ProducerState
from fencepost_broker.storage.log.removals import Removals
from fencepost_broker.storage.log.segment import UNTIMED, Segment
from fencepost_broker.storage.log.state import LogState
from fencepost_broker.storage.log.upkeep import new_segment

_OFFSET_ENTRY_SIZE: Final = 8
_TIME_ENTRY_SIZE: Final = 12


class LoadOptions(NamedTuple):
    """What the checkpoints of the data directory say of a partition when it is opened."""

    clean_stop: bool = True
    log_start_offset: int = 0
    recovery_point: int = 0
    high_watermark: int | None = None
    """``None``: everything in the log is replicated (there is one replica)."""
    cleaned_up_to: int | None = None


class _Files:
    """The files of a partition's folder by what they are."""

    def __init__(self) -> None:
        self.segments: dict[int, dict[str, int]] = {}
        self.snapshots: list[int] = []
        self.swapped: dict[int, list[SegmentFile]] = {}
        self.leftovers: list[str] = []
        self.names: set[str] = set()


def load_partition(
    disk: Disk,
    folder: str,
    config: LogConfig,
    now_ms: int,
    options: LoadOptions | None = None,
    removals: Removals | None = None,
) -> PartitionLog:
    """Open the log in a folder, which may be empty."""
    options = options or LoadOptions()
    log = PartitionLog(disk, folder, config, now_ms, removals)
    files = _list(disk, folder)
    _load_texts(log, files)  # first: it may refuse the folder, which is left as it is then
    if files.swapped or files.leftovers:
        files = _finish_what_was_begun(log, files, now_ms)
    written_epochs = log.epochs.entries()
    # A killed process may have created files without syncing the folder.
    log.names_changed = not files.segments or not options.clean_stop
    log.snapshots = ProducerSnapshots(disk, folder, files.snapshots)
    log.cleaned_up_to = options.cleaned_up_to
    _load_segments(log, files, options, now_ms)
    log.log_start_offset = max(options.log_start_offset, log.segments.first.base_offset)
    active = log.segments.active
    position, log.log_end_offset = active.end()
    if not options.clean_stop:
        _recover(log, options.recovery_point, now_ms)
    elif position != active.size or log.log_end_offset < options.recovery_point:
        _recover(log, active.base_offset, now_ms)  # it was whole when it was closed
    if log.log_end_offset < options.recovery_point:
        log.tell(
            "records-lost",
            f"the log ends at offset {log.log_end_offset}, and was on disk up to offset "
            f"{options.recovery_point}: the records between them are lost",
            unexpected=True,
        )
    if log.log_end_offset < log.log_start_offset:
        _start_over(log, now_ms)
    log.recovery_point = (
        log.log_end_offset
        if options.clean_stop
        else min(options.recovery_point, log.log_end_offset)
    )
    _settle_epochs(log, written_epochs)
    log.rebuild_producers(now_ms, trust_missing=options.clean_stop)
    log.follows_log_end = options.high_watermark is None
    if options.high_watermark is None:
        log.show_all()
    else:
        log.set_high_watermark(options.high_watermark)
    return log


# --- files ------------------------------------------------------------------------------------


def _list(disk: Disk, folder: str) -> _Files:
    files = _Files()
    for name, size, is_folder in disk.list_folder(folder):
        if is_folder:
            continue
        files.names.add(name)
        parsed = parse_file_name(name)
        if parsed is None:
            if name.endswith(DELETED):
                files.leftovers.append(name)
        elif parsed.state in (DELETED, CLEANED):
            files.leftovers.append(name)
        elif parsed.state == SWAP:
            files.swapped.setdefault(parsed.offset, []).append(parsed)
        elif parsed.suffix == SNAPSHOT:
            files.snapshots.append(parsed.offset)
        elif parsed.suffix in SEGMENT_SUFFIXES:
            files.segments.setdefault(parsed.offset, {})[parsed.suffix] = size
    return files


def _finish_what_was_begun(log: LogState, files: _Files, now_ms: int) -> _Files:
    """Undo what compaction had not finished, finish what it had, remove what was renamed.

    A ``.log.swap`` is complete: its segment takes the place of those whose offsets it spans.
    """
    disk, folder = log.disk, log.folder
    for name in files.leftovers:
        disk.remove(f"{folder}/{name}")
    for base_offset, parts in sorted(files.swapped.items()):
        if not any(part.suffix == LOG for part in parts):
            # The .log goes last, so it has its final name already: the others follow.
            for part in parts:
                disk.rename(
                    f"{folder}/{file_name(base_offset, part.suffix, SWAP)}",
                    f"{folder}/{file_name(base_offset, part.suffix)}",
                )
            continue
        sizes = {
            part.suffix: disk.open(f"{folder}/{file_name(base_offset, part.suffix, SWAP)}").size()
            for part in parts
        }
        swapped = new_segment(log, base_offset, now_ms, state=SWAP, sizes=sizes)
        end_offset = swapped.next_offset()
        for old in [old for old in files.segments if base_offset <= old < end_offset]:
            for suffix in files.segments.pop(old):
                disk.remove(f"{folder}/{file_name(old, suffix)}")
        swapped.rename("")
        log.tell(
            "compaction-finished",
            f"put the compacted segment at offset {base_offset} in its place",
            unexpected=True,
        )
    return _list(disk, folder)


def _load_texts(log: LogState, files: _Files) -> None:
    path = f"{log.folder}/{LEADER_EPOCHS}"
    data = log.disk.read(path) if LEADER_EPOCHS in files.names else None
    if data is not None:
        try:
            log.epochs = LeaderEpochs(parse_epochs(data, path))
        except CorruptFileError as error:
            log.tell("leader-epochs-lost", str(error), unexpected=True)
    path = f"{log.folder}/{PARTITION_METADATA}"
    data = log.disk.read(path) if PARTITION_METADATA in files.names else None
    if data:
        log.topic_id = parse_partition_metadata(data, path)


def _load_segments(log: LogState, files: _Files, options: LoadOptions, now_ms: int) -> None:
    segments = []
    for base_offset, sizes in sorted(files.segments.items()):
        if LOG not in sizes:
            for suffix in sizes:
                log.disk.remove(f"{log.folder}/{file_name(base_offset, suffix)}")
            log.tell(
                "orphaned-index",
                f"removed the indexes of a segment at offset {base_offset} that has no .log",
                unexpected=True,
            )
            continue
        segments.append(new_segment(log, base_offset, now_ms, sizes=sizes))
    if not segments:
        segments.append(new_segment(log, options.log_start_offset, now_ms))
    log.segments = LogSegments(segments)
    active = log.segments.active
    for segment in log.segments:
        complaint = _index_complaint(segment, files.segments.get(segment.base_offset, {}))
        scanned_anyway = not options.clean_stop and (
            segment is active or segment.base_offset >= options.recovery_point
        )
        if complaint is None and not scanned_anyway and segment is not active:
            complaint = _tail_complaint(log, segment)
        if complaint is not None and not scanned_anyway:
            log.tell("index-rebuilt", f"{segment.path(LOG)}: {complaint}", unexpected=True)
            end = segment.size
            reason = rebuild_indexes(log, segment)
            if reason is not None:
                text = f"{reason}; its last {end - segment.size} bytes are not read"
                log.tell("unreadable-bytes", f"{segment.path(LOG)}: {text}", unexpected=True)
        if segment is not active and segment.size:
            segment.open().seal()
    settle_active(log)


def _tail_complaint(log: LogState, segment: Segment) -> str | None:
    """Say what is wrong with the end of a segment that another one follows."""
    following = log.segments.end_of(segment)
    position, next_offset = segment.end(following)
    if position != segment.size:
        return "it does not end with its last batch"
    gap = _gap(log, next_offset, following, is_cut=False)
    if gap is not None:
        log.tell("records-lost", f"{segment.path(LOG)}: {gap} after it", unexpected=True)
    return None


def settle_active(log: LogState) -> None:
    """Set what appends need of the active segment: its last index entry, and its age."""
    active = log.segments.active
    if not active.size:
        return
    count = active.offsets.count
    active.index_gap = active.size - (active.offsets.entry(count - 1).position if count else 0)
    first = active.first_batch_timestamp()
    active.roll_base = first - active.roll_jitter_ms if first >= 0 else UNTIMED


def _index_complaint(segment: Segment, sizes: dict[str, int]) -> str | None:
    """Say what is wrong with a segment's indexes as far as a quick look shows it."""
    if not segment.size:
        return None
    for suffix, entry_size in ((OFFSET_INDEX, _OFFSET_ENTRY_SIZE), (TIME_INDEX, _TIME_ENTRY_SIZE)):
        if suffix not in sizes:
            return f"the {suffix} is missing"
        if sizes[suffix] % entry_size:
            return f"the {suffix} has {sizes[suffix]} bytes, not a multiple of {entry_size}"
    if segment.offsets.count:
        last = segment.offsets.entry(segment.offsets.count - 1)
        if last.offset < segment.base_offset or not 0 <= last.position < segment.size:
            return f"the {OFFSET_INDEX} ends with offset {last.offset} at byte {last.position}"
    last_time = segment.times.last()
    if last_time is not None and (last_time.timestamp < 0 or last_time.offset < 0):
        return f"the {TIME_INDEX} ends with {last_time}"
    if sizes.get(TRANSACTION_INDEX, 0) % 34:
        return f"the {TRANSACTION_INDEX} has {sizes[TRANSACTION_INDEX]} bytes"
    return None


# --- reading again ----------------------------------------------------------------------------


class _Reread(NamedTuple):
    """What came of reading a segment again."""

    next_offset: int
    """The offset after its last good batch."""
    complaint: str | None
    """What is wrong with the bytes after that batch, if there are any."""


def rebuild_indexes(log: LogState, segment: Segment) -> str | None:
    """Make a segment's indexes anew from its batches; return what is wrong with them, if anything.

    The transaction index needs to know which transactions were open before the segment.
    """
    producers = ProducerState()
    rebuild_producers(producers, log.segments, log.snapshots, segment.base_offset)
    reread = _read_again(log, segment, segment.base_offset, LeaderEpochs(), producers)
    segment.write_out_indexes(final=True)
    return reread.complaint


def _read_again(
    log: LogState,
    segment: Segment,
    next_offset: int,
    epochs: LeaderEpochs,
    producers: ProducerState,
    recovery_point: int | None = None,
) -> _Reread:
    """Read a segment's batches; its indexes, ``epochs`` and ``producers`` learn from them.

    The segment ends before the first batch that is not good, or is below ``next_offset``. Batches
    from the recovery point on are written again. If a sync has failed before the stop, the system
    takes their pages for written, and no sync would write them any more.
    """
    end = segment.size
    limit = log.segments.end_of(segment)
    segment.start_anew()
    segment.size = 0
    interval = log.config.index_interval_bytes
    file = segment.open()
    position = 0
    complaint = None
    for at, raw in segment.headers(0, end):
        header = BatchHeader._make(raw)
        offset, last_offset, size = header.base_offset, header.last_offset, header.size_in_bytes
        batch = memoryview(file.pread(at, size))
        if len(batch) < size or not crc_is_valid(batch):
            complaint = f"the batch at byte {at} (offset {offset}) does not have its CRC"
            break
        if not next_offset <= offset <= last_offset or not segment.can_hold(last_offset):
            complaint = f"the batch at byte {at} has offset {offset}, not one above "
            complaint += str(next_offset - 1)
            break
        if last_offset >= limit:
            # Its append was refused, and another batch has its offset since.
            complaint = f"the batch at byte {at} has offset {offset}, as the next segment has"
            break
        if recovery_point is not None and last_offset >= recovery_point:
            file.pwrite(at, batch)
        segment.note_batch(last_offset, at, size, header.max_timestamp, interval)
        if header.partition_leader_epoch > epochs.latest:
            epochs.assign(header.partition_leader_epoch, offset)
        note_replayed(producers, raw, batch, segment.transactions)
        next_offset = last_offset + 1
        position = at + size
    if complaint is None and position < end:
        complaint = f"no whole batch at byte {position}"
    return _Reread(next_offset, complaint)


def _recover(log: LogState, recovery_point: int, now_ms: int) -> None:
    """Read the segments that may not have reached the disk, and end the log before any damage."""
    segments = log.segments.from_offset(recovery_point)
    log.log_end_offset = segments[0].base_offset
    log.rebuild_producers(now_ms)
    count = size = 0
    for segment in segments:
        end = segment.size
        next_offset = max(log.log_end_offset, segment.base_offset)
        reread = _read_again(log, segment, next_offset, log.epochs, log.producers, recovery_point)
        log.log_end_offset = reread.next_offset
        count += 1
        size += segment.size
        is_cut = reread.complaint is not None
        if is_cut:
            segment.open().truncate(segment.size)
            text = f"{reread.complaint}; cut {end - segment.size} bytes, it ends at byte "
            text += f"{segment.size}, before offset {log.log_end_offset}"
            log.tell("tail-truncated", f"{segment.path(LOG)}: {text}", unexpected=True)
        gap = _gap_after(log, segment, is_cut=is_cut)
        if gap is not None:
            _remove_segments_after(log, segment, gap)
            break
        if segment is not log.segments.active:
            segment.write_out_indexes(final=True)
    log.snapshots.remove_above(log.log_end_offset)
    if size or log.log_end_offset:
        log.tell(
            "recovered",
            f"read {size} bytes of {count} segments; the log ends at offset {log.log_end_offset}",
        )
    settle_active(log)


def _gap_after(log: LogState, segment: Segment, *, is_cut: bool) -> str | None:
    """Say which offsets are missing between a segment that was read and the next one.

    Without a sync a later segment may reach the disk before the end of an earlier one. Compaction
    leaves such gaps, too, and those are no damage; after a cut nothing tells which it was.
    """
    following = log.segments.after(segment)
    if following is None:
        return None
    gap = _gap(log, log.log_end_offset, following.base_offset, is_cut=is_cut)
    return None if gap is None else f"{gap} before it"


def _gap(log: LogState, next_offset: int, following: int, *, is_cut: bool) -> str | None:
    if following <= next_offset:
        return None
    if not is_cut and (log.config.compact or following <= (log.cleaned_up_to or 0)):
        return None
    return f"the offsets {next_offset} to {following - 1} are missing"


def _remove_segments_after(log: LogState, kept: Segment, reason: str) -> None:
    """Drop the segments after a gap, and tell of each what was in it."""
    for segment in log.segments.drop_after(kept):
        first, last = segment.base_offset, segment.base_offset - 1
        for _, header in segment.headers(0):
            last = BatchHeader._make(header).last_offset
        offsets = f"offsets {first} to {last}" if last >= first else "no whole batch"
        log.tell(
            "tail-truncated",
            f"{segment.path(LOG)}: removed {offsets}, {segment.size} bytes: {reason}; the log ends "
            f"at offset {log.log_end_offset}",
            unexpected=True,
        )
        segment.remove()


def _start_over(log: LogState, now_ms: int) -> None:
    """Begin with an empty log: the old one ends before its start offset, so it is out of date."""
    log.tell(
        "restarted",
        f"the log ends at offset {log.log_end_offset}, before its start {log.log_start_offset}: "
        "its records were removed, and it is empty from there on",
        unexpected=True,
    )
    for segment in log.segments:
        segment.remove()
    start = log.log_start_offset
    log.segments = LogSegments([new_segment(log, start, now_ms)])
    log.log_end_offset = start
    settle_active(log)


def _settle_epochs(log: LogState, written: list[tuple[int, int]]) -> None:
    """Make the leader epochs fit the log's two ends, and write what is not ``written`` yet.

    Epochs without records, at the log's end, may stay in the file until something is appended.
    """
    log.epochs.truncate_from_end(log.log_end_offset)
    known = LeaderEpochs(written)
    known.truncate_from_end(log.log_end_offset)
    log.epochs.truncate_from_start(log.log_start_offset)
    if log.epochs.entries() != known.entries():
        log.write_epochs(log.epochs)
