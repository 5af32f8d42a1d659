"""All partitions of a data directory: finding them, making them, closing them.

A data directory holds a folder per partition, ``meta.properties`` (whose it is), a lock, and
checkpoints: how far each partition is known to be on disk, where it begins, how far it was
replicated, how far it was compacted. They are written from time to time and at a clean stop. After
any other stop they tell where recovery has to begin, so they may be old but never too new.

Retention, compaction and the like are done in small pieces: ``maintain`` does one and returns when
it wants to be called again. As in Kafka, retention looks at all partitions every
``log.retention.check.interval.ms``: records that are too old may be read until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from fencepost_protocol.primitives import uuid_text

from fencepost_broker.storage.log import checkpoints
from fencepost_broker.storage.log.config import LogConfig
from fencepost_broker.storage.log.disk import CorruptFileError, DirectoryLock, Disk, StorageError
from fencepost_broker.storage.log.identity import Identity, check_identity
from fencepost_broker.storage.log.loading import LoadOptions, load_partition
from fencepost_broker.storage.log.log_cleaner import LogCleaner
from fencepost_broker.storage.log.names import (
    CLEAN_SHUTDOWN,
    CLEANED_UP_TO,
    HIGH_WATERMARKS,
    LOCK,
    LOG_STARTS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    PartitionName,
    deleted_folder_name,
    is_deleted_folder,
    parse_folder_name,
    stray_folder_name,
)
from fencepost_broker.storage.log.partition import PartitionLog
from fencepost_broker.storage.log.producer_snapshots import ProducerSnapshots
from fencepost_broker.storage.log.removals import Removals
from fencepost_broker.storage.log.results import LogEvent

_LOGS_AT_ONCE: Final = 128
"""Partitions that one call of ``maintain`` looks at."""
_SYNCED_ONE_BY_ONE: Final = 32
_NEVER: Final = (1 << 63) - 1

ConfigFor = Callable[[str], LogConfig]


class Intervals(NamedTuple):
    """How often things are done, in ms; Kafka's settings and defaults."""

    log_initial_task_delay: int = 30_000
    log_retention_check_interval: int = 300_000
    log_cleaner_backoff: int = 15_000
    checkpoint: int = 60_000
    """``log.flush.offset.checkpoint.interval.ms`` and similar settings."""
    producer_id_expiration_check_interval: int = 600_000
    removal_at_once: bool = False
    """Removed files do not wait for ``file.delete.delay.ms``: no other process reads memory."""


class LogManager:
    """The partitions of one data directory. Made by :meth:`open`."""

    def __init__(
        self,
        disk: Disk,
        lock: DirectoryLock,
        identity: Identity,
        intervals: Intervals,
        now_ms: int,
    ) -> None:
        self.disk = disk
        self.identity = identity
        self.logs: dict[tuple[str, int], PartitionLog] = {}
        self.was_clean = False
        """Whether the last stop was a clean one."""
        self.previous_broker_epoch = -1
        self._lock: DirectoryLock | None = lock
        self.intervals = intervals
        self._removals = Removals(disk, at_once=intervals.removal_at_once)
        self._events: list[LogEvent] = []
        self._written: dict[str, bytes] = {}
        self._high_watermarks: dict[PartitionName, int] = {}
        self._refused: set[PartitionName] = set()
        delay_ms = intervals.log_initial_task_delay
        # With a short interval, the first time comes soon, too.
        self._retention_at = now_ms + min(delay_ms, intervals.log_retention_check_interval)
        cleaner_due_ms = now_ms + min(delay_ms, intervals.log_cleaner_backoff)
        self._cleaner = LogCleaner(self.logs, self._write_cleaned, cleaner_due_ms)
        self._checkpoint_at = now_ms + min(delay_ms, intervals.checkpoint)
        self._expiry_at = now_ms + intervals.producer_id_expiration_check_interval
        self._pass: Iterator[PartitionLog] | None = None

    # --- opening --------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        disk: Disk,
        identity: Identity,
        config_for: ConfigFor,
        now_ms: int,
        intervals: Intervals | None = None,
        *,
        skip: frozenset[str] = frozenset(),
        check: Callable[[Disk], Iterable[LogEvent]] = lambda _: (),
    ) -> LogManager:
        """Lock the directory and open every partition in it, but those of the topics ``skip``.

        ``check`` looks at the locked directory before anything in it is used or changed. Raises
        ``LockedError``, ``CorruptFileError`` or another ``StorageError``, for the person who
        starts the broker.
        """
        lock = disk.lock(LOCK)
        try:
            identity = check_identity(disk, identity)
            manager = cls(disk, lock, identity, intervals or Intervals(), now_ms)
            manager._events += check(disk)
            manager._open_all(config_for, now_ms, skip)
        except BaseException:
            lock.release()
            raise
        return manager

    def _open_all(self, config_for: ConfigFor, now_ms: int, skip: frozenset[str]) -> None:
        disk = self.disk
        mark = disk.read(CLEAN_SHUTDOWN)
        if mark is not None:
            self.was_clean = True
            self.previous_broker_epoch = checkpoints.parse_clean_shutdown(mark)
            # From here on, a stop is an unclean one again until close() says otherwise.
            # If a power cut brought the mark back, torn logs would pass for whole ones.
            disk.remove(CLEAN_SHUTDOWN)
            disk.sync_folder_later("")()
        recovery_points = self._read_checkpoint(RECOVERY_POINTS)
        log_starts = self._read_checkpoint(LOG_STARTS)
        cleaned = self._read_checkpoint(CLEANED_UP_TO)
        self._high_watermarks = self._read_checkpoint(HIGH_WATERMARKS)
        for name, _, is_folder in disk.list_folder(""):
            if not is_folder:
                continue
            if is_deleted_folder(name):
                self._removals.add_folder(now_ms, name)
                continue
            partition = parse_folder_name(name)
            if partition is None or partition.topic in skip:
                continue
            options = LoadOptions(
                clean_stop=self.was_clean,
                log_start_offset=log_starts.get(partition, 0),
                recovery_point=recovery_points.get(partition, 0),
                cleaned_up_to=cleaned.get(partition),
            )
            try:
                self.logs[partition] = load_partition(
                    disk, name, config_for(partition.topic), now_ms, options, self._removals
                )
            except CorruptFileError as error:
                self._refused.add(partition)
                self._tell_refused(f"{self.disk.name}/{error.path}: {error.reason}: {partition}")

    def _read_checkpoint(self, name: str) -> dict[PartitionName, int]:
        data = self.disk.read(name)
        if data is None:
            return {}
        try:
            offsets = checkpoints.parse_offsets(data, name)
        except CorruptFileError as error:
            self.tell("checkpoint-ignored", str(error), unexpected=True)
            return {}
        self._written[name] = data
        return offsets

    # --- partitions -----------------------------------------------------------------------------

    def get(self, topic: str, partition: int) -> PartitionLog | None:
        """Return a partition's log, if it is here."""
        return self.logs.get((topic, partition))

    def create(
        self, topic: str, partition: int, topic_id: bytes, config: LogConfig, now_ms: int
    ) -> PartitionLog:
        """Return a partition's log, a new one if it is not here yet.

        A log with another topic id belonged to a deleted topic of that name: it is deleted first.
        Raises ``StorageError`` for a partition that was refused.
        """
        name = PartitionName(topic, partition)
        if name in self._refused:
            raise CorruptFileError(
                f"{name}/{PARTITION_METADATA}",
                "it is damaged, or has another topic's id: the log is not used",
            )
        log = self.logs.get(name)
        if log is not None:
            if log.topic_id == topic_id:
                return log
            if log.topic_id is not None:
                self.delete(topic, partition, now_ms)
                log = None
        folder = str(name)
        path, data = (
            f"{folder}/{PARTITION_METADATA}",
            checkpoints.format_partition_metadata(topic_id),
        )
        if log is None and self.disk.read(path) not in {None, data}:
            raise CorruptFileError(
                path,
                "it is another topic's: where the file system does not distinguish upper and lower"
                " case, names of topics that differ by case only share a folder",
            )
        self.disk.make_folder(folder)
        self.disk.write(path, data, durable=False)
        if log is None:
            log = PartitionLog(self.disk, folder, config, now_ms, self._removals)
            self.logs[name] = log
        log.topic_id = topic_id
        return log

    def delete(self, topic: str, partition: int, now_ms: int) -> bool:
        """Delete a partition; its folder is renamed at once and removed later."""
        name = PartitionName(topic, partition)
        log = self.logs.get(name)
        if log is None:
            return False
        self._cleaner.give_up(log)
        for segment in log.segments:
            segment.forget()
        unique = (log.topic_id or bytes(16)).hex()
        folder = deleted_folder_name(name, unique)
        self.disk.remove_folder(folder)
        self.disk.rename(log.folder, folder)
        del self.logs[name]
        self._events += log.take_events()
        self._removals.add_folder(now_ms + log.config.file_delete_delay_ms, folder)
        return True

    def set_aside(self, topic: str, partition: int) -> None:
        """Stop using a partition of an unknown topic; its records are kept, as in Kafka."""
        name = PartitionName(topic, partition)
        log = self.logs.pop(name)
        for segment in log.segments:
            segment.forget()
        self._events += log.take_events()
        folder = stray_folder_name(name, (log.topic_id or bytes(16)).hex())
        self.disk.remove_folder(folder)
        self.disk.rename(log.folder, folder)
        self.tell(
            "stray-partition",
            f"no topic of the metadata log has the partition {name}: it is not served, its records "
            f"are kept in {self.disk.name}/{folder}",
            unexpected=True,
        )

    def refuse(self, topic: str, partition: int, topic_id: bytes) -> None:
        """Do not use a partition whose folder has another topic's id; its files stay as they are.

        The file with the id may be damaged, and then the folder has the only copy of the records.
        """
        name = PartitionName(topic, partition)
        log = self.logs.pop(name)
        for segment in log.segments:
            segment.forget()
        self._events += log.take_events()
        self._refused.add(name)
        path = f"{self.disk.name}/{name}/{PARTITION_METADATA}"
        found, expected = uuid_text(log.topic_id or bytes(16)), uuid_text(topic_id)
        self._tell_refused(f"{path} has the topic id {found}, and {topic} has {expected}: {name}")

    def _tell_refused(self, why: str) -> None:
        self.tell(
            "partition-refused",
            f"{why} is not served, and nothing in its folder was changed. If the records are the "
            "topic's, stop the broker and remove partition.metadata, which is written anew; if "
            "they are of an earlier topic of this name, move the folder away",
            unexpected=True,
        )

    def configure(self, topic: str, config: LogConfig) -> None:
        """Use other settings for all partitions of a topic."""
        for name, log in self.logs.items():
            if name[0] == topic:
                log.configure(config)

    def reopen_files(self) -> None:
        """Open all files again, since the disk gives others for them now."""
        for log in self.logs.values():
            log.reopen_files()

    def checkpointed_high_watermark(self, topic: str, partition: int) -> int:
        """Return the high watermark that was last written for a partition, 0 if none was."""
        return self._high_watermarks.get(PartitionName(topic, partition), 0)

    # --- time -----------------------------------------------------------------------------------

    def maintain(self, now_ms: int) -> int:
        """Do a bounded piece of what is due; return when to call again (``now_ms``: at once)."""
        for error in self._removals.remove_due(now_ms):
            self.tell("storage-error", str(error), unexpected=True)
        if self._pass is not None:
            self._go_on_with_pass(now_ms)
        elif now_ms >= min(self._retention_at, self._expiry_at):
            self._pass = self._begin_pass(now_ms)
        elif self._cleaner.is_running or now_ms >= self._cleaner.due_ms:
            self._cleaner.step(now_ms, self.intervals.log_cleaner_backoff)
        elif now_ms >= self._checkpoint_at:
            self._checkpoint_at = now_ms + self.intervals.checkpoint
            try:
                self.write_checkpoints()
            except StorageError as error:
                self.tell("storage-error", str(error), unexpected=True)
        if self._pass is not None or self._cleaner.is_running:
            return now_ms
        due_ms = self._removals.due_ms
        return max(
            now_ms,
            min(
                _NEVER if due_ms is None else due_ms,
                self._retention_at,
                self._expiry_at,
                self._cleaner.due_ms,
                self._checkpoint_at,
            ),
        )

    def jumped(self, by_ms: int) -> None:
        """Do everything as soon as before, now that the clock was set."""
        self._retention_at += by_ms
        self._expiry_at += by_ms
        self._checkpoint_at += by_ms
        self._cleaner.due_ms += by_ms
        self._removals.shift(by_ms)

    def _begin_pass(self, now_ms: int) -> Iterator[PartitionLog]:
        """Look at all partitions: retention each time, producers when that is due."""
        intervals = self.intervals
        expires = now_ms >= self._expiry_at
        if expires:
            self._expiry_at = now_ms + intervals.producer_id_expiration_check_interval
        self._retention_at = now_ms + intervals.log_retention_check_interval
        return self._look_at_all(list(self.logs.values()), now_ms, expires=expires)

    def _look_at_all(
        self, logs: list[PartitionLog], now_ms: int, *, expires: bool
    ) -> Iterator[PartitionLog]:
        for log in logs:
            try:
                log.apply_retention(now_ms)
            except StorageError as error:
                log.tell("storage-error", str(error), unexpected=True)
            if expires and log.producers.producers:
                log.expire_producers(now_ms)
            yield log

    def _go_on_with_pass(self, now_ms: int) -> None:
        assert self._pass is not None
        del now_ms  # a pass goes by the time at which it began
        for _ in range(_LOGS_AT_ONCE):
            log = next(self._pass, None)
            if log is None:
                self._pass = None
                return

    def logs_to_flush(self, now_ms: int) -> list[PartitionLog]:
        """Return the logs that ``flush.ms`` (or a rolled segment) wants to be flushed."""
        return [log for log in self.logs.values() if log.flush_is_due(now_ms)]

    # --- checkpoints and the end ----------------------------------------------------------------

    def write_checkpoints(self, *, durable: bool = False) -> None:
        """Write the checkpoints that have changed.

        Losing one costs a longer recovery; so only a clean stop waits for them to be durable.
        """
        logs = self.logs
        self._write_checkpoint(
            RECOVERY_POINTS, {name: log.recovery_point for name, log in logs.items()}, durable
        )
        self._write_checkpoint(
            LOG_STARTS,
            {
                name: log.log_start_offset
                for name, log in logs.items()
                if log.log_start_offset > log.segments.first.base_offset
            },
            durable,
        )
        self._write_checkpoint(
            HIGH_WATERMARKS, {name: log.high_watermark for name, log in logs.items()}, durable
        )
        self._write_cleaned(durable)

    def _write_cleaned(self, durable: bool = True) -> None:
        """Write how far logs are compacted: at once, since recovery judges gaps by it."""
        cleaned = {
            name: log.cleaned_up_to
            for name, log in self.logs.items()
            if log.cleaned_up_to is not None
        }
        if cleaned:
            self._write_checkpoint(CLEANED_UP_TO, cleaned, durable)

    def _write_checkpoint(
        self, file_name: str, offsets: Mapping[tuple[str, int], int], durable: bool
    ) -> None:
        data = checkpoints.format_offsets(offsets)
        if self._written.get(file_name) != data:
            self.disk.write(file_name, data, durable=durable)
            self._written[file_name] = data

    def copied(self, copy: Callable[[], Disk], broker_epoch: int) -> None:
        """Let ``copy`` copy the disk, and complete the copy as a clean stop does; all stays open.

        Without the mark of a clean stop, which a failed log does not get, the next start recovers.
        """
        logs = self.logs.values()
        for log in logs:
            log.segments.active.write_out_indexes(final=True)
        self.write_checkpoints()
        disk = copy()
        for log in logs:
            if log.log_end_offset > log.segments.first.base_offset:
                snapshots = ProducerSnapshots(disk, log.folder, log.snapshots.offsets)
                snapshots.write(log.producers, log.log_end_offset)
        if all(log.failure is None and not log.segments.active.is_torn for log in logs):
            mark = checkpoints.format_clean_shutdown(broker_epoch)
            disk.write(CLEAN_SHUTDOWN, mark, durable=True)

    def close(self, now_ms: int, broker_epoch: int = -1) -> bool:
        """Close everything; return whether the stop was clean, so that the next start is quick."""
        if self._lock is None:
            return False
        is_clean = self._close_logs(now_ms)
        try:
            self.write_checkpoints(durable=True)
            if is_clean:
                self.disk.write(
                    CLEAN_SHUTDOWN, checkpoints.format_clean_shutdown(broker_epoch), durable=True
                )
        except StorageError as error:
            is_clean = False
            self.tell("storage-error", str(error), unexpected=True)
        self._lock.release()
        self._lock = None
        return is_clean

    def _close_logs(self, now_ms: int) -> bool:
        """Close all logs and make them durable, as a clean stop promises."""
        is_clean = True
        unflushed = []
        for log in self.logs.values():
            try:
                log.close()
                if log.failure is not None:
                    raise log.failure
                if log.unflushed_messages:
                    unflushed.append(log)
            except StorageError as error:
                is_clean = False
                log.tell("storage-error", str(error), unexpected=True)
        # One call for the whole file system takes as long as some files do one by one.
        at_once = len(unflushed) > _SYNCED_ONE_BY_ONE and self.disk.sync_all()
        for log in unflushed:
            try:
                task = log.begin_flush()
                if not at_once:
                    task.run()
                log.flushed(task, now_ms)
                for segment in log.segments:
                    segment.forget()
            except StorageError as error:
                is_clean = False
                log.tell("storage-error", str(error), unexpected=True)
        return is_clean

    # --- events ---------------------------------------------------------------------------------

    def take_events(self) -> list[LogEvent]:
        """Return what happened since the last call, in all partitions."""
        events, self._events = self._events, []
        for log in self.logs.values():
            if log.events:
                events += log.take_events()
        return events

    def tell(self, kind: str, text: str, *, unexpected: bool = False) -> None:
        """Note something for :meth:`take_events`."""
        self._events.append(LogEvent(kind, "", text, unexpected))
