"""Finding offsets by time and by leader epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.records.batch import LOG_APPEND_TIME_FLAG, BatchHeader
from fencepost_protocol.records.reader import iter_records

from fencepost_broker.storage.log.disk import CorruptFileError
from fencepost_broker.storage.log.names import LOG
from fencepost_broker.storage.log.results import UNKNOWN_EPOCH, EpochEnd, FoundOffset
from fencepost_broker.storage.log.segment import Segment

if TYPE_CHECKING:
    from fencepost_broker.storage.log.state import LogState


def offset_for_timestamp(log: LogState, timestamp_ms: int) -> FoundOffset | None:
    """See ``PartitionLog.offset_for_timestamp``."""
    start_offset = log.log_start_offset
    for segment in log.segments.from_offset(start_offset):
        if segment.max_timestamp < timestamp_ms:
            continue
        from_offset = max(segment.times.lookup(timestamp_ms), start_offset)
        for position, raw in segment.headers(segment.position_of(from_offset)):
            header = BatchHeader._make(raw)
            if header.max_timestamp < timestamp_ms:
                continue
            found = _first_record(segment, position, header, timestamp_ms, start_offset)
            if found is not None:
                return found
    return None


def offset_of_max_timestamp(log: LogState) -> FoundOffset | None:
    """See ``PartitionLog.offset_of_max_timestamp``."""
    best: Segment | None = None
    for segment in log.segments:
        if best is None or segment.max_timestamp > best.max_timestamp:
            best = segment
    if best is None or best.max_timestamp < 0:
        return None
    wanted = best.max_timestamp
    for position, raw in best.headers(best.position_of(best.offset_of_max_timestamp)):
        header = BatchHeader._make(raw)
        if header.max_timestamp >= wanted:
            return _first_record(best, position, header, wanted, 0)
    return None


def _first_record(
    segment: Segment, position: int, header: BatchHeader, timestamp_ms: int, from_offset: int
) -> FoundOffset | None:
    """Find the first record of a batch that is not older than ``timestamp_ms``."""
    leader_epoch = header.partition_leader_epoch
    epoch = leader_epoch if leader_epoch >= 0 else UNKNOWN_EPOCH
    has_append_time = header.attributes & LOG_APPEND_TIME_FLAG
    if has_append_time and header.base_offset >= from_offset and header.record_count > 0:
        return FoundOffset(header.base_offset, header.max_timestamp, epoch)
    batch = segment.open().pread(position, header.size_in_bytes)
    try:
        for record in iter_records(batch):
            if record.timestamp >= timestamp_ms and record.offset >= from_offset:
                return FoundOffset(record.offset, record.timestamp, epoch)
    except ProtocolError as error:
        raise CorruptFileError(
            segment.path(LOG), f"the batch at byte {position}: {error}"
        ) from error
    return None


def diverging_epoch(log: LogState, offset: int, last_fetched_epoch: int) -> EpochEnd | None:
    """See ``PartitionLog.diverging_epoch``."""
    if 0 <= last_fetched_epoch == log.epochs.latest and offset <= log.log_end_offset:
        return None
    end = log.epochs.end_of(last_fetched_epoch, log.log_end_offset)
    if end.epoch == UNKNOWN_EPOCH:
        return end
    if end.epoch < last_fetched_epoch or end.end_offset < offset:
        return end
    return None
