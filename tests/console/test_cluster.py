"""A cluster of processes: who leads what, elections, and the buttons that break it."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_client import KafkaError
from fencepost_client.blocking import Producer

from tests.console.harness import Console, opened
from tests.support.cluster_processes import ClusterProcesses
from tests.support.waiting import polled

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def _row(console: Console, broker: int) -> list[str]:
    """What the table of brokers says of one."""
    rows = console.page.get_by_role("region", name="Brokers").locator("tbody tr")
    return rows.nth(broker - 1).locator("td").all_text_contents()


def _press(console: Console, what: str, broker: int, then: str) -> None:
    row = console.page.get_by_role("region", name="Processes").locator(
        f"tr:has-text('broker-{broker}')"
    )
    row.get_by_role("button", name=what).click()
    row.get_by_text(then, exact=True).wait_for()


def test_a_broker_is_killed_at_the_partition_that_it_leads_and_the_page_has_the_election(
    browser: Browser, tmp_path: Path
) -> None:
    words = ("--console", "0", "--topic", "t:2", "-c", "default.replication.factor=2")
    with (
        ClusterProcesses(tmp_path / "c", *words, brokers=2) as processes,
        opened(browser, processes.told["control"]) as console,
        suppress(KafkaError),  # it cannot abort in the end
        Producer(processes.told["bootstrap"], transactional_id="payments") as producer,
    ):
        processes.until_settled()
        [number] = [each for each in (0, 1) if processes.leader("t", each) == 2]
        producer.begin()
        producer.send("t", b"open", partition=number).result()
        page = console.page
        console.open("cluster")
        page.get_by_text("The controller is controller").wait_for()
        polled(lambda: all(re.search(r"\d+ to \d*999", _row(console, each)[5]) for each in (1, 2)))
        polled(lambda: int(_row(console, 2)[2]) > 0)
        assert _row(console, 2)[1] == "ready"
        assert _row(console, 2)[4] == "0"
        page.evaluate(f"location.hash = '#/topics?topic=t&partition={number}'")
        page.get_by_role("button", name="Kill broker 2").click()
        page.click("nav a:has-text('Cluster')")
        page.get_by_role("region", name="Elections").get_by_text(f"t-{number}").wait_for()
        page.get_by_role("region", name="Partitions in trouble").get_by_text(
            f"t-{number}"
        ).wait_for()
        assert console.violations() == []
        polled(lambda: _row(console, 2)[1:3] == ["fenced", "0"])
        _press(console, "start", 2, "up")
        page.get_by_role("region", name="Partitions in trouble").wait_for(state="detached")
        _press(console, "pause", 2, "paused")
        _press(console, "resume", 2, "up")
        _press(console, "stop", 2, "down")


def test_a_follower_behind_a_cut_wire_falls_out_of_sync_and_comes_back(
    browser: Browser, tmp_path: Path
) -> None:
    settings = ("default.replication.factor=2", "replica.lag.time.max.ms=500")
    given = [word for each in settings for word in ("-c", each)]
    words = ("--console", "0", "--topic", "t:2", *given)
    with (
        ClusterProcesses(tmp_path / "c", *words, brokers=2) as processes,
        opened(browser, processes.told["control"]) as console,
        Producer(processes.told["bootstrap"]) as producer,
    ):
        processes.until_settled()
        [number] = [each for each in (0, 1) if processes.leader("t", each) == 1]
        console.open("cluster")
        wires = console.page.locator("section.card", has_text="Followers fetch records")
        wires.get_by_role("button", name="Cut the wire").click()
        wires.get_by_text("Broker 2 gets no answers from broker 1.").wait_for()
        producer.send("t", b"not copied", partition=number).result()  # after the follower is out
        polled(lambda: _row(console, 2)[4] == "1")
        assert wires.get_by_role("button", name="Cut the wire").is_disabled()
        assert console.violations() == []
        wires.get_by_role("button", name="Mend").click()
        polled(lambda: _row(console, 2)[4] == "0")
        assert wires.get_by_role("button", name="Mend").count() == 0
