"""Tables, times and durations as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

NOTHING: Final = "-"
_GAP: Final = "  "
_SECOND_MS: Final = 1000
_UNITS: Final = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000))
_YEARS_MS: Final = 253_402_300_800_000
"""The year 10000: records may carry any number for a time."""


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Format rows as columns."""
    cells = [list(headings), *([shown(each) for each in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(headings))]
    return [
        _GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def printable(text: str) -> str:
    """Escape control characters, which a terminal would obey."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )


def shown(value: object) -> str:
    """A table cell; ``None`` is a dash."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return NOTHING if value is None else str(value)


def moment(at_ms: int | None) -> str:
    """A time of day, in UTC."""
    if at_ms is None:
        return NOTHING
    if not 0 <= at_ms < _YEARS_MS:
        return f"{at_ms} ms"
    return datetime.fromtimestamp(at_ms / _SECOND_MS, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def duration(ms: int | None) -> str:
    """A duration in at most two units."""
    if ms is None:
        return NOTHING
    if ms < 0:
        return f"-{duration(-ms)}"
    for at, (unit, size_ms) in enumerate(_UNITS):
        if ms >= size_ms:
            smaller, smaller_ms = _UNITS[at + 1] if at + 1 < len(_UNITS) else ("s", _SECOND_MS)
            rest = ms % size_ms // smaller_ms
            return f"{ms // size_ms} {unit}" + (f" {rest} {smaller}" if rest else "")
    if ms >= 10 * _SECOND_MS:
        return f"{ms // _SECOND_MS} s"
    return f"{ms / _SECOND_MS:.1f} s" if ms >= _SECOND_MS else f"{ms} ms"


def reason(error: Exception) -> str:
    """The reason why a file cannot be used, without error number and name."""
    return getattr(error, "strerror", None) or str(error)


def count(number: int, thing: str) -> str:
    """A number with its noun."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
