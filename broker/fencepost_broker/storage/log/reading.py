"""Reading batches: from an offset on, as far as a reader may see.

A read gives views. They stay as they are whatever the log does afterwards.

As in Kafka the bytes may end in the middle of a batch, when ``max_bytes`` does: cutting at a batch
would mean to walk them all. A read goes on into the next segment when the first is exhausted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.storage.log.disk import StorageError
from fencepost_broker.storage.log.indexes import AbortedEntry
from fencepost_broker.storage.log.names import LOG
from fencepost_broker.storage.log.results import AbortedTransaction, ReadResult, UpperBound

if TYPE_CHECKING:
    from fencepost_broker.storage.log.segment import Segment
    from fencepost_broker.storage.log.state import LogState

_LAST_STABLE: Final = UpperBound.LAST_STABLE


def read(
    log: LogState,
    offset: int,
    max_bytes: int,
    bound: UpperBound = UpperBound.HIGH_WATERMARK,
    *,
    min_one_batch: bool = False,
) -> ReadResult:
    """Read batches from ``offset`` on, as far as ``bound`` allows.

    ``min_one_batch`` gives the first batch whole even if it is larger than ``max_bytes``.
    """
    result = ReadResult(
        [] if bound is _LAST_STABLE else None,
        log.high_watermark,
        log.last_stable_offset,
        log.log_start_offset,
    )
    if not log.log_start_offset <= offset <= log.log_end_offset:
        result.error = ErrorCode.OFFSET_OUT_OF_RANGE
        result.pieces = None
        return result
    end_offset = log.bound_offset(bound)
    if offset >= end_offset:
        if offset == log.log_end_offset:
            log.segments.active.remember_end(offset)
        return result
    try:
        segment, position = _collect(log, result, offset, end_offset, max_bytes, min_one_batch)
        if bound is _LAST_STABLE and result.size:
            upper_offset = _upper_offset(log, segment, position, end_offset)
            result.aborted = [
                AbortedTransaction(entry.producer_id, entry.first_offset)
                for entry in aborted_entries(log, offset, upper_offset)
            ]
    except StorageError as error:
        result.error = ErrorCode.KAFKA_STORAGE_ERROR
        result.message = str(error)
        result.pieces = None
        result.size = 0
    return result


def _collect(
    log: LogState,
    result: ReadResult,
    offset: int,
    end_offset: int,
    max_bytes: int,
    min_one_batch: bool,
) -> tuple[Segment, int]:
    """Put the views into the result; return the segment and the position where they end."""
    segments = log.segments
    active = segments.active
    segment = active if offset >= active.base_offset else segments.at(offset)
    position = segment.position_of(offset)
    left = max_bytes
    while True:
        following = None
        if segment is active:
            is_whole = end_offset == log.log_end_offset
        else:
            following = segments.after(segment)
            is_whole = following is not None and following.base_offset <= end_offset
        end = segment.size if is_whole else segment.position_of(end_offset)
        room = end - position
        if room > 0:
            if room > left:
                if min_one_batch and not result.size:
                    left = max(left, min(segment.batch_size_at(position), room))
                if left > 0:
                    position += _add(result, segment, position, left)
                return segment, position
            if not _add(result, segment, position, room):
                return segment, position
            left -= room
        if following is None or not is_whole:
            if end == segment.size:
                segment.remember_end(end_offset)
            return segment, end
        segment = following
        position = 0


def _add(result: ReadResult, segment: Segment, position: int, length: int) -> int:
    """Add a piece; return its length, or 0 if it cannot be read after earlier ones could."""
    pieces = result.pieces
    assert pieces is not None
    try:
        views = _views(segment, position, length)
    except StorageError:
        if result.size:
            return 0  # the next read begins here, and hears of it
        raise
    pieces += views
    result.size += length
    return length


def _views(segment: Segment, position: int, length: int) -> list[memoryview]:
    """Return a piece of a segment, never less of it: its length is announced to a client."""
    views = segment.open().views(position, length)
    if (len(views) != 1 or len(views[0]) != length) and sum(map(len, views)) != length:
        reason = f"it ends within {length} bytes at {position}: another program has cut it"
        raise StorageError("read", segment.path(LOG), reason)
    return views


def _upper_offset(log: LogState, segment: Segment, position: int, end_offset: int) -> int:
    """Return an offset at or after a position, as the offset index knows it."""
    indexed = segment.offsets.offset_from(position)
    return min(log.segments.end_of(segment) if indexed is None else indexed, end_offset)


def aborted_entries(log: LogState, start_offset: int, upper_offset: int) -> list[AbortedEntry]:
    """Return the aborted transactions that have a part in a range of offsets.

    A transaction's entry stands with its marker, so it is in the segment of ``start_offset`` or a
    later one. An entry's last stable offset tells that all transactions that began before it have
    ended: once it lies after the range, no later entry can concern it.
    """
    found = []
    for segment in log.segments.from_offset(start_offset):
        if not segment.transactions.count:
            continue
        for entry in segment.transactions.entries():
            if entry.last_offset >= start_offset and entry.first_offset < upper_offset:
                found.append(entry)
            if entry.last_stable_offset >= upper_offset:
                return found
    return found


def bytes_available(log: LogState, offset: int, end_offset: int) -> int:
    """See ``PartitionLog.bytes_available``."""
    if not log.log_start_offset <= offset < end_offset:
        return 0
    segments = log.segments
    first, last = segments.at(offset), segments.at(end_offset - 1)
    at_end = end_offset == log.log_end_offset and last is segments.active
    total = last.size if at_end else last.position_of(end_offset)
    for segment in segments.from_offset(offset):
        if segment is last:
            break
        total += segment.size
    return max(total - first.position_of(offset), 0)
