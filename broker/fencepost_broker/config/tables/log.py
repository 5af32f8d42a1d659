"""Settings of logs: defaults of topics' settings, and maintenance of files."""

from __future__ import annotations

from fencepost_broker.config.setting import (
    Scope,
    Setting,
    boolean,
    double,
    integer,
    long,
    string,
    strings,
)
from fencepost_broker.config.values.units import DAY_MS, DOUBLE_MAX, LONG_MAX


def _check_age(age: int) -> str | None:
    """Return what is wrong with an age; as in Kafka, only zero is."""
    return "it must be above 0, or negative for never" if age == 0 else None


class LogSettings:
    """Segments, retention, flushing and timestamps of topics without settings of their own."""

    log_segment_bytes = integer(
        1 << 30,
        "the size at which a partition goes on in a new segment file",
        scope=Scope.CLUSTER,
        at_least=1 << 20,
    )
    log_roll_ms: Setting[int | None] = long(
        None,
        "the age at which a partition goes on in a new segment file, instead of log.roll.hours",
        scope=Scope.CLUSTER,
        at_least=1,
    )
    log_roll_hours = integer(168, "as log.roll.ms, in hours", at_least=1)
    log_roll_jitter_ms: Setting[int | None] = long(
        None,
        "up to how much earlier a segment may end, by chance, instead of log.roll.jitter.hours",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    log_roll_jitter_hours = integer(0, "as log.roll.jitter.ms, in hours", at_least=0)
    log_retention_bytes = long(
        -1,
        "the size above which a partition's oldest segments are deleted; -1 is no limit",
        scope=Scope.CLUSTER,
    )
    log_retention_ms: Setting[int | None] = long(
        None,
        "the age at which segments are deleted, instead of log.retention.minutes; -1 is never",
        scope=Scope.CLUSTER,
        check=_check_age,
        range_text="not 0",
    )
    log_retention_minutes: Setting[int | None] = integer(
        None,
        "as log.retention.ms, in minutes, instead of log.retention.hours",
        check=_check_age,
        range_text="not 0",
    )
    log_retention_hours = integer(
        168,
        "as log.retention.ms, in hours",
        check=_check_age,
        range_text="not 0",
    )
    log_retention_check_interval_ms = long(
        300_000, "how often retention looks for segments to delete", at_least=1
    )
    log_segment_delete_delay_ms = long(
        60_000,
        "how long files that are no longer needed stay before they are removed",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    log_cleanup_policy: Setting[tuple[str, ...]] = strings(
        ("delete",),
        "the cleanup: delete old segments, compact to the last value of each key, or neither",
        scope=Scope.CLUSTER,
        one_of=("compact", "delete"),
    )
    log_index_interval_bytes = integer(
        4096,
        "how many bytes of batches lie between two entries of the offset index",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    log_index_size_max_bytes = integer(
        10 * 1024 * 1024,
        "the size at which a segment's index is full, and a new segment begun",
        scope=Scope.CLUSTER,
        at_least=4,
    )
    log_preallocate = boolean(
        False, "whether a new segment gets its whole size on disk at once", scope=Scope.CLUSTER
    )
    log_message_timestamp_type = string(
        "CreateTime",
        "which time a record has: the producer's, or that of the append",
        scope=Scope.CLUSTER,
        one_of=("CreateTime", "LogAppendTime"),
    )
    log_message_timestamp_before_max_ms = long(
        LONG_MAX,
        "how far a record's timestamp may be before the broker's clock",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    log_message_timestamp_after_max_ms = long(
        3_600_000,
        "how far a record's timestamp may be after the broker's clock",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    log_flush_interval_messages = long(
        LONG_MAX,
        "after how many unflushed records a partition is forced to disk",
        scope=Scope.CLUSTER,
        at_least=1,
    )
    log_flush_interval_ms: Setting[int | None] = long(
        None,
        "how old unflushed records get; without it, log.flush.scheduler.interval.ms is the age",
        scope=Scope.CLUSTER,
    )
    log_flush_scheduler_interval_ms = long(
        LONG_MAX, "how often the broker looks for partitions that must be forced to disk"
    )
    log_flush_offset_checkpoint_interval_ms = integer(
        60_000, "how often the flushed offsets of logs are written to disk", at_least=0
    )
    log_flush_start_offset_checkpoint_interval_ms = integer(
        60_000, "how often the first offsets of logs are written to disk", at_least=0
    )
    log_dir_failure_timeout_ms = long(
        30_000,
        "how long a broker may fail to report a broken directory before it stops",
        at_least=1,
        ignored=True,
    )
    min_insync_replicas = integer(
        1,
        "how many replicas must be in sync for a produce request with acks=all to be taken",
        scope=Scope.CLUSTER,
        at_least=1,
    )
    unclean_leader_election_enable = boolean(
        False,
        "whether an out-of-sync replica may lead when no other is left, losing records",
        scope=Scope.CLUSTER,
    )
    producer_id_expiration_ms = integer(
        DAY_MS,
        "how long a partition remembers a producer that is silent",
        scope=Scope.CLUSTER,
        at_least=1,
    )
    producer_id_expiration_check_interval_ms = integer(
        600_000, "how often silent producers are looked for", at_least=1, internal=True
    )


class CleanerSettings:
    """Compaction: keeping the last value of each key."""

    log_cleaner_enable = boolean(
        True, "whether compaction runs; Kafka no longer lets it be switched off", ignored=True
    )
    log_cleaner_backoff_ms = long(
        15_000,
        "how long compaction pauses when it finds nothing to do",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    log_cleaner_min_cleanable_ratio = double(
        0.5,
        "the part of a log that must be new before compaction takes it up",
        scope=Scope.CLUSTER,
        at_least=0,
        at_most=1,
    )
    log_cleaner_min_compaction_lag_ms = long(
        0,
        "the age below which compaction leaves a record alone",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    log_cleaner_max_compaction_lag_ms = long(
        LONG_MAX,
        "the age at which a record must have been looked at by compaction",
        scope=Scope.CLUSTER,
        at_least=1,
    )
    log_cleaner_delete_retention_ms = long(
        DAY_MS,
        "how long compaction keeps a tombstone, so that readers get to see the deletion",
        scope=Scope.CLUSTER,
        at_least=0,
    )
    log_cleaner_threads = integer(
        1, "threads of compaction", scope=Scope.CLUSTER, at_least=0, ignored=True
    )
    log_cleaner_dedupe_buffer_size = long(
        128 * 1024 * 1024,
        "the memory for keys, in bytes; here cleaner.keys.max bounds it",
        scope=Scope.CLUSTER,
        ignored=True,
    )
    log_cleaner_io_buffer_size = integer(
        512 * 1024,
        "the memory for reading and writing in compaction",
        scope=Scope.CLUSTER,
        at_least=0,
        ignored=True,
    )
    log_cleaner_io_buffer_load_factor = double(
        0.9, "how full the memory for keys may get", scope=Scope.CLUSTER, ignored=True
    )
    log_cleaner_io_max_bytes_per_second = double(
        DOUBLE_MAX,
        "how fast compaction may read and write",
        scope=Scope.CLUSTER,
        ignored=True,
    )
