"""What a replay has found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Difference(NamedTuple):
    """Something that the target answered otherwise than recorded."""

    request: int
    """The number of the request in the recording, from 1."""
    api: str
    path: str
    """The field, such as ``topics[orders].partitions[0].error_code``; empty: the whole answer."""
    recorded: str
    got: str

    def __str__(self) -> str:
        where = f" {self.path}" if self.path else ""
        return (
            f"request {self.request}, {self.api}{where}: recorded {self.recorded}, got {self.got}"
        )


@dataclass(slots=True)
class Replayed:
    """The result of a replay."""

    requests: int = 0
    compared: int = 0
    """Answers that were compared."""
    sooner: int = 0
    """Answers where the recorded client was told to wait, and the target was ready."""
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be sent, and what else a reader should know."""
