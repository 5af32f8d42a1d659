"""Topics: records are searched, shown in several forms, and written by hand."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Producer

from tests.console.harness import opened
from tests.support.order_schemas import AVSC, PAPER, PREFIX, PROTO, avro

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
_VALUES = "table.records td.wide"


def test_records_are_searched_shown_in_forms_and_written_in_a_transaction(browser: Browser) -> None:
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        page = console.page
        with Producer(broker.bootstrap) as producer:
            for key, value in ((b"a", b'{"n":1}'), (b"b", struct.pack(">q", 42)), (b"a", b"\xff")):
                producer.send("orders", value, key=key, partition=0)
        console.open("topics?topic=orders")
        console.wait_for(_VALUES, 3)
        page.get_by_label("Show as").select_option("number")
        page.wait_for_selector(f"{_VALUES} >> text=42 (long)")
        page.get_by_label("Show as").select_option("json")
        page.wait_for_selector("code.json")
        page.get_by_label("Only with this key").fill("a")
        page.keyboard.press("Enter")
        console.wait_for(_VALUES, 2)
        assert console.text(f"{_VALUES} code") == ['{  "n": 1}', "ff"]
        page.get_by_label("From offset").fill("1")
        page.keyboard.press("Enter")
        console.wait_for(_VALUES, 1)
        page.goto(page.url)  # an address that others get shows the same
        console.wait_for(_VALUES, 1)
        page.get_by_label("Only with this key").fill("")
        page.keyboard.press("Enter")
        page.get_by_text("Write a record by hand").click()
        page.get_by_label("Value", exact=True).fill("by hand")
        page.locator("select:has(option[value=abort])").select_option("abort")
        page.get_by_role("button", name="Write").click()
        page.wait_for_selector("tr.aborted >> text=by hand")
        page.wait_for_selector("tr.control >> text=abort marker")
        assert console.violations() == []
        assert console.complaints == []


def test_values_are_decoded_by_a_schema_file_that_is_chosen_or_dropped(
    browser: Browser, tmp_path: Path
) -> None:
    avsc, proto = tmp_path / "order.avsc", tmp_path / "order.proto"
    avsc.write_bytes(AVSC)
    proto.write_bytes(PROTO)
    with (
        Broker(topics={"orders": 1}, control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        page = console.page
        long = avro("long " * 2000)
        with Producer(broker.bootstrap) as producer:
            for value in (avro("<b>\u202e"), PREFIX + avro(), long, b"\x00", PAPER):
                producer.send("orders", value, partition=0)
        console.open("topics?topic=orders&as=schema")
        page.set_input_files("input[type=file]", avsc)
        console.wait_for(f"{_VALUES} code.json", 3)
        first, second, third, fourth, fifth = console.text(_VALUES)
        assert '"note": "<b>\\u202e"' in first
        assert "shop.Order, schema 7" in second
        assert "long long" in third
        assert "it ends too early" in fourth
        assert "it is not shop.Order" in fifth
        assert console.violations() == []
        given = "text => { const it = new DataTransfer();"
        given += " it.items.add(new File([text], 'order.proto')); return it; }"
        dropped = page.evaluate_handle(given, PROTO.decode())
        page.dispatch_event(".drop", "drop", {"dataTransfer": dropped})
        page.get_by_label("Message type").select_option("shop.Order")
        page.wait_for_selector(f"{_VALUES} >> text=paper")
        page.get_by_label("The id of a schema").select_option("registry")
        page.wait_for_selector(f"{_VALUES} >> text=it does not begin with a byte 0")
        avsc.write_text("no schema")
        page.set_input_files("input[type=file]", avsc)
        page.get_by_text("order.avsc: it is not JSON").wait_for()
        assert [each for each in console.complaints if "422" not in each] == []
