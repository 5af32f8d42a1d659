"""Listing log files, and splitting large ones.

A path may be a data directory (``log.dirs`` has several: give them all), the folder of one
partition, or one ``.log`` file. Folders and files that are being deleted (``-delete``,
``-stray``, ``.deleted``, ``.cleaned``, ``.swap``) or moved in (``-future``) are not part of the
log.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from fencepost_protocol.records.batch import HEADER_SIZE

from fencepost_pipeline.columns.tables import Numbers
from fencepost_pipeline.segments.headers import is_plausible

_LOG: Final = ".log"
_INDEX: Final = ".index"
_OFFSET_DIGITS: Final = 20
_INDEX_ENTRY: Final = np.dtype([("offset", ">i4"), ("position", ">i4")])
_INDEX_BYTES_MAX: Final = 64 * 1024 * 1024


class UnreadablePathError(Exception):
    """A path does not exist, cannot be read, or has no log."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A log file at the time of listing."""

    path: str
    topic: str
    partition: int
    base_offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Slice:
    """The batches of a segment that begin from ``start`` on and before ``end``."""

    segment: Segment
    start: int
    end: int


def list_segments(
    paths: Iterable[str | os.PathLike[str]],
    *,
    topics: Collection[str] | None = None,
    partitions: Collection[int] | None = None,
) -> list[Segment]:
    """List all log files below some paths, by topic, partition and offset.

    ``topics`` and ``partitions`` select logs; ``None`` means all. A path without a log raises
    :class:`UnreadablePathError`.
    """
    found: list[Segment] = []
    for path in map(Path, paths):
        try:
            some = list(_segments_at(path))
        except OSError as error:
            raise UnreadablePathError(f"{path} cannot be read: {error.strerror}") from error
        if not some:
            raise UnreadablePathError(
                f"{path} holds no log: name a data directory (with folders like orders-0), "
                "a partition's folder, or a .log file"
            )
        found += some
    return sorted(
        (
            segment
            for segment in found
            if (topics is None or segment.topic in topics)
            and (partitions is None or segment.partition in partitions)
        ),
        key=lambda segment: (segment.topic, segment.partition, segment.base_offset, segment.path),
    )


def parse_folder_name(name: str) -> tuple[str, int] | None:
    """Read topic and partition out of a folder's name; ``None`` if it is no partition's."""
    topic, dash, number = name.rpartition("-")
    if not (dash and topic and number.isascii() and number.isdigit()):
        return None
    return topic, int(number)


def _segments_at(path: Path) -> Iterator[Segment]:
    if path.is_file():
        yield from _segment(path, path.stat().st_size)
        return
    folders = [path] if parse_folder_name(path.name) and any(path.glob("*" + _LOG)) else []
    if not folders:
        with os.scandir(path) as entries:
            folders = [
                Path(entry.path)
                for entry in entries
                if parse_folder_name(entry.name) and entry.is_dir()
            ]
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(_LOG):
                    # A broker may remove it between these two calls.
                    try:
                        size = entry.stat().st_size
                    except FileNotFoundError:
                        continue
                    yield from _segment(Path(entry.path), size)


def _segment(path: Path, size: int) -> Iterator[Segment]:
    digits, suffix = path.name[:_OFFSET_DIGITS], path.name[_OFFSET_DIGITS:]
    name = parse_folder_name(path.resolve().parent.name)
    if suffix == _LOG and digits.isascii() and digits.isdigit() and name:
        yield Segment(os.fspath(path), *name, int(digits), size)


# --- cutting ----------------------------------------------------------------------------------


def split(segment: Segment, target_bytes: int) -> list[Slice]:
    """Split a segment at batches into slices of about ``target_bytes``.

    Where batches begin is looked up in the segment's offset index; each place is used only if
    there is a batch. Without an index the segment stays whole.
    """
    cuts = [0]
    if segment.size > target_bytes:
        positions = _index_positions(segment)
        with Path(segment.path).open("rb") as file:
            wanted = target_bytes
            while wanted < segment.size:
                place = int(np.searchsorted(positions, wanted))
                if place == len(positions):
                    break
                position = int(positions[place])
                file.seek(position)
                if is_plausible(file.read(HEADER_SIZE), 0, segment.base_offset):
                    cuts.append(position)
                    wanted = position + target_bytes
                else:
                    wanted = position + 1
    ends = [*cuts[1:], segment.size]
    return [Slice(segment, start, end) for start, end in zip(cuts, ends, strict=True)]


def _index_positions(segment: Segment) -> Numbers:
    """Get the positions that the offset index has, as far as they grow.

    The index of a segment that is written to may be preallocated: zeros at its end.
    """
    try:
        with Path(segment.path).with_suffix(_INDEX).open("rb") as file:
            data = file.read(_INDEX_BYTES_MAX)
    except OSError:
        return np.zeros(0, np.int64)
    count = len(data) // _INDEX_ENTRY.itemsize
    positions: Numbers = np.frombuffer(data, _INDEX_ENTRY, count)["position"].astype(np.int64)
    grows = np.diff(positions, prepend=0) > 0
    return positions if grows.all() else positions[: int(np.argmin(grows))]
