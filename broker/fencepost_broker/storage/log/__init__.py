"""The log of partitions on a disk: pure, with every clock, file and thread handed in.

How it is used::

    disk = FileDisk(data_dir)                 # storage.disk.files, or MemoryDisk(), disk.memory
    manager = LogManager.open(disk, Identity(node_id, cluster_id, directory_id), config_for, now_ms)
    log = manager.create("orders", 0, topic_id, config, now_ms)     # get, delete, configure
    manager.close(now_ms)                     # the clean stop

    result = log.append_as_leader(view, leader_epoch, now_ms)          -> AppendResult
    result = log.append_as_follower(view, leader_epoch, now_ms)        -> AppendResult
    result = log.append_marker(producer_id, epoch, committed=True, coordinator_epoch=0,
                               leader_epoch=0, now_ms=now_ms, transaction_version=2)
    found  = log.read(offset, max_bytes, UpperBound.HIGH_WATERMARK, min_one_batch=True)
                                                                       -> ReadResult

**Errors.** ``result.error`` is an ``ErrorCode``, ``NONE`` (0) when all is well. ``message`` says
more, ``record_errors`` which records (Produce v8+). An append answers

- NONE; ``duplicate`` is set for a repeat, whose offsets are those of the first copy,
- INVALID_RECORD, CORRUPT_MESSAGE, UNSUPPORTED_COMPRESSION_TYPE, MESSAGE_TOO_LARGE,
  RECORD_LIST_TOO_LARGE, INVALID_TIMESTAMP: the batch is at fault,
- OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE,
  TRANSACTION_COORDINATOR_FENCED: its producer, or a marker's coordinator,
- KAFKA_STORAGE_ERROR: the disk; nothing was appended, and the next append may succeed.

A read answers NONE, OFFSET_OUT_OF_RANGE or KAFKA_STORAGE_ERROR. All other calls (lookups,
truncation, opening) raise ``StorageError``, which also means KAFKA_STORAGE_ERROR, and no other
exception. A call that fails leaves the log as it was.

**Views.** An append writes base offset and leader epoch (and what the topic's settings change) into
``records`` if it is writable, copies it otherwise, and keeps nothing of it. The views that a read
returns may be kept; their bytes never change.

**One writer.** A log is used by one thread. Only ``FlushTask.run`` may run in another one.

**Offsets.** ``log_start_offset``, ``last_stable_offset``, ``high_watermark``, ``log_end_offset``
are attributes. With one replica the high watermark follows the log's end; with several, set
``follows_log_end = False`` and call ``set_high_watermark(offset)``, which returns whether an offset
moved that a parked Fetch may wait for.

**Leading.** ``begin_leader_epoch(epoch)`` when this broker becomes the partition's leader, so that
OffsetForLeaderEpoch knows the epoch before its first record.

**Durability.** ``flush_is_due(now_ms)`` after an append (or always, with ``fsync=always``), then
``task = begin_flush()``, ``task.run()`` wherever, then ``flushed(task, now_ms)`` or
``flush_failed(error)``. Acknowledge an append when a flush that began after it is done.

**Transactions.** Before a transactional append from a client: ``start_verification(...)`` gives
``None`` when the transaction is open here, else a guard; ask the coordinator, then append with
``guard=guard``. With verification switched off (``LogConfig``) no guard is needed.

**Time.** ``LogManager.maintain(now_ms)`` does a bounded piece of retention, compaction, removal,
checkpoints and expiry, and returns when to call it again.

**Events.** ``take_events()`` returns what an operator should know: recovery, removal, damage.
"""

from __future__ import annotations

from fencepost_broker.storage.log.config import LogConfig
from fencepost_broker.storage.log.disk import (
    CorruptFileError,
    Disk,
    DiskFile,
    DiskUsage,
    LockedError,
    StorageError,
)
from fencepost_broker.storage.log.identity import Identity
from fencepost_broker.storage.log.loading import LoadOptions, load_partition
from fencepost_broker.storage.log.manager import Intervals, LogManager
from fencepost_broker.storage.log.partition import PartitionLog
from fencepost_broker.storage.log.producers import VerificationGuard
from fencepost_broker.storage.log.replaying import replay_batches
from fencepost_broker.storage.log.results import (
    AbortedTransaction,
    AppendResult,
    EpochEnd,
    FoundOffset,
    LogEvent,
    Origin,
    ProducerDescription,
    ReadResult,
    RecordError,
    UpperBound,
)
from fencepost_broker.storage.log.upkeep import FlushTask

__all__ = [
    "AbortedTransaction",
    "AppendResult",
    "CorruptFileError",
    "Disk",
    "DiskFile",
    "DiskUsage",
    "EpochEnd",
    "FlushTask",
    "FoundOffset",
    "Identity",
    "Intervals",
    "LoadOptions",
    "LockedError",
    "LogConfig",
    "LogEvent",
    "LogManager",
    "Origin",
    "PartitionLog",
    "ProducerDescription",
    "ReadResult",
    "RecordError",
    "StorageError",
    "UpperBound",
    "VerificationGuard",
    "load_partition",
    "replay_batches",
]
