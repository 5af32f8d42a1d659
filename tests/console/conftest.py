"""The browser, and a broker with something to see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker

from tests.console.harness import ARGUMENTS, AXE, CHROMIUM, work

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; asyncio tests cannot run while Playwright does."""
    playwright = pytest.importorskip("playwright.sync_api")
    if not Path(CHROMIUM).exists():
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    if not AXE.exists():
        pytest.skip("axe is not installed: make console")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def worked() -> Iterator[Broker]:
    """A broker at which clients have worked."""
    options = {"topics": {"orders": 3, "invoices": 1}, "control": 0, "log_level": "error"}
    with Broker(**options) as broker:  # type: ignore[arg-type]
        work(broker)
        yield broker
