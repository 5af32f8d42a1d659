"""A cluster whose processes are killed, paused and restarted under load: seeded rounds of it.

    make kill-cluster KILL_ROUNDS=50

A round is a controller and three brokers, a process each, with three replicas of everything. While
clients work (``cluster_clients``), its failures come one after the other, each to whoever leads a
partition of the input, coordinates a transaction or the group, or controls: ``kill`` (SIGKILL,
started again when the others go on without it), ``crash`` (SIGKILL and started again at once,
before its session is over), ``pause`` (SIGSTOP until it is fenced, while others write to it:
``zombie``), ``stop`` (in order). Half of them come with a rebalance. Every client has to get on
while a process is away, and again when it is back. In the end:

- every acknowledged record is at the offset that was told, once, in order, and nothing else is;
- what was committed is seen whole and once, what was aborted or left open nowhere;
- each record of the input has one record of the output, in its order;
- all last stable offsets are at the end, and all replicas are equal, byte by byte.

Nothing is promised for what a leader alone has acknowledged (acks=1) before it died, so that is
written by zombies only, of which nothing may be found.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

from fencepost_protocol.errors import ErrorCode

from tests.kill import read_back, replicas
from tests.kill.attempts import Outcome
from tests.kill.cluster_clients import (
    GROUP,
    INPUT,
    OUTPUT,
    PARTITIONS,
    PROTOCOLS,
    TRANSFORMED,
    Clients,
)
from tests.kill.cluster_results import Result, table
from tests.kill.zombie import ZombieWriter
from tests.support.cluster_processes import ClusterProcesses

LEADER, TRANSACTIONS, GROUPS, CONTROLLER = "leader", "transactions", "group", "controller"
ROLLING: Final = "stop each"
BOTH: Final = "kill controller and leader"
KINDS: Final = (
    *(f"{what} {whom}" for what in ("kill", "pause")
      for whom in (LEADER, TRANSACTIONS, GROUPS, CONTROLLER)),
    *(f"{what} {whom}" for what in ("crash", "stop") for whom in (LEADER, TRANSACTIONS, GROUPS)),
    ROLLING,
    BOTH,
)  # fmt: skip
FAILURES_PER_ROUND: Final = 2
SESSION_TIMEOUT_MS: Final = 2500
EMPTY: Final = 0.4
"""How often brokers come back without what they had, where the controller is not killed."""
REBALANCE: Final = 0.5
AT_ANY_MOMENT_SECONDS: Final = 0.3
SETTINGS: Final = {
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 300,
    "group.consumer.min.assignment.interval.ms": 0,
    "group.consumer.assignment.interval.ms": 0,
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 200,
}

T = TypeVar("T")


class Round:
    """One cluster and all that happens to it."""

    def __init__(self, seed: str, folder: Path, kinds: Sequence[str]) -> None:
        self.rng = rng = random.Random(seed)
        needs_files = any(CONTROLLER in each and "kill" in each for each in kinds)
        keeps = rng.random() >= EMPTY or needs_files
        self.kinds = kinds
        self.result = Result(seed, rng.choice(PROTOCOLS), keeps)
        self.cluster = ClusterProcesses(
            folder, "--topic", f"{INPUT}:{PARTITIONS}", "--topic", f"{OUTPUT}:{PARTITIONS}",
            session_timeout_ms=SESSION_TIMEOUT_MS, settings=SETTINGS, keeps=keeps,
        )  # fmt: skip

    def run(self) -> Result:
        """All failures, then the comparison."""
        with self.cluster as cluster:
            cluster.until_settled()
            self.clients = Clients(cluster.bootstrap, self.result.seed, self.result.protocol)
            asyncio.run(self._live())
            cluster.until_settled()
            ends = replicas.ends_of_logs(cluster)
            self._verify_input()
            self._verify_output()
            self.result.batches = replicas.compare(cluster, ends)
            said = cluster.said()
            assert "Traceback" not in said, "a process met a bug of its own"
            assert "exited unexpectedly" not in said, "a process ended by itself"
        return self._counted()

    async def _live(self) -> None:
        clients = self.clients
        clients.start()
        try:
            await clients.until_all_get_on()
            for kind in self.kinds:
                await asyncio.sleep(self.rng.random() * AT_ANY_MOMENT_SECONDS)
                if self.rng.random() < REBALANCE:
                    clients.rebalance()
                await self._fail(kind)
                self.result.failures.append(kind)
                await self._do(self.cluster.until_settled)
                await clients.until_all_get_on()
            await clients.finish()
        finally:
            await clients.cancel()

    # -- failures ------------------------------------------------------------------------------

    async def _fail(self, kind: str) -> None:
        cluster = self.cluster
        if kind == ROLLING:
            for broker_id in cluster.broker_ids:
                await self._do(cluster.stop, broker_id)
                await self._all_get_on(kind)
                await self._do(cluster.start, broker_id)
                await self._do(cluster.until_settled)
            return
        if kind == BOTH:
            leader = await self._whom(LEADER)
            await self._do(cluster.kill, cluster.controller)
            await self._do(cluster.kill, leader)
            await self._do(cluster.start, cluster.controller)
            await self._do(cluster.until_fenced, leader)
            await self._all_get_on(kind)
            await self._do(cluster.start, leader)
            return
        what, _, whom = kind.partition(" ")
        node_id = await self._whom(whom)
        if what == "pause":
            await self._pause(kind, node_id)
        elif what == "crash":
            await self._do(cluster.kill, node_id)
            await self._do(cluster.start, node_id)
            await self._all_get_on(kind)
        else:
            await self._do(cluster.kill if what == "kill" else cluster.stop, node_id)
            if node_id != cluster.controller:
                await self._do(cluster.until_fenced, node_id)
            await self._all_get_on(kind)
            await self._do(cluster.start, node_id)

    async def _whom(self, whom: str) -> int:
        cluster = self.cluster
        if whom == LEADER:
            return await self._do(cluster.leader, INPUT, self.rng.randrange(PARTITIONS))
        if whom == TRANSACTIONS:
            names = [each.name for each in (*self.clients.committers, *self.clients.members)]
            return await self._do(cluster.transaction_coordinator, self.rng.choice(names))
        if whom == GROUPS:
            return await self._do(cluster.group_coordinator, GROUP)
        return cluster.controller

    async def _pause(self, kind: str, node_id: int) -> None:
        cluster = self.cluster
        if node_id == cluster.controller:
            await self._do(cluster.pause, node_id)
            await self._all_get_on(kind)
            await self._do(cluster.resume, node_id)
            return
        view = cluster.view(node_id)
        led = [
            number
            for number in range(PARTITIONS)
            if view is not None and view.leaders[INPUT, number] == node_id
        ]
        zombie = ZombieWriter(cluster.port(node_id), INPUT, led)
        try:
            await self._do(cluster.pause, node_id)
            await self._do(cluster.until_fenced, node_id)
            zombie.write()
            await self._all_get_on(kind)
            await self._do(cluster.resume, node_id)
            answers = await self._do(zombie.answers)
        finally:
            zombie.close()
        for acks, code in answers:
            self.result.zombie_writes[f"acks={'all' if acks < 0 else acks}: {code.name}"] += 1
            assert acks > 0 or code is not ErrorCode.NONE, (
                f"broker {node_id} woke up fenced, and acknowledged a record for all replicas"
            )

    async def _all_get_on(self, kind: str) -> None:
        began = time.monotonic()
        await self.clients.until_all_get_on()
        taken = round((time.monotonic() - began) * 1000)
        self.result.gets_on_ms.setdefault(kind, []).append(taken)

    @staticmethod
    async def _do(what: Callable[..., T], *arguments: object) -> T:
        return await asyncio.to_thread(what, *arguments)

    # -- what must hold ------------------------------------------------------------------------

    def _verify_input(self) -> None:
        for number in range(PARTITIONS):
            with self.cluster.connect(self.cluster.leader(INPUT, number)) as wire:
                records = wire.fetch(INPUT, number)
            assert [each.offset for each in records] == list(range(len(records))), "a hole"
            values = [bytes(each.value or b"") for each in records]
            expected: dict[int, bytes] = {}
            for steady in self.clients.steady:
                expected |= steady.acknowledged[number]
                name = steady.name.encode()
                own = [each for each in values if each.startswith(name + b"/")]
                sent = [b"%s/%d/%d" % (name, number, n) for n in range(steady.sent[number])]
                assert own == sent, (
                    f"{INPUT}-{number}: {steady.name} had {len(sent)} records acknowledged,"
                    f" {len(set(own) & set(sent))} of them are there, {len(own)} in all"
                )
            wrong = [n for n, each in enumerate(values) if expected.get(n) != each]
            assert not wrong, (
                f"{INPUT}-{number}: {values[wrong[0]]!r} is at {wrong[0]},"
                f" where {expected.get(wrong[0])!r} was acknowledged"
            )
            assert len(values) == len(expected), f"{INPUT}-{number} lacks its end"

    def _verify_output(self) -> None:
        committed = self.clients.committed()
        by_name: dict[str, dict[int, list[bytes]]] = {}
        for number in range(PARTITIONS):
            with self.cluster.connect(self.cluster.leader(OUTPUT, number)) as wire:
                for value in read_back.committed_values(wire, OUTPUT, number):
                    name = value.partition(b"/")[0].decode()
                    by_name.setdefault(name, {}).setdefault(number, []).append(value)
        transformed = by_name.pop(TRANSFORMED, {})
        for number, end in enumerate(committed):
            found = [int(each.split(b"/")[2]) for each in transformed.get(number, [])]
            assert found == list(range(end)), (
                f"{OUTPUT}-{number}: the group is at {end}; {len(found)} records are there,"
                f" {len(set(found))} of them different, in order: {found == sorted(found)}"
            )
            self.result.transformed += end
        for each in self.clients.committers:
            each.attempts.verify(by_name.pop(each.name, {}), each.place)
        assert not by_name, f"nobody wrote {sorted(by_name)}"

    def _counted(self) -> Result:
        result, clients = self.result, self.clients
        result.acknowledged = sum(len(x) for each in clients.steady for x in each.acknowledged)
        for each in clients.committers:
            result.committed += each.attempts.count(Outcome.COMMITTED)
            result.aborted += each.attempts.count(Outcome.ABORTED)
            result.replaced += each.attempts.count(Outcome.OPEN)
            result.zombies += each.zombies_refused
        result.members = len(clients.members) + len(clients.gone)
        return result


def run_round(seed: str, kinds: Sequence[str]) -> Result:
    """One round in a folder of its own; its failure names the seed."""
    with tempfile.TemporaryDirectory(prefix="fencepost-kill-") as folder:
        try:
            return Round(seed, Path(folder), kinds).run()
        except Exception as error:
            error.add_note(f"in round {seed} {list(kinds)}")
            raise


def deck(seed: str, rounds: int) -> list[list[str]]:
    """The failures of each round: every kind as often as every other, in an order of the seed's."""
    kinds: list[str] = []
    while len(kinds) < rounds * FAILURES_PER_ROUND:
        more = list(KINDS)
        random.Random(f"{seed}/{len(kinds)}").shuffle(more)
        kinds += more
    return [
        kinds[first : first + FAILURES_PER_ROUND]
        for first in range(0, rounds * FAILURES_PER_ROUND, FAILURES_PER_ROUND)
    ]


def main() -> int:
    """The long run."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill.cluster_rounds")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(1 << 32)))
    parser.add_argument("--only", type=int, help="the number of one round")
    parser.add_argument("--first", type=int, default=0, help="the number of the first round")
    options = parser.parse_args()
    results: list[Result] = []
    failed = 0
    for number, kinds in enumerate(deck(options.seed, options.rounds)):
        if number < options.first or options.only not in (None, number):
            continue
        try:
            results.append(run_round(f"{options.seed}/{number}", kinds))
            print(results[-1], flush=True)
        except Exception as error:  # noqa: BLE001 - the other rounds go on
            failed += 1
            print("FAILED", file=sys.stderr)
            traceback.print_exception(error)
    print(f"\nseed {options.seed}\n\n{table(results)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
