"""How the files of a partition are called: Kafka's names, so that its tools find them."""

from __future__ import annotations

from typing import Final, NamedTuple

LOG: Final = ".log"
OFFSET_INDEX: Final = ".index"
TIME_INDEX: Final = ".timeindex"
TRANSACTION_INDEX: Final = ".txnindex"
SNAPSHOT: Final = ".snapshot"
SEGMENT_SUFFIXES: Final = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

DELETED: Final = ".deleted"
CLEANED: Final = ".cleaned"
SWAP: Final = ".swap"

LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"

META_PROPERTIES: Final = "meta.properties"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
LOCK: Final = ".lock"
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
LOG_STARTS: Final = "log-start-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
CLEANED_UP_TO: Final = "cleaner-offset-checkpoint"

DELETED_FOLDER: Final = "-delete"
STRAY_FOLDER: Final = "-stray"
_MAX_FOLDER_NAME: Final = 255
_OFFSET_DIGITS: Final = 20


class PartitionName(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class SegmentFile(NamedTuple):
    """A file's name taken apart: ``00000000000000000042.index.swap`` is (42, .index, .swap)."""

    offset: int
    suffix: str
    state: str


def file_name(offset: int, suffix: str, state: str = "") -> str:
    """Name a file by the offset it begins with."""
    return f"{offset:020d}{suffix}{state}"


def parse_file_name(name: str) -> SegmentFile | None:
    """Take a name apart; ``None`` for files that are not named by an offset."""
    digits = name[:_OFFSET_DIGITS]
    if len(digits) != _OFFSET_DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    rest = name[_OFFSET_DIGITS:]
    for state in (DELETED, CLEANED, SWAP):
        if rest.endswith(state):
            return SegmentFile(int(digits), rest[: -len(state)], state)
    return SegmentFile(int(digits), rest, "")


def parse_folder_name(name: str) -> PartitionName | None:
    """Read a partition's folder name; ``None`` for those that are none, deleted ones included."""
    topic, dash, number = name.rpartition("-")
    if not (dash and topic and number.isascii() and number.isdigit()):
        return None
    return PartitionName(topic, int(number))


def deleted_folder_name(partition: PartitionName, unique: str) -> str:
    """Name the folder of a partition that is on its way out; Kafka removes such at its start.

    ``unique`` keeps apart a topic that is created and deleted again and again. The topic's name is
    cut where the whole would be longer than file systems allow.
    """
    return _marked(partition, unique, DELETED_FOLDER)


def stray_folder_name(partition: PartitionName, unique: str) -> str:
    """Name the folder of a partition whose topic is not known; Kafka leaves such alone."""
    return _marked(partition, unique, STRAY_FOLDER)


def _marked(partition: PartitionName, unique: str, mark: str) -> str:
    suffix = f"-{partition.partition}.{unique}{mark}"
    return partition.topic[: _MAX_FOLDER_NAME - len(suffix)] + suffix


def is_deleted_folder(name: str) -> bool:
    """Whether a folder waits for its removal."""
    return name.endswith(DELETED_FOLDER) and "." in name
