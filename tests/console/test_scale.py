"""Many topics and many requests: the page shows a part, says so, and does not stall."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import pytest
from fencepost_broker.blocking import Broker

from tests.console.harness import ALL, Console, opened
from tests.console.scale import flooded, median_frame
from tests.support.waiting import polled

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
TOPICS, PARTITIONS = (1_000, 10) if ALL else (300, 1)
ROWS_MAX: Final = 80
"""Of a list in the document, whatever its length."""
SLOWER_MAX: Final = 2.0 if ALL else inf
"""By so much may the median frame take longer than one of a page that has nothing to do. Where
other tests run at the same time, only what is in the document is compared."""


def _seen(console: Console) -> int:
    """How many requests the page has told, or told of as left out."""
    [told, *others] = console.text(".filters .hint, .left-out .tag")
    listed = told.partition(" of the last ")[0]
    return sum(int(each.rpartition(" ")[2].replace(",", "")) for each in (listed, *others))


def test_a_page_of_many_requests_does_not_stall(browser: Browser) -> None:
    with (
        Broker(control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open("requests")
        idle = median_frame(console)
        with flooded(broker) as sent:
            console.page.wait_for_selector(".left-out")
            busy = median_frame(console)
            assert 0 < console.page.locator("tr.pick").count() < ROWS_MAX
            assert _seen(console) > 0
        assert polled(lambda: _seen(console) == sent[0], "told and left out are not all requests")
        assert busy < idle * SLOWER_MAX
        assert console.complaints == []


def test_a_page_of_many_topics_does_not_stall(browser: Browser) -> None:
    topics = {f"topic-{number:04}": PARTITIONS for number in range(TOPICS)}
    with (
        Broker(topics=topics, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open("cluster")
        idle = median_frame(console)
        console.open("topics")
        console.page.get_by_text(f"{TOPICS:,} topics").wait_for()
        assert 0 < console.page.locator(".names li").count() < ROWS_MAX
        console.page.focus(".names-box")
        console.page.keyboard.press("End")
        console.page.wait_for_selector(f".names >> text=topic-{TOPICS - 1:04}")
        assert median_frame(console) < idle * SLOWER_MAX
        console.page.get_by_label("Search").fill("0250")
        console.wait_for(".names li", 1)
        assert console.violations() == []
        assert console.complaints == []
