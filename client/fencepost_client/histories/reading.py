"""Histories as JSON lines: a line is bounded, and an error names its file and line."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from fencepost_client.histories.operations import HistoryError, Operation

VERSION: Final = 1
LINE_BYTES_MAX: Final = 8 << 20
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError)


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    fencepost_history: int


def header() -> bytes:
    """The first line of a history."""
    return msgspec.json.encode(_Header(VERSION)) + b"\n"


def read_history(file: BinaryIO, name: str = "the history") -> Iterator[Operation]:
    """Read the operations of a history.

    with open("history.jsonl", "rb") as file:
        report = check(read_history(file))
    """
    first = file.readline(LINE_BYTES_MAX + 1)
    try:
        version = msgspec.json.decode(first, type=_Header).fencepost_history
    except _UNREADABLE as error:
        raise HistoryError(
            f'{name}: line 1 has to be {{"fencepost_history": {VERSION}}}: {error}'
        ) from error
    if version != VERSION:
        raise HistoryError(f"{name}: line 1: version {version} of histories; this reads {VERSION}")
    decode = msgspec.json.Decoder(Operation).decode
    number = 1
    while line := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(line) > LINE_BYTES_MAX:
            raise HistoryError(f"{name}: line {number} is longer than {LINE_BYTES_MAX} bytes")
        if line.isspace():
            continue
        try:
            yield decode(line)
        except _UNREADABLE as error:
            if not line.endswith(b"\n"):
                return  # the writer was killed in the middle of its last line
            raise HistoryError(f"{name}: line {number}: {error}") from error


def read_files(paths: Sequence[Path]) -> Iterator[Operation]:
    """Read one file, or several that are merged by their times."""
    readers = [_read_path(path) for path in paths]
    if len(readers) == 1:
        return readers[0]
    return heapq.merge(*readers, key=lambda operation: operation.time)


def _read_path(path: Path) -> Iterator[Operation]:
    try:
        with path.open("rb") as file:
            yield from read_history(file, str(path))
    except OSError as error:
        raise HistoryError(f"{path} cannot be read: {error.strerror or error}") from error
