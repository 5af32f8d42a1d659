"""Groups: who had which partition when, whom a rebalance waits for, and pending offsets."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Consumer, Producer

from tests.console.harness import Console, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
_SETTINGS = {"group.initial.rebalance.delay.ms": 0}
_POLLS = 50
_LONG_MS = 30_000


@contextmanager
def _consumer(
    broker: Broker, name: str, protocol: Literal["classic", "consumer"]
) -> Iterator[Consumer]:
    with Consumer(
        broker.bootstrap,
        group_id="billing",
        client_id=name,
        group_protocol=protocol,
        auto_offset_reset="earliest",
    ) as consumer:
        consumer.subscribe(["orders"])
        yield consumer


def _share(first: Consumer, second: Consumer, joins: Future[None]) -> None:
    """Poll the first one until the second one has joined, and each has a partition."""
    for _ in range(_POLLS):
        first.getmany(timeout_ms=200)
        if joins.done() and len(first.assignment()) == len(second.assignment()) == 1:
            return
    raise AssertionError("they do not share the partitions")


def _had(console: Console) -> set[str]:
    return {" ".join(each.split()) for each in console.text(".history td.had")}


def test_a_rebalance_says_whom_it_waits_for_and_the_chart_has_what_came_of_it(
    browser: Browser,
) -> None:
    with (
        Broker(topics={"orders": 2}, control=0, log_level="error", settings=_SETTINGS) as broker,
        opened(browser, broker.control or "") as console,
        _consumer(broker, "first", "classic") as first,
        ThreadPoolExecutor(1) as pool,
    ):
        first.block_on_rebalance(_LONG_MS)
        console.open("groups?group=billing")
        console.wait_for(".history td.had", 2)
        assert _had(console) == {"first"}
        with _consumer(broker, "second", "classic") as second:
            joins = pool.submit(second.block_on_rebalance, _LONG_MS)
            console.page.get_by_text("It waits for first").wait_for()
            assert not joins.done()
            _share(first, second, joins)
            console.page.wait_for_selector(".history td.had >> text=second")
            console.page.wait_for_selector(".holder", state="hidden")
        assert _had(console) == {"first", "second"}
        assert console.complaints == []


def test_offsets_of_an_open_transaction_are_pending(browser: Browser) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error", settings=_SETTINGS) as broker,
        opened(browser, broker.control or "") as console,
        _consumer(broker, "reader", "consumer") as reader,
        Producer(broker.bootstrap, transactional_id="payments") as producer,
    ):
        with producer.transaction() as transaction:
            transaction.send("orders", b"1", partition=0)
        reader.getmany(timeout_ms=10_000)
        producer.begin()
        producer.send_offsets(reader.positions(), reader.group_metadata())
        console.open("groups?group=billing")
        console.wait_for(".pending", 1)
        assert _had(console) == {"reader"}
        producer.commit()
        console.wait_for(".pending", 0)
        assert console.violations() == []
