"""Pictures of reports as SVG, with colours by classes of the pages' style sheet."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from html import escape
from math import log2
from typing import Final, NamedTuple

from fencepost_client.report_page import STYLE

WIDTH: Final = 1000
ROW: Final = 20
ARROW: Final = (
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    'markerHeight="8" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
)
_CHARACTERS: Final = 92
"""What fits into a box."""
_BOX: Final = 620
_NAMES: Final = 330
"""How wide the names at the left are."""
_NAME_CHARACTERS: Final = 50
_NAME_HEAD: Final = 18
_TEXT_AT: Final = 330
_TEXT_CHARACTERS: Final = 100
_TIMES_SHOWN: Final = 8
"""A goal that was missed or surpassed by more stands at the edge."""


class Moment(NamedTuple):
    """Something that happened."""

    at_s: float
    text: str
    kind: str
    """A class of the style sheet."""


class Bar(NamedTuple):
    """A named size; its text says it exactly."""

    name: str
    size: float
    text: str


class Mark(NamedTuple):
    """How a goal went."""

    times: float | None
    """How many times as good as the goal: 1 is just met; ``None``: it cannot be said so."""
    text: str
    kind: str
    """A class of the style sheet."""


def svg(width: float, height: float, label: str, parts: Iterable[str]) -> str:
    """A picture; those who cannot see it are told its label."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def text_at(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    """A line of text."""
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'


def own_file(picture: str) -> str:
    """A picture as a file of its own."""
    style = f"<style>{STYLE}svg {{ background: var(--paper); }}</style>"
    head, end, rest = picture.partition(">")
    xmlns = 'xmlns="http://www.w3.org/2000/svg"'
    return f"{head.replace('<svg', f'<svg {xmlns}')}{end}{style}{rest}\n"


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """An arrow; the picture has ``ARROW`` among its parts."""
    return (
        f'<path class="edge" marker-end="url(#arrow)" d="M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}"/>'
    )


def steps(lines: Sequence[str], label: str) -> str:
    """One box below the other."""
    parts = [ARROW]
    y = 6
    for number, step in enumerate(lines):
        wrapped = textwrap.wrap(step, _CHARACTERS) or [""]
        height = 14 + 15 * len(wrapped)
        if number:
            parts.append(arrow(40, y - 18, 40, y - 1))
        parts.append(f'<rect class="node" x="8" y="{y}" width="{_BOX}" height="{height}" rx="5"/>')
        parts += [
            text_at(20, y + 19 + 15 * row, line, kind="name") for row, line in enumerate(wrapped)
        ]
        y += height + 20
    return svg(_BOX + 240, y, label, parts)


def timeline(moments: Sequence[Moment], end_s: float, label: str, heading: str = "") -> str:
    """A row for each moment: when it was, from the beginning to the end, and what it was."""
    scale = (_TEXT_AT - 50) / max(end_s, 0.001)
    above = ROW if heading else 0
    parts = [text_at(20, ROW - 6, heading, kind="name")] if heading else []
    for number, (at_s, text, kind) in enumerate(moments):
        y = above + ROW * (number + 0.5)
        shown = f"{at_s:.3f} s  {textwrap.shorten(text, _TEXT_CHARACTERS, placeholder='…')}"
        parts += [
            f'<line class="grid" x1="20" x2="{_TEXT_AT - 30}" y1="{y:g}" y2="{y:g}"/>',
            f'<circle class="{kind}" cx="{20 + at_s * scale:.1f}" cy="{y:g}" r="5">'
            f"<title>{escape(text)}</title></circle>",
            text_at(_TEXT_AT, y + 4, shown, kind="name"),
        ]
    return svg(WIDTH, above + ROW * len(moments) + 4, label, parts)


def bars(rows: Sequence[Bar], label: str) -> str:
    """Sizes beside each other."""
    scale = (WIDTH - _NAMES - 120) / max((row.size for row in rows), default=1)
    parts = []
    for number, row in enumerate(rows):
        y, width = ROW * number, max(row.size * scale, 1)
        parts += [
            _name(row.name, y),
            f'<rect class="bar" x="{_NAMES}" y="{y + 4}" width="{width:.1f}" height="{ROW - 8}"/>',
            text_at(_NAMES + width + 8, y + 14, row.text),
        ]
    return svg(WIDTH, ROW * len(rows) + 4, label, parts)


def goals(rows: Sequence[tuple[str, Sequence[Mark]]], label: str) -> str:
    """A row for each name: its goals were missed at the left of the line, and met at the right."""
    height = ROW * (len(rows) + 1) + 4
    furthest = int(log2(_TIMES_SHOWN))
    scale = (WIDTH - _NAMES - 60) / 2 / furthest
    middle = _NAMES + 30 + furthest * scale
    parts = []
    for power in range(-furthest, furthest + 1):
        x = middle + power * scale
        said = "the goal" if not power else f"{2**power} ×" if power > 0 else f"1/{2**-power} ×"
        parts += [
            f'<line class="{"grid" if power else "goal"}" x1="{x:.1f}" x2="{x:.1f}" y1="{ROW}" '
            f'y2="{height}"/>',
            text_at(x, 13, said, "middle"),
        ]
    for number, (name, marks) in enumerate(rows, 1):
        y = ROW * number
        parts.append(_name(name, y))
        for mark in marks:
            log = log2(mark.times) if mark.times else 0.0
            x = middle + min(max(log, -furthest), furthest) * scale
            shape, place = "circle", f'cx="{x:.1f}" cy="{y + 10}" r="5"'
            if not mark.times:
                shape, place = "rect", f'x="{x - 5:.1f}" y="{y + 5}" width="10" height="10"'
            parts.append(
                f'<{shape} class="{mark.kind}" {place}><title>{escape(mark.text)}</title></{shape}>'
            )
    return svg(WIDTH, height, label, parts)


def _name(name: str, y: float) -> str:
    shown = name
    if len(name) > _NAME_CHARACTERS:  # the end says most
        shown = f"{name[:_NAME_HEAD]}…{name[_NAME_HEAD + 1 - _NAME_CHARACTERS :]}"
    return (
        f'<text class="name" x="{_NAMES - 10}" y="{y + 14:g}" text-anchor="end">{escape(shown)}'
        f"<title>{escape(name)}</title></text>"
    )
