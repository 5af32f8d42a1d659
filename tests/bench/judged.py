"""A goal of a benchmark and how it went."""

from __future__ import annotations

from typing import Final, NamedTuple

MET: Final = "met"
MISSED: Final = "MISSED"
OPEN: Final = "not measured"


class Judged(NamedTuple):
    """A goal and how it went."""

    row: str
    text: str
    result: str
    verdict: str
    times: float | None = None
    """How many times as good as the goal asks for; 1 is just met."""
    on: str = ""
    """The broker that a client was measured on."""
