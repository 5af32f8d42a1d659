"""A topic's settings, as far as its log goes by them: Kafka's names and defaults.

The fields are Kafka's names with underscores. The values were checked when the settings were read.
"""

from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple, Self

from fencepost_protocol import limits
from fencepost_protocol.crc import crc32c
from fencepost_protocol.records.batch import CODEC_MASK, TRANSACTIONAL_FLAG, TimestampType
from fencepost_protocol.records.compression import Compression

MAX_INT64: Final = (1 << 63) - 1
NO_LIMIT: Final = -1
RECORDS_FEW: Final = 10
"""What ``record.validation=few`` walks: 5 us a batch at most, where it takes 25 without."""
UNPACKED_FEW_BYTES: Final = 1 << 20
"""What it unpacks: a millisecond, in which other clients wait."""
_SPREAD: Final = 0x9E37_79B9_7F4A_7C15
_MASK: Final = (1 << 64) - 1
_WALKED: Final = {
    "all": ((1 << 31) - 1, limits.MAX_DECOMPRESSED_BYTES),
    "few": (RECORDS_FEW, UNPACKED_FEW_BYTES),
    "none": (0, 0),
}


class LogConfig(NamedTuple):
    """Settings of one topic; one object serves all its partitions."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * 24 * 3600 * 1000
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    preallocate: bool = False
    max_message_bytes: int = 1024 * 1024 + 12
    retention_bytes: int = NO_LIMIT
    retention_ms: int = 7 * 24 * 3600 * 1000
    file_delete_delay_ms: int = 60_000
    compact: bool = False
    """``compact`` is in ``cleanup.policy``."""
    delete: bool = True
    """``delete`` is in ``cleanup.policy``."""
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = MAX_INT64
    delete_retention_ms: int = 24 * 3600 * 1000
    compression_type: Compression | None = None
    """``None`` is Kafka's ``producer``: batches stay as they came."""
    compression_level: int | None = None
    message_timestamp_type: TimestampType = TimestampType.CREATE_TIME
    message_timestamp_before_max_ms: int = MAX_INT64
    message_timestamp_after_max_ms: int = 3600 * 1000
    flush_messages: int = MAX_INT64
    flush_ms: int = MAX_INT64
    min_insync_replicas: int = 1
    leader_replication_throttled_replicas: tuple[str, ...] = ()
    follower_replication_throttled_replicas: tuple[str, ...] = ()
    # Settings of the broker that a log goes by; the same for all topics.
    producer_id_expiration_ms: int = 24 * 3600 * 1000
    transaction_partition_verification_enable: bool = True
    cleaner_keys_max: int = 500_000
    """How many keys one compaction run tells apart, instead of Kafka's buffer size in bytes."""
    jitter_seed: int = 0
    """Makes segments of this broker end at other times than those of other brokers."""
    walked_records_max: int = RECORDS_FEW
    """Batches of so many records or fewer are walked record by record before they are appended,"""
    walked_bytes_max: int = UNPACKED_FEW_BYTES
    """unless they unpack to more than so many bytes."""

    @property
    def plain_attributes(self) -> frozenset[int]:
        """The batch attributes that a leader takes without a look at more than the header."""
        if (
            self.compact
            or self.message_timestamp_type is TimestampType.LOG_APPEND_TIME
            or self.message_timestamp_before_max_ms < MAX_INT64
        ):
            return frozenset()
        return _attributes(self.compression_type)

    @property
    def built_attributes(self) -> frozenset[int]:
        """The attributes with which a batch that this broker has made stays as it is."""
        compresses = self.compression_type not in (None, Compression.NONE)
        if compresses or self.message_timestamp_type is TimestampType.LOG_APPEND_TIME:
            return frozenset()
        return _attributes(Compression.NONE)

    @property
    def counted_codecs(self) -> int:
        """Batches with one of these attributes are unpacked, and their records counted."""
        return CODEC_MASK if self.walked_records_max else 0

    @property
    def size_max(self) -> int:
        """Larger batches are refused, for one reason or another."""
        return min(self.max_message_bytes, self.segment_bytes)

    def jitter_ms(self, folder: str, base_offset: int) -> int:
        """How much earlier than ``segment.ms`` a segment ends, the same whenever it is asked."""
        most_ms = min(self.segment_jitter_ms, self.segment_ms)
        if not most_ms:
            return 0
        checksum = crc32c(f"{self.jitter_seed} {folder} {base_offset}".encode())
        return (checksum * _SPREAD & _MASK) % most_ms

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Make one of Kafka's names and values that have their types already.

        Settings that are not a log's are left out; ``cleanup.policy`` and ``compression.type`` are
        Kafka's words, ``compression.<codec>.level`` is that of the codec in use.
        """
        values: dict[str, object] = {}
        for name, value in settings.items():
            field_name = name.replace(".", "_").replace("-", "_")
            if field_name in cls._fields and name != "compression.type":
                values[field_name] = value
        if settings.get("internal.segment.bytes") is not None:
            values["segment_bytes"] = settings["internal.segment.bytes"]
        validation = settings.get("record.validation")
        if isinstance(validation, str):
            values["walked_records_max"], values["walked_bytes_max"] = _WALKED[validation]
        policy = settings.get("cleanup.policy")
        if isinstance(policy, str | tuple):
            words = (
                set(policy) if isinstance(policy, tuple) else {*policy.replace(" ", "").split(",")}
            )
            values |= {"compact": "compact" in words, "delete": "delete" in words}
        timestamp_type = settings.get("message.timestamp.type")
        if isinstance(timestamp_type, str):
            values["message_timestamp_type"] = _TIMESTAMP_TYPES[timestamp_type]
        codec = settings.get("compression.type", "producer")
        if isinstance(codec, str) and codec != "producer":
            values["compression_type"] = _CODECS[codec]
            level = settings.get(f"compression.{codec}.level")
            if level is not None:
                values["compression_level"] = level
        return cls(**values)  # type: ignore[arg-type]  # types are the caller's promise


@cache
def _attributes(codec: Compression | None) -> frozenset[int]:
    """Return the attributes of a batch in a codec, or in any (``None``); topics share the sets."""
    codecs = list(Compression) if codec is None else [codec]
    return frozenset(int(each) | flag for each in codecs for flag in (0, TRANSACTIONAL_FLAG))


_TIMESTAMP_TYPES: Final = {
    "CreateTime": TimestampType.CREATE_TIME,
    "LogAppendTime": TimestampType.LOG_APPEND_TIME,
}
_CODECS: Final = {
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}
