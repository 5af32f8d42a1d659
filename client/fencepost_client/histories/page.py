"""The report as one HTML file, with a picture of what makes each finding."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from html import escape
from math import cos, pi, sin
from typing import Final

from fencepost_client.histories.findings import KINDS, Finding, Kind, Report
from fencepost_client.report_page import Status, figure, how, make_page, outcome
from fencepost_client.report_pictures import ARROW, steps, svg, text_at

DRAWN: Final = 10
"""Findings of one kind that the page shows."""
_WIDTH: Final = 860


def history_page(report: Report, sources: list[str]) -> str:
    """The whole page as text."""
    title = "The history holds" if report.holds else "The history is wrong"
    return make_page(title, "\n".join(_body(report, title, sources)))


def _body(report: Report, title: str, sources: list[str]) -> Iterator[str]:
    yield f"<h1>{title}</h1>"
    names = ", ".join(f"<code>{escape(source)}</code>" for source in sources)
    yield f'<p class="soft">{report.operations:,} operations and {report.transactions:,} '
    yield f"transactions of {names}.</p>"
    found = [Status(f"{kind}: {report.failures(kind):,}", "bad") for kind in report.failed]
    yield outcome(found or [Status("Nothing was found that is not expected.", "good")])
    for note in report.notes:
        yield f'<p class="soft">{escape(note)}.</p>'
    for kind in sorted(report.tallies, key=lambda kind: not report.failures(kind)):
        yield from _kind(report, kind)
    yield from how(
        [
            "Counted are the operations and transactions that the clients wrote down: each finding "
            "names those that make it. A finding is expected if a setting of the clients explains "
            f"it. Each kind shows {DRAWN} findings at most; the numbers count all."
        ],
        shlex.join(["fencepost", "check", *sources]),
    )


def _kind(report: Report, kind: Kind) -> Iterator[str]:
    tally, wrong = report.tallies[kind], report.failures(kind)
    total = tally.unexpected + tally.expected
    yield f'<h2 class="{"bad" if wrong else "none"}">{kind}</h2>'
    yield f"<p>{escape(KINDS[kind].meaning)} {wrong:,} of {total:,} are not expected.</p>"
    yield f'<p class="soft">To blame: {escape(KINDS[kind].blame).replace("`", "")}.</p>'
    for finding in sorted(tally.findings, key=lambda each: each.expected != "")[:DRAWN]:
        expected = f" (expected: {finding.expected})" if finding.expected else ""
        yield f"<details{' open' if wrong else ''}><summary>{escape(finding.text + expected)}"
        yield f"</summary>{figure('', picture(finding))}</details>"


def picture(finding: Finding) -> str:
    """The operations that make a finding as SVG: a cycle, or one step below the other."""
    return _circle(finding) if finding.edges else steps(finding.steps, finding.text)


def _circle(finding: Finding) -> str:
    count = len(finding.steps)
    radius = 70 + 14 * count
    middle_x, middle_y = _WIDTH / 2, radius + 36
    places = [
        (
            middle_x + radius * 1.6 * sin(2 * pi * each / count),
            middle_y - radius * cos(2 * pi * each / count),
        )
        for each in range(count)
    ]
    parts = [ARROW]
    for each, edge in enumerate(finding.edges):
        (x, y), (to_x, to_y) = places[each], places[(each + 1) % count]
        length = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
        across_x, across_y = (y - to_y) / length * 22, (to_x - x) / length * 22
        mid_x, mid_y = (x + to_x) / 2 - across_x * 1.6, (y + to_y) / 2 - across_y * 1.6
        parts.append(
            f'<path class="edge" marker-end="url(#arrow)" d="M{x - across_x:.0f} '
            f"{y - across_y:.0f}Q{mid_x:.0f} {mid_y:.0f} {to_x - across_x:.0f} "
            f'{to_y - across_y:.0f}"/>'
        )
        anchor = "start" if mid_x > middle_x + 8 else "end" if mid_x < middle_x - 8 else "middle"
        parts.append(text_at(mid_x, mid_y, edge, anchor))
    for (x, y), name in zip(places, finding.steps, strict=True):
        parts.append(f'<circle class="node" cx="{x:.0f}" cy="{y:.0f}" r="15"/>')
        parts.append(text_at(x, y + 4, textwrap.shorten(name, 40), "middle", "name"))
    return svg(_WIDTH, int(middle_y + radius + 36), finding.text, parts)
