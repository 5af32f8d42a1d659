"""Names that clients choose stay text, and pages of others stay outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Consumer, Producer

from tests.console.harness import ALL, FOREIGN, PAGES, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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
