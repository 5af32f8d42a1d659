"""Reading a whole log, piece by piece, for a machine whose state it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import BatchHeader, crc_is_valid, split_batches

from fencepost_broker.storage.log.disk import CorruptFileError, StorageError
from fencepost_broker.storage.log.partition import PartitionLog
from fencepost_broker.storage.log.results import UpperBound


def replay_batches(
    log: PartitionLog,
    offset: int,
    piece_bytes: int,
    take: Callable[[BatchHeader, memoryview], None],
) -> Iterator[None]:
    """Give every batch from ``offset`` on to ``take``; a step is a piece of so many bytes.

    ``take`` raises ``RemoteProtocolError`` for a batch that it cannot read.
    """
    while offset < log.log_end_offset:
        result = log.read(offset, piece_bytes, UpperBound.LOG_END, min_one_batch=True)
        if result.error or not result.pieces:
            raise StorageError("read", log.folder, result.message or result.error.name)
        content = memoryview(b"".join(result.pieces))
        try:
            for header, batch in split_batches(content, tolerate_partial=True):
                offset = header.base_offset
                if not crc_is_valid(batch):
                    raise CorruptFileError(
                        log.folder, f"the batch at offset {offset} does not have its CRC"
                    )
                take(header, batch)
                offset = header.next_offset
        except RemoteProtocolError as error:
            raise CorruptFileError(log.folder, f"the batch at offset {offset}: {error}") from error
        yield
