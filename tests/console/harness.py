"""The console in a real browser: Debian's Chromium, a broker in a thread, and clients."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Consumer, Producer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM: Final = "/usr/bin/chromium"
AXE: Final = Path(__file__).parents[2] / "console/node_modules/axe-core/axe.min.js"
FOREIGN: Final = "attacker.example"
"""A name that the browser resolves to this machine, as DNS rebinding does."""
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1",
)
ALL: Final = bool(os.environ.get("FENCEPOST_TEST_CONSOLE_ALL"))
"""Whether tests do all that they could: `make console-all`."""
PAGES: Final = ("transactions", "requests", "topics", "groups", "faults", "cluster")
THEMES: Final = ("light", "dark")
WIDTH, HEIGHT = 1280, 900
WAIT_MS: Final = 10_000


def pictures(otherwise: Path) -> Path:
    """Where to put pictures: those of the documentation with FENCEPOST_TEST_PICTURES."""
    return Path(os.environ.get("FENCEPOST_TEST_PICTURES", otherwise))


class Console:
    """A page of the console that is open in the browser, and what it complained about."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.complaints: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.on("console", lambda said: self._note(said.type, said.text))
        page.on("pageerror", lambda error: self._note("error", str(error)))
        page.on("dialog", lambda dialog: self._note("error", f"a dialog: {dialog.message}"))

    def _note(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.complaints.append(text)

    def open(self, fragment: str = "transactions") -> None:
        """Open a page, and wait until it is live."""
        self.page.goto(f"http://{self.address}/#/{fragment}")
        self.page.wait_for_selector("h1")
        self.page.wait_for_selector(".dot.on")

    def text(self, selector: str) -> list[str]:
        """Return the texts of all elements, in the order of the document."""
        return self.page.locator(selector).all_text_contents()

    def wait_for(self, selector: str, count: int) -> None:
        """Wait until there are so many of these elements."""
        from playwright.sync_api import expect

        expect(self.page.locator(selector)).to_have_count(count, timeout=WAIT_MS)

    def violations(self) -> list[str]:
        """Return what axe finds, as lines."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found: list[dict[str, Any]] = self.page.evaluate(
            "async () => (await axe.run()).violations.map("
            "({id, help, nodes}) => ({id, help, at: nodes.map((each) => each.html)}))"
        )
        return [f"{each['id']}: {each['help']}: {each['at'][:3]}" for each in found]


@contextmanager
def opened(
    browser: Browser, address: str, *, theme: str = "light", width: int = WIDTH
) -> Iterator[Console]:
    """A new window without anything remembered."""
    scheme: Any = theme
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": HEIGHT}, reduced_motion="reduce"
    )
    try:
        yield Console(context.new_page(), address)
    finally:
        context.close()


def work(broker: Broker) -> None:
    """Let clients commit, abort and process, and end with a commit whose marker is held back."""
    with (
        Producer(broker.bootstrap, transactional_id="payments", client_id="checkout") as producer,
        Consumer(
            broker.bootstrap, group_id="billing", client_id="billing", auto_offset_reset="earliest"
        ) as consumer,
    ):
        with producer.transaction() as transaction:
            for number in range(3):
                transaction.send("orders", b"order %d" % number, key=b"%d" % number, partition=0)
        producer.begin()
        producer.send("orders", b"a wrong order", partition=1).result()
        producer.abort()
        consumer.subscribe(["orders"])
        consumer.getmany(timeout_ms=10_000)
        with producer.transaction() as transaction:
            transaction.send("invoices", b"invoice 0", partition=0)
            transaction.send_offsets(consumer.positions(), consumer.group_metadata())
        broker.hold_markers(topic="orders")
        with producer.transaction() as transaction:
            transaction.send("orders", b"order 3", partition=1)
            transaction.send("invoices", b"invoice 1", partition=0)
