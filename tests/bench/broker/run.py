"""``make bench-broker``: what the broker does in a second and what it costs, beside its peers.

python -m tests.bench.broker                     the whole run, written to docs/bench
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

from tests.bench.broker.measure import allow_many_files, cores
from tests.bench.broker.peers import (
    OURS,
    PEERS,
    Peer,
    PeerFailedError,
    PeerUnavailableError,
    RunningPeer,
)
from tests.bench.broker.report import Report, Result, number, write
from tests.bench.broker.rows import Effort, NotServedError, Row, Run, Sample
from tests.bench.broker.rows_clients import ROWS as CLIENT_ROWS
from tests.bench.broker.rows_raw import ROWS as RAW_ROWS
from tests.bench.broker.rows_state import ROWS as STATE_ROWS
from tests.bench.broker.wire import Wire, WrongAnswerError

OUT: Final = Path(__file__).resolve().parents[3] / "docs" / "bench"
FILES_MAX: Final = 20_000
ROWS: Final = (*CLIENT_ROWS, *RAW_ROWS, *STATE_ROWS)


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
    result = Result(row)
    order = []
    for name in contenders.names():
        refusal = row.refusal(name)
        if refusal is None:
            order.append(name)
        else:
            result.troubles[name] = refusal
    for _ in range(effort.rounds):
        for name in list(order):
            begin = time.monotonic()
            sample: Sample = {}
            try:
                sample = run_once(row, contenders[name], effort, core)
            except NotServedError as reason:
                result.troubles[name] = str(reason)
                order.remove(name)
            except (
                WrongAnswerError,
                PeerFailedError,
                OSError,
                subprocess.SubprocessError,
            ) as error:
                result.failed.add(name)
                result.troubles[name] = f"fails: {error}"
                result.samples.pop(name, None)
                order.remove(name)
                contenders.replace(name)
            else:
                result.samples.setdefault(name, []).append(sample)
            told = sample_text(sample) if name in order else result.troubles[name]
            say(f"{row.name:25} {name:14} {time.monotonic() - begin:5.1f} s  {told}")
        order = order[1:] + order[:1]  # nobody always follows the same one
    return result


def start_all(options: argparse.Namespace, core: int | None, contenders: Contenders) -> Report:
    """Starts the brokers that were asked for; of all by default those that can be."""
    report = Report({}, "")
    if options.at:
        port, _, pid = options.at.partition(":")
        contenders.start(RunningPeer(int(port), int(pid or 0)))
    names = options.peers.split(",") if options.peers else list(PEERS)
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        raise SystemExit(f"no peer {unknown[0]!r}: there are {', '.join(PEERS)}")
    for name in names if options.peers or not options.at else ():
        peer = PEERS[name](core)
        try:
            contenders.start(peer)
        except (PeerUnavailableError, PeerFailedError) as error:
            if options.peers or name in OURS:
                raise SystemExit(str(error)) from error
            report.remarks.append(f"{name} took no part: {error}")
    report.versions = {name: contenders[name].version() for name in contenders.names()}
    return report


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command's options."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.broker")
    parser.add_argument("--quick", action="store_true", help="a smoke run of some minutes")
    parser.add_argument("--smoke", action="store_true", help="seconds; the numbers mean nothing")
    parser.add_argument("--only", default="", help="only rows whose name has this in it")
    parser.add_argument("--peers", help=f"which brokers, with commas; all: {','.join(PEERS)}")
    parser.add_argument("--rounds", type=int, help="how often each row is measured (5)")
    parser.add_argument(
        "--at", metavar="PORT[:PID]", help="measure the broker that runs there, and its process"
    )
    parser.add_argument("--unpinned", action="store_true", help="broker and client share all cores")
    parser.add_argument("--out", type=Path, help="where to write broker.md, .json and .svg")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. A missed goal is shown, but fails nothing: machines differ."""
    options = parse(arguments)
    effort = Effort.quick() if options.quick else Effort.smoke() if options.smoke else Effort()
    effort = Effort(effort.scale, options.rounds or effort.rounds)
    rows = [row for row in ROWS if options.only in row.name]
    if not rows:
        names = ", ".join(row.name for row in ROWS)
        raise SystemExit(f"no row has {options.only!r} in its name; there are {names}")
    pair = None if options.unpinned else cores()
    broker_core, client_core = pair or (None, None)
    allow_many_files(FILES_MAX)
    with Contenders() as contenders:
        report = start_all(options, broker_core, contenders)
        where = (
            "Broker and client have a core each" if pair else "Broker and client share all cores"
        )
        report.conditions = f"{where}; medians of {effort.rounds} rounds."
        for row in rows:
            result = run_row(
                row,
                contenders,
                effort,
                client_core,
                lambda line: print(line, file=sys.stderr, flush=True),
            )
            report.results.append(result)
        for name, reason in contenders.lost.items():
            report.remarks.append(f"{name} could not be started again: {reason}")
    whole = not (options.quick or options.smoke or options.only or options.peers or options.at)
    if options.out or whole:
        write(report, options.out or OUT)
    print(report.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
