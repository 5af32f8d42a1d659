"""Puts one direction of a TCP connection together again.

Segments come as the capture has them: late, twice, overlapping, or not at all. What comes out is
the bytes in their order, with a ``Gap`` where the capture lacks some. Payloads are views of the
capture, so what waits for its turn takes little memory; how much waits is bounded all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from fencepost_protocol import limits

_SPACE: Final = 1 << 32
_HALF: Final = 1 << 31
_OVERTAKEN_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that were sent but not captured."""

    size: int


Piece: TypeAlias = memoryview | Gap


def ahead(sequence: int, of: int) -> int:
    """How far one sequence number is ahead of another; behind is negative."""
    distance = (sequence - of) % _SPACE
    return distance - _SPACE if distance >= _HALF else distance


class Stream:
    """The bytes that one side sends."""

    __slots__ = ("_next", "_overtaken", "_waiting", "initial")

    def __init__(self) -> None:
        self.initial: int | None = None
        """The SYN's number, if one was seen."""
        self._next: int | None = None
        self._overtaken = 0
        self._waiting: dict[int, tuple[memoryview, int]] = {}

    def begin(self, sequence: int) -> None:
        """A SYN was seen: the first byte has the number after it."""
        if self._next is None:
            self.initial = sequence
            self._next = (sequence + 1) % _SPACE

    def add(self, sequence: int, payload: memoryview, missing: int = 0) -> list[Piece]:
        """Take a segment's payload; gives what is in its turn now.

        ``missing`` bytes after the payload were in the segment but not in the capture.
        """
        if not len(payload) and not missing:
            return []
        if self._next is None:
            self._next = sequence
        if ahead(sequence, self._next) > 0:
            self._keep(sequence, payload, missing)
            if len(self._waiting) > limits.MAX_CAPTURED_SEGMENTS_WAITING:
                return self.skip()
            return []
        pieces: list[Piece] = []
        self._take(sequence, payload, missing, pieces)
        self._drain(pieces)
        return pieces

    def acknowledged(self, number: int) -> list[Piece]:
        """The other side has everything before ``number``.

        If that goes for bytes that we are still waiting for, the capture has lost them. A few such
        acknowledgements are let pass, because a capture may have its packets a little out of order.
        """
        if not self._waiting or ahead(number, self._first_waiting()) < 0:
            return []
        self._overtaken += 1
        return self.skip() if self._overtaken > _OVERTAKEN_MAX else []

    def skip(self) -> list[Piece]:
        """Give up waiting for what is missing before the next segment that is there."""
        if not self._waiting or self._next is None:
            return []
        first = self._first_waiting()
        pieces: list[Piece] = [Gap(ahead(first, self._next))]
        self._next = first
        self._drain(pieces)
        return pieces

    def _first_waiting(self) -> int:
        assert self._next is not None
        after = self._next
        return min(self._waiting, key=lambda sequence: ahead(sequence, after))

    def finish(self) -> list[Piece]:
        """All that still waits, with its gaps."""
        pieces: list[Piece] = []
        while self._waiting:
            pieces += self.skip()
        return pieces

    def _keep(self, sequence: int, payload: memoryview, missing: int) -> None:
        known = self._waiting.get(sequence)
        if known is None or len(known[0]) + known[1] < len(payload) + missing:
            self._waiting[sequence] = (payload, missing)

    def _take(self, sequence: int, payload: memoryview, missing: int, pieces: list[Piece]) -> None:
        """Append what is new of a segment that begins at or before the next byte."""
        assert self._next is not None
        old = -ahead(sequence, self._next)
        new = payload[old:]
        if len(new):
            pieces.append(new)
        lost = missing - max(old - len(payload), 0)
        if lost > 0:
            pieces.append(Gap(lost))
        self._next = (self._next + len(new) + max(lost, 0)) % _SPACE

    def _drain(self, pieces: list[Piece]) -> None:
        """Append what waited and is in its turn now."""
        self._overtaken = 0
        while self._waiting:
            assert self._next is not None
            sequence = self._next
            if sequence not in self._waiting:
                # One that overlaps begins before the next byte; the rest has to wait on.
                due = [each for each in self._waiting if ahead(each, self._next) <= 0]
                if not due:
                    return
                sequence = due[0]
            payload, missing = self._waiting.pop(sequence)
            self._take(sequence, payload, missing, pieces)
