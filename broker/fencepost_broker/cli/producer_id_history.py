"""History of producer id blocks, read from the files of a metadata log.

The files are only read, so the controller may be running. A record has the first id after its
block, so a block begins where the one before it ends. A snapshot has only the latest block, of
which only the end is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.records.batch import crc_is_valid, split_batches
from fencepost_protocol.records.reader import iter_records

from fencepost_broker.metadata.log.records import decode_record
from fencepost_broker.metadata.names import METADATA_TOPIC
from fencepost_broker.storage.log import CorruptFileError

IN_SNAPSHOT = -1


class NoMetadataLogError(Exception):
    """The directory has no metadata log."""


class Block(NamedTuple):
    """Producer ids that were allocated to one broker."""

    offset: int
    """Offset of its record; -1: the record is in a snapshot."""
    timestamp_ms: int
    broker_id: int
    broker_epoch: int
    first_id: int | None
    """First id; ``None`` if the block before it is unknown."""
    last_id: int


class History(NamedTuple):
    """All known blocks, in the order of their allocation."""

    first_offset: int
    blocks: list[Block]

    @property
    def is_whole(self) -> bool:
        """Whether the log still has its first record."""
        return not self.first_offset

    @property
    def overlaps(self) -> list[tuple[Block, Block]]:
        """Pairs of blocks, an earlier and a later one, that overlap."""
        return [
            (early, late)
            for early, late in zip(self.blocks, self.blocks[1:], strict=False)
            if late.last_id <= early.last_id
        ]


def read_history(data_dir: str) -> History:
    """Read the metadata log in a controller's data directory."""
    if not Path(data_dir).is_dir():
        raise NoMetadataLogError(f"{data_dir}: there is no such directory")
    folder = Path(data_dir) / f"{METADATA_TOPIC}-0"
    segments = sorted(folder.glob("[0-9]*.log"))
    if not segments:
        raise NoMetadataLogError(
            f"{folder} has no segment of a metadata log: name the data directory of a controller"
        )
    first_offset = int(segments[0].stem)
    found = [each for path in segments for each in _records_of(path)]
    if first_offset:
        found = _of_snapshots(folder, found) + found
    blocks: list[Block] = []
    before: int | None = 0 if not first_offset else None
    for offset, timestamp_ms, record in found:
        following = record.next_producer_id
        first_id = before if before is not None and before < following else None
        blocks.append(
            Block(
                offset,
                timestamp_ms,
                record.broker_id,
                record.broker_epoch,
                first_id,
                following - 1,
            )
        )
        before = following
    return History(first_offset, blocks)


def _of_snapshots(
    folder: Path, in_log: list[tuple[int, int, ProducerIdsRecord]]
) -> list[tuple[int, int, ProducerIdsRecord]]:
    """Return the latest block of the snapshots that is before those in the log."""
    known = min((record.next_producer_id for _, _, record in in_log), default=None)
    for path in sorted(folder.glob("*.checkpoint"), reverse=True):
        for _, timestamp_ms, record in _records_of(path):
            if known is None or record.next_producer_id < known:
                return [(IN_SNAPSHOT, timestamp_ms, record)]
    return []


def _records_of(path: Path) -> Iterator[tuple[int, int, ProducerIdsRecord]]:
    """Yield offset, time and record; an incomplete last batch is ignored."""
    try:
        data = path.read_bytes()
        for header, batch in split_batches(data, tolerate_partial=True):
            if not crc_is_valid(batch):
                raise CorruptFileError(str(path), f"wrong checksum at offset {header.base_offset}")
            if header.is_control:
                continue
            for record in iter_records(batch):
                if record.value is None:
                    raise CorruptFileError(str(path), f"no value at offset {record.offset}")
                message = decode_record(record.value).message
                if isinstance(message, ProducerIdsRecord):
                    yield record.offset, record.timestamp, message
    except OSError as error:
        raise CorruptFileError(str(path), error.strerror or str(error)) from error
    except RemoteProtocolError as error:
        raise CorruptFileError(str(path), str(error)) from error
