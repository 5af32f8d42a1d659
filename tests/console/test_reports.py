"""Every kind of report in a real browser: both themes, print, hostile names, nothing fetched."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_broker.cli.scenario_report import scenario_page
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.scenario import Outcome
from fencepost_broker.simulation.report import Totals, simulation_page
from fencepost_broker.simulation.runs import Run
from fencepost_client.histories.page import history_page

from tests.bench.judged import MET, MISSED, OPEN, Judged
from tests.bench.report import Benchmark, bench_page
from tests.console.harness import Console
from tests.histories.writing import circle, judged, poll, send

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"
PAPER_WIDTH = 700
NARROW = 390
WHITE = "rgb(255, 255, 255)"


def audit_page() -> str:
    pytest.importorskip("pyarrow")
    from fencepost_pipeline.audit.audit_run import audit
    from fencepost_pipeline.audit.report.page import make_page

    from tests.pipeline.audit.small_logs import SmallLogs

    logs, place = SmallLogs(), (HOSTILE, 0)
    logs.transaction(place)
    logs.transaction(place, sequence=5)  # numbers are missing
    return make_page(audit(logs), [HOSTILE])


def check_page() -> str:
    torn = [send("w", "orders-0", 0, "a", HOSTILE, "c"), poll("r", "orders-0", (0, "a"), (2, "c"))]
    cycle = circle(isolation="read_committed")
    return history_page(judged(*torn, *cycle), [HOSTILE])


def failed_page() -> str:
    run = Run(
        7, "hash", 12.5, 0.5, AssertionError(HOSTILE), [(1.0, f"fault 1: {HOSTILE}"), (2.0, "b")],
        Counter({HOSTILE: 1}), Counter({"transaction.Empty.after": 3}),
    )  # fmt: skip
    totals = Totals()
    totals.add(run)
    return simulation_page(totals, [run], ["fencepost", "simulate", HOSTILE])


def goals_page() -> str:
    judged = [
        Judged(HOSTILE, "≤ 1 µs", "0.5 µs", MET, 2.0),
        Judged(HOSTILE, "≤ 1 µs", "2 µs", MISSED, 0.5),
        Judged("all", "faster", "", OPEN),
    ]
    return bench_page([Benchmark("Broker", "make bench-broker", judged, [HOSTILE])])


def happened_page() -> str:
    scenario = SCENARIOS["late-end-txn"]
    return scenario_page(scenario, Outcome(scenario.name, [HOSTILE, "b"], {"offset": HOSTILE}))


PAGES = {
    "audit": audit_page,
    "check": check_page,
    "scenario": happened_page,
    "simulate": failed_page,
    "bench": goals_page,
}


def test_reports_are_readable_in_every_look_and_fetch_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        fetched: list[str] = []
        page.on("request", lambda request: fetched.append(request.url))
        console = Console(page, "")
        for name, make in PAGES.items():
            file = tmp_path / f"{name}.html"
            file.write_text(make(), encoding="utf-8")
            page.emulate_media(media="screen", color_scheme="light")
            page.goto(file.as_uri())
            assert (name, console.violations()) == (name, [])
            assert page.locator("svg").count() >= 1
            assert HOSTILE in (page.text_content("main") or "")
            page.emulate_media(color_scheme="dark")
            assert background(page) != WHITE
            assert (name, console.violations()) == (name, [])
            page.set_viewport_size({"width": NARROW, "height": 900})
            width = page.evaluate("document.scrollingElement.scrollWidth")
            assert (name, width) == (name, NARROW), "pictures and tables scroll by themselves"
            is_printable(page, name)
        assert fetched == [(tmp_path / f"{name}.html").as_uri() for name in PAGES]
        assert console.complaints == []
        page.evaluate("document.body.append(document.createElement('script'))")
        page.evaluate("document.querySelector('script').textContent = 'window.hasRun = true'")
        assert page.evaluate("window.hasRun") is None, "the policy lets no script run"
    finally:
        context.close()


def background(page: Page) -> str:
    colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


def is_printable(page: Page, name: str) -> None:
    """With the dark look chosen: white paper, nothing cut, the addresses of links."""
    page.emulate_media(media="print")
    page.set_viewport_size({"width": PAPER_WIDTH, "height": 900})
    assert background(page) == WHITE
    cut = page.evaluate(
        "[...document.querySelectorAll('main, .wide, figure, pre')]"
        ".filter((each) => each.scrollWidth > each.clientWidth + 1)"
        ".map((each) => each.className || each.tagName)"
    )
    assert (name, cut) == (name, [])
    addresses = page.evaluate(
        "[...document.querySelectorAll('a')].map((each) =>"
        " [each.href, getComputedStyle(each, '::after').content])"
    )
    for address, printed in addresses:
        assert address in printed
    closed = page.locator("details:not([open]) > *:not(summary)").first
    if closed.count():
        assert closed.evaluate("(each) => each.checkVisibility({contentVisibilityAuto: true})")
        assert closed.bounding_box()
    page.set_viewport_size({"width": 1280, "height": 900})
