"""Scenarios that are made to happen by the page; its timeline beside the broker's own steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import pytest
from fencepost_broker.blocking import Broker
from fencepost_broker.server.scenarios import SCENARIOS

from tests.console.harness import ALL, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
_HERE: Final = [
    each.name for each in SCENARIOS.values() if not each.own_broker and not each.brokers
]
FEW: Final = ("late-end-txn", "markers-that-never-come", "hanging-transaction")
"""Those of each run; `make console-all` runs all."""
WATCHED: Final = _HERE if ALL else FEW

_STATES: Final = "g.bar-text:not(.held, .parked) > text"
_MARKERS: Final = "g.mark.commit, g.mark.abort"


@pytest.mark.parametrize("name", WATCHED)
def test_a_scenario_happens_and_the_timeline_is_what_the_broker_did(
    browser: Browser, name: str
) -> None:
    steps: list[str] = []
    options = {**SCENARIOS[name].options, "topics": (), "on_step": steps.append}
    with (
        Broker(**options, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        page = console.page
        console.open("faults")
        page.locator("summary", has_text=SCENARIOS[name].summary).click()
        page.click("a:visible >> text=Watch it here")
        page.locator(".watched").get_by_text(SCENARIOS[name].remedy).wait_for()
        page.get_by_role("button", name="Make it happen", exact=True).click()
        page.wait_for_selector(".facts")
        told = console.text(".told li")
        console.wait_for(_MARKERS, len(_done(steps, "marker.")))
        console.wait_for(_STATES, len(_done(steps, "transaction.")))
        assert console.text(_STATES) == _done(steps, "transaction.")
        assert len(told) >= 2
        page.get_by_role("button", name="Make it happen", exact=True).click()
        page.wait_for_selector("[role=alert] >> text=needs a new topic orders")


def _done(steps: Sequence[str], prefix: str) -> list[str]:
    """Return what the coordinators and partitions did, of one kind, in order."""
    done = [each.removesuffix(".after") for each in steps if each.endswith(".after")]
    return [each.removeprefix(prefix) for each in done if each.startswith(prefix)]
