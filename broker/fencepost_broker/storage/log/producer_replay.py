"""The state of producers follows from their last snapshot and the batches after it."""

from __future__ import annotations

from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.records.batch import (
    CONTROL_FLAG,
    BatchHeader,
    RawHeader,
    unpack_header,
)
from fencepost_protocol.records.control import ControlType, read_control_records

from fencepost_broker.storage.log.disk import CorruptFileError
from fencepost_broker.storage.log.indexes import TransactionIndex
from fencepost_broker.storage.log.log_segments import LogSegments
from fencepost_broker.storage.log.producer_snapshots import ProducerSnapshots
from fencepost_broker.storage.log.producers import ProducerState


def rebuild_producers(
    producers: ProducerState,
    segments: LogSegments,
    snapshots: ProducerSnapshots,
    end_offset: int,
    *,
    trust_missing: bool = False,
) -> list[str]:
    """Make the state at ``end_offset`` from the newest snapshot and the batches after it.

    ``trust_missing``: after a clean stop, a log without any snapshot has had no producers. Returns
    what is wrong with each snapshot that could not be read.
    """
    producers.clear()
    complaints = []
    # From the first record that is there, even if the log's start is after it by now.
    from_offset = segments.first.base_offset
    for offset in reversed(snapshots.offsets):
        if not from_offset <= offset <= end_offset:
            continue
        try:
            snapshots.load(producers, offset)
        except CorruptFileError as error:
            complaints.append(str(error))
            continue
        from_offset = offset
        break
    else:
        if trust_missing and not snapshots.offsets:
            return complaints
    if from_offset < end_offset:
        _replay(producers, segments, from_offset, end_offset)
    return complaints


def _replay(
    producers: ProducerState, segments: LogSegments, from_offset: int, end_offset: int
) -> None:
    for segment in segments.from_offset(from_offset):
        if segment.base_offset >= end_offset:
            break
        for position, raw in segment.headers(segment.position_of(from_offset)):
            header = BatchHeader._make(raw)
            if header.base_offset >= end_offset:
                break
            if header.producer_id < 0 or header.last_offset < from_offset:
                continue
            batch = None
            if header.is_control:
                batch = memoryview(segment.open().pread(position, header.size_in_bytes))
            note_replayed(producers, raw, batch, None)


def note_replayed(
    producers: ProducerState,
    header: RawHeader,
    batch: memoryview | None,
    index: TransactionIndex | None,
) -> None:
    """Learn what a batch that was checked long ago says of its producer.

    ``batch`` is needed for control batches only; ``index`` takes the aborted transactions,
    unless it has them already.
    """
    base_offset, _, _, _, _, attributes, _, _, _, producer_id, _, _, _ = header
    if producer_id < 0:
        return
    if attributes & CONTROL_FLAG:
        assert batch is not None
        note_control(producers, batch, index)
        return
    producers.note_data(header, base_offset)


def note_control(
    producers: ProducerState, batch: memoryview, index: TransactionIndex | None
) -> None:
    """Learn what a marker in the log ended."""
    header = BatchHeader._make(unpack_header(batch))
    try:
        records = read_control_records(batch)
    except ProtocolError:
        return  # a control record of a later Kafka, or one that compaction emptied
    for record in records:
        if record.type not in (ControlType.COMMIT, ControlType.ABORT):
            continue
        aborted = producers.note_marker(
            header.producer_id,
            header.producer_epoch,
            record.coordinator_epoch,
            record.offset,
            record.timestamp,
            committed=record.type is ControlType.COMMIT,
        )
        if aborted is not None and index is not None:
            index.append(aborted)
