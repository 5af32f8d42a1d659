"""The metadata log: the records of every decision of the controller, in KRaft's formats.

One decision is one batch, so that it is there whole or not at all. From time to time a snapshot of
all metadata is written (:mod:`.snapshot_files`), so that a start need not replay the whole log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import BatchHeader
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.log.check import METADATA_TOPIC_ID
from fencepost_broker.metadata.log.records import decode_record, encode_record
from fencepost_broker.metadata.log.snapshot_files import (
    KEPT,
    Snapshot,
    find_snapshots,
    read_snapshot_file,
    snapshot_path,
    write_snapshot,
)
from fencepost_broker.metadata.names import METADATA_TOPIC
from fencepost_broker.storage.flush_scheduler import flush_here
from fencepost_broker.storage.log import (
    CorruptFileError,
    LogConfig,
    PartitionLog,
    StorageError,
    replay_batches,
)

if TYPE_CHECKING:
    from fencepost_broker.config import Settings
    from fencepost_broker.metadata.image.metadata_image import MetadataImage
    from fencepost_broker.storage.log.manager import LogManager

__all__ = ["LEADER_EPOCH", "METADATA_TOPIC", "METADATA_TOPIC_ID", "MetadataLog"]

LEADER_EPOCH: Final = 1
"""The leader epoch of the metadata log; with one controller it never changes."""
_READ_BYTES: Final = 1 << 20


def metadata_config(settings: Settings) -> LogConfig:
    """Return the metadata log's settings."""
    return LogConfig(
        delete=False,
        # One decision is one batch, and the request that asked for it was of a bounded size.
        max_message_bytes=(1 << 31) - 1,
        segment_bytes=settings.metadata_log_segment_bytes,
        segment_ms=settings.metadata_log_segment_ms,
    )


def open_metadata_log(manager: LogManager, config: LogConfig, now_ms: int) -> PartitionLog:
    """Open the metadata log of a data directory."""
    return manager.create(METADATA_TOPIC, 0, METADATA_TOPIC_ID, config, now_ms)


class MetadataLog:
    """Appends decisions, and reads all of them at start."""

    def __init__(self, log: PartitionLog, *, is_synced: bool = False) -> None:
        self.log = log
        self._is_synced = is_synced
        """Whether each decision is on disk before it is carried out (``fsync=always``)."""
        self._snapshots = find_snapshots(log.disk, log.folder)
        self._snapshot_ms = -1
        self._bytes_since = 0

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self.log.log_end_offset

    @property
    def latest_snapshot(self) -> Snapshot | None:
        """The latest snapshot, if there is any."""
        return self._snapshots[0] if self._snapshots else None

    def snapshot_bytes(self, wanted: Snapshot) -> bytes | None:
        """Return the file of the snapshot with this end and epoch; ``None`` if there is none."""
        for each in self._snapshots:
            if each[:2] == wanted[:2]:
                return self.log.disk.read(each.path)
        return None

    def append(self, records: Sequence[MetadataRecord], now_ms: int) -> int:
        """Write one decision; return the offset of its first record."""
        values = [bytes(encode_record(record)) for record in records]
        batch = build_batch(None, values, now_ms)
        offset = self.log.log_end_offset
        refused = self.log.append_built(batch, LEADER_EPOCH, now_ms)
        if refused is not None:
            raise StorageError("append to", METADATA_TOPIC, refused.message or refused.error.name)
        self._bytes_since += len(batch)
        if self._is_synced:
            flush_here(self.log, now_ms)  # decisions are rare, and all else waits for them
        return offset

    def write_snapshot_if_due(self, image: MetadataImage, now_ms: int, settings: Settings) -> None:
        """Write a snapshot if the last one is too old, or too many bytes were written since."""
        if self._snapshot_ms < 0:
            self._snapshot_ms = now_ms
        interval_ms = settings.metadata_log_max_snapshot_interval_ms
        is_time = interval_ms > 0 and now_ms - self._snapshot_ms >= interval_ms
        bytes_max = settings.metadata_log_max_record_bytes_between_snapshots
        is_due = self._bytes_since >= bytes_max or (is_time and self._bytes_since > 0)
        if not is_due or image.in_transaction or image.next_offset != self.end_offset:
            return  # this broker is applying a decision, and will be asked again after it
        try:
            from fencepost_broker.metadata.log.snapshot import snapshot_records

            self.write_snapshot(snapshot_records(image), now_ms)
        except StorageError as error:
            self.log.tell(
                "storage-error",
                f"no snapshot of the metadata was written: {error}",
                unexpected=True,
                area="controller",
            )

    def adopt_snapshot(self, taken: Snapshot, data: bytes, now_ms: int) -> list[MetadataRecord]:
        """Replace the log and its snapshots by a snapshot from the controller."""
        log = self.log
        path = snapshot_path(log.folder, taken.end_offset, taken.epoch)
        written = Snapshot(taken.end_offset, taken.epoch, path)
        log.disk.write(path, data, durable=True)
        records = read_snapshot_file(log.disk, written)
        log.restart_at(taken.end_offset, now_ms)
        for old in self._snapshots:
            if old != written:
                log.disk.remove(old.path)
        self._snapshots = [written]
        self._bytes_since, self._snapshot_ms = 0, now_ms
        return records

    def append_fetched(
        self, batches: memoryview, now_ms: int
    ) -> list[tuple[MetadataRecord | None, int]]:
        """Append batches of the controller as they are; return their records and offsets."""
        begin = self.log.log_end_offset
        result = self.log.append_as_follower(batches, LEADER_EPOCH, now_ms)
        if result.error:
            raise StorageError("append to", METADATA_TOPIC, result.message or result.error.name)
        self.log.set_high_watermark(self.log.log_end_offset)
        self._bytes_since += len(batches)
        if self._is_synced:
            flush_here(self.log, now_ms)
        return [each for each in self._replay_log(begin) if each[1] >= begin]

    def write_snapshot(self, records: Iterable[MetadataRecord], now_ms: int) -> None:
        """Write the metadata as it is now, and let go what no start will need any more."""
        log = self.log
        # What a snapshot stands for can go as whole files then.
        log.roll(now_ms)
        self._bytes_since, self._snapshot_ms = 0, now_ms  # a disk that refuses is asked later
        written = write_snapshot(
            log.disk, log.folder, records, log.log_end_offset, LEADER_EPOCH, now_ms
        )
        self._snapshots = [written, *(each for each in self._snapshots if each != written)]
        for old in self._snapshots[KEPT:]:
            log.disk.remove(old.path)
        self._snapshots = self._snapshots[:KEPT]
        if len(self._snapshots) == KEPT:
            log.delete_records(self._snapshots[-1].end_offset)

    def replay(self, now_ms: int) -> Iterator[tuple[MetadataRecord | None, int]]:
        """Every record with its offset; ``None`` stands for one that says nothing.

        Those of the latest snapshot come first, with numbers of their own instead of offsets.
        """
        offset = self.log.log_start_offset
        snapshot, records = self._latest_snapshot()
        if snapshot is not None and snapshot.end_offset >= max(offset, 1):
            yield from ((record, number) for number, record in enumerate(records))
            offset = snapshot.end_offset
            yield None, offset - 1
            if offset > self.log.log_end_offset:  # as in Kafka: the snapshot is durable
                self.log.restart_at(offset, now_ms)
        elif offset > 0:
            raise CorruptFileError(
                f"{METADATA_TOPIC}-0", f"it begins at offset {offset}, and no snapshot leads there"
            )
        yield from self._replay_log(offset)

    def _latest_snapshot(self) -> tuple[Snapshot | None, list[MetadataRecord]]:
        """The latest one that can be read."""
        for snapshot in self._snapshots:
            try:
                return snapshot, read_snapshot_file(self.log.disk, snapshot)
            except CorruptFileError as error:
                self.log.tell("snapshot-ignored", str(error), unexpected=True, area="controller")
        return None, []

    def _replay_log(self, offset: int) -> Iterator[tuple[MetadataRecord | None, int]]:
        found: list[tuple[MetadataRecord | None, int]] = []

        def take(header: BatchHeader, batch: memoryview) -> None:
            found.extend(
                (self._decoded(header.is_control, record.value), record.offset)
                for record in iter_records(batch)
            )

        for _ in replay_batches(self.log, offset, _READ_BYTES, take):
            yield from found
            found.clear()

    @staticmethod
    def _decoded(is_control: bool, value: memoryview | None) -> MetadataRecord | None:
        if is_control:
            return None
        if value is None:
            raise RemoteProtocolError("a record of the metadata log without a value")
        return decode_record(value)
