"""The metadata log is checked before anything in its directory is used or changed.

All that a cluster knows is in this log: topics, users, ACLs, producer ids. A start without a part
of it would forget acknowledged changes, and would set the logs of unknown topics aside. So every
batch is read here; it must have its CRC and the next offset. After an unclean stop the last segment
may end with a torn batch, which is cut when the log is opened. Everything else is refused. With
``metadata.log.recover`` the damaged files are kept under other names, and the broker goes on with
what was written before.

A broker whose controller is another process has only a copy. It goes on in the same way without
being told to, and fetches the rest from the controller again before it opens any partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final, NamedTuple

from fencepost_protocol.primitives import uuid_text
from fencepost_protocol.records.batch import (
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    MIN_BATCH_LENGTH,
    crc_is_valid,
)

from fencepost_broker.metadata.log.snapshot_files import find_snapshots, snapshot_is_whole
from fencepost_broker.metadata.names import METADATA_TOPIC
from fencepost_broker.storage.log import CorruptFileError, Disk, DiskFile, LogEvent
from fencepost_broker.storage.log.checkpoints import (
    format_offsets,
    parse_offsets,
    parse_partition_metadata,
)
from fencepost_broker.storage.log.names import (
    CLEAN_SHUTDOWN,
    LOG,
    LOG_STARTS,
    PARTITION_METADATA,
    RECOVERY_POINTS,
    SEGMENT_SUFFIXES,
    PartitionName,
    file_name,
    parse_file_name,
    parse_folder_name,
    stray_folder_name,
)

METADATA_TOPIC_ID: Final = bytes(15) + b"\x01"
_NAME: Final = PartitionName(METADATA_TOPIC, 0)
_FOLDER: Final = str(_NAME)
_WINDOW: Final = 1 << 20
_MAGIC_AT: Final = 16
_ADVICE: Final = (
    "Nothing was changed. Restore the file from a copy, or start with --recover-metadata: it keeps"
    " the damaged files under other names and goes on with what was written before"
)


class Damage(NamedTuple):
    """The first bytes of the log that are not the next batch."""

    base_offset: int
    """The base offset of the segment."""
    position: int
    offset: int
    """Records from this offset on are lost if these bytes are."""
    reason: str
    is_torn_tail: bool


def check_metadata_log(disk: Disk, *, recover: bool, is_copy: bool) -> list[LogEvent]:
    """Raise ``CorruptFileError`` for a damaged log; with ``recover`` put the damaged files aside.

    A copy of a controller's log is never refused: the controller still has the records. The
    directory must be locked. Nothing in it is changed before an error is raised.
    """
    check = _Check(disk, recover=recover or is_copy, is_copy=is_copy)
    check.run()
    return check.events


class _Check:
    def __init__(self, disk: Disk, *, recover: bool, is_copy: bool) -> None:
        self.disk = disk
        self.recover = recover
        self.is_copy = is_copy
        self.events: list[LogEvent] = []

    def run(self) -> None:
        self._check_id()
        segments = self._segments()
        was_clean = self.disk.exists(CLEAN_SHUTDOWN)
        end_offset, damage = self._read(segments)
        if damage is not None and (was_clean or not damage.is_torn_tail):
            self._give_up_from(damage, segments)
            return
        problem = self._whole_log_problem(segments, end_offset)
        if problem is not None:
            self._give_up_all(problem, segments)

    def _check_id(self) -> None:
        path = f"{_FOLDER}/{PARTITION_METADATA}"
        data = self.disk.read(path) if self.disk.exists(_FOLDER) else None
        if not data:
            return
        try:
            found = parse_partition_metadata(data, path)
            if found == METADATA_TOPIC_ID:
                return
            problem = (
                f"it has the topic id {uuid_text(found)}, and the metadata log's is always"
                f" {uuid_text(METADATA_TOPIC_ID)}"
            )
        except CorruptFileError as error:
            problem = error.reason
        if not self.recover:
            raise CorruptFileError(
                f"{self.disk.name}/{path}",
                f"{problem}. The file is damaged, or the log is another topic's. Nothing was"
                " changed; if the log is right, remove the file: it is written anew",
            )
        self._tell(f"{path}: {problem}; it is kept as {self._keep(path)}")

    # --- reading ------------------------------------------------------------------------------

    def _segments(self) -> list[int]:
        if not self.disk.exists(_FOLDER):
            return []
        names = (parse_file_name(each.name) for each in self.disk.list_folder(_FOLDER))
        return sorted(each.offset for each in names if each and each[1:] == (LOG, ""))

    def _read(self, segments: list[int]) -> tuple[int, Damage | None]:
        """Return the offset after the last good batch, and what is wrong after it."""
        end_offset = segments[0] if segments else 0
        for base_offset in segments:
            file = self.disk.open(_path(base_offset))
            position = 0
            reason: str | None = None
            if base_offset != end_offset:
                reason = f"the offsets {end_offset} to {base_offset - 1} are missing"
            else:
                position, end_offset, reason = _read_batches(file, end_offset)
            file.close()
            if reason is not None:
                is_torn = base_offset == segments[-1] and not any(
                    _later_batches(file, position + 1, end_offset)
                )
                return end_offset, Damage(base_offset, position, end_offset, reason, is_torn)
        return end_offset, None

    def _whole_log_problem(self, segments: list[int], end_offset: int) -> str | None:
        """Compare the log's two ends with other files; return what is missing, if anything."""
        partitions = [
            each.name
            for each in self.disk.list_folder("")
            if each.is_folder and each.name != _FOLDER and parse_folder_name(each.name)
        ]
        snapshots = find_snapshots(self.disk, _FOLDER) if segments else []
        if not segments or (not end_offset and not snapshots):
            if not partitions:
                return None
            state = "has no record that can be read" if segments else "is missing"
            return f"the metadata log {state}, but there are logs of {_counted(partitions)}"
        start_offset = max(self._checkpoint(LOG_STARTS).get(_NAME, 0), segments[0])
        written_offset = self._checkpoint(RECOVERY_POINTS).get(_NAME, 0)
        if start_offset == 0 and end_offset >= written_offset:
            return None
        covered = next(
            (each.end_offset for each in snapshots if snapshot_is_whole(self.disk, each)), 0
        )
        if covered < start_offset:
            return f"it begins at offset {start_offset}, and no whole snapshot leads there"
        if max(covered, end_offset) < written_offset:
            return f"it ends at offset {end_offset}, and had been written up to {written_offset}"
        return None

    def _checkpoint(self, name: str) -> dict[PartitionName, int]:
        try:
            return parse_offsets(self.disk.read(name) or b"", name)
        except CorruptFileError:
            return {}  # told when the directory is opened

    # --- giving up ----------------------------------------------------------------------------

    def _give_up_from(self, damage: Damage, segments: list[int]) -> None:
        path = _path(damage.base_offset)
        where = f"{damage.reason} at byte {damage.position} (offset {damage.offset})"
        if not self.recover:
            raise CorruptFileError(f"{self.disk.name}/{path}", f"{where}. {_ADVICE}")
        whole = bytes(self.disk.open(path).pread(0, damage.position))
        kept = [self._keep(_path(base)) for base in segments if base >= damage.base_offset]
        for base_offset in segments:
            if base_offset >= damage.base_offset:
                for suffix in SEGMENT_SUFFIXES[1:]:
                    self.disk.remove(f"{_FOLDER}/{file_name(base_offset, suffix)}")
        self.disk.write(path, whole, durable=True)
        self._forget_checkpoints(RECOVERY_POINTS)
        self._tell(
            f"{path}: {where}. Metadata from offset {damage.offset} on {self._what_becomes}; the"
            f" damaged bytes and what followed are kept in {', '.join(kept)}"
        )

    def _give_up_all(self, problem: str, segments: list[int]) -> None:
        if not self.recover:
            raise CorruptFileError(f"{self.disk.name}/{_FOLDER}", f"{problem}. {_ADVICE}")
        kept = ""
        if segments:
            unique = (f"{METADATA_TOPIC_ID.hex()}x{number}" for number in count(1))
            names = (stray_folder_name(_NAME, each) for each in unique)
            # The controller has what a copy had: only the last one is kept.
            folder = next(each for each in names if self.is_copy or not self.disk.exists(each))
            self.disk.remove_folder(folder)
            self.disk.rename(_FOLDER, folder)
            kept = f"; what there is, is kept in {folder}"
        self._forget_checkpoints(RECOVERY_POINTS, LOG_STARTS)
        self._tell(f"{_FOLDER}: {problem}. All metadata {self._what_becomes}{kept}")

    @property
    def _what_becomes(self) -> str:
        return "is fetched from the controller again" if self.is_copy else "is lost"

    def _keep(self, path: str) -> str:
        names = (f"{path}.damaged{number or ''}" for number in count())
        kept = next(each for each in names if not self.disk.exists(each))
        self.disk.rename(path, kept)
        return kept

    def _forget_checkpoints(self, *names: str) -> None:
        for name in names:
            offsets = self._checkpoint(name)
            others = {
                (each.topic, each.partition): offsets[each] for each in offsets if each != _NAME
            }
            if others != offsets:
                self.disk.write(name, format_offsets(others), durable=True)

    def _tell(self, text: str) -> None:
        self.events.append(LogEvent("metadata-recovered", _FOLDER, text, unexpected=True))


def _path(base_offset: int) -> str:
    return f"{_FOLDER}/{file_name(base_offset, LOG)}"


def _counted(partitions: list[str]) -> str:
    return f"{len(partitions)} partition{'s' if len(partitions) > 1 else ''}"


def _read_batches(file: DiskFile, offset: int) -> tuple[int, int, str | None]:
    """Read a segment; return position and offset after its last good batch, and what is wrong."""
    size = file.size()
    position = 0
    window, window_at = memoryview(b""), 0
    while position < size:
        at = position - window_at
        if len(window) - at < HEADER_SIZE:
            window, window_at, at = memoryview(file.pread(position, _WINDOW)), position, 0
        if len(window) < HEADER_SIZE:
            return position, offset, "there is no whole batch"
        base_offset, length, _, magic, *rest = HEADER.unpack_from(window, at)
        end = LOG_OVERHEAD + length
        if magic != MAGIC or length < MIN_BATCH_LENGTH or position + end > size:
            return position, offset, "there is no whole batch"
        if len(window) - at < end:
            window, window_at, at = memoryview(file.pread(position, end + _WINDOW)), position, 0
        if not crc_is_valid(window[at : at + end]):
            return position, offset, "the batch does not have its CRC"
        last_offset_delta = rest[2]
        if base_offset != offset or last_offset_delta < 0:
            return position, offset, f"the batch has offset {base_offset}"
        offset = base_offset + last_offset_delta + 1
        position += end
    return position, offset, None


def _later_batches(file: DiskFile, position: int, offset: int) -> Iterator[int]:
    """Yield where whole batches begin after damaged bytes, which are no torn tail then."""
    size = file.size()
    while position + HEADER_SIZE <= size:
        window = bytes(file.pread(position, _WINDOW))
        at = window.find(MAGIC, _MAGIC_AT)
        while at >= 0:
            begin = position + at - _MAGIC_AT
            header = bytes(file.pread(begin, LOG_OVERHEAD))
            length = int.from_bytes(header[8:], "big", signed=True)
            is_possible = int.from_bytes(header[:8], "big", signed=True) >= offset
            is_possible &= MIN_BATCH_LENGTH <= length <= size - begin - LOG_OVERHEAD
            if is_possible and crc_is_valid(memoryview(file.pread(begin, LOG_OVERHEAD + length))):
                yield begin
            at = window.find(MAGIC, at + 1)
        position += max(len(window) - _MAGIC_AT, 1)
