"""How fast the console is: ``python -m tests.bench.console``. Writes docs/bench/console.md.

Chromium opens each page anew, and a page with much to show. Times are the browser's own.
"""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from fencepost_broker.blocking import Broker

from tests.bench.table import markdown_table, plain_table
from tests.console.harness import ARGUMENTS, CHROMIUM, PAGES, opened, work
from tests.console.scale import flooded, median_frame

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE: Final = Path("docs/bench/console.md")
ROUNDS: Final = 9
TOPICS, PARTITIONS = 1_000, 10
FOLDER: Final = Path("broker/fencepost_broker/server/console")
_PAINTED: Final = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
_ALL_LISTED: Final = f"text={TOPICS:,} topics"


def first_picture(browser: Browser, broker: Broker, page: str) -> float:
    """Return the milliseconds until something is drawn, in a window that remembers nothing."""
    with opened(browser, broker.control or "") as console:
        console.open(page)
        return float(console.page.evaluate(_PAINTED))


def frames(browser: Browser, broker: Broker, page: str, wanted: str) -> float:
    """Return the median time of a frame in milliseconds, of the median round."""
    with opened(browser, broker.control or "") as console:
        console.open(page)
        console.page.wait_for_selector(wanted)
        return median(median_frame(console) for _ in range(ROUNDS))


def measure(browser: Browser) -> list[list[str]]:
    """Return the rows of the table."""
    rows = []

    def add(what: str, goal: str, values: list[float]) -> None:
        ends = (f"{min(values):.1f}", f"{max(values):.1f}") if len(values) > 1 else ("", "")
        rows.append([what, goal, f"{median(values):.1f}", *ends])

    with Broker(topics={"orders": 3, "invoices": 1}, control=0, log_level="error") as broker:
        work(broker)
        for page in PAGES:
            values = [first_picture(browser, broker, page) for _ in range(ROUNDS)]
            add(f"first picture of {page}, ms", "300", values)
        add("a frame of a page at rest, ms", "16", [frames(browser, broker, "cluster", "h1")])
        with flooded(broker) as sent:
            value = frames(browser, broker, "requests", ".left-out")
        add(f"a frame of requests, with {sent[0]:,} sent meanwhile, ms", "16", [value])
    topics = {f"topic-{number:04}": PARTITIONS for number in range(TOPICS)}
    with Broker(topics=topics, control=0, log_level="error") as broker:
        add(
            f"a frame of topics, with {TOPICS * PARTITIONS:,} partitions, ms",
            "16",
            [frames(browser, broker, "topics", _ALL_LISTED)],
        )
    size = sum(each.stat().st_size for each in FOLDER.iterdir())
    rows.append(["all files of the page, KB", "300", f"{size / 1000:.1f}", "", ""])
    return rows


def main() -> None:
    """Measure all, and write the page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        rows, version = measure(browser), browser.version
        browser.close()
    header = ["what", "goal", "median", "fastest", "slowest"]
    load, cores = os.getloadavg()[0], os.cpu_count()
    print(plain_table(header, rows))
    PAGE.write_text(
        f"""\
# How fast the console is

Written by `python -m tests.bench.console`, {datetime.now(UTC):%Y-%m-%d}, on {platform.system()}
with Chromium {version} without a graphics card. A window that remembers nothing opens each page
{ROUNDS} times; the time until the first picture is the browser's own. The time of a frame is the
median of 90 frames, {ROUNDS} times, at 60 frames a second at most.

When it was done, {load:.0f} processes ran on {cores} cores. If other work runs at the same time,
the fastest time says more than the median.

Of many requests, the broker tells 50 a second of each API ([what that costs](watching.md)), and a
list has only those rows in the document that can be seen. `tests/console/test_scale.py` tests both.

{markdown_table(header, rows)}
""",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
