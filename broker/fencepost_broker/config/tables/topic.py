"""Settings of one topic; missing ones are inherited from the broker."""

from __future__ import annotations

from typing import Final

from fencepost_broker.config.setting import (
    Kind,
    Scope,
    Setting,
    boolean,
    double,
    integer,
    long,
    string,
    strings,
)
from fencepost_broker.config.table import Table
from fencepost_broker.config.tables.without_effect import TIERS, kept
from fencepost_broker.config.values.units import DAY_MS, HOUR_MS, LONG_MAX, MINUTE_MS
from fencepost_broker.config.values.value_text import check_form

CODECS: Final = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
CLEANUP_POLICIES: Final = ("compact", "delete")
TIMESTAMP_TYPES: Final = ("CreateTime", "LogAppendTime")
GZIP_DEFAULT_LEVEL: Final = -1
_REPLICA: Final = r"[0-9]+:[0-9]+"


def check_throttled(words: tuple[str, ...]) -> str | None:
    """Return what is wrong with a list of replicas, or ``None``."""
    return None if words == ("*",) else check_form(words, _REPLICA, "PARTITION:BROKER")


def gzip_level(value: int) -> str | None:
    """Return what is wrong with a gzip level, or ``None``: level zero does not exist."""
    return "gzip has no such level" if value == 0 else None


class TopicSettings(Table, scope=Scope.TOPIC):
    """Settings in force of a topic."""

    what = "topic setting"

    cleanup_policy: Setting[tuple[str, ...]] = strings(
        ("delete",),
        "the cleanup: delete old segments, compact to the last value of each key, or neither",
        one_of=CLEANUP_POLICIES,
        synonyms=(("log.cleanup.policy", 1),),
    )
    compression_type = string(
        "producer",
        "the codec batches are stored with; producer leaves each as it came",
        one_of=CODECS,
        synonyms=(("compression.type", 1),),
    )
    compression_gzip_level = integer(
        GZIP_DEFAULT_LEVEL,
        "how hard gzip tries when compression.type is gzip; -1 is its own choice",
        at_least=-1,
        at_most=9,
        check=gzip_level,
        range_text="not 0",
        synonyms=(("compression.gzip.level", 1),),
    )
    compression_lz4_level = integer(
        9,
        "how hard lz4 tries when compression.type is lz4",
        at_least=1,
        at_most=17,
        synonyms=(("compression.lz4.level", 1),),
    )
    compression_zstd_level = integer(
        3,
        "how hard zstd tries when compression.type is zstd; negative ones are faster still",
        at_least=-131_072,
        at_most=22,
        synonyms=(("compression.zstd.level", 1),),
    )
    delete_retention_ms = long(
        DAY_MS,
        "how long compaction keeps a tombstone, so that readers get to see the deletion",
        at_least=0,
        synonyms=(("log.cleaner.delete.retention.ms", 1),),
    )
    file_delete_delay_ms = long(
        MINUTE_MS,
        "how long files that are no longer needed stay before they are removed",
        at_least=0,
        synonyms=(("log.segment.delete.delay.ms", 1),),
    )
    flush_messages = long(
        LONG_MAX,
        "after how many unflushed records a partition is forced to disk",
        at_least=1,
        synonyms=(("log.flush.interval.messages", 1),),
    )
    flush_ms = long(
        LONG_MAX,
        "how old unflushed records get before a partition is forced to disk",
        at_least=0,
        synonyms=(("log.flush.interval.ms", 1), ("log.flush.scheduler.interval.ms", 1)),
    )
    index_interval_bytes = integer(
        4096,
        "how many bytes of batches lie between two entries of the offset index",
        at_least=0,
        synonyms=(("log.index.interval.bytes", 1),),
    )
    max_compaction_lag_ms = long(
        LONG_MAX,
        "the age at which a record must have been looked at by compaction",
        at_least=1,
        synonyms=(("log.cleaner.max.compaction.lag.ms", 1),),
    )
    max_message_bytes = integer(
        1024 * 1024 + 12,
        "the largest batch that is accepted, after compression",
        at_least=0,
        synonyms=(("message.max.bytes", 1),),
    )
    message_timestamp_after_max_ms = long(
        HOUR_MS,
        "how far a record's timestamp may be after the broker's clock",
        at_least=0,
        synonyms=(("log.message.timestamp.after.max.ms", 1),),
    )
    message_timestamp_before_max_ms = long(
        LONG_MAX,
        "how far a record's timestamp may be before the broker's clock",
        at_least=0,
        synonyms=(("log.message.timestamp.before.max.ms", 1),),
    )
    message_timestamp_type = string(
        "CreateTime",
        "which time a record has: the producer's, or that of the append",
        one_of=TIMESTAMP_TYPES,
        synonyms=(("log.message.timestamp.type", 1),),
    )
    min_cleanable_dirty_ratio = double(
        0.5,
        "the part of a log that must be new before compaction takes it up",
        at_least=0,
        at_most=1,
        synonyms=(("log.cleaner.min.cleanable.ratio", 1),),
    )
    min_compaction_lag_ms = long(
        0,
        "the age below which compaction leaves a record alone",
        at_least=0,
        synonyms=(("log.cleaner.min.compaction.lag.ms", 1),),
    )
    min_insync_replicas = integer(
        1,
        "how many replicas must be in sync for a produce request with acks=all to be taken",
        at_least=1,
        synonyms=(("min.insync.replicas", 1),),
    )
    preallocate = boolean(
        False,
        "whether a new segment gets its whole size on disk at once",
        synonyms=(("log.preallocate", 1),),
    )
    retention_bytes = long(
        -1,
        "the size above which a partition's oldest segments are deleted; -1 is no limit",
        synonyms=(("log.retention.bytes", 1),),
    )
    retention_ms = long(
        7 * DAY_MS,
        "the age at which segments are deleted; -1 is never",
        at_least=-1,
        synonyms=(
            ("log.retention.ms", 1),
            ("log.retention.minutes", MINUTE_MS),
            ("log.retention.hours", HOUR_MS),
        ),
    )
    segment_bytes = integer(
        1 << 30,
        "the size at which a partition goes on in a new segment file",
        at_least=1 << 20,
        synonyms=(("log.segment.bytes", 1),),
    )
    segment_index_bytes = integer(
        10 * 1024 * 1024,
        "the size at which a segment's index is full, and a new segment begun",
        at_least=4,
        synonyms=(("log.index.size.max.bytes", 1),),
    )
    segment_jitter_ms = long(
        0,
        "up to how much earlier than segment.ms a segment may end, by chance, to spread the work",
        at_least=0,
        synonyms=(("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOUR_MS)),
    )
    segment_ms = long(
        7 * DAY_MS,
        "the age at which a partition goes on in a new segment file even if the old is not full",
        at_least=1,
        synonyms=(("log.roll.ms", 1), ("log.roll.hours", HOUR_MS)),
    )
    unclean_leader_election_enable = boolean(
        False,
        "whether an out-of-sync replica may lead when no other is left, losing records",
        synonyms=(("unclean.leader.election.enable", 1),),
    )
    follower_replication_throttled_replicas: Setting[tuple[str, ...]] = strings(
        (),
        "followers that copy at follower.replication.throttled.rate while they are not in sync",
        check=check_throttled,
        range_text="PARTITION:BROKER each, or *",
    )
    leader_replication_throttled_replicas: Setting[tuple[str, ...]] = strings(
        (),
        "leaders that send at leader.replication.throttled.rate to followers that are not in sync",
        check=check_throttled,
        range_text="PARTITION:BROKER each, or *",
    )

    internal_segment_bytes: Setting[int | None] = integer(
        None,
        "as segment.bytes, which it replaces, without the least size that one has; for tests",
        at_least=1,
        internal=True,
    )
    local_retention_bytes = kept(
        Kind.LONG, -2, TIERS, at_least=-2, synonyms=(("log.local.retention.bytes", 1),)
    )
    local_retention_ms = kept(
        Kind.LONG, -2, TIERS, at_least=-2, synonyms=(("log.local.retention.ms", 1),)
    )
    remote_log_copy_disable = kept(Kind.BOOLEAN, False, TIERS)
    remote_log_delete_on_disable = kept(Kind.BOOLEAN, False, TIERS)
    remote_storage_enable = kept(Kind.BOOLEAN, False, TIERS, refused=TIERS)

    def contradictions(self) -> list[str]:
        """Return what Kafka, too, refuses about a topic's settings together."""
        problems = []
        if self.min_compaction_lag_ms > self.max_compaction_lag_ms:
            problems.append(
                f"min.compaction.lag.ms={self.min_compaction_lag_ms} is above "
                f"max.compaction.lag.ms={self.max_compaction_lag_ms}"
            )
        return problems
