"""``make bench-client``: our client beside its peers, on our broker and on Apache Kafka.

python -m tests.bench.client                            the whole run, kept row by row in docs/bench
python -m tests.bench.client --resume                   its rest, if it was interrupted
python -m tests.bench.client --only consume,latency     some rows again
python -m tests.bench.client --brokers fencepost        without Apache Kafka
python -m tests.bench.client --quick                    does it all work? shown, not kept
python -m tests.bench.client --pages                    the page again, from what is kept
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import Final

from fencepost_client.progress import Progress

from tests.bench.broker.build import librdkafka_version
from tests.bench.broker.kept import git
from tests.bench.broker.peers import REPOSITORY_DIR
from tests.bench.client import eos, report, results, run
from tests.bench.client.results import Kept, Samples, Stamp
from tests.bench.client.rows import AIOKAFKA, CONFLUENT, KAFKA_PYTHON, OURS, ROWS, Row
from tests.bench.protocol_report import machine

FOLDER: Final = REPOSITORY_DIR / "docs" / "bench"
BROKERS: Final = ("fencepost", "kafka")
EOS: Final = "eos"
MEASURED: Final = ("client", "protocol", "broker", "schemas", "tests/bench/client")
"""What decides on the numbers."""
QUICK_SHARE: Final = 0.02


def main() -> None:
    """Measure what was asked for, and keep it after each row."""
    options = _options()
    kept = Kept() if options.quick else results.read(options.out)
    if not options.pages:
        _measure(kept, options)
    if options.quick:
        return
    report.write(kept, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.client",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="A,B", help="rows with A or B in their name")
    parser.add_argument("--brokers", default=",".join(BROKERS), metavar="A,B")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--resume", action="store_true", help="only what this commit has not")
    parser.add_argument("--quick", action="store_true", help="a fiftieth, shown and not kept")
    parser.add_argument("--pages", action="store_true", help="only the page, from client.json")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    options = parser.parse_args()
    options.brokers = options.brokers.split(",")
    if unknown := set(options.brokers) - set(BROKERS):
        parser.error(f"there is no broker {', '.join(unknown)}: {', '.join(BROKERS)}")
    if options.quick:
        options.rounds = 1
    return options


def _measure(kept: Kept, options: argparse.Namespace) -> None:
    share = QUICK_SHARE if options.quick else 1.0
    stamp = _stamp(options)

    def keep() -> None:
        if not options.quick:
            results.write(kept, options.out)
            report.write(kept, options.out)

    wanted = {broker: _rows_of(broker, kept, options) for broker in options.brokers}
    with Progress(sum(map(len, wanted.values())), "rows", sys.stderr) as progress:
        for broker, rows in wanted.items():
            if rows:
                effort = options.rounds, share
                _measure_rows(kept, rows, broker, effort, stamp, keep, progress)
    done = options.resume and _is_done(kept.eos_stamp)
    if _is_wanted(EOS, options) and not done:
        measured = eos.measure(set(options.brokers), min(3, options.rounds), share)
        brokers = {held["broker"] for held in measured}
        others = [held for held in kept.eos if held["broker"] not in brokers]
        kept.eos, kept.eos_stamp = measured + others, stamp
        for held in kept.eos:
            _say(f"{held}")
        keep()


def _rows_of(broker: str, kept: Kept, options: argparse.Namespace) -> list[Row]:
    rows = [row for row in ROWS if _is_wanted(row.name, options)]
    if options.resume:
        rows = [row for row in rows if not _is_done(kept.stamps.get(row.name, {}).get(broker))]
    return rows


def _measure_rows(
    kept: Kept,
    rows: Iterable[Row],
    broker: str,
    effort: tuple[int, float],
    stamp: Stamp,
    keep: Callable[[], None],
    progress: Progress,
) -> None:
    with run.broker(broker) as bootstrap:
        for row in rows:
            begin = time.monotonic()
            progress.begin(f"{row.name} on {report.TITLES[broker]}")
            samples = run.measure(row, bootstrap, *effort)
            kept.put(row, broker, samples, stamp)
            keep()
            progress.clear()
            _tell(row, broker, samples, time.monotonic() - begin)
            progress.advance()


def _tell(row: Row, broker: str, samples: Samples, seconds: float) -> None:
    _say(f"{row.title}, on {report.TITLES[broker]} ({seconds:.0f} s)")
    for contender in row.contenders:
        values = (
            f"{report.number(value, metric)} {unit}"
            for metric, unit in row.units.items()
            if (value := samples.median(contender.name, metric)) is not None
        )
        said = ", ".join(values) or samples.troubles.get(contender.name, "")
        _say(f"    {contender.name:22} {said}")
    for goal in row.goals:
        times = samples.times(goal)
        found = "?" if times is None else f"{times:.2f}"
        _say(
            f"    {goal.who.name} / {goal.whom.name}, {row.units[goal.metric]}: {found} "
            f"({goal.times:g}: {samples.verdict(goal)})"
        )


def _say(text: str) -> None:
    print(text, flush=True)


def _is_wanted(name: str, options: argparse.Namespace) -> bool:
    return any(part in name for part in options.only.split(","))


def _is_done(stamp: Stamp | None) -> bool:
    """Whether it was measured of what stands here now."""
    if stamp is None:
        return False
    return git("diff", "--quiet", stamp.commit, "--", *MEASURED) is not None


def _stamp(options: argparse.Namespace) -> Stamp:
    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *MEASURED)
    libraries = {name: metadata.version(name) for name in (OURS, AIOKAFKA, KAFKA_PYTHON)}
    libraries[CONFLUENT] = librdkafka_version()
    brokers = run.versions([broker for broker in options.brokers if broker != OURS])
    return Stamp(
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        commit=commit + " and changes" * bool(changed),
        machine=machine(),
        conditions=f"{options.rounds} rounds, load average {os.getloadavg()[0]:.1f} at the start",
        versions=libraries | brokers,
    )


if __name__ == "__main__":
    main()
