"""The timeline as an address and as files, which others open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Producer

from tests.console.harness import Console, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
_LABELS = "g.label"


@pytest.fixture(scope="module")
def committed(browser: Browser) -> Iterator[Console]:
    """A page that has seen a commit."""
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open()
        with (
            Producer(broker.bootstrap, transactional_id="payments") as producer,
            producer.transaction() as transaction,
        ):
            transaction.send("orders", b"1", partition=0)
        console.wait_for("g.bar-text.Commit", 1)
        yield console


def test_an_address_shows_the_same_step_after_a_reload_and_in_another_window(
    browser: Browser, committed: Console
) -> None:
    page = committed.page
    page.focus("input[type=range]")
    for key in ("Home", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    page.click("td.time button >> nth=0")
    seen = (committed.text(_LABELS), committed.text("tr.picked td"))
    assert seen[1]
    page.reload()
    page.wait_for_selector("tr.picked")
    assert (committed.text(_LABELS), committed.text("tr.picked td")) == seen
    with opened(browser, committed.address) as other:
        other.open(page.url.partition("#/")[2])
        other.page.wait_for_selector("tr.picked")
        assert (other.text(_LABELS), other.text("tr.picked td")) == seen
    page.focus("input[type=range]")
    page.keyboard.press("End")
    committed.wait_for("g.bar-text.Commit", 1)


def _saved(console: Console, form: str, folder: Path) -> Path:
    with console.page.expect_download() as told:
        console.page.get_by_role("button", name=form, exact=True).click()
    path = folder / told.value.suggested_filename
    told.value.save_as(path)
    return path


def test_the_timeline_is_saved_as_pictures_and_steps_and_opened_elsewhere(
    browser: Browser, committed: Console, tmp_path: Path
) -> None:
    console = committed
    console.open("transactions")
    console.wait_for("g.bar-text.Commit", 1)
    labels = console.text(_LABELS)
    svg = ET.parse(_saved(console, "SVG", tmp_path)).getroot()
    texts = [each.text for each in svg.iter() if each.text]
    assert {"payments", "orders-0", "CompleteCommit"} <= set(texts)
    assert not [each for each in svg.iter() if each.get("class") or each.tag.endswith("style")]
    png = _saved(console, "PNG", tmp_path).read_bytes()
    assert png.startswith(b"\x89PNG")
    steps = _saved(console, "JSON", tmp_path)
    assert json.loads(steps.read_text(encoding="utf-8"))["steps"][0]["what"] == "request"
    assert console.complaints == []
    with (
        Broker(control=0, log_level="error") as another,
        opened(browser, another.control or "") as other,
    ):
        other.open()
        other.page.set_input_files("input[type=file]", steps)
        other.wait_for("g.bar-text.Commit", 1)
        assert other.text(_LABELS) == labels
        (tmp_path / "wrong.json").write_text("{}")
        other.page.set_input_files("input[type=file]", tmp_path / "wrong.json")
        other.page.get_by_text("This file has no steps of transactions.").wait_for()
