"""The metadata log: the records of every decision of the controller, in KRaft's formats.

One decision is one batch, so that it is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from fencepost_broker.controller.names import METADATA_TOPIC
from fencepost_broker.controller.records import decode_record, encode_record
from fencepost_broker.log import CorruptFileError, Origin, PartitionLog, StorageError, UpperBound
from fencepost_broker.machine import MetadataRecord

__all__ = ["LEADER_EPOCH", "METADATA_TOPIC", "METADATA_TOPIC_ID", "MetadataLog"]

METADATA_TOPIC_ID: Final = bytes(15) + b"\x01"
LEADER_EPOCH: Final = 1
"""Of the metadata log; with one controller it never changes hands."""
_READ_BYTES: Final = 1 << 20


class MetadataLog:
    """Appends decisions, and reads them all at start."""

    def __init__(self, log: PartitionLog, *, is_synced: bool = False) -> None:
        self._log = log
        self._is_synced = is_synced
        """Whether each decision is on disk before it is carried out (``fsync=always``)."""

    def append(self, records: Sequence[MetadataRecord], now_ms: int) -> int:
        """Write one decision; gives the offset of its first record."""
        values = [bytes(encode_record(record)) for record in records]
        batch = build_batch(None, values, now_ms)
        result = self._log.append_as_leader(
            memoryview(batch), LEADER_EPOCH, now_ms, Origin.COORDINATOR
        )
        if result.error:
            raise StorageError("append to", METADATA_TOPIC, result.message or result.error.name)
        if self._is_synced:
            self._flush(now_ms)
        return result.base_offset

    def _flush(self, now_ms: int) -> None:
        """Decisions are rare, and all else waits for them: here, not in a worker."""
        task = self._log.begin_flush()
        try:
            task.run()
        except StorageError as error:
            self._log.flush_failed(error)
            raise
        self._log.flushed(task, now_ms)

    def replay(self) -> Iterator[tuple[MetadataRecord | None, int]]:
        """Every record with its offset; ``None`` stands for a control record."""
        offset = self._log.log_start_offset
        while offset < self._log.log_end_offset:
            result = self._log.read(offset, _READ_BYTES, UpperBound.LOG_END, min_one_batch=True)
            if result.error or not result.pieces:
                raise StorageError("read", METADATA_TOPIC, result.message or result.error.name)
            content = memoryview(b"".join(result.pieces))
            for header, batch in split_batches(content, tolerate_partial=True):
                try:
                    for record in iter_records(batch):
                        yield self._decoded(header.is_control, record.value), record.offset
                except RemoteProtocolError as error:
                    raise CorruptFileError(
                        f"{METADATA_TOPIC}-0", f"the batch at offset {header.base_offset}: {error}"
                    ) from error
                offset = header.next_offset

    @staticmethod
    def _decoded(is_control: bool, value: memoryview | None) -> MetadataRecord | None:
        if is_control:
            return None
        if value is None:
            raise RemoteProtocolError("a record of the metadata log without a value")
        return decode_record(value)
