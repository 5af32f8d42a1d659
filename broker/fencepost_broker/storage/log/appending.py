"""Appending: a leader's batch from a client or a coordinator, a marker, a follower's batches.

The order of an append makes it whole or nothing: look (validation, producers), then prepare what
may fail and does no harm when it stays (a new leader epoch, a new segment), then one write of the
batch, then memory, which cannot fail. A write that failed has moved no offset, and what it left in
the file is cut off. Nothing is written, and no segment is rolled, until that has succeeded.

This is the hot path of a broker: the header is unpacked once, the CRC computed once, base offset
and leader epoch are patched in place, and nothing is made per record. What is not plain goes to
:mod:`.validation`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from fencepost_protocol.crc import crc32c
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
    CONTROL_FLAG,
    HEADER,
    HEADER_SIZE,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD,
    MAGIC,
    NO_TIMESTAMP,
    TRANSACTIONAL_FLAG,
    InvalidBatchError,
    RawHeader,
    TimestampType,
    WritableBuffer,
    crc_is_valid,
    set_max_timestamp,
    unpack_header,
)
from fencepost_protocol.records.control import (
    build_end_txn_marker,
)
from fencepost_protocol.records.reader import MIN_RECORD_SIZE

from fencepost_broker.storage.log import upkeep
from fencepost_broker.storage.log.disk import StorageError
from fencepost_broker.storage.log.producer_replay import note_control, note_replayed
from fencepost_broker.storage.log.producers import TV_2, VerificationGuard
from fencepost_broker.storage.log.results import AppendResult, Origin
from fencepost_broker.storage.log.validation import are_right, examine

if TYPE_CHECKING:
    from fencepost_broker.storage.log.state import LogState

_unpack = HEADER.unpack_from
_pack_place = struct.Struct(">qii").pack_into
"""Base offset, batch length and leader epoch: the length is written again to save a call."""
_NO_ERROR: Final = ErrorCode.NONE
_CLIENT: Final = Origin.CLIENT
_LOG_APPEND_TIME: Final = TimestampType.LOG_APPEND_TIME
_NO_HEADER: Final[RawHeader] = (0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


def append_as_leader(
    log: LogState,
    records: memoryview,
    leader_epoch: int,
    now_ms: int,
    origin: Origin = Origin.CLIENT,
    guard: VerificationGuard | None = None,
    *,
    is_examined: bool = False,
) -> AppendResult:
    """Append one batch, giving it its offsets; see the package for what comes back.

    ``records`` is written to (base offset and leader epoch) and not kept. A batch that
    ``examine_first`` gave is not examined again.
    """
    if records.readonly:
        records = memoryview(bytearray(records))
    try:
        header: RawHeader = _unpack(records)
    except struct.error:  # shorter than a header
        header = _NO_HEADER
    if not is_examined and not _is_plain(log, records, header, now_ms):
        examined = examine(records, log.config, origin, now_ms)
        if isinstance(examined, AppendResult):
            return examined
        records = examined
        header = _unpack(records)
    if header[9] >= 0 and not header[5] & CONTROL_FLAG:
        answer = _admit(log, header, origin, guard)
        if answer is not None:
            return answer
    first_offset = log.log_end_offset
    return _append(log, records, header, leader_epoch, now_ms) or AppendResult(
        _NO_ERROR,
        first_offset,
        log.log_end_offset - 1,
        header[8] if header[5] & LOG_APPEND_TIME_FLAG else NO_TIMESTAMP,
        log.log_start_offset,
    )


def examine_first(log: LogState, records: memoryview, now_ms: int) -> memoryview | AppendResult:
    """Examine a client's batch that is appended later: its refusal, or the batch to append."""
    if records.readonly:
        records = memoryview(bytearray(records))
    header: RawHeader = _unpack(records) if len(records) >= HEADER_SIZE else _NO_HEADER
    if _is_plain(log, records, header, now_ms):
        return records
    return examine(records, log.config, Origin.CLIENT, now_ms)


def _is_plain(log: LogState, records: memoryview, header: RawHeader, now_ms: int) -> bool:
    """Whether a batch can be appended as it is.

    If not, either it is wrong, or a setting asks for more than the header: ``examine`` says which.
    """
    (
        offset, length, _, magic, crc, attributes, last_delta, _, max_timestamp, producer_id, _,
        sequence, count,
    ) = header  # fmt: skip
    size = len(records)
    return not (
        length + LOG_OVERHEAD != size
        or magic != MAGIC
        or attributes not in log.plain_attributes
        or last_delta + 1 != count
        or offset
        or count < 1
        or count * MIN_RECORD_SIZE > size  # or it is compressed well
        or size > log.size_max
        or max_timestamp > now_ms + log.config.message_timestamp_after_max_ms
        or (producer_id >= 0 and sequence < 0)
        or crc32c(records[ATTRIBUTES_OFFSET:]) != crc
        or (
            (count <= log.walked_records_max or attributes & log.counted_codecs)
            and not are_right(records, header, log.config)
        )
    )


def append_built(
    log: LogState,
    batch: bytearray,
    leader_epoch: int,
    now_ms: int,
    guard: VerificationGuard | None = None,
) -> AppendResult | None:
    """Append a batch that a coordinator of this broker has just built; a result is its refusal.

    Its builder knows that it is whole, so that only its size and its producer are looked at, unless
    the topic wants it changed.
    """
    header: RawHeader = _unpack(batch)
    if header[5] not in log.built_attributes or len(batch) > log.size_max:
        records = memoryview(batch)
        result = append_as_leader(log, records, leader_epoch, now_ms, Origin.COORDINATOR, guard)
        return result if result.error else None
    if header[9] >= 0:
        answer = _admit(log, header, Origin.COORDINATOR, guard)
        if answer is not None:
            return answer
    return _append(log, batch, header, leader_epoch, now_ms)


def _append(
    log: LogState,
    records: WritableBuffer,
    header: RawHeader,
    leader_epoch: int,
    now_ms: int,
    marker: tuple[int, bool] | None = None,
) -> AppendResult | None:
    """Append a batch that was admitted, at the log's end; a result says why it failed.

    ``marker`` says what is in a marker that was made here: coordinator epoch and outcome.
    """
    _, length, _, _, _, attributes, last_delta, _, max_timestamp, producer_id, _, _, _ = header
    first_offset = log.log_end_offset
    last_offset = first_offset + last_delta
    size = length + LOG_OVERHEAD
    segment = log.segments.active
    position = segment.size
    config = log.config
    try:
        if log.failure is not None:
            raise log.failure
        if leader_epoch > log.epochs.written:
            log.write_epochs_with(leader_epoch, first_offset)
        if (
            position + size > config.segment_bytes
            or max_timestamp - segment.roll_base > config.segment_ms  # or it is empty
            or last_offset > segment.last_offset_max
            or segment.index_is_full
        ):
            segment = upkeep.segment_for(
                log, size, first_offset, last_offset, now_ms, max_timestamp
            )
            position = segment.size
        _pack_place(records, 0, first_offset, length, leader_epoch)
        segment.put(records)
    except StorageError as error:
        return _storage_error(log, error)
    # Nothing below can fail.
    if log.is_refusing:
        _recovered(log)
    segment.note_batch(last_offset, position, size, max_timestamp, config.index_interval_bytes)
    segment.appended_ms = now_ms
    log.log_end_offset = end = last_offset + 1
    producers = log.producers
    if producer_id >= 0:
        if not attributes & CONTROL_FLAG:
            producers.note_data(header, first_offset)
        elif marker is None:
            note_control(producers, memoryview(records), segment.transactions)
        else:
            epoch, committed = marker
            aborted = producers.note_marker(
                producer_id, header[10], epoch, first_offset, max_timestamp, committed=committed
            )
            if aborted is not None:
                segment.transactions.append(aborted)
    if log.follows_log_end:
        log.high_watermark = end
        if producers.unreplicated:
            producers.unreplicated.clear()  # the markers are in the log, and so replicated
        if producers.ongoing:
            log.last_stable_offset = max(next(iter(producers.ongoing)), log.log_start_offset)
        else:
            log.last_stable_offset = end
    return None


def append_marker(
    log: LogState,
    producer_id: int,
    producer_epoch: int,
    *,
    committed: bool,
    coordinator_epoch: int,
    leader_epoch: int,
    now_ms: int,
    transaction_version: int = TV_2,
) -> AppendResult:
    """End a producer's transaction here. A marker is written even if there was none."""
    refusal = log.producers.admit_marker(
        producer_id, producer_epoch, coordinator_epoch, transaction_version
    )
    if refusal is not None:
        return AppendResult(refusal.error, message=refusal.message)
    batch = build_end_txn_marker(
        committed=committed,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        coordinator_epoch=coordinator_epoch,
        timestamp_ms=now_ms,
    )
    append_time_ms = NO_TIMESTAMP
    if log.config.message_timestamp_type is _LOG_APPEND_TIME:
        set_max_timestamp(batch, TimestampType.LOG_APPEND_TIME, now_ms)
        append_time_ms = now_ms
    marker = (coordinator_epoch, committed)
    offset = log.log_end_offset
    return _append(log, batch, _unpack(batch), leader_epoch, now_ms, marker) or AppendResult(
        _NO_ERROR, offset, offset, append_time_ms, log.log_start_offset
    )


def append_as_follower(
    log: LogState, records: memoryview, leader_epoch: int, now_ms: int
) -> AppendResult:
    """Append batches of the leader, offsets and epochs as they are.

    A batch that was cut off at the end, and those of a later epoch than ``leader_epoch`` (the
    epoch that was fetched with), are left out. The high watermark is the caller's to move.
    """
    if log.failure is not None:
        return _storage_error(log, log.failure)
    first_offset = log.log_end_offset
    answer = AppendResult(ErrorCode.NONE, log_start_offset=log.log_start_offset)
    pos = 0
    while pos + LOG_OVERHEAD < len(records):
        try:
            header = unpack_header(records, pos)
        except InvalidBatchError as error:
            if error.error == "INVALID_RECORD":
                break  # cut off
            return AppendResult(ErrorCode.CORRUPT_MESSAGE, message=str(error))
        offset, length, epoch, _, _, _, last_delta, _, _, _, _, _, _ = header
        batch = records[pos : pos + LOG_OVERHEAD + length]
        pos += LOG_OVERHEAD + length
        if not crc_is_valid(batch):
            return AppendResult(
                ErrorCode.CORRUPT_MESSAGE,
                message=f"the batch at offset {offset} does not have its CRC",
            )
        if epoch > leader_epoch >= 0:
            break
        if offset < log.log_end_offset or last_delta < 0:
            return AppendResult(
                ErrorCode.INVALID_RECORD,
                message=f"offsets {offset} to {offset + last_delta} do not follow "
                f"{log.log_end_offset - 1}",
            )
        try:
            _append_replica(log, batch, header, now_ms)
        except StorageError as error:
            return _storage_error(log, error)
        if answer.base_offset < 0:
            answer.base_offset = offset
        answer.last_offset = offset + last_delta
    if log.follows_log_end and log.log_end_offset > first_offset:
        log.set_high_watermark(log.log_end_offset)
    return answer


def _append_replica(log: LogState, batch: memoryview, header: RawHeader, now_ms: int) -> None:
    offset, _, epoch, _, _, _, last_delta, _, max_timestamp, _, _, _, _ = header
    last_offset = offset + last_delta
    size = len(batch)
    if epoch > log.epochs.written:
        log.write_epochs_with(epoch, offset)
    segment = upkeep.segment_for(log, size, offset, last_offset, now_ms, max_timestamp)
    position = segment.size
    segment.put(batch)
    segment.note_batch(last_offset, position, size, max_timestamp, log.config.index_interval_bytes)
    segment.appended_ms = now_ms
    log.log_end_offset = last_offset + 1
    note_replayed(log.producers, header, batch, segment.transactions)


def _admit(
    log: LogState, header: RawHeader, origin: Origin, guard: VerificationGuard | None
) -> AppendResult | None:
    """Answer a repeat or a refusal; ``None`` when the batch may be appended."""
    _, _, _, _, _, attributes, last_delta, _, _, producer_id, epoch, sequence, _ = header
    producers = log.producers
    if origin is _CLIENT:
        duplicate = producers.find_duplicate(producer_id, epoch, sequence, last_delta)
        if duplicate is not None:
            return AppendResult(
                ErrorCode.NONE,
                duplicate.last_offset - duplicate.offset_delta,
                duplicate.last_offset,
                duplicate.timestamp,
                log.log_start_offset,
                duplicate=True,
            )
    refusal = producers.admit_data(
        producer_id,
        epoch,
        sequence,
        transactional=attributes & TRANSACTIONAL_FLAG != 0,
        origin=origin,
        guard=guard,
        verify=log.config.transaction_partition_verification_enable,
    )
    if refusal is not None:
        return AppendResult(refusal.error, message=refusal.message)
    return None


def _storage_error(log: LogState, error: StorageError) -> AppendResult:
    """Refuse an append; a person hears of the first one, and of the end."""
    if not log.is_refusing:
        log.is_refusing = True
        log.tell("append-failed", str(error), unexpected=True)
    return AppendResult(ErrorCode.KAFKA_STORAGE_ERROR, message=str(error))


def _recovered(log: LogState) -> None:
    log.is_refusing = False
    log.tell("append-recovered", "records can be written to the disk again")
