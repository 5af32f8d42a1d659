"""Everything that a mouse can do can be done by keys: buttons, records, bytes and the timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Producer

from tests.console.harness import PAGES, Console, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
TABS_MAX: Final = 150
_FOCUSED: Final = """() => {
    const it = document.activeElement;
    const label = it.labels?.[0]?.querySelector('span')?.textContent;
    return (it.ariaLabel ?? label ?? it.textContent).trim();
}"""
_UNREACHED: Final = """() => [...document.querySelectorAll('main [onclick], main button, main a')]
    .filter((each) => each.checkVisibility() && !each.disabled && each.tabIndex < 0)
    .map((each) => each.outerHTML)"""


def _tab_to(console: Console, name: str) -> None:
    """Press Tab until the element with this name, or text, has the focus."""
    for _ in range(TABS_MAX):
        console.page.keyboard.press("Tab")
        if console.page.evaluate(_FOCUSED) == name:
            return
    raise AssertionError(f"no key leads to {name}")


def _press(console: Console, name: str, key: str = "Enter") -> None:
    _tab_to(console, name)
    console.page.keyboard.press(key)


def _write(console: Console, name: str, text: str) -> None:
    _tab_to(console, name)
    console.page.keyboard.type(text)


def test_keys_alone_write_a_record_look_at_its_bytes_and_follow_its_transaction(
    browser: Browser,
) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        keys, page = console.page.keyboard, console.page
        console.open("transactions")
        _press(console, "Requests")
        page.wait_for_selector("h1 >> text=Requests")
        _press(console, "Topics")
        page.wait_for_selector("h2 >> text=Records of")
        _press(console, "Write a record by hand")
        _write(console, "Value", "by keys")
        _tab_to(console, "How")
        keys.type("in a transaction that c")
        _press(console, "Write")
        page.wait_for_selector("tr.committed >> text=by keys")
        console.open("requests?api=EndTxn")
        page.wait_for_selector("tr.pick")
        _press(console, "EndTxn")
        page.wait_for_selector(".byte")
        _tab_to(console, "Fields of the request")
        for _ in range(3):
            keys.press("Tab")
        assert page.locator(".byte.on").count() > 0
        console.open("transactions")
        console.wait_for("g.bar-text.Commit", 1)
        _press(console, "by-hand")
        page.wait_for_url("**follow=by-hand**")
        console.open("faults")
        _press(console, "Add rule", "Space")
        page.wait_for_selector("td >> text=COORDINATOR_NOT_AVAILABLE")
        _press(console, "Remove all", "Space")
        page.get_by_text("No rule: every request").wait_for()
        assert console.complaints == []


def test_every_link_and_button_is_in_the_order_of_keys(browser: Browser, worked: Broker) -> None:
    with opened(browser, worked.control or "") as console:
        for page in PAGES:
            console.open(page)
            console.page.wait_for_selector("main a, main button, .empty")
            assert (page, console.page.evaluate(_UNREACHED)) == (page, [])


def test_the_focus_stays_where_it_is_while_the_page_is_drawn_again(
    browser: Browser,
) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
        Producer(broker.bootstrap) as producer,
    ):
        console.open("requests")
        producer.send("orders", b"1", partition=0).result()
        console.page.wait_for_selector("tr.pick button:text-is('Produce')")
        _tab_to(console, "Produce")
        chosen = console.page.evaluate("document.activeElement.closest('tr').textContent")
        for number in range(3):
            producer.send("orders", b"%d" % number, partition=0).result()
        console.wait_for("tr.pick button:text-is('Produce')", 4)
        told = console.page.evaluate("document.activeElement.closest('tr')?.textContent")
        assert told == chosen
