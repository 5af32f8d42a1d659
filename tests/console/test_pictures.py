"""Pictures of the console for the documentation; `make console-pictures` keeps them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker

from tests.console.harness import opened, work

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def test_a_request_is_chosen_and_its_bytes_have_names(browser: Browser, tmp_path: Path) -> None:
    folder = Path(os.environ.get("FENCEPOST_TEST_PICTURES", tmp_path))
    with (
        Broker(topics={"orders": 3, "invoices": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        page = console.page
        console.open("requests")
        page.wait_for_selector(".empty")
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
