"""What the timeline shows of every scenario, beside the logs that the scenario has left."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from fencepost_broker.blocking import Broker
from fencepost_broker.coordinator.records import RecordFamily, decode_record
from fencepost_broker.coordinator.transaction.states import NAMES, State
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_protocol.generated.transaction_log import TransactionLogValue

from tests.console.harness import Console, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
_HERE: Final = [
    each.name for each in SCENARIOS.values() if not each.own_broker and not each.brokers
]
_REMOVING: Final = {"gaps-by-compaction", "offset-out-of-range", "unknown-producer-id"}
"""Their records are compacted or deleted in the end."""
_STATES: Final = "g.bar-text:not(.held, .parked) > text"
_MARKS: Final = {
    "commit": "g.mark.commit",
    "abort": "g.mark.abort",
    "records": "g.mark.records",
    "sent": "g.mark.sent",
}


def _asked(broker: Broker, method: str, path: str) -> Any:
    headers = {"Content-Type": "application/json"}
    body = b"{}" if method == "POST" else None
    with urlopen(Request(f"http://{broker.control}{path}", body, headers, method=method)) as told:
        return json.load(told)


def _batches(broker: Broker) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every batch of every log, with the name of its topic."""
    for topic in _asked(broker, "GET", "/v1/topics")["topics"]:
        path = f"/v1/topics/{quote(topic['name'])}"
        for partition in _asked(broker, "GET", path)["partitions"]:
            if partition["log_end_offset"]:
                records = f"{path}/partitions/{partition['partition']}/records?count=500"
                for batch in _asked(broker, "GET", records)["batches"]:
                    yield topic["name"], batch


def _states(batch: dict[str, Any]) -> Iterator[str]:
    """The states that a batch of the coordinator's log has; a tombstone is the last one, Dead."""
    for each in batch["records"]:
        value = None if each["value"] is None else b64decode(each["value"])
        record = decode_record(RecordFamily.TRANSACTIONS, b64decode(each["key"]), value)
        if record.value is None:
            yield NAMES[State.DEAD]
        else:
            assert isinstance(record.value, TransactionLogValue)
            yield NAMES[State(record.value.transaction_status)]


def _happened(name: str, folder: Path) -> tuple[Path, dict[str, Any]]:
    """Let a scenario happen; return its steps as the page saves them, and what is in the logs."""
    options = {**SCENARIOS[name].options, "topics": ()}
    logged: dict[str, Any] = {"states": [], "records": set(), "commit": 0, "abort": 0}
    with (
        Broker(**options, control=0, log_level="error") as broker,
        urlopen(f"http://{broker.control}/v1/events?kinds=step"),
    ):
        _asked(broker, "POST", f"/v1/scenarios/{name}/run")
        steps = _asked(broker, "GET", "/v1/steps?last=4000")["steps"]
        for topic, batch in _batches(broker):
            first, last = batch["base_offset"], batch["last_offset"]
            if batch["control"]:
                logged[batch["control"]] += 1
            elif topic == "__transaction_state":
                logged["states"] += _states(batch)
            elif not topic.startswith("__"):
                logged["records"].add(f"{first}–{last}" if last > first else f"{first}")
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"kind": "fencepost-steps", "steps": steps}), encoding="utf-8")
    return path, logged


def _shown(console: Console, steps: Path) -> dict[str, Any]:
    console.page.set_input_files("input[type=file]", steps)
    console.page.wait_for_selector(f".open-file >> text={steps.name}")
    marks = {kind: console.text(selector) for kind, selector in _MARKS.items()}
    return {
        "states": console.text(_STATES),
        "records": set(marks["records"]),
        "sent": len(marks["sent"]),
        "commit": len(marks["commit"]),
        "abort": len(marks["abort"]),
    }


def test_the_timeline_of_every_scenario_is_what_its_logs_have(
    browser: Browser, tmp_path: Path
) -> None:
    assert len(_HERE) >= 20
    seen: Counter[str] = Counter()
    with (
        Broker(control=0, log_level="error") as broker,
        opened(browser, broker.control or "") as console,
    ):
        console.open()
        console.page.click("text=Open saved steps")
        for name in _HERE:
            path, logged = _happened(name, tmp_path)
            shown = _shown(console, path)
            for what in ("states", "commit", "abort"):
                assert (name, what, shown[what]) == (name, what, logged[what])
                seen[what] += bool(logged[what])
            written, drawn = logged["records"], shown["records"]
            assert len(written - drawn) <= shown["sent"], name
            assert drawn <= written or name in _REMOVING, name
        assert console.complaints == []
    assert min(seen["states"], seen["commit"]) > 8
    assert seen["abort"] > 4
