"""Every form of the matrix, one after the other, and docs/proofs/transactions-matrix.md of it.

make matrix MATRIX='--messages 20000 --client java'
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fencepost_client.progress import Progress

from tests.kill.matrix.forms import BROKERS, FORMS, Form, Result, Size, Verdict, table
from tests.kill.matrix.programs import JAVA, SDK
from tests.kill.matrix.run import IN_SYNC_MIN, REPLICAS, run_form

PAGE: Final = Path(__file__).parents[3] / "docs" / "proofs" / "transactions-matrix.md"
ROWS: Final = Path("build") / "transactions-matrix.json"
"""A line for each form that has run: what breaks after an hour has measured an hour."""
_NAMES: Final = {SDK: "our SDK", JAVA: "Java 4.3.1"}

_HEAD: Final = f"""\
<!-- Generated from a run by `make matrix`. Do not edit. -->

# The matrix of Kafka's transactions system test

`make matrix` (CI runs two forms with fewer messages). What Kafka's own system test does on machines
of its own is done here with `fencepost up --brokers {BROKERS}`: a controller and {BROKERS} brokers,
a process each, with data directories; all topics, those of coordinators too, have {REPLICAS}
replicas, and `min.insync.replicas` is {IN_SYNC_MIN}.

An idempotent producer writes numbers to an input topic. Copiers, each a process with a
transactional id, read them as `read_committed` and write each to an output topic, with the group's
offsets in the same transaction; in batches of 512 bytes, so that several requests of a transaction
are under way at a time. Meanwhile

- of *brokers*: each broker in turn is killed (hard: `kill -9`, until it is fenced, which takes its
  session) or stopped in order (clean) and started again; the next one follows when every replica
  of every partition is in sync and a transaction was committed since;
- of *clients*: each copier is killed or sent SIGTERM and started again at once, three times, each
  time when a fifth of what was left for it is copied.

A transaction stays open in its middle until the last bounce is over, so that bounces meet open
transactions; a bounce that came when all was copied already is called late. A reader of committed
records reads along from the beginning, and another one reads everything afterwards. Both must have
found each number once and in the order of its partition; the numbers below are those of both.

- *order check*: one partition and one copier; otherwise two of the input with a copier each, and
  three of the output. Order within a partition is compared in every form.
- *group metadata*: copiers subscribe, and their offsets go with generation and member id, which
  the coordinator checks; a killed copier's partition waits for its session then. Otherwise they
  read their partition without being members, and no generation is checked. (In Kafka's test no
  copier subscribes, so that both are the same on the wire.)
- *aborted*: begun, and not told to be committed: aborted by the copier, or left open by one that
  was killed and aborted by its successor's InitProducerId.

On a machine that ran some thirty other programs on two cores, on 2026-11-22 and 23, five runs did
not end within their two minutes, so their output was not compared. One was a fault of the copier:
told to leave while it was still connecting, it copied on. It is fixed. The others may have been
starved. A copier that has not ended a minute after it was told to now says what it waits for.
"""


def read_rows(path: Path) -> list[Result]:
    """The forms that have run."""
    results = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        row["form"] = Form(*row["form"])
        row["verdicts"] = {name: Verdict(*each) for name, each in row["verdicts"].items()}
        results.append(Result(**row))
    return results


def page(results: Sequence[Result], size: Size, when: str) -> str:
    """All of it."""
    order = [(form, client) for client in (SDK, JAVA) for form in FORMS]
    results = sorted(results, key=lambda each: order.index((each.form, each.client)))
    exact = [each for each in results if each.is_exact]
    text = f"""\
{when}, up to {size.records} records a transaction, broker sessions of
{size.broker_session_ms / 1000:g} s, on two cores that other programs used, too.
{len(exact)} of {len(results)} runs lost nothing, doubled nothing and kept the order.
"""
    return f"{_HEAD}\n{text}\n{table(results, _NAMES)}\n"


def main() -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill.matrix.report")
    parser.add_argument("--messages", type=int, default=Size.messages)
    parser.add_argument("--client", choices=(SDK, JAVA), help="this one only")
    parser.add_argument("--form", help="this one only, such as hard-brokers-order-member")
    parser.add_argument("--rows", type=Path, default=ROWS, help="kept here; what is there stays")
    parser.add_argument("--page-only", action="store_true", help="of the rows that there are")
    options = parser.parse_args()
    size = Size(messages=options.messages)
    exact = True
    options.rows.parent.mkdir(parents=True, exist_ok=True)
    wanted = [
        (client, form)
        for client in (SDK, JAVA)
        for form in FORMS
        if options.client in (None, client) and options.form in (None, str(form))
    ]
    if options.page_only:
        wanted = []
    with Progress(len(wanted), "runs", sys.stderr) as progress:
        for client, form in wanted:
            progress.begin(f"{form}, {_NAMES[client]}")
            with tempfile.TemporaryDirectory(prefix="fencepost-matrix-") as folder:
                result = run_form(form, client, size, Path(folder))
            progress.clear()
            print(result, flush=True)
            progress.advance()
            with options.rows.open("a") as rows:
                rows.write(json.dumps(asdict(result)) + "\n")
            exact = exact and result.is_exact
    when = datetime.now(UTC).date().isoformat()
    PAGE.write_text(page(read_rows(options.rows), size, when))
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
