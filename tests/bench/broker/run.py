"""``make bench-broker``: what the broker does in a second and what it costs, beside its peers.

python -m tests.bench.broker                     the whole run, kept row by row in docs/bench
python -m tests.bench.broker --resume            its rest, if it was interrupted
python -m tests.bench.broker --only transactions --keep         some rows again, kept
python -m tests.bench.broker --quick             a smoke run of some minutes, shown and not kept
python -m tests.bench.broker --only raw-produce --peers fencepost      for profiling: see README.md
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from fencepost_client.progress import Progress
from fencepost_protocol.exceptions import ProtocolError

from tests.bench.broker import kept
from tests.bench.broker.measure import allow_many_files, cores, touch_free_memory
from tests.bench.broker.peers import (
    FENCEPOSTS,
    PEERS,
    Peer,
    PeerFailedError,
    PeerUnavailableError,
    RunningPeer,
)
from tests.bench.broker.report import Report
from tests.bench.broker.results import Result, Stamp, number
from tests.bench.broker.rows import Effort, NotServedError, Row, Run, Sample
from tests.bench.broker.rows_clients import ROWS as CLIENT_ROWS
from tests.bench.broker.rows_floor import ROWS as FLOOR_ROWS
from tests.bench.broker.rows_growth import ROWS as GROWTH_ROWS
from tests.bench.broker.rows_raw import ROWS as RAW_ROWS
from tests.bench.broker.rows_state import ROWS as STATE_ROWS
from tests.bench.broker.rows_transactions import ROWS as TRANSACTION_ROWS
from tests.bench.broker.wire import Wire, WrongAnswerError
from tests.bench.protocol_report import machine, today

FILES_MAX: Final = 20_000
MEMORY_TOUCHED: Final = 4 << 30
"""Before each round of a row that moves megabytes; more than it needs."""
FAILURES: Final = (
    WrongAnswerError,
    PeerFailedError,
    ProtocolError,
    OSError,
    subprocess.SubprocessError,
    LookupError,
    ValueError,
)
"""What a broker's wrong or missing answers end in."""
ROUNDS_KEPT: Final = 5
"""Fewer say too little to be kept."""
ROWS: Final = (*CLIENT_ROWS, *TRANSACTION_ROWS, *RAW_ROWS, *FLOOR_ROWS, *STATE_ROWS, *GROWTH_ROWS)


class Contenders:
    """The brokers that run, by name; one that has failed is replaced by a fresh one."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[Peer, ExitStack]] = {}
        self.lost: dict[str, str] = {}
        """Those that could not be started again, with the reason."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for _, stack in self._running.values():
            stack.close()

    def start(self, peer: Peer) -> None:
        """Start one."""
        stack = ExitStack()
        self._running[peer.name] = (stack.enter_context(peer), stack)

    def replace(self, name: str) -> None:
        """End one and start another one of its kind."""
        peer, stack = self._running.pop(name)
        stack.close()
        try:
            self.start(peer.fresh())
        except (PeerUnavailableError, PeerFailedError) as error:
            self.lost[name] = str(error)

    def names(self) -> list[str]:
        """All of them."""
        return list(self._running)

    def __getitem__(self, name: str) -> Peer:
        return self._running[name][0]


def run_once(row: Row, peer: Peer, effort: Effort, core: int | None) -> Sample:
    """Measures one row on one broker; what it has created is deleted."""
    with Wire(peer.port, peer.newest_right) as wire:
        run = Run(peer, wire, effort, core)
        if row.unit == "MB/s":
            touch_free_memory(run.count(MEMORY_TOUCHED))
        try:
            return row.measure(run)
        finally:
            if run.topics:
                wire.delete(*run.topics)


def sample_text(sample: Sample) -> str:
    """What was measured, for one line."""
    return "  ".join(f"{name} {number(value)}" for name, value in sample.items())


def run_row(
    row: Row, contenders: Contenders, effort: Effort, core: int | None, say: Callable[[str], None]
) -> Result:
    """All rounds of one row, the brokers by turns."""
    order, troubles, failed = [], {}, set()
    samples: dict[str, list[Sample]] = {}
    for name in contenders.names():
        refusal = row.refusal(name)
        if refusal is None:
            order.append(name)
        else:
            troubles[name] = refusal
    for _ in range(min(effort.rounds, row.rounds_max or effort.rounds)):
        for name in list(order):
            begin = time.monotonic()
            sample: Sample = {}
            try:
                sample = run_once(row, contenders[name], effort, core)
            except NotServedError as reason:
                troubles[name] = str(reason)
                order.remove(name)
            except FAILURES as error:
                failed.add(name)
                troubles[name] = f"fails: {error}"
                samples.pop(name, None)
                order.remove(name)
                contenders.replace(name)
            else:
                samples.setdefault(name, []).append(sample)
            told = sample_text(sample) if name in order else troubles[name]
            say(f"{row.name:25} {name:14} {time.monotonic() - begin:5.1f} s  {told}")
        order = order[1:] + order[:1]  # nobody always follows the same one
    result = Result.of(row, samples)
    result.troubles, result.failed = troubles, failed
    return result


def start_all(
    options: argparse.Namespace, rows: Sequence[Row], core: int | None, contenders: Contenders
) -> list[str]:
    """Starts the brokers that were asked for; by default those that can be and are needed.

    Gives what is to be said of the others.
    """
    if options.at:
        port, _, pid = options.at.partition(":")
        contenders.start(RunningPeer(int(port), int(pid or 0)))
    names = options.peers.split(",") if options.peers else list(PEERS)
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise SystemExit(f"no peer {unknown[0]!r}: there are {', '.join(PEERS)}")
    remarks = []
    for name in names if options.peers or not options.at else ():
        if all(row.refusal(name) is not None for row in rows):
            continue
        try:
            contenders.start(PEERS[name](core))
        except (PeerUnavailableError, PeerFailedError) as error:
            if options.peers or name in FENCEPOSTS:
                raise SystemExit(str(error)) from error
            remarks.append(f"{name} took no part: {error}")
    return remarks


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command's options."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.broker")
    parser.add_argument("--quick", action="store_true", help="a smoke run of some minutes")
    parser.add_argument("--smoke", action="store_true", help="seconds; the numbers mean nothing")
    parser.add_argument(
        "--only", default="", help="only rows whose name has one of these, by commas"
    )
    parser.add_argument("--peers", help=f"which brokers, with commas; all: {','.join(PEERS)}")
    parser.add_argument(
        "--rounds", type=int, help=f"how often each row is measured ({ROUNDS_KEPT})"
    )
    parser.add_argument(
        "--at", metavar="PORT[:PID]", help="measure the broker that runs there, and its process"
    )
    parser.add_argument("--unpinned", action="store_true", help="broker and client share all cores")
    parser.add_argument("--keep", action="store_true", help="keep what --only measures")
    parser.add_argument(
        "--resume", action="store_true", help="keep; without rows that this code has already"
    )
    parser.add_argument(
        "--pages", action="store_true", help="only write the pages from broker.json"
    )
    parser.add_argument("--out", type=Path, default=kept.FOLDER, help="where it is kept")
    return parser.parse_args(arguments)


def is_kept(options: argparse.Namespace, effort: Effort) -> bool:
    """Whether what is measured goes into broker.json; raises SystemExit when it must not."""
    part = options.quick or options.smoke or options.peers or options.at
    if options.keep or options.resume:
        if part:
            raise SystemExit("kept is only what was measured in full, beside all other brokers")
        if effort.rounds < ROUNDS_KEPT:
            raise SystemExit(f"kept are only medians of {ROUNDS_KEPT} rounds or more")
        return True
    return not (part or options.only) and effort.rounds >= ROUNDS_KEPT


def rows_of(options: argparse.Namespace, report: Report) -> list[Row]:
    """The rows that are to be measured."""
    rows = [row for row in ROWS if any(part in row.name for part in options.only.split(","))]
    if not rows:
        names = ", ".join(row.name for row in ROWS)
        raise SystemExit(f"no row has {options.only!r} in its name; there are {names}")
    if not options.resume:
        return rows
    done = {
        result.row.name
        for result in report.results
        if result.stamp and kept.is_current(result.stamp.commit)
    }
    return [row for row in rows if row.name not in done]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. A missed goal is shown, but fails nothing: machines differ."""
    options = parse(arguments)
    effort = Effort.quick() if options.quick else Effort.smoke() if options.smoke else Effort()
    effort = Effort(effort.scale, options.rounds or effort.rounds)
    keeps = is_kept(options, effort)
    readme = kept.README if options.out.resolve() == kept.FOLDER else None
    report = kept.read(options.out, ROWS) if keeps or options.pages else Report()
    if options.pages:
        kept.write(report, options.out, readme)
        return 0
    commit = kept.commit()
    rows = rows_of(options, report)
    pair = None if options.unpinned else cores()
    broker_core, client_core = pair or (None, None)
    allow_many_files(FILES_MAX)
    now = Report()
    with Contenders() as contenders, Progress(len(rows), "rows", sys.stderr) as progress:
        remarks = start_all(options, rows, broker_core, contenders)
        where = (
            "Broker and client have a core each" if pair else "Broker and client share all cores"
        )
        versions = {name: contenders[name].version() for name in contenders.names()}
        for row in rows:
            progress.begin(row.name)
            result = run_row(row, contenders, effort, client_core, progress.say)
            progress.advance()
            lost = [
                f"{name} could not be started again: {reason}"
                for name, reason in contenders.lost.items()
            ]
            result.stamp = Stamp(
                today(),
                commit,
                machine(),
                f"{where}; medians of {effort.rounds} rounds, or fewer where no peer is beside.",
                versions,
                (*remarks, *lost),
            )
            now = kept.merged(now, result, ROWS)
            if keeps:  # after each row, so that nothing is lost when it is interrupted
                report = kept.merged(report, result, ROWS)
                kept.write(report, options.out, readme)
    print(now.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
