"""A bar chart as SVG, written by hand: each group is scaled to its own longest bar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 860
LABELS: Final = 330
VALUES: Final = 90
BAR: Final = 12
GAP: Final = 10
LEGEND: Final = 34
COLOURS: Final = ("#1b6ca8", "#7fb2d9", "#8c8c8c", "#d98c40", "#b3a24a", "#7a6a9b")
STYLE: Final = (
    "text{font:11px sans-serif;fill:#555}.label{text-anchor:end;font-size:12px}"
    "@media(prefers-color-scheme:dark){text{fill:#bbb}}"
)


@dataclass(frozen=True, slots=True)
class Bars:
    """One group: what it is about, and a value for each name."""

    title: str
    values: Mapping[str, float]


def plot(groups: Sequence[Bars], names: Sequence[str]) -> str:
    """The whole picture; names have the same colour in each group, in this order."""
    colours = {name: COLOURS[at % len(COLOURS)] for at, name in enumerate(names)}
    drawn: list[str] = list(_legend(colours))
    top = LEGEND
    for group in groups:
        drawn += _group(group, colours, top)
        top += BAR * len(group.values) + GAP
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{top}" '
        f'viewBox="0 0 {WIDTH} {top}" role="img"><style>{STYLE}</style>'
    )
    return "\n".join([head, *drawn, "</svg>"]) + "\n"


def _legend(colours: Mapping[str, str]) -> Iterator[str]:
    left = LABELS
    for name, colour in colours.items():
        yield f'<rect x="{left}" y="8" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{left + 14}" y="17">{escape(name)}</text>'
        left += 14 + 7 * len(name) + 12


def _group(group: Bars, colours: Mapping[str, str], top: float) -> Iterator[str]:
    longest = max(group.values.values(), default=0) or 1
    middle = top + BAR * len(group.values) / 2 + 4
    yield f'<text class="label" x="{LABELS - 8}" y="{middle:g}">{escape(group.title)}</text>'
    for name, colour in colours.items():
        if name not in group.values:
            continue
        value = group.values[name]
        width = (WIDTH - LABELS - VALUES) * value / longest
        yield (
            f'<rect x="{LABELS}" y="{top:g}" width="{width:.1f}" height="{BAR - 1}" '
            f'fill="{colour}"/>'
        )
        yield f'<text x="{LABELS + width + 5:.1f}" y="{top + BAR - 1:g}">{value:,.0f}</text>'
        top += BAR
