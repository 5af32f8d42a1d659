"""Reading a slice of a log file block by block, also when parts of it are corrupt.

The file is read, not mapped, because a broker may truncate it at any time, and an access to a
mapped page that is gone would end the process.

After corrupt bytes, the reader searches for the next batch: a possible header with a correct CRC.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    MIN_BATCH_LENGTH,
    crc_is_valid,
)

from fencepost_pipeline.columns.tables import Flags, Numbers
from fencepost_pipeline.segments.files import Slice
from fencepost_pipeline.segments.headers import find_plausible, gather, size_of
from fencepost_pipeline.segments.problems import OnProblem, Problem, ProblemKind

BLOCK_BYTES: Final = 8 * 1024 * 1024
"""The size of a block, unless a single batch is larger."""
BATCH_BYTES_MAX: Final = 512 * 1024 * 1024
"""A larger batch counts as corrupt; ``max.message.bytes`` is 1 MB by default."""
_SEARCHED_CRC_BYTES_MAX: Final = 1 << 30
"""Bytes whose CRC is computed in search of the next batch after something that is none."""

_unpack_extent = struct.Struct(">8xi4xb").unpack_from
_unpack_length = struct.Struct(">i").unpack_from


@dataclass(slots=True)
class Block:
    """Batches of a file."""

    part: Slice
    position: int
    """Of the first byte, in the file."""
    data: bytes
    starts: Numbers
    """Of the batches, in ``data``."""
    headers: npt.NDArray[Any]
    """Their headers, with the fields of ``HEADER_FIELDS``."""

    def views(self) -> list[memoryview]:
        """The bytes of each batch."""
        view = memoryview(self.data)
        ends = self.starts + size_of(self.headers)
        return [
            view[start:end] for start, end in zip(self.starts.tolist(), ends.tolist(), strict=True)
        ]

    def check_crcs(self) -> Flags:
        """Check the CRCs of the batches."""
        return np.fromiter(map(crc_is_valid, self.views()), np.bool_, len(self.starts))

    def problem(self, place: int, reason: str) -> Problem:
        """Report that a batch is invalid."""
        header = self.headers[place]
        return Problem(
            ProblemKind.CORRUPT,
            self.part.segment.path,
            self.part.segment.topic,
            self.part.segment.partition,
            self.position + int(self.starts[place]),
            int(header["batch_length"]) + LOG_OVERHEAD,
            int(header["base_offset"]),
            reason,
        )


def read_blocks(part: Slice, on_problem: OnProblem) -> Iterator[Block]:
    """Read all batches of a slice, and report bytes that are not a batch."""
    try:
        file = os.open(part.segment.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
        on_problem(_problem(part, ProblemKind.GONE, part.start, part.end - part.start, 0, reason))
        return
    try:
        yield from _Reader(file, part, on_problem).read()
    finally:
        os.close(file)


def _seek_and_read(file: int, size: int, position: int) -> bytes:
    os.lseek(file, position, os.SEEK_SET)
    return os.read(file, size)


_read_at: Final = getattr(os, "pread", _seek_and_read)
"""Windows has no ``pread``; a descriptor belongs to one reader."""


class _Stop(Enum):
    """The reason why a walk over a block has stopped."""

    END = "the slice is over"
    CUT = "the block ends within a batch"
    WRONG = "no batch begins here"


class _Reader:
    """A slice that is being read."""

    def __init__(self, file: int, part: Slice, on_problem: OnProblem) -> None:
        self._file = file
        self._part = part
        self._on_problem = on_problem
        # A batch that was being written when files were listed may be complete by now.
        self._file_size = os.fstat(file).st_size
        self._next_offset = part.segment.base_offset

    def read(self) -> Iterator[Block]:
        position = self._part.start
        end = min(self._part.end, self._file_size)
        if end < self._part.end:
            self._tell(end, self._part.end, ProblemKind.TORN_TAIL, "the file has become shorter")
        wanted = 0
        while position < end:
            wanted = max(wanted, min(BLOCK_BYTES, end - position))
            data = _read_at(self._file, min(wanted, self._file_size - position), position)
            starts, stop, why, needed = _walk(data, end - position)
            search_from = position + stop + 1
            if starts:
                block = self._block(position, data, starts)
                yield block
                if why is not _Stop.END and not crc_is_valid(block.views()[-1]):
                    # Its length led here, and may be what is wrong with it.
                    search_from = position + starts[-1] + HEADER_SIZE
            position += stop
            if why is _Stop.END:
                return
            if (
                why is _Stop.CUT
                and needed <= BATCH_BYTES_MAX
                and position + needed <= self._file_size
            ):
                wanted = needed
                continue
            wanted = 0
            found = self._find_next(search_from, end)
            if found is None:
                self._tell_of_end(position, end, why, needed)
                return
            reason = "no batch begins here" if why is _Stop.WRONG else "a batch has a wrong length"
            self._tell(position, max(position, found), ProblemKind.CORRUPT, reason)
            position = found

    def _block(self, position: int, data: bytes, starts: list[int]) -> Block:
        places = np.array(starts, np.int64)
        headers = gather(np.frombuffer(data, np.uint8), places)
        last = headers[-1]
        self._next_offset = int(last["base_offset"]) + int(last["last_offset_delta"]) + 1
        return Block(self._part, position, data, places, headers)

    def _find_next(self, start: int, end: int) -> int | None:
        """Search the next batch: where a header could be, and the CRC agrees."""
        budget = _SEARCHED_CRC_BYTES_MAX
        least = self._part.segment.base_offset
        while start < end:
            data = _read_at(self._file, BLOCK_BYTES, start)
            for place in find_plausible(np.frombuffer(data, np.uint8), 0, least):
                position = start + place
                if position >= end:
                    return None
                (length,) = _unpack_length(data, place + 8)
                size = LOG_OVERHEAD + length
                budget -= size
                if position + size > self._file_size or size > BATCH_BYTES_MAX:
                    continue
                if budget < 0:
                    return None
                batch = _read_at(self._file, size, position)
                if len(batch) == size and crc_is_valid(memoryview(batch)):
                    return position
            if len(data) < BLOCK_BYTES:
                return None
            start += len(data) - HEADER_SIZE + 1
        return None

    def _tell_of_end(self, position: int, end: int, why: _Stop, needed: int) -> None:
        """Report a rest without batches."""
        last_of_file = end == self._file_size
        if why is _Stop.CUT and last_of_file:
            self._tell(
                position,
                end,
                ProblemKind.TORN_TAIL,
                f"the file ends after {end - position} bytes of a batch of {needed}",
            )
        elif last_of_file and self._is_zero(position, end):
            self._tell(position, end, ProblemKind.TORN_TAIL, "the file ends in zeros")
        else:
            self._tell(position, end, ProblemKind.CORRUPT, "no batch begins here or behind it")

    def _is_zero(self, start: int, end: int) -> bool:
        while start < end:
            data = _read_at(self._file, min(BLOCK_BYTES, end - start), start)
            if not data:
                return True
            if data.strip(b"\0"):
                return False
            start += len(data)
        return True

    def _tell(self, position: int, end: int, kind: ProblemKind, reason: str) -> None:
        self._on_problem(
            _problem(self._part, kind, position, end - position, self._next_offset, reason)
        )


def _walk(data: bytes, until: int) -> tuple[list[int], int, _Stop, int]:
    """Follow batches by their lengths: where they begin, where the walk stops and why.

    The last number is how many bytes the batch has at which the block ends too early.
    """
    starts: list[int] = []
    pos = 0
    size = len(data)
    while pos < until:
        if size - pos < HEADER_SIZE:
            return starts, pos, _Stop.CUT, HEADER_SIZE
        length, magic = _unpack_extent(data, pos)
        if magic != MAGIC or length < MIN_BATCH_LENGTH:
            return starts, pos, _Stop.WRONG, 0
        behind = pos + LOG_OVERHEAD + length
        if behind > size:
            return starts, pos, _Stop.CUT, behind - pos
        starts.append(pos)
        pos = behind
    return starts, pos, _Stop.END, 0


def _problem(
    part: Slice, kind: ProblemKind, position: int, size: int, offset: int, reason: str
) -> Problem:
    segment = part.segment
    return Problem(
        kind, segment.path, segment.topic, segment.partition, position, size, offset, reason
    )
