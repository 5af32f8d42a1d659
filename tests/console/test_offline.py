"""What has happened, without a broker that runs: a recording, and a data directory."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Producer

from tests.console.harness import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
_COMMAND = (sys.executable, "-m", "fencepost_broker", "console")


@contextmanager
def _shown(path: Path) -> Iterator[str]:
    """Run the command; yields the address of its page."""
    command = [*_COMMAND, str(path), "--console", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield json.loads(process.stdout.readline())["control"]
        finally:
            process.terminate()


def _commit(broker: Broker) -> None:
    with (
        Producer(broker.bootstrap, transactional_id="payments") as producer,
        producer.transaction() as transaction,
    ):
        transaction.send("orders", b"a value", partition=0)


def test_a_recording_shows_its_requests_and_the_steps_of_transactions(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "traffic.fprec"
    with (
        Broker(topics={"orders": 1}, log_level="error") as broker,
        broker.record(path),
    ):
        _commit(broker)
    with _shown(path) as address, opened(browser, address) as console:
        console.open()
        console.page.wait_for_selector("g.label >> text=EndTxn commit")
        assert console.text("nav li") == ["Transactions", "Requests"]
        assert console.violations() == []
        console.open("requests?api=EndTxn")
        console.page.click("tr.pick")
        console.page.wait_for_selector(".byte")
        assert console.complaints == []


def test_a_data_directory_is_shown_with_its_open_transaction_and_stays_as_it_is(
    browser: Browser, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    options = {"topics": {"orders": 1}, "data_dir": tmp_path / "live", "log_level": "error"}
    with (
        Broker(**options) as broker,  # type: ignore[arg-type]
        Producer(broker.bootstrap, transactional_id="refunds") as producer,
    ):
        _commit(broker)
        producer.begin()
        producer.send("orders", b"open", partition=0).result()
        shutil.copytree(tmp_path / "live", folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with _shown(folder) as address, opened(browser, address) as console:
        console.open("topics?topic=orders")
        console.page.wait_for_selector("tr.open >> text=open")
        assert console.text("tr.committed td.wide") == ["a value"]
        console.open("transactions")
        console.page.wait_for_selector("article.open-transaction >> text=refunds")
        assert console.complaints == []
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_bytes(b"no recording")
    for path, code, why in (
        (tmp_path / "none", 2, "neither a file nor a data directory"),
        (wrong, 1, "it is no recording of Fencepost"),
    ):
        done = subprocess.run([*_COMMAND, str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode, why in done.stderr) == (code, True)
