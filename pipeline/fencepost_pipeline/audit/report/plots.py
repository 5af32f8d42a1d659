"""The plots of the report as SVG, with colours by classes of the style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final, NamedTuple

import numpy as np
from fencepost_client.report_pictures import WIDTH, svg
from numpy.typing import NDArray

LEFT: Final = 190
RIGHT: Final = 16
ROW: Final = 18
AXIS: Final = 26


class Span(NamedTuple):
    """A bar of the timeline."""

    row: str
    start: int
    end: int
    kind: str
    """A class of the style sheet: commit, abort or open."""
    text: str


class Strip(NamedTuple):
    """A partition's line in the gap map."""

    name: str
    start: int
    end: int
    holes: Sequence[tuple[int, int]]
    findings: Sequence[tuple[int, str]]
    """Offset, and what is wrong there."""


def timeline(spans: Sequence[Span], start: int, end: int) -> str:
    """Transactions over time, a row for each transactional id."""
    rows = list(dict.fromkeys(span.row for span in spans))
    height = len(rows) * ROW + AXIS
    at = {row: number * ROW for number, row in enumerate(rows)}
    scale = (WIDTH - LEFT - RIGHT) / max(end - start, 1)
    parts = [_time_axis(start, end, height)]
    parts += [_name(row, at[row]) for row in rows]
    drawn: dict[tuple[str, str], int] = {}
    for span in sorted(spans, key=lambda span: (span.row, span.start)):
        x = LEFT + (max(span.start, start) - start) * scale
        width = max((min(span.end, end) - max(span.start, start)) * scale, 1.5)
        # Of bars on the same pixels one is enough, however many thousand there are.
        if drawn.get((span.row, span.kind), -1) >= int(x + width):
            continue
        drawn[span.row, span.kind] = int(x + width)
        parts.append(
            f'<rect class="{span.kind}" x="{x:.1f}" y="{at[span.row] + 4}" width="{width:.1f}" '
            f'height="{ROW - 8}" rx="1.5"><title>{escape(span.text)}</title></rect>'
        )
    return svg(WIDTH, height, "Transactions over time", parts)


def histogram(times: NDArray[np.int64], title: str) -> str:
    """How often something took how long, in classes that double: times across, counts upwards."""
    edges = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 1 << 62]
    counts = np.histogram(times, edges)[0]
    last = int(np.flatnonzero(counts)[-1]) if counts.any() else 0
    bars, height = max(last + 1, 6), 132
    step = (WIDTH - LEFT - RIGHT) / bars
    most = max(int(counts.max()), 1)
    parts = []
    for number in range(bars):
        count, x = int(counts[number]), LEFT + number * step
        size = 84 * count / most
        label = f"{edges[number]} ms" if number < 11 else f"{edges[number] // 1024} s"
        if count:
            parts.append(
                f'<rect class="bar" x="{x + 1:.1f}" y="{98 - size:.1f}" width="{step - 2:.1f}" '
                f'height="{max(size, 1):.1f}"><title>{count:,} from {label}</title></rect>'
            )
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="98" y2="102"/>'
            f'<text x="{x:.1f}" y="114" text-anchor="middle">{label}</text>'
        )
    for part in (0.0, 0.5, 1.0):
        y, at = 98 - 84 * part, most * part
        if part != 0.5 or most > 1:
            parts.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
                f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{_short(at)}</text>'
            )
    parts.append(
        f'<text x="{WIDTH - RIGHT}" y="128" text-anchor="end">took this long, or up to twice</text>'
    )
    parts.append(f'<text class="name" x="0" y="30">{escape(title)}</text>')
    for y, line in zip((46, 60, 74), _numbers(times), strict=True):
        parts.append(f'<text x="0" y="{y}">{line}</text>')
    return svg(WIDTH, height, title, parts)


def throughput(slots: dict[int, int], slot_ms: int) -> str:
    """Records per second over time; ``slots`` counts them by number of the slot."""
    numbers = np.array(sorted(slots), np.int64)
    counts = np.array([slots[number] for number in numbers.tolist()], np.int64)
    share = np.cumsum(counts) / counts.sum()
    # A few records with a date of their own must not press all others into one pixel.
    low = int(numbers[np.searchsorted(share, 0.0005)])
    high = int(numbers[min(int(np.searchsorted(share, 0.9995)), len(numbers) - 1)]) + 1
    bins = int(min(max(high - low, 1), 240))
    per_bin, edges = np.histogram(numbers, bins, (low, high), weights=counts)
    seconds = (edges[1] - edges[0]) * slot_ms / 1000
    rate = per_bin / max(seconds, slot_ms / 1000)
    top, height = max(float(rate.max()), 1.0), 190
    scale = (WIDTH - LEFT - RIGHT) / bins
    parts = [_time_axis(low * slot_ms, high * slot_ms, height)]
    for share_of_top in (0.0, 0.5, 1.0):
        y = 160 - 150 * share_of_top
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">'
            f"{_short(top * share_of_top)}/s</text>"
        )
    points = [f"M{LEFT} 160"]
    for number, value in enumerate(rate.tolist()):
        y = 160 - 150 * value / top
        points.append(f"L{LEFT + number * scale:.1f} {y:.1f}")
        points.append(f"L{LEFT + (number + 1) * scale:.1f} {y:.1f}")
    points.append(f"L{WIDTH - RIGHT} 160Z")
    parts.append(f'<path class="area" d="{"".join(points)}"/>')
    return svg(WIDTH, height, "Records per second", parts)


def gap_map(strips: Sequence[Strip]) -> str:
    """Each partition from offset 0 to its end: what is there, what is missing, what is wrong."""
    height = len(strips) * ROW + AXIS
    room = WIDTH - LEFT - RIGHT - 90
    parts = [
        '<defs><pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><line class="hatch" y2="5"/></pattern></defs>'
    ]
    for number, strip in enumerate(strips):
        y, scale = number * ROW, room / max(strip.end, 1)
        parts.append(_name(strip.name, y))
        parts.append(_box("log", strip.start, strip.end, y, scale, f"{strip.start} to {strip.end}"))
        holes = [(0, strip.start), *strip.holes] if strip.start > 0 else strip.holes
        for start, end in holes:
            text = f"offsets {start} to {end - 1} are not there"
            parts.append(_box("hole", start, end, y, scale, text))
        for offset, text in strip.findings:
            x = LEFT + offset * scale
            parts.append(
                f'<path class="found" d="M{x - 4:.1f} {y + 1}h8l-4 8z">'
                f"<title>{escape(text)}</title></path>"
            )
        parts.append(f'<text x="{LEFT + room + 8}" y="{y + 13}">{_short(strip.end)} offsets</text>')
    return svg(WIDTH, height, "What is there of each partition", parts)


def _box(kind: str, start: int, end: int, y: int, scale: float, text: str) -> str:
    return (
        f'<rect class="{kind}" x="{LEFT + start * scale:.1f}" y="{y + 5}" '
        f'width="{max((end - start) * scale, 1):.1f}" height="{ROW - 9}">'
        f"<title>{escape(text)}</title></rect>"
    )


def _name(text: str, y: float) -> str:
    shown = text if len(text) <= 28 else text[:13] + "…" + text[-14:]
    return (
        f'<text class="name" x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{escape(shown)}'
        f"<title>{escape(text)}</title></text>"
    )


def _time_axis(start: int, end: int, height: int) -> str:
    parts = []
    for number in range(6):
        x = LEFT + (WIDTH - LEFT - RIGHT) * number / 5
        time = start + (end - start) * number / 5
        anchor = ("start", "middle", "middle", "middle", "middle", "end")[number]
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height - AXIS + 4}"/>'
            f'<text x="{x:.1f}" y="{height - 6}" text-anchor="{anchor}">'
            f"{_clock(time, end - start)}</text>"
        )
    return "".join(parts)


def _clock(time_ms: float, span_ms: int) -> str:
    """As exact as the span needs."""
    when = datetime.fromtimestamp(time_ms / 1000, UTC)
    if span_ms < 10_000:
        return f"{when:%H:%M:%S}.{when.microsecond // 1000:03}"
    return f"{when:%H:%M:%S}" if span_ms < 86_400_000 else f"{when:%Y-%m-%d %H:%M}"


def _numbers(times: NDArray[np.int64]) -> tuple[str, str, str]:
    if not len(times):
        return ("never seen", "", "")
    middle, most = np.percentile(times, (50, 99))
    return (
        f"{len(times):,} times",
        f"median {middle:,.0f} ms",
        f"99 % {most:,.0f}, max {times.max():,} ms",
    )


def _short(number: float) -> str:
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= limit:
            return f"{number / limit:.3g}{unit}"
    return f"{number:.3g}"
