"""Names that clients choose stay text, and pages of others stay outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Consumer, Producer

from tests.console.harness import ALL, FOREIGN, PAGES, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FilePayload

pytestmark = pytest.mark.slow
HOSTILE = "<img src=x onerror=alert(1)>\u202e\u0007'\"&"
SHOWN = "<img src=x onerror=alert(1)>\\u202e\\u0007'\"&"


def test_hostile_names_stay_text(browser: Browser) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open("requests")
        with (
            Producer(broker.bootstrap, transactional_id=HOSTILE, client_id="c") as producer,
            Consumer(broker.bootstrap, group_id=HOSTILE, auto_offset_reset="earliest") as consumer,
        ):
            console.open("transactions")
            with producer.transaction() as transaction:
                text = HOSTILE.encode()
                headers = [(HOSTILE, text)]
                transaction.send("orders", text, key=text, partition=0, headers=headers)
            consumer.subscribe(["orders"])
            consumer.getmany(timeout_ms=10_000)
            consumer.commit()
            console.page.wait_for_selector("g.bar-text.Commit")
            seen = {"transactions": SHOWN in "".join(console.text("td bdi"))}
            for page, selector in (("topics", "table.records"), ("groups", ".names a")):
                console.open(page)
                console.page.wait_for_selector(selector)
                seen[page] = SHOWN in "".join(console.text(f"{selector} bdi"))
            for page in PAGES:
                console.open(page)
                assert console.page.locator("img[src=x]").count() == 0
        assert seen == {"transactions": True, "topics": True, "groups": True}
        assert console.complaints == []
        console.open("topics")
        console.page.click("text=New topic")
        console.page.get_by_label("Name", exact=True).fill(HOSTILE)
        console.page.get_by_role("button", name="Create").click()
        console.page.locator("[role=alert]").get_by_text("INVALID_TOPIC_EXCEPTION").wait_for()
        assert console.page.locator("img[src=x]").count() == 0


def test_a_very_large_value_is_cut_and_its_size_is_told(browser: Browser) -> None:
    size = (100 if ALL else 8) << 20
    settings = {"message.max.bytes": 2 * size, "socket.request.max.bytes": 2 * size}
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error", settings=settings) as broker,
        opened(browser, broker.control or "") as console,
        Producer(
            broker.bootstrap, client_id=HOSTILE, max_request_size=2 * size, buffer_memory=2 * size
        ) as producer,
    ):
        console.open("requests")
        producer.send("orders", b"x" * size, key=b"large", partition=0).result()
        console.page.wait_for_selector("tr.pick >> text=Produce")
        assert SHOWN in "".join(console.text("tr.pick bdi"))
        console.page.click("tr.pick:has-text('Produce') button")
        console.page.wait_for_selector(".byte")
        console.open("topics?topic=orders")
        console.page.wait_for_selector(f"table.records >> text=… {size >> 20}.0 MB")
        assert max(map(len, console.text("table.records td"))) < 5_000
        assert console.complaints == []


def test_pages_of_other_origins_and_other_names_are_refused(browser: Browser) -> None:
    with (
        Broker(control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        page = console.page
        _, _, port = console.address.rpartition(":")
        answer = page.goto(f"http://{FOREIGN}:{port}/")
        assert answer is not None
        assert answer.status == 421
        url = f"http://{console.address}/v1/clock/pause"
        with _another_origin() as origin:
            page.goto(origin)
            with page.expect_response(url) as told:
                page.evaluate("url => void fetch(url, {method: 'POST', mode: 'no-cors'})", url)
            assert told.value.status == 403


@pytest.mark.parametrize("wanted", ["{}?{}={}", "{}?as=schema&zoom=x&step=9&until=-1&{}={}"])
def test_a_hostile_address_is_text(browser: Browser, worked: Broker, wanted: str) -> None:
    """Somebody sends it to the user of a console."""
    given = {
        "transactions": "follow",
        "requests": "api",
        "topics": "topic",
        "groups": "group",
        "faults": "scenario",
        "cluster": "x",
        "__proto__": "constructor",
    }
    with opened(browser, worked.control or "") as console:
        for page, name in given.items():
            console.open(wanted.format(page, name, quote(HOSTILE)))
            assert console.page.locator("img[src=x]").count() == 0
            if name in ("topic", "group"):
                console.page.locator("[role=alert]").get_by_text(SHOWN).first.wait_for()
        assert [each for each in console.complaints if "404" not in each] == []


def test_a_hostile_file_of_steps_is_refused_or_text(browser: Browser, worked: Broker) -> None:
    number = {"at_ms": 0, "number": 1, "producer_id": 1, "producer_epoch": 0, "broker": 1}
    texts = dict.fromkeys(("client_id", "address", "transactional_id", "group", "state"), HOSTILE)
    place = {"topic": HOSTILE, "partition": 0, "offset": 1 << 50, "records": 1 << 50}
    step = {**number, **texts, "what": "answer", "api": "Produce", "partitions": [place]}
    step["errors"] = {HOSTILE: 1, "__proto__": 1}
    odd = [
        {**step, "what": what, "api": api, "number": at}
        for what in ("request", "waits", "answer", "state", "marker", HOSTILE)
        for at, api in enumerate(("Produce", "EndTxn", "constructor", HOSTILE))
    ]
    wrong = [None, {}, {**step, "at_ms": 1e300}, {**step, "partitions": [None]}]
    with opened(browser, worked.control or "") as console:
        page = console.page
        console.open()
        page.click("text=Open saved steps")
        for name, steps in [
            *((f"wrong-{at}", [each]) for at, each in enumerate(wrong)),
            ("odd", odd),
        ]:
            content = json.dumps({"kind": "fencepost-steps", "steps": steps}).encode()
            file: FilePayload = {
                "name": f"{name}.json",
                "mimeType": "text/plain",
                "buffer": content,
            }
            page.set_input_files("input[type=file]", [file])
            if steps is not odd:
                page.get_by_text("Step 1 of this file has a field").wait_for()
        page.get_by_text("These are the steps of odd.json").wait_for()
        assert SHOWN in "".join(console.text("td bdi"))
        for at in range(page.locator("td.time button").count()):
            page.locator("td.time button").nth(at).click()
        assert page.locator("img[src=x]").count() == 0
        assert console.complaints == []


def test_a_page_that_reads_too_slowly_says_how_much_it_has_lost(
    browser: Browser, worked: Broker
) -> None:
    """The broker tells it by an event, as tests of the control port show."""
    lost = json.dumps({"type": "lost", "lost": 1234, "requests": {"Fetch": 34}})
    with opened(browser, worked.control or "") as console:
        console.page.route(
            "**/v1/events*",
            lambda route: route.fulfill(
                status=200, content_type="text/event-stream", body=f"event: lost\ndata: {lost}\n\n"
            ),
            times=1,
        )
        console.open("requests")
        console.page.locator(".left-out").get_by_text("1,200 events lost").wait_for()
        assert console.text(".left-out .tag") == ["Fetch 34"]
        assert console.complaints == []


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<title>another origin</title>")

    def log_message(self, *given: object) -> None:
        pass


@contextmanager
def _another_origin() -> Iterator[str]:
    """A web server at another port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_token_is_asked_for_and_sent(browser: Browser, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-secret-of-24-characters")
    with (
        Broker(control=0, control_token_file=token, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        page = console.page
        page.goto(f"http://{console.address}/#/cluster")
        page.get_by_label("Token").fill("another-secret-of-24-characters")
        page.keyboard.press("Enter")
        page.get_by_text("the token is wrong").wait_for()
        page.get_by_label("Token").fill("a-secret-of-24-characters")
        page.keyboard.press("Enter")
        page.get_by_text("ready").wait_for()
        assert "secret" not in page.url
