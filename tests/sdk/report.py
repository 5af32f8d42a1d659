"""The SDK's tests, whole on Fencepost and whole on Apache Kafka, and docs/proofs/sdk.md from it.

make sdk
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final, NamedTuple

import pytest

os.environ["FENCEPOST_TEST_SDK"] = "whole"

from tests.sdk.coverage import FOLDER, broker_of, of_the_sdk, reason_of

PAGE: Final = FOLDER.parents[1] / "docs" / "proofs" / "sdk.md"
OURS, KAFKA, NOBODY = "fencepost", "kafka", "nobody"
_ALONE: Final = {"ours_alone": OURS, "kafka_alone": KAFKA}

_HEAD: Final = """\
<!-- Generated from a run by `make sdk`. Do not edit. -->

# The client SDK on Fencepost and on Apache Kafka

`make sdk` runs the tests of `tests/sdk` whole on both: the same tests with the broker as a
parameter, most of them on asyncio's own loop and on uvloop. CI runs all that is Fencepost's, and on
Apache Kafka one loop of what does not take long there. A number is of runs: a test with each of its
parameters. What needs no broker (names, settings, sockets that answer nonsense) is not counted.
"""


class Test(NamedTuple):
    """A test function, with all its parameters."""

    module: str
    name: str
    broker: str
    reason: str


class Recorder:
    """A plugin of pytest: what ran, where, and how it ended."""

    def __init__(self) -> None:
        self.tests: dict[str, Test] = {}
        self.titles: dict[str, str] = {}
        self.outcomes: dict[str, str] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in of_the_sdk(session.items):
            name = item.originalname
            alone = reason_of(item)
            broker, reason = broker_of(item), ""
            if broker is None and alone is not None:
                broker, reason = _ALONE[alone[0]], alone[1]
            self.tests[item.nodeid] = Test(item.path.stem, name, broker or NOBODY, reason)
            self.titles[item.path.stem] = _title(item)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self.outcomes.get(report.nodeid, "passed")
        self.outcomes[report.nodeid] = report.outcome if before == "passed" else before


def _title(item: pytest.Function) -> str:
    """What its module is about, as a cell of a table."""
    return (item.module.__doc__ or "").partition("\n")[0].replace("|", r"\|")


def page(recorder: Recorder, seconds: float) -> str:
    """The page from what came out."""
    counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    alone: dict[Test, None] = {}
    for nodeid, test in recorder.tests.items():
        counts[test.module][test.broker][recorder.outcomes.get(nodeid, "not run")] += 1
        if test.reason:
            alone[test] = None
    rows = [
        f"| {recorder.titles[module]} | `{module}` | {_of(found[OURS])} | {_of(found[KAFKA])} |"
        for module, found in counts.items()
        if found[OURS] or found[KAFKA]
    ]
    total = {
        broker: sum((found[broker] for found in counts.values()), Counter[str]())
        for broker in (OURS, KAFKA)
    }
    lines = [
        _HEAD,
        f"{time.strftime('%Y-%m-%d')}, {seconds:.0f} s:\n",
        "| what | tests | Fencepost | Apache Kafka 4.3.1 |",
        "|---|---|---|---|",
        *rows,
        f"| **all** | | {_of(total[OURS])} | {_of(total[KAFKA])} |",
    ]
    for broker, title in ((OURS, "On Fencepost alone"), (KAFKA, "On Apache Kafka alone")):
        lines += [f"\n## {title}\n", "| test | why |", "|---|---|"]
        lines += [
            f"| `{test.module}`: {test.name.removeprefix('test_').replace('_', ' ')} "
            f"| {test.reason} |"
            for test in alone
            if test.broker == broker
        ]
    return "\n".join(lines) + "\n"


def _of(found: Counter[str]) -> str:
    if not found:
        return "-"
    failed = [f"{count} {how}" for how, count in sorted(found.items()) if how != "passed"]
    return ", ".join([f"{found['passed']} passed", *failed])


def main() -> int:
    """Run, and write."""
    begun = time.monotonic()
    recorder = Recorder()
    code = pytest.main(["-q", "-n", "0", str(FOLDER.relative_to(Path.cwd()))], plugins=[recorder])
    PAGE.write_text(page(recorder, time.monotonic() - begun), encoding="utf-8")
    sys.stdout.write(f"written: {PAGE}\n")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
