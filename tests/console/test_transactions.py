"""The picture of a transaction beside the broker's own log, and the buttons below it."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client import KafkaError
from fencepost_client.blocking import Producer

from tests.console.harness import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow


def test_the_picture_is_what_the_logs_have(browser: Browser) -> None:
    logged: list[str] = []
    with (
        Broker(topics={"orders": 2}, control=0, log_level="error", on_step=logged.append) as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open()
        with Producer(broker.bootstrap, transactional_id="payments") as producer:
            with producer.transaction() as transaction:
                transaction.send("orders", b"1", partition=0)
                transaction.send("orders", b"2", partition=1)
            producer.begin()
            written = producer.send("orders", b"3", partition=1).result()
            producer.abort()
        console.page.wait_for_selector("g.bar-text.Abort")
        states = console.text("g.bar-text:not(.held) > text")
        markers = console.text("g.mark.commit, g.mark.abort")
        records = console.text("g.mark.records")
        waiting = console.page.locator("g.bar.held").count()
        complaints = console.complaints
    done = [each.removesuffix(".after") for each in logged if each.endswith(".after")]
    assert states == [
        each.removeprefix("transaction.") for each in done if each.startswith("transaction.")
    ]
    assert [re.sub(r"\d+", "", each).strip() for each in markers] == ["commit", "commit", "abort"]
    assert len(markers) == waiting == sum(each.startswith("marker.") for each in done)
    assert records == ["0", "0", str(written.offset)]
    assert complaints == []


def _last_stable_offset(broker: Broker) -> int:
    told = broker.explain_partition("orders", 0)
    assert told is not None
    return told.last_stable_offset


def test_held_markers_are_seen_waiting_until_a_button_releases_them(browser: Browser) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open()
        console.page.click("text=Hold all markers")
        console.page.wait_for_selector("button:not(:disabled) >> text=Hold all markers")
        with Producer(broker.bootstrap, transactional_id="payments") as producer:
            with producer.transaction() as transaction:
                transaction.send("orders", b"1", partition=0)
            article = console.page.locator("article.open-transaction")
            article.get_by_text("Held back: orders-0").wait_for()
            assert _last_stable_offset(broker) == 0
            assert console.page.locator("g.bar.held").count() == 1
            assert console.page.locator("g.mark.commit").count() == 0
            article.get_by_role("button", name="Release markers").click()
            console.page.wait_for_selector("g.mark.commit")
            console.page.get_by_text("No transaction is open").wait_for()
            assert _last_stable_offset(broker) == 2
        assert console.complaints == []


def test_a_prepared_transaction_has_no_countdown_and_tells_who_keeps_it(browser: Browser) -> None:
    settings = {
        "unstable.api.versions.enable": "true",
        "transaction.two.phase.commit.enable": "true",
    }
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error", settings=settings) as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open()
        article = console.page.locator("article.open-transaction")
        for keeps in (False, True):
            with Producer(
                broker.bootstrap,
                transactional_id="payments",
                transaction_two_phase_commit_enable=True,
                keep_prepared_txn=keeps,
            ) as producer:
                if keeps:
                    article.get_by_text("epoch 1, which has kept it, to commit").wait_for()
                    producer.abort()
                else:
                    producer.begin()
                    producer.send("orders", b"1", partition=0)
                    producer.prepare()
                    article.get_by_text("commit or abort it. It has no timeout.").wait_for()
        console.page.get_by_text("No transaction is open").wait_for()
        assert console.complaints == []


def test_a_fenced_producer_is_seen_being_fenced(browser: Browser) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open()
        with (
            suppress(KafkaError),
            Producer(broker.bootstrap, transactional_id="payments") as old,
            Producer(broker.bootstrap, transactional_id="payments") as new,
        ):
            with old.transaction() as transaction:
                transaction.send("orders", b"1", partition=0)
            with new.transaction() as transaction:
                transaction.send("orders", b"2", partition=0)
            with old.transaction() as transaction:
                transaction.send("orders", b"3", partition=0)
        console.page.wait_for_selector("g.label.bad")
        assert "is fenced" in " ".join(console.text("td.wrong"))


def test_the_past_is_scrubbed_through_and_one_id_is_followed(browser: Browser) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open()
        for name in ("payments", "refunds"):
            with (
                Producer(broker.bootstrap, transactional_id=name) as producer,
                producer.transaction() as transaction,
            ):
                transaction.send("orders", b"1", partition=0)
        console.wait_for("g.bar-text.Commit", 2)
        console.page.focus("input[type=range]")
        console.page.keyboard.press("Home")
        console.wait_for("g.label", 1)
        console.page.keyboard.press("End")
        console.page.click("button.lane-name >> text=refunds >> nth=0")
        console.wait_for("g.bar-text.Commit", 1)
        assert "follow=refunds" in console.page.url
        assert "payments" not in console.text("button.lane-name")
