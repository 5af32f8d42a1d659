"""The timeline of a run as a picture (SVG): when each thing happened, and what it was."""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape

from fencepost_broker.simulation.runs import Run

_ROW: Final = 22
_LEFT: Final = 20
_AXIS: Final = 280
"""How wide the time is."""
_TEXT_AT: Final = _LEFT + _AXIS + 30
_LETTER: Final = 7.2
_FAULT, _NOTE, _ERROR = "#b45309", "#475569", "#b91c1c"


def picture(run: Run) -> str:
    """Return the SVG of a run: a row for each line of its timeline, and one for its verdict."""
    lines = [
        (at_s, text, _FAULT if text.startswith("fault ") else _NOTE) for at_s, text in run.timeline
    ]
    lines.append((run.simulated_s, run.verdict, _NOTE if run.verdict == "ok" else _ERROR))
    scale = _AXIS / max(run.simulated_s, 0.001)
    heading = f"seed {run.seed}, {run.simulated_s:.3f} virtual seconds"
    longest = max(len(heading), *(len(text) for _, text, _ in lines))
    width, height = int(_TEXT_AT + 90 + longest * _LETTER), _ROW * (len(lines) + 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        ' font-family="monospace" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="{_ROW - 6}" font-weight="bold">{escape(heading)}</text>',
    ]
    for number, (at_s, text, colour) in enumerate(lines, 1):
        x, y = _LEFT + at_s * scale, _ROW * (number + 0.5)
        parts += [
            f'<line x1="{_LEFT}" y1="{y}" x2="{_LEFT + _AXIS}" y2="{y}" stroke="#e2e8f0"/>',
            f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{colour}"/>',
            f'<text x="{_TEXT_AT}" y="{y + 4}" fill="{colour}">{at_s:.3f} s  {escape(text)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"
