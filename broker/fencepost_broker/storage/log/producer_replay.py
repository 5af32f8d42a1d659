"""The state of producers is made of their last snapshot, and of the batches after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.records.batch import (
    CONTROL_FLAG,
    LOG_OVERHEAD,
    MAX_SEQUENCE,
    NO_SEQUENCE,
    TRANSACTIONAL_FLAG,
    RawHeader,
    unpack_header,
)
from fencepost_protocol.records.control import ControlType, read_control_records

from fencepost_broker.storage.log.disk import CorruptFileError
from fencepost_broker.storage.log.indexes import TransactionIndex
from fencepost_broker.storage.log.names import SNAPSHOT, file_name

if TYPE_CHECKING:
    from fencepost_broker.storage.log.state import LogState


def rebuild_producers(log: LogState, now_ms: int, *, trust_missing: bool = False) -> None:
    """Learn the state of producers at the log's end: the newest snapshot, then the batches.

    ``trust_missing``: after a clean stop a log without any snapshot has had no producers.
    """
    producers = log.producers
    producers.clear()
    # From the first record that is there, even if the log's start is behind it by now.
    position_offset = log.base_offsets[0]
    for offset in reversed(log.snapshots):
        if not position_offset <= offset <= log.log_end_offset:
            continue
        path = f"{log.folder}/{file_name(offset, SNAPSHOT)}"
        try:
            producers.load(log.disk.read(path) or b"", path)
        except CorruptFileError as error:
            log.tell("snapshot-ignored", str(error), unexpected=True)
            continue
        position_offset = offset
        break
    else:
        if trust_missing and not log.snapshots:
            return
    end_offset = log.log_end_offset
    if position_offset < end_offset:
        _replay_producers(log, position_offset, end_offset)
    producers.remove_expired(now_ms, log.config.producer_id_expiration_ms)


def _replay_producers(log: LogState, from_offset: int, end_offset: int) -> None:
    for number, segment in enumerate(log.segments):
        if segment.base_offset >= end_offset:
            break
        if number + 1 < len(log.segments) and log.base_offsets[number + 1] <= from_offset:
            continue
        for position, header in segment.headers(segment.position_of(from_offset)):
            if header[0] >= end_offset:
                break
            if header[9] < 0 or header[0] + header[6] < from_offset:
                continue
            batch = None
            if header[5] & CONTROL_FLAG:
                data = segment.open().pread(position, LOG_OVERHEAD + header[1])
                batch = memoryview(data)
            note_replayed(log, header, batch, None)


def note_replayed(
    log: LogState, header: RawHeader, batch: memoryview | None, index: TransactionIndex | None
) -> None:
    """Learn what a batch that was checked long ago says of its producer.

    ``batch`` is needed for control batches only; ``index`` takes the aborted transactions,
    unless it has them already.
    """
    producer_id = header[9]
    if producer_id < 0:
        return
    if header[5] & CONTROL_FLAG:
        assert batch is not None
        note_control(log, batch, index)
        return
    note_data(log, header, header[0])


def note_data(log: LogState, header: RawHeader, first_offset: int) -> None:
    """Learn what a batch that got ``first_offset`` says of its producer."""
    last_delta, sequence = header[6], header[11]
    log.producers.note_data(
        header[9],
        header[10],
        (sequence + last_delta) & MAX_SEQUENCE if sequence >= 0 else NO_SEQUENCE,
        first_offset,
        first_offset + last_delta,
        header[8],
        transactional=header[5] & TRANSACTIONAL_FLAG != 0,
    )


def note_control(log: LogState, batch: memoryview, index: TransactionIndex | None) -> None:
    """Learn what a marker in the log ended."""
    header = unpack_header(batch)
    try:
        records = read_control_records(batch)
    except ProtocolError:
        return  # a control record of a later Kafka, or one that compaction emptied
    for record in records:
        if record.type not in (ControlType.COMMIT, ControlType.ABORT):
            continue
        aborted = log.producers.note_marker(
            header[9],
            header[10],
            record.coordinator_epoch,
            record.offset,
            record.timestamp,
            committed=record.type is ControlType.COMMIT,
        )
        if aborted is not None and index is not None:
            index.append(aborted)
