"""Each page of the console: it renders, all can use it, and it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker

from tests.console.harness import PAGES, THEMES, opened

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
