"""A rule from a request that is looked at: the next one is answered as the button says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Producer

from tests.console.harness import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def test_the_next_request_is_answered_as_the_button_says_and_its_error_is_explained(
    browser: Browser,
) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
        Producer(broker.bootstrap, client_id="checkout") as producer,
    ):
        page = console.page
        console.open("requests?api=Produce")
        producer.send("orders", b"1", partition=0).result()
        page.click("tr.pick button")
        page.get_by_label("Next time, answer").select_option("NOT_ENOUGH_REPLICAS")
        page.get_by_role("button", name="Add rule").click()
        page.wait_for_selector("h1 >> text=Faults and clock")
        page.wait_for_selector("td >> text=NOT_ENOUGH_REPLICAS")
        [rule] = console.text("table >> tr:has-text('NOT_ENOUGH_REPLICAS')")
        assert "api=Produce" in rule
        assert "client_id=checkout" in rule
        assert "at most 1 time" in rule
        producer.send("orders", b"2", partition=0).result()
        page.locator(".fired").get_by_text("fired on Produce of checkout").wait_for()
        page.wait_for_selector(".tag >> text=over")
        console.open("requests?only=errors")
        page.click("tr.pick:has-text('NOT_ENOUGH_REPLICAS') button")
        page.locator(".meaning").get_by_text("What to do:").wait_for()
        assert "NOT_ENOUGH_REPLICAS (19)" in "".join(console.text(".meaning"))
        producer.send("orders", b"3", partition=0).result()
        assert page.locator("tr.pick:has-text('NOT_ENOUGH_REPLICAS')").count() == 1
        assert console.violations() == []
        assert console.complaints == []
