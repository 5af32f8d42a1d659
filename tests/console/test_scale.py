"""Many topics and many requests: the page shows a part, says so, and does not stall."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

import pytest
from fencepost_broker.blocking import Broker
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest

from tests.console.harness import ALL, Console, opened
from tests.support.waiting import polled

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
TOPICS, PARTITIONS = (1_000, 10) if ALL else (300, 1)
ROWS_MAX: Final = 80
"""Of a list in the document, whatever its length."""
SLOWER_MAX: Final = 2.0 if ALL else inf
"""By so much may the median frame take longer than one of a page that has nothing to do. Where
other tests run at the same time, only what is in the document is compared."""
_BURST: Final = 20
_FRAMES: Final = """() => new Promise((done) => {
    const times = [];
    const frame = (at) => {
        times.push(at);
        if (times.length < 90) return requestAnimationFrame(frame);
        const took = times.slice(1).map((each, number) => each - times[number]);
        done(took.sort((a, b) => a - b)[took.length >> 1]);
    };
    requestAnimationFrame(frame);
})"""


def _median_frame(console: Console) -> float:
    return float(console.page.evaluate(_FRAMES))


@contextmanager
def _requests(broker: Broker) -> Iterator[list[int]]:
    """Send requests one after the other, in bursts, as fast as they are answered; counts them."""
    host, _, port = broker.bootstrap.rpartition(":")
    frame = encode_request(FindCoordinatorRequest("nobody", 0), 3, 1, "many")
    stop = Event()
    sent = [0]

    def send() -> None:
        with socket.create_connection((host, int(port))) as end, end.makefile("rb") as answers:
            while not stop.is_set():
                end.sendall(frame * _BURST)
                sent[0] += _BURST
                for _ in range(_BURST):
                    answers.read(struct.unpack(">i", answers.read(4))[0])

    thread = Thread(target=send)
    thread.start()
    try:
        yield sent
    finally:
        stop.set()
        thread.join()


def _seen(console: Console) -> int:
    """How many requests the page has told, or told of as left out."""
    [told, *others] = console.text(".filters .hint, .left-out .tag")
    listed = told.partition(" of the last ")[0]
    return sum(int(each.rpartition(" ")[2].replace(",", "")) for each in (listed, *others))


def test_a_page_of_many_requests_does_not_stall(browser: Browser) -> None:
    with (
        Broker(control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open("requests")
        idle = _median_frame(console)
        with _requests(broker) as sent:
            console.page.wait_for_selector(".left-out")
            busy = _median_frame(console)
            assert 0 < console.page.locator("tr.pick").count() < ROWS_MAX
            assert _seen(console) > 0
        assert polled(lambda: _seen(console) == sent[0], "told and left out are not all requests")
        assert busy < idle * SLOWER_MAX
        assert console.complaints == []


def test_a_page_of_many_topics_does_not_stall(browser: Browser) -> None:
    topics = {f"topic-{number:04}": PARTITIONS for number in range(TOPICS)}
    with (
        Broker(topics=topics, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open("cluster")
        idle = _median_frame(console)
        console.open("topics")
        console.page.get_by_text(f"{TOPICS:,} topics").wait_for()
        assert 0 < console.page.locator(".names li").count() < ROWS_MAX
        console.page.focus(".names-box")
        console.page.keyboard.press("End")
        console.page.wait_for_selector(f".names >> text=topic-{TOPICS - 1:04}")
        assert _median_frame(console) < idle * SLOWER_MAX
        console.page.get_by_label("Search").fill("0250")
        console.wait_for(".names li", 1)
        assert console.violations() == []
        assert console.complaints == []
