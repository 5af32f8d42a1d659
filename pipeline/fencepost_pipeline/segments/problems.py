"""Problems in log files, which are reported and not raised, so that the rest is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from fencepost_protocol.exceptions import RemoteProtocolError


class ProblemKind(StrEnum):
    """The severity of a problem."""

    TORN_TAIL = "torn tail"
    """The file ends within a batch or in zeros, after a crash or during a write."""
    CORRUPT = "corrupt"
    """Bytes that are not a batch, or a batch whose CRC or records are wrong."""
    GONE = "gone"
    """The file was listed, and can no longer be opened."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A part of a log file that could not be read."""

    kind: ProblemKind
    path: str
    topic: str
    partition: int
    position: int
    """The position in the file."""
    size: int
    """The number of bytes that are skipped."""
    offset: int
    """The base offset of the batch, or what it must be at least if that is not known."""
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.path}, byte {self.position}, offset {self.offset}: {self.kind}: {self.reason}"
        )


OnProblem: TypeAlias = Callable[[Problem], None]


def raise_problem(problem: Problem) -> None:
    """An ``on_problem`` that raises an error.

    It ignores a torn tail, which a log may have while a broker writes to it.
    """
    if problem.kind is not ProblemKind.TORN_TAIL:
        raise RemoteProtocolError(str(problem))


def ignore_problem(_: Problem) -> None:
    """An ``on_problem`` that does nothing."""
