"""Kafka Streams on three brokers and a controller, which are killed one by one; exactly once.

    make streams-cluster STREAMS_ROUNDS=20

writes docs/proofs/streams-cluster.md.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from fencepost_protocol.generated.list_transactions import ListTransactionsRequest

from tests.conformance.clients.brokers import CLUSTER, FencepostCluster
from tests.conformance.streams.application import NEWEST, Instance
from tests.conformance.streams.trials import (
    BROKER_SETTINGS,
    TOPICS,
    Trial,
    both_begin,
    crash,
    trial,
)

APPLICATION: Final = "word-count"
"""Its group, and the beginning of its transactional ids."""
PAGE: Final = Path(__file__).parents[3] / "docs" / "proofs" / "streams-cluster.md"
_HEAD: Final = f"""\
<!-- Generated from a run by `make streams-cluster`. Do not edit. -->

# Kafka Streams on a cluster whose processes die

`make streams-cluster`. The word count of [streams.md](streams.md) (Kafka Streams {NEWEST},
unmodified, `exactly_once_v2`, two instances of two threads each, all topics with three replicas) on
three brokers and a controller (`fencepost up --brokers 3`, `min.insync.replicas` 2), while one of
these processes after the other is killed (kill -9): in an order that a seed chose, the leader of a
partition of the output or of the repartition topic, the coordinator of a thread's transactions, the
coordinator of the group, or the controller. Sometimes an instance is killed at the same moment, and
sometimes all four processes are, as in a power cut. While a process is away counts have to go on;
then it is started again, and counts have to go on when all replicas are in sync.

For each word a reader of committed records must find 1, 2, 3 and so on up to how often it was
written: *lost* would be missing at the end, *doubled* there twice. *Aborted* is what a reader of
uncommitted records finds on top of that: work that a kill interrupted.
"""
LEADER, TRANSACTIONS, GROUP, CONTROLLER = (
    "leader", "transaction coordinator", "group coordinator", "controller",
)  # fmt: skip
ROLES: Final = (LEADER, TRANSACTIONS, GROUP, CONTROLLER)


def begin(instance: Instance) -> None:
    """Start an instance that wants its topics replicated."""
    instance.start(
        NEWEST, "exactly_once_v2", repartition_purge_interval_ms="500", replication_factor="3"
    )


class ClusterTrial:
    """A trial whose broker is a cluster, and who has which role in it."""

    def __init__(self, run: Trial, seed: str) -> None:
        assert isinstance(run.broker, FencepostCluster)
        self.run = run
        self.cluster = run.broker
        self.rng = random.Random(seed)
        self.killed: Counter[str] = Counter()

    def who_is(self, role: str) -> int:
        """The process with a role for this application, one of them if there are several."""
        if role == CONTROLLER:
            return self.cluster.controller
        if role == GROUP:
            return self.cluster.group_coordinator(APPLICATION)
        if role == TRANSACTIONS:
            return self.cluster.transaction_coordinator(self.rng.choice(self.transactional_ids()))
        topics = sorted(self.partitions())
        return self.cluster.leader(*self.rng.choice(topics))

    def transactional_ids(self) -> list[str]:
        """Those of the application's threads."""
        found: set[str] = set()
        for broker_id in self.cluster.running():
            with self.cluster.connect(broker_id) as wire:
                listed = wire.ask(ListTransactionsRequest(), 0).transaction_states
            found.update(each.transactional_id for each in listed)
        return sorted(each for each in found if each.startswith(APPLICATION))

    def partitions(self) -> list[tuple[str, int]]:
        """Of what is written in transactions: the output and the repartition topic."""
        view = self.cluster.view(self.cluster.running()[0])
        assert view is not None
        return [
            where for where in view.partitions if where[0] == TOPICS[1] or "repartition" in where[0]
        ]

    def lose(self, role: str, instance: Instance | None = None) -> None:
        """A process dies, perhaps with an instance, and stays away until counts have gone on."""
        node_id = self.who_is(role)
        began = time.monotonic()
        self.cluster.kill(node_id)
        also = ""
        if instance is not None:
            instance.kill()
            begin(instance)
            instance.wait_until_running()
            also = f" and {instance.name}"
        self.killed[role] += 1
        self.run.after(f"{role} ({node_id}){also} killed")
        self.run.tell(f"counts went on after {time.monotonic() - began:.1f} s")
        self.cluster.start(node_id)
        self.cluster.until_settled()
        self.run.after(f"{node_id} started")

    def power_cut(self) -> None:
        """All processes of the cluster die."""
        self.cluster.kill_and_start()
        self.killed["all at once"] += 1
        self.run.after("all four killed and started")

    def go(self, rounds: int) -> None:
        """Each role as often as any other, in an order that the seed chose."""
        both_begin(self.run, begin)
        roles = [ROLES[number % len(ROLES)] for number in range(rounds)]
        self.rng.shuffle(roles)
        for number, role in enumerate(roles):
            instance = self.rng.choice(self.run.instances) if number % 4 == 3 else None
            self.lose(role, instance)
            if number % 8 == 7:
                self.power_cut()
        crash(self.run, begin, *self.run.instances)
        self.run.finish()


def page(it: ClusterTrial, seed: str, day: str) -> str:
    """The text of the page."""
    run, told = it.run, it.run.numbers
    killed: Mapping[str, int] = it.killed
    rows = {
        **{f"killed: {name}": count for name, count in killed.items()},
        "lines": told["lines"],
        "words": told["words"],
        "committed counts": told["counts"],
        "lost": max(0, told["words"] - told["counts"]),
        "doubled": max(0, told["counts"] - told["words"]),
        "words whose counts are wrong": len(run.wrong),
        "aborted": told["uncommitted"] - told["counts"],
        "seconds": round(run.seconds),
    }
    lines = [_HEAD, f"{day}, seed {seed}:", "", "| | |", "|---|---:|"]
    lines += [f"| {name} | {number:,} |" for name, number in rows.items()]
    lines += ["", f"In this order: {'; '.join(run.steps)}."]
    if run.wrong:
        lines += ["", f"Wrong: {'; '.join(run.wrong)}."]
    return "\n".join([*lines, ""])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12, help="how many processes die")
    parser.add_argument("--seed", default="2026", help="which ones, and in which order")
    parser.add_argument("--out", type=Path, default=PAGE)
    given = parser.parse_args()

    def tell(line: str) -> None:
        print(time.strftime("%H:%M:%S"), line, flush=True)

    say: Callable[[str], None] = tell
    with trial(CLUSTER, BROKER_SETTINGS, say) as run:
        it = ClusterTrial(run, given.seed)
        it.go(given.rounds)
    for problem in run.wrong:
        tell(f"wrong: {problem}")
    given.out.write_text(page(it, given.seed, time.strftime("%Y-%m-%d")), encoding="utf-8")
    return 1 if run.wrong or run.numbers["counts"] != run.numbers["words"] else 0


if __name__ == "__main__":
    sys.exit(main())
