"""``make bench-cluster``: three brokers and a controller beside three brokers of Apache Kafka.

python -m tests.bench.cluster                       all rows, kept row by row in docs/bench
python -m tests.bench.cluster --only start,move     some rows again
python -m tests.bench.cluster --minutes 10          begin no round later
python -m tests.bench.cluster --clusters fencepost  without Apache Kafka; shown, not kept
python -m tests.bench.cluster --quick               does it all work? shown, not kept
python -m tests.bench.cluster --pages               the page again, from what is kept
"""

from __future__ import annotations

import argparse
import datetime
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from fencepost_client.progress import Progress

from tests.bench.broker.kept import git
from tests.bench.broker.measure import allow_many_files
from tests.bench.broker.peers import REPOSITORY_DIR
from tests.bench.client.results import Samples
from tests.bench.cluster import results
from tests.bench.cluster.clusters import CLUSTERS, Cluster
from tests.bench.cluster.rows import QUICK, ROWS, Effort, Row
from tests.bench.pipeline.rounds import Budget
from tests.bench.protocol_report import machine
from tests.support.apache_kafka import KafkaFailedError, KafkaUnavailableError

FOLDER: Final = REPOSITORY_DIR / "docs" / "bench"
MINUTES: Final = 45.0
FILES_MAX: Final = 200_000
SHORT: Final = {"fencepost": "fencepost", "kafka": "Apache Kafka"}
MEASURED: Final = ("client", "protocol", "broker", "schemas", "tests/bench/cluster")
"""What decides on the numbers."""
_TROUBLES: Final = (Exception, KafkaFailedError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for, and keep it after each row."""
    options = _options(arguments)
    is_kept = not options.quick and len(options.clusters) == len(SHORT)
    kept = results.read(options.out) if is_kept or options.pages else results.Kept()
    if not options.pages:
        allow_many_files(FILES_MAX)
        _measure(kept, options, lambda: results.write(kept, options.out) if is_kept else None)
    if options.pages:
        results.write(kept, options.out)
    sys.stdout.write("\n".join(results.parts(kept)) + "\n")
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="A,B", help="rows with A or B in their name")
    parser.add_argument("--clusters", default=",".join(SHORT), metavar="A,B")
    parser.add_argument("--rounds", type=int, help=f"of each row ({Effort.rounds})")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="begin no round later")
    parser.add_argument("--partitions", type=int, help=f"many are so many ({Effort.partitions})")
    parser.add_argument("--quick", action="store_true", help="a moment of each row, not kept")
    parser.add_argument("--pages", action="store_true", help="only the page, from cluster.json")
    parser.add_argument("--note", default="", help="stands beside the rows: a busy machine, say")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER")
    options = parser.parse_args(arguments)
    options.clusters = options.clusters.split(",")
    if unknown := set(options.clusters) - set(SHORT):
        parser.error(f"there is no {', '.join(unknown)}: {', '.join(SHORT)}")
    options.effort = QUICK if options.quick else Effort()
    if options.rounds:
        options.effort = replace(options.effort, rounds=options.rounds)
    if options.partitions:
        options.effort = replace(options.effort, partitions=options.partitions)
    return options


def _measure(kept: results.Kept, options: argparse.Namespace, keep: Callable[[], None]) -> None:
    rows = [row for row in ROWS if any(part in row.name for part in options.only.split(","))]
    makers = [CLUSTERS[SHORT[name]] for name in options.clusters]
    left = len(rows)
    with ExitStack() as stack, Progress(left, "rows", sys.stderr) as progress:
        budget = Budget(options.minutes, tell=progress.say)
        running: list[Cluster] = []
        if not all(row.fresh for row in rows):
            running = [stack.enter_context(make()) for make in makers]
        for row in sorted(rows, key=lambda row: row.fresh):
            begin = time.monotonic()
            progress.begin(row.name)
            if row.fresh:
                stack.close()  # nothing else runs beside a start
            rounds = budget.rounds(min(row.rounds_max, options.effort.rounds), left, row.name)
            samples = _row(row, options.effort, rounds, running, makers, progress)
            left -= 1
            progress.advance()
            kept.rows[row.name] = samples
            kept.stamps[row.name] = _stamp(options, samples, time.monotonic() - begin)
            keep()


def _row(
    row: Row,
    effort: Effort,
    rounds: Iterable[int],
    running: Sequence[Cluster],
    makers: Sequence[Callable[..., Cluster]],
    progress: Progress,
) -> Samples:
    """All rounds of a row, the clusters by turns."""
    samples = Samples()
    for number in rounds:
        clusters = [make(large=row.name == "partitions") for make in makers]
        clusters = clusters if row.fresh else list(running)
        for cluster in clusters if number % 2 == 0 else clusters[::-1]:
            if cluster.name in samples.troubles:
                continue
            begin = time.monotonic()
            try:
                told = row.measure(cluster, effort, number)
            except KafkaUnavailableError:
                raise
            except _TROUBLES as error:
                samples.troubles[cluster.name] = f"{type(error).__name__}: {error}"[:300]
                progress.say(f"{row.name}: {cluster.name} fails: {samples.troubles[cluster.name]}")
                continue
            for contender, values in told.items():
                samples.add(contender, values)
                text = ", ".join(f"{name} {results.number(each)}" for name, each in values.items())
                progress.say(f"{row.name}: {contender}: {text} ({time.monotonic() - begin:.0f} s)")
    return samples


def _stamp(options: argparse.Namespace, samples: Samples, seconds: float) -> str:
    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *MEASURED)
    rounds = max((len(each) for one in samples.rounds.values() for each in one.values()), default=0)
    note = f" {options.note}" if options.note else ""
    commit += " and changes" * bool(changed)
    return (
        f"{datetime.datetime.now(tz=datetime.UTC).date().isoformat()}, commit {commit},"
        f" {machine()}, {rounds} rounds in {seconds:.0f} s,"
        f" load average {os.getloadavg()[0]:.1f} at the end.{note}"
    )


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # and what was started
    sys.exit(main())
