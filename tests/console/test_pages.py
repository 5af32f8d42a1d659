"""Each page of the console: it renders, all can use it, and it fits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker

from tests.console.harness import PAGES, THEMES, opened, pictures, work

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
_CONTENT = {
    "transactions": "article.open-transaction",
    "requests": "td, .empty",
    "topics": "table.records",
    "groups": "text=Committed offsets",
    "faults": "text=State time",
    "cluster": "text=ready",
}
NARROW = 390


@pytest.mark.parametrize("theme", THEMES)
def test_pages_have_no_errors_and_axe_finds_nothing(
    browser: Browser, worked: Broker, theme: str
) -> None:
    assert worked.control is not None
    with opened(browser, worked.control, theme=theme) as console:
        for page in PAGES:
            console.open(page)
            console.page.wait_for_selector(_CONTENT[page])
            assert (page, console.violations()) == (page, [])
        assert console.complaints == []


def test_pages_fit_into_a_narrow_window(browser: Browser, worked: Broker) -> None:
    assert worked.control is not None
    with opened(browser, worked.control, width=NARROW) as console:
        for page in PAGES:
            console.open(page)
            console.page.wait_for_selector(_CONTENT[page])
            width = console.page.evaluate("document.scrollingElement.scrollWidth")
            assert (page, width) == (page, NARROW)


def test_the_keyboard_alone_reaches_every_page(browser: Browser, worked: Broker) -> None:
    assert worked.control is not None
    with opened(browser, worked.control) as console:
        console.open()
        console.page.keyboard.press("Tab")
        assert (
            console.page.evaluate("document.activeElement.textContent").strip().startswith("Skip")
        )
        console.page.keyboard.press("Tab")
        for page in PAGES:
            console.page.keyboard.press("Tab")
            console.page.keyboard.press("Enter")
            console.page.wait_for_url(f"**/#/{page}")
            console.page.wait_for_selector(_CONTENT[page])


def test_a_request_is_chosen_and_its_bytes_have_names(browser: Browser, tmp_path: Path) -> None:
    folder = pictures(tmp_path)
    with (
        Broker(topics={"orders": 3, "invoices": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        page = console.page
        console.open("transactions")
        work(broker)
        page.wait_for_selector("article.open-transaction >> text=Held back")
        page.screenshot(path=folder / "console-transactions.png")
        console.open("requests?api=TxnOffsetCommit")
        page.click("tr.pick")
        page.hover(".field-row >> text=transactional_id (content)")
        chosen = page.locator(".byte.on").all_text_contents()
        assert bytes.fromhex("".join(chosen)) == b"payments"
        page.screenshot(path=folder / "console-requests.png")
        assert console.complaints == []
