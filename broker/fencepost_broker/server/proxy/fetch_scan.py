"""The addresses at the end of a Fetch answer, found while it is passed on in pieces.

An answer of 50 MB is not held until its last bytes tell whether it has addresses
(``NodeEndpoints``, a tagged field). When they are reached, its first bytes with the size have been
sent, so the size cannot change any more. Then the field gets a number that no client knows, and
clients skip it; they find the address by Metadata.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

Steps = Generator[tuple[int, int], bytes, bool]
"""Yields how many bytes are skipped and how many are read after them, and receives these."""
HIDDEN: Final = 127
"""The number that hides the field: the highest one of a single byte."""
_SIZE_AND_CORRELATION_ID: Final = 8
_BEFORE_TOPICS: Final = 10
_TOPIC_ID: Final = 16
_BEFORE_ABORTED: Final = 30
_ABORTED: Final = 16
_BEFORE_RECORDS: Final = 4


class FetchScan:
    """Reads the structure of one answer, version 16 or higher, without its records."""

    def __init__(self) -> None:
        self._steps = _walk()
        self._skip, self._wanted = next(self._steps)
        self._kept = b""
        self._is_done = False

    def feed(self, piece: memoryview) -> int | None:
        """Read the next piece; return the place of the field's number if it is in this piece."""
        pos, size = 0, len(piece)
        while not self._is_done:
            if self._skip > size - pos:
                self._skip -= size - pos
                return None
            pos += self._skip
            self._skip = 0
            end = pos + self._wanted - len(self._kept)
            if end > size:
                self._kept += piece[pos:]
                return None
            read, self._kept = self._kept + piece[pos:end], b""
            pos = end
            try:
                self._skip, self._wanted = self._steps.send(read)
            except StopIteration as stop:
                self._is_done = True
                return pos - 1 if stop.value else None
        return None


def _walk() -> Steps:
    """Go through an answer; return whether its first tagged field is the one with addresses."""
    yield from _tags(_SIZE_AND_CORRELATION_ID)
    topics = yield from _uvarint(_BEFORE_TOPICS)
    for _ in range(topics - 1):
        partitions = yield from _uvarint(_TOPIC_ID)
        for _ in range(partitions - 1):
            aborted = yield from _uvarint(_BEFORE_ABORTED)
            for _ in range(aborted - 1):
                yield from _tags(_ABORTED)
            records = yield from _uvarint(_BEFORE_RECORDS)
            yield from _tags(max(records - 1, 0))
        yield from _tags(0)
    count = yield from _uvarint(0)
    return bool(count) and (yield 0, 1) == b"\0"


def _tags(skip: int) -> Generator[tuple[int, int], bytes, None]:
    for _ in range((yield from _uvarint(skip))):
        yield from _uvarint(0)
        size = yield from _uvarint(0)
        yield size, 0


def _uvarint(skip: int) -> Generator[tuple[int, int], bytes, int]:
    value = shift = 0
    while True:
        byte = (yield skip, 1)[0]
        value |= (byte & 127) << shift
        if byte < 128:
            return value
        skip, shift = 0, shift + 7
