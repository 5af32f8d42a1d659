"""Rounds of kills for several legs on one cluster, and docs/proofs/clients-cluster.md.

    make transform-cluster TRANSFORM_CLUSTER_ROUNDS=16

In each round all legs of a batch go to the same stage, then one process is killed (kill -9): the
one that has the round's role for a leg that the seed chose. It may have other roles for the other
legs, which is counted. It is started again when all legs have worked off what was fed, and the
round ends when all replicas are in sync.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from tests.conformance.clients.clients import CLIENTS
from tests.conformance.clients.cluster_legs import (
    CONTROLLER,
    GROUP,
    LEADER,
    LEGS,
    REBALANCE,
    ROLES,
    SDK,
    TRANSACTIONS,
    Leg,
    Result,
)
from tests.conformance.clients.transforming import BROKER_SETTINGS
from tests.support.cluster_processes import ClusterProcesses

PLAN: Final = (
    (LEADER, "written"),
    (TRANSACTIONS, "offsets"),
    (GROUP, REBALANCE),
    (CONTROLLER, "written"),
    (LEADER, REBALANCE),
    (TRANSACTIONS, "written"),
    (GROUP, "offsets"),
    (CONTROLLER, REBALANCE),
)
"""Who dies, and when."""
PAGE: Final = Path(__file__).parents[3] / "docs" / "proofs" / "clients-cluster.md"
_HEAD: Final = """\
<!-- Generated from a run by `make transform-cluster`. Do not edit. -->

# Clients of every language on a cluster whose processes die

`make transform-cluster` (CI runs one of these rows with two kills). Unmodified clients consume,
transform and produce, two workers of a group for each row, on three brokers and a controller
(`fencepost up --brokers 3`, replication 3, `min.insync.replicas` 2), while these processes are
killed (kill -9), one at a time, in the middle of transactions and of rebalances: one worker stands
still with its records written, or with its offsets sent as well, or a third one comes. What is fed
is worked off while the killed process is away; then it is started again. A kill counts for each
role that the process had for this row: leader of the output partition, coordinator of the worker's
transactional id, coordinator of the group, controller.

In the end everything is read back by nobody's client: each record that was acknowledged to the
feeding producer has to be in the output once, in order, and the group's offsets at the end.
*Aborted* are records that a `read_uncommitted` reader finds on top of that. *Restarted* are workers
that ended by an error that is fatal in their client, or that said nothing for 30 s, and were
started again, as whoever runs such a program would do.

"""


def play(
    cluster: ClusterProcesses, legs: Sequence[Leg], plan: Sequence[tuple[str, str]], seed: int
) -> None:
    """All legs go through these rounds together."""
    rng = random.Random(seed)
    with ThreadPoolExecutor(len(legs)) as pool:

        def each(call: Callable[[Leg], object]) -> None:
            list(pool.map(call, legs))

        each(lambda leg: leg.start())
        for number, (role, stage) in enumerate(plan):
            began = time.monotonic()
            each(lambda leg, stage=stage: leg.prepare(stage))  # type: ignore[misc]
            aim = rng.choice(legs)
            node_id = aim.who_is(role)
            for leg in legs:
                leg.note(node_id)
            cluster.kill(node_id)
            each(lambda leg, stage=stage: leg.go_on(stage))  # type: ignore[misc]
            worked_off = time.monotonic()
            cluster.start(node_id)
            cluster.until_settled()
            tell(
                f"round {number}: {role} of {aim.name} ({node_id}) at {stage}: worked off after"
                f" {worked_off - began:.1f} s, settled after {time.monotonic() - began:.1f} s"
            )
        each(lambda leg: leg.finish())


def tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def run(
    chosen: Sequence[tuple[str, str]], plan: Sequence[tuple[str, str]], seed: int
) -> list[Result]:
    """These clients and kinds of rebalance, on a cluster of their own."""
    with (
        tempfile.TemporaryDirectory(prefix="fencepost-clients-") as folder,
        ClusterProcesses(Path(folder), settings=BROKER_SETTINGS) as cluster,
    ):
        legs = [Leg(cluster, client, kind) for client, kind in chosen]
        is_over = False
        try:
            play(cluster, legs, plan, seed)
            is_over = True
        finally:
            words = [leg.close() for leg in legs]
            if not (is_over and all(leg.result.is_good for leg in legs)):
                tell("\n".join([*words, cluster.said()[-30_000:]]))
        return [leg.result for leg in legs]


def table(results: Iterable[Result]) -> str:
    """A row for each leg."""
    head = [
        *("client", "version", "rebalance", "rounds", *(f"{role} killed" for role in ROLES)),
        *("records", "transactions", "aborted", "restarted", "lost", "doubled"),
    ]
    rows = [head, ["---"] * len(head)]
    for one in results:
        version = "this one" if one.client == SDK else CLIENTS[one.client].version()
        numbers = [one.rounds, *(one.kills[role] for role in ROLES)]
        numbers += [one.records, one.transactions, one.aborted, one.restarts]
        numbers += [len(one.lost), len(one.doubled)]
        rows.append([one.client, version, one.rebalance, *(f"{number:,}" for number in numbers)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description="clients on a cluster whose processes die")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--legs", default="", help="such as java-eager,franz-go-cooperative")
    parser.add_argument("--at-a-time", type=int, default=5, help="legs on one cluster")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = options.legs.split(",") if options.legs else []
    chosen = [leg for leg in LEGS if not names or "-".join(leg) in names]
    plan = [PLAN[number % len(PLAN)] for number in range(options.rounds)]
    results: list[Result] = []
    for at in range(0, len(chosen), options.at_a_time):
        batch = chosen[at : at + options.at_a_time]
        results += run(batch, plan, options.seed + at)
        tell(table(results))
    for bad in (one for one in results if not one.is_good):
        tell(f"{bad.client} {bad.rebalance}: {bad.problem} lost {bad.lost} doubled {bad.doubled}")
    if options.out:
        options.out.write_text(_HEAD + table(results), encoding="utf-8")
    return 0 if all(one.is_good for one in results) else 1


if __name__ == "__main__":
    sys.exit(main())
