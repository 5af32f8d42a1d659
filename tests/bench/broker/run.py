"""``make bench-broker``: what the broker does in a second and what it costs, beside its peers.

python -m tests.bench.broker                     the whole run, written to docs/bench
python -m tests.bench.broker --quick             a smoke run of some minutes, shown and not kept
python -m tests.bench.broker --only raw-produce --peers fencepost      for profiling: see README.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from tests.bench.broker.measure import allow_many_files, cores
from tests.bench.broker.peers import PEERS, Peer, RunningPeer
from tests.bench.broker.rows import Effort, NotServedError, Row, Run, Sample
from tests.bench.broker.rows_raw import ROWS as RAW_ROWS
from tests.bench.broker.wire import Wire

FILES_MAX = 20_000
ROWS = RAW_ROWS


def run_once(row: Row, peer: Peer, effort: Effort, core: int | None) -> Sample:
    """Measures one row on one broker; what it has created is deleted."""
    with Wire(peer.port) as wire:
        run = Run(peer, wire, effort, core)
        try:
            return row.measure(run)
        finally:
            wire.delete(*run.topics)


def chosen_peers(options: argparse.Namespace, core: int | None) -> list[Peer]:
    """The brokers to start, or the one that runs."""
    if options.at:
        port, _, pid = options.at.partition(":")
        return [RunningPeer(int(port), int(pid or 0))]
    unknown = [name for name in options.peers.split(",") if name not in PEERS]
    if unknown:
        raise SystemExit(f"no peer {unknown[0]!r}: there are {', '.join(PEERS)}")
    return [PEERS[name](core) for name in options.peers.split(",")]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. A missed goal is shown, but fails nothing: machines differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.broker")
    parser.add_argument("--quick", action="store_true", help="a smoke run of some minutes")
    parser.add_argument("--smoke", action="store_true", help="seconds; the numbers mean nothing")
    parser.add_argument("--only", default="", help="only rows whose name has this in it")
    parser.add_argument("--peers", default="fencepost", help="which brokers, with commas")
    parser.add_argument("--rounds", type=int, help="how often each row is measured")
    parser.add_argument(
        "--at", metavar="PORT[:PID]", help="measure the broker that runs there, and its process"
    )
    parser.add_argument("--unpinned", action="store_true", help="broker and client share all cores")
    options = parser.parse_args(arguments)
    effort = Effort.quick() if options.quick else Effort.smoke() if options.smoke else Effort()
    pair = None if options.unpinned else cores()
    broker_core, client_core = pair or (None, None)
    allow_many_files(FILES_MAX)
    with ExitStack() as stack:
        peers = [stack.enter_context(peer) for peer in chosen_peers(options, broker_core)]
        for row in ROWS:
            if options.only not in row.name:
                continue
            for _ in range(options.rounds or effort.rounds):
                for peer in peers:
                    try:
                        sample = run_once(row, peer, effort, client_core)
                    except NotServedError as reason:
                        print(f"{row.name:24} {peer.name:16} {reason}")
                        continue
                    told = "  ".join(f"{name} {value:,.2f}" for name, value in sample.items())
                    print(f"{row.name:24} {peer.name:16} {told}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
