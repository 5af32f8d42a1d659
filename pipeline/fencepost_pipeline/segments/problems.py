"""What can be wrong with a log file, told instead of raised so that the rest is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from fencepost_protocol.exceptions import RemoteProtocolError


class ProblemKind(StrEnum):
    """How bad it is."""

    TORN_TAIL = "torn tail"
    """The file ends within a batch, or in zeros: what a crash or a write in progress leaves."""
    CORRUPT = "corrupt"
    """Bytes that are no batch, or a batch whose CRC or records are wrong."""
    GONE = "gone"
    """The file was there when files were listed and cannot be opened any more."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a log file that could not be read."""

    kind: ProblemKind
    path: str
    topic: str
    partition: int
    position: int
    """Where in the file it begins."""
    size: int
    """How many bytes are left out because of it."""
    offset: int
    """The base offset of the batch, or what it must be at least if that is not known."""
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.path}, byte {self.position}, offset {self.offset}: {self.kind}: {self.reason}"
        )


OnProblem: TypeAlias = Callable[[Problem], None]


def raise_problem(problem: Problem) -> None:
    """An ``on_problem`` for those who want to stop at the first thing that cannot be read.

    A torn tail is nothing to stop at: a log that is being written to has one now and then.
    """
    if problem.kind is not ProblemKind.TORN_TAIL:
        raise RemoteProtocolError(str(problem))


def ignore_problem(_: Problem) -> None:
    """An ``on_problem`` for those who look elsewhere."""
