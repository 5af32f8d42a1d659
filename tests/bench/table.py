"""Tables for a terminal and for a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they must be; all but the first stand to the right."""
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    lines = [_plain_row(head, widths), "  ".join("-" * width for width in widths)]
    lines += [_plain_row(row, widths) for row in rows]
    return "\n".join(lines)


def _plain_row(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        cell.rjust(width) if at else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same for a page."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def microseconds(value: float) -> str:
    """Three digits that matter, whatever the size."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
