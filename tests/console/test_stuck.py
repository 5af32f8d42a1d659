"""A consumer that stands still: the page of its group says why, and a button ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_broker import attach
from fencepost_broker.blocking import Broker
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.hanging_transaction import hang
from fencepost_broker.server.scenarios.wire import Connection
from fencepost_client import KafkaError
from fencepost_client.blocking import Consumer, Producer

from tests.console.harness import Console, opened, pictures

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
_WHY = "table:has(th:text-is('Lag')) tbody td:last-child"


@contextmanager
def _service(broker: Broker) -> Iterator[Consumer]:
    with Consumer(
        broker.bootstrap,
        group_id="billing",
        client_id="billing-1",
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    ) as consumer:
        consumer.subscribe(["orders"])
        yield consumer


def _read(broker: Broker) -> int:
    """Read what is committed, and commit how far; return how many records."""
    with _service(broker) as consumer:
        read = len(consumer.getmany(timeout_ms=10_000))
        consumer.commit()
        return read


def _click(console: Console, name: str) -> None:
    console.page.locator(".holder").get_by_role("button", name=name).click()
    console.page.wait_for_selector(".holder", state="hidden")


def test_the_group_names_the_open_transaction_and_the_partition_has_the_buttons(
    browser: Browser, tmp_path: Path
) -> None:
    settings = {"group.initial.rebalance.delay.ms": 0}
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error", settings=settings) as broker,
        opened(browser, broker.control or "") as console,
        Producer(broker.bootstrap, client_id="web") as other,
        suppress(KafkaError),  # the producer is fenced by a button
        Producer(broker.bootstrap, transactional_id="payments") as producer,
    ):
        other.send("orders", b"1", partition=0).result()
        producer.begin()
        producer.send("orders", b"open", partition=0).result()
        other.send("orders", b"2", partition=0).result()
        assert _read(broker) == 1
        page = console.page
        console.open("groups")
        page.locator(_WHY).get_by_text("No member reads it.").wait_for()
        with _service(broker) as consumer:
            consumer.getmany(timeout_ms=500)
            page.locator(_WHY).get_by_text("A transaction is open: payments").wait_for()
            page.wait_for_selector(".names >> text=Stable")
            page.wait_for_selector(".history td.had")
            page.screenshot(path=pictures(tmp_path) / "console-groups.png")
            assert console.violations() == []
        page.click("td a:has-text('orders-0')")
        page.wait_for_selector("h2 >> text=Records of")
        _click(console, "Abort")
        with _service(broker) as consumer:
            console.open("groups")
            consumer.getmany(timeout_ms=500)
            page.locator(_WHY).get_by_text("nothing at the broker").wait_for()
        assert _read(broker) == 1
        page.locator(_WHY).get_by_text("nothing at the broker").wait_for(state="detached")
        assert console.complaints == []


def test_held_markers_are_released_and_producers_fenced_at_the_partition(
    browser: Browser,
) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
        suppress(KafkaError),
        Producer(broker.bootstrap, transactional_id="payments") as producer,
    ):
        broker.hold_markers(topic="orders")
        with producer.transaction() as transaction:
            transaction.send("orders", b"1", partition=0)
        console.open("topics?topic=orders")
        console.page.locator(".holder").get_by_text("PrepareCommit").wait_for()
        _click(console, "Release markers")
        producer.begin()
        producer.send("orders", b"2", partition=0).result()
        console.page.locator(".holder").get_by_text("Ongoing").wait_for()
        _click(console, "Fence")
        console.page.wait_for_selector("tr.aborted")
        assert console.violations() == []
        assert console.complaints == []


async def _hang(control: str) -> None:
    broker = attach(control)
    async with Connection(broker) as connection:
        await hang(broker, connection, lambda _: None)


def test_what_hangs_is_aborted_at_the_partition(browser: Browser) -> None:
    settings = SCENARIOS["hanging-transaction"].settings
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error", settings=settings) as broker,
        opened(browser, broker.control or "") as console,
        ThreadPoolExecutor(1) as pool,
    ):
        pool.submit(asyncio.run, _hang(broker.control or "")).result()
        console.open("topics?topic=orders")
        console.page.locator(".holder").get_by_text("no coordinator will end it").wait_for()
        assert console.text(".holder button") == ["Abort what hangs"]
        _click(console, "Abort what hangs")
        assert console.complaints == []


def test_time_is_moved_to_the_timeout_of_a_transaction(browser: Browser) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error", clock="manual") as broker,
        opened(browser, broker.control or "") as console,
        suppress(KafkaError),
        Producer(
            broker.bootstrap, transactional_id="payments", transaction_timeout_ms=30_000
        ) as producer,
    ):
        producer.begin()
        producer.send("orders", b"1", partition=0).result()
        console.open("faults")
        before = broker.clock.now_ms()
        console.page.get_by_role("button", name="To the next deadline, in 30 s").click()
        console.open("topics?topic=orders")
        console.page.wait_for_selector("tr.aborted")
        assert broker.clock.now_ms() == before + 30_000
        assert console.complaints == []
