"""Every trial in its long form, and docs/proofs/streams.md from what came out.

make streams STREAMS_ROUNDS=30
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.conformance.streams.application import (
    NEWEST,
    WITH_BOTH_GUARANTEES,
    WITH_TASK_PRODUCERS,
)
from tests.conformance.streams.trials import (
    BROKER_SETTINGS,
    CAPPED,
    Trial,
    many_restarts,
    refused,
    restarts,
    task_producers_only,
    trial,
    upgrade,
)

PAGE: Final = Path(__file__).parents[3] / "docs" / "proofs" / "streams.md"
BROKERS: Final = {"fencepost": "Fencepost", "kafka": "Apache Kafka 4.3.1"}

_HEAD: Final = f"""\
<!-- Generated from a run by `make streams`. Do not edit. -->

# Kafka Streams, exactly once

`make streams STREAMS_ROUNDS=30` (CI runs the trial "restarts" and refusals). The application is a
word count as a user writes it: lines, a repartition topic by word, a count in a RocksDB store with
its changelog, a topic of counts; two instances of two threads each, and a commit every half a
second. Lines keep coming at 200 a second while instances and the broker are killed and restarted.
Without a cache every count is written, so that for each word a reader of committed records must
find 1, 2, 3 and so on up to how often it was written, each once and in order. What a reader of
uncommitted records finds on top of that was aborted: work that a crash interrupted.

- restarts: one disturbance of each kind, with Kafka Streams {NEWEST}.
- many restarts: disturbances in an order that a seed chose.
- upgrade: the two bounces of KIP-447. Instances of {WITH_TASK_PRODUCERS}, which have a producer for
  each task, are replaced by {WITH_BOTH_GUARANTEES}, first with `exactly_once` and `upgrade.from`,
  then with `exactly_once_v2`, which has a producer for each thread; then by {NEWEST}. The last
  instance with task producers is killed: what it leaves pending holds up those that come after it
  until its transactions time out.
- refusals: on a broker with `api.versions.max=TxnOffsetCommit:2` an instance with `exactly_once_v2`
  fails with UnsupportedVersionException, in {WITH_BOTH_GUARANTEES} and {NEWEST}.
- task producers: on that broker `exactly_once` of {WITH_BOTH_GUARANTEES} counts exactly. (Its task
  producers tell no generation, or they would be refused as well.)

A run against Apache Kafka is the measure of the trials. It is not always without fault: see the
page's end, if there is a number in "wrong".
"""

_Row = tuple[str, str, Trial]


def _restarts_of(rounds: int, seed: str) -> Callable[[Trial], None]:
    return lambda run: many_restarts(run, rounds, seed)


def _refusals(run: Trial) -> None:
    first, second = run.instances
    for instance, version in ((first, NEWEST), (second, WITH_BOTH_GUARANTEES)):
        assert "UnsupportedVersionException" in refused(run, instance, version)
    task_producers_only(run)


def run_all(kind: str, rounds: int, seed: str, tell: Callable[[str], None]) -> list[_Row]:
    """Each trial against a broker of this kind."""
    trials: dict[str, tuple[Callable[[Trial], None], Mapping[str, str]]] = {
        "restarts": (restarts, BROKER_SETTINGS),
        "upgrade": (upgrade, BROKER_SETTINGS),
    }
    if kind == "fencepost":
        trials["many restarts"] = (_restarts_of(rounds, seed), BROKER_SETTINGS)
        trials["refusals, task producers"] = (_refusals, CAPPED)
    rows: list[_Row] = []
    for name, (put_through, settings) in trials.items():
        tell(f"{name}, against {BROKERS[kind]}")
        with trial(kind, settings, tell) as run:
            put_through(run)
        rows.append((name, BROKERS[kind], run))
        for problem in run.wrong:
            tell(f"wrong: {problem}")
    return rows


def page(rows: list[_Row], seed: str, day: str) -> str:
    """The text of the page."""
    lines = [
        _HEAD,
        f"{day}, seed {seed}:",
        "",
        "| trial | broker | steps | lines | words | counts | wrong | of aborted transactions | s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, broker, run in rows:
        told = run.numbers
        aborted = told["uncommitted"] - told["counts"]
        cells = [name, broker, len(run.steps), told["lines"], told["words"], told["counts"]]
        cells += [len(run.wrong), aborted, round(run.seconds)]
        lines.append(f"| {' | '.join(_text(cell) for cell in cells)} |")
    for name, broker, run in rows:
        lines += ["", f"## {name}, {broker}", "", f"{'; '.join(run.steps)}."]
        if run.wrong:
            lines += ["", f"Wrong: {'; '.join(run.wrong)}."]
    return "\n".join([*lines, ""])


def _text(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="disturbances of many restarts")
    parser.add_argument("--seed", default="2026", help="which ones, and in which order")
    parser.add_argument("--broker", choices=BROKERS, help="only this one, and no page")
    given = parser.parse_args()

    def tell(line: str) -> None:
        print(time.strftime("%H:%M:%S"), line, flush=True)

    kinds = [given.broker] if given.broker else list(BROKERS)
    rows = [row for kind in kinds for row in run_all(kind, given.rounds, given.seed, tell)]
    if not given.broker:
        PAGE.write_text(page(rows, given.seed, time.strftime("%Y-%m-%d")), encoding="utf-8")
    # What goes wrong at the measure is told, and is not ours to fail for.
    ours = [run for _, broker, run in rows if given.broker or broker == BROKERS["fencepost"]]
    return 1 if any(run.wrong for run in ours) else 0


if __name__ == "__main__":
    sys.exit(main())
