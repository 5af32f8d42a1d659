"""Faults of a disk as data: which operations fail, on which files, and how often.

Each is a type that is read from JSON or TOML by its ``type``, and explains its fields there.
``DiskFaults`` (:mod:`fencepost_broker.storage.disk.faulty`) carries them out.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

import msgspec

from fencepost_broker.storage.log.names import LOG, file_name, parse_folder_name

Operation: TypeAlias = Literal[
    "list", "read", "write", "replace", "make_folder", "reserve", "truncate", "rename", "remove",
    "sync",
]  # fmt: skip
"""What is done with a file or a folder; ``replace`` puts a small file in place."""

_ALLOCATIONS: Final[frozenset[Operation]] = frozenset(
    {"write", "replace", "make_folder", "reserve"}
)
_CHANGES: Final[frozenset[Operation]] = _ALLOCATIONS | {"truncate", "rename", "remove"}

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Positive: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


class DiskFault(msgspec.Struct, kw_only=True, forbid_unknown_fields=True, frozen=True):
    """What all faults of a disk have in common: the files that they concern, and how often."""

    topic: Annotated[
        str | None,
        msgspec.Meta(
            description="Only files of this topic's partitions. Without topic and path, all files "
            "are concerned: also those of the metadata log, and the checkpoints."
        ),
    ] = None
    partition: Annotated[
        Count | None, msgspec.Meta(description="Only files of this partition of the topic.")
    ] = None
    path: Annotated[
        str | None,
        msgspec.Meta(
            description="Only files whose path in the data directory matches this pattern, "
            "as `orders-0/*.log`; `*` also matches `/`."
        ),
    ] = None
    skip: Annotated[
        Count, msgspec.Meta(description="So many operations succeed before the first one fails.")
    ] = 0
    times: Annotated[
        Positive | None,
        msgspec.Meta(description="So many operations fail; by default all, until it is removed."),
    ] = None

    operations: ClassVar[frozenset[Operation]] = frozenset()
    """The operations that the fault concerns."""
    reason: ClassVar[str] = ""
    """What the operating system says; empty if the operation does not fail."""
    no_space: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.partition is not None and self.topic is None:
            raise ValueError(f"partition={self.partition} needs a topic")
        if self.path is not None and self.topic is not None:
            raise ValueError("give a topic or a path, not both")

    def concerns(self, operation: Operation, path: str, start: int = 0, length: int = 0) -> bool:
        """Say whether the fault is about an operation, and a range of the file."""
        del start, length
        return operation in self.operations and self.concerns_file(path)

    def concerns_file(self, path: str) -> bool:
        """Say whether the fault is about a file or a folder."""
        if self.path is not None:
            return fnmatchcase(path, self.path)
        if self.topic is None:
            return True
        found = parse_folder_name(path.partition("/")[0])
        return (
            found is not None
            and found.topic == self.topic
            and self.partition in (None, found.partition)
        )

    def kept(self, size: int, written: int) -> int | None:
        """Return how many bytes of a write still reach the disk; ``None`` if it succeeds.

        ``written`` is how many were written since the fault was loaded.
        """
        del size, written
        return 0

    @property
    def crashes(self) -> bool:
        """Whether the broker crashes when this happens."""
        return False

    def delay_ms(self) -> int:
        """Return how long the operation takes in addition."""
        return 0

    def changed(self, data: bytearray, start: int) -> None:
        """Change what was read from a position on."""


class DiskFull(DiskFault, kw_only=True, frozen=True, tag="disk-full"):
    """The disk has no space left (ENOSPC) after so many bytes."""

    after_bytes: Annotated[
        Count,
        msgspec.Meta(
            description="So many bytes can still be written. The write that exceeds them is cut, "
            "and fails."
        ),
    ] = 0

    operations: ClassVar[frozenset[Operation]] = _ALLOCATIONS
    reason: ClassVar[str] = "No space left on device"
    no_space: ClassVar[bool] = True

    def kept(self, size: int, written: int) -> int | None:
        room = max(self.after_bytes - written, 0)
        return None if room and size <= room else room


class SlowDisk(DiskFault, kw_only=True, frozen=True, tag="disk-slow"):
    """Every fsync takes longer. Writes do not: they go to the system's cache."""

    sync_ms: Annotated[
        Positive, msgspec.Meta(description="Each fsync takes so many milliseconds longer.")
    ]

    operations: ClassVar[frozenset[Operation]] = frozenset({"sync"})

    def delay_ms(self) -> int:
        return self.sync_ms


class FailingSync(DiskFault, kw_only=True, frozen=True, tag="disk-failing-sync"):
    """An fsync fails (EIO). It is unknown then which records are on the disk."""

    operations: ClassVar[frozenset[Operation]] = frozenset({"sync"})
    reason: ClassVar[str] = "Input/output error"


class FailingRead(DiskFault, kw_only=True, frozen=True, tag="disk-failing-read"):
    """A read fails (EIO), as from a bad sector."""

    operations: ClassVar[frozenset[Operation]] = frozenset({"read"})
    reason: ClassVar[str] = "Input/output error"


class TornWrite(DiskFault, kw_only=True, frozen=True, tag="disk-torn-write"):
    """A write leaves only its beginning in the file, and fails (EIO)."""

    kept_bytes: Annotated[
        Count, msgspec.Meta(description="So many bytes of the write are in the file.")
    ] = 0
    crash: Annotated[
        bool,
        msgspec.Meta(
            description="The broker crashes at once: nothing more reaches the disk, the torn bytes "
            "stay, and the next start recovers."
        ),
    ] = False
    times: Annotated[Positive | None, msgspec.Meta(description="So many writes fail.")] = 1

    operations: ClassVar[frozenset[Operation]] = frozenset({"write"})
    reason: ClassVar[str] = "Input/output error"

    def kept(self, size: int, written: int) -> int | None:
        del written
        return min(size, self.kept_bytes)

    @property
    def crashes(self) -> bool:
        return self.crash


class FlippedBit(DiskFault, kw_only=True, frozen=True, tag="disk-flipped-bit"):
    """A bit of a segment's log file is wrong whenever it is read. The CRC of its batch tells."""

    position: Annotated[Count, msgspec.Meta(description="The byte's position in the file.")]
    bit: Annotated[
        int, msgspec.Meta(ge=0, le=7, description="Which bit of the byte; 0 is the lowest.")
    ] = 0
    segment: Annotated[
        Count,
        msgspec.Meta(description="The segment's base offset; not used if a path is given."),
    ] = 0

    operations: ClassVar[frozenset[Operation]] = frozenset({"read"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.path is None and self.topic is None:
            raise ValueError("a flipped bit needs a topic or a path")

    def concerns(self, operation: Operation, path: str, start: int = 0, length: int = 0) -> bool:
        return start <= self.position < start + length and super().concerns(operation, path)

    def concerns_file(self, path: str) -> bool:
        is_named = self.path is not None or path.endswith(f"/{file_name(self.segment, LOG)}")
        return is_named and super().concerns_file(path)

    def changed(self, data: bytearray, start: int) -> None:
        data[self.position - start] ^= 1 << self.bit


class ReadOnlyDisk(DiskFault, kw_only=True, frozen=True, tag="disk-read-only"):
    """Nothing can be changed (EROFS), as after the system has mounted a broken disk anew."""

    operations: ClassVar[frozenset[Operation]] = _CHANGES
    reason: ClassVar[str] = "Read-only file system"


AnyDiskFault: TypeAlias = (
    DiskFull | SlowDisk | FailingSync | FailingRead | TornWrite | FlippedBit | ReadOnlyDisk
)
