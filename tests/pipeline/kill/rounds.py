"""A streaming query that is killed round after round: ``make kill-pipeline KILL_ROUNDS=20``.

Each round is a life of the query in processes of its own, on the checkpoint and the topic of the
rounds before. It dies at a step that the seed chooses, or the broker does. Then the topic is read
as readers of committed data see it: the numbers from 0 on, each once, and exactly as many as the
marker has batches. Whether what was lost is written anew shows in the next round.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fencepost_pipeline.sink import driving

from tests.kill.doomed_up import DoomedUp
from tests.pipeline.sink.brokers import Running
from tests.support.apache_kafka import ApacheKafka, free_ports

ROOT: Final = Path(__file__).parents[3]
PATIENCE_SECONDS: Final = 600.0
TOPIC, SINK_ID, ROWS = "numbers", "doomed", 2_000
KINDS: Final[dict[str, str]] = {
    "begin:1": "driver, before InitProducerId",
    "begin:2": "driver, behind InitProducerId",
    "begin:4": "driver, behind OffsetFetch",
    "task:1": "driver, while tasks write",
    "worker:1": "a task's Python process",
    "commit:1": "driver, before the marker",
    "commit:2": "driver, behind the marker",
    "commit:3": "driver, before EndTxn",
    "commit:4": "driver, behind EndTxn",
    "anytime": "all of Spark's processes, at any time",
    "broker": "the broker, at any time; it comes back",
}


@dataclass(frozen=True, slots=True)
class Round:
    """What happened, and what was there afterwards."""

    kind: str
    batches: int
    ended: str


class Life:
    """The query in a process group of its own."""

    def __init__(self, cluster: Running, folder: Path, order: str, until: int) -> None:
        doom = Path(tempfile.mkdtemp(dir=folder))
        environment = os.environ | {
            "FENCEPOST_TEST_DOOM": order,
            "FENCEPOST_TEST_DOOM_FOLDER": str(doom),
            "PYTHONPATH": str(ROOT),
        }
        arguments = [cluster.bootstrap, str(folder / "checkpoint"), str(until)]
        self.log = (doom / "log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipeline.kill.doomed", *arguments],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment, cwd=ROOT,
            start_new_session=True,
        )  # fmt: skip
        self.said: list[str] = []

    def until_batch(self) -> bool:
        """Wait until it has committed something; False: it has ended."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.strip())
            if line.startswith("batch"):
                return True
        return False

    def until_end(self) -> str:
        """Wait for its end; how it was."""
        code = self.process.wait(PATIENCE_SECONDS)
        self.kill_group()  # others of it have its stdout, too
        assert self.process.stdout is not None
        self.said += [line.strip() for line in self.process.stdout]
        return {0: "done", 3: "query failed"}.get(code, "died")

    def kill(self) -> None:
        """What is left of it."""
        self.kill_group()
        self.process.wait(PATIENCE_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.log.close()

    def kill_group(self) -> None:
        """SIGKILL for all of it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


def live(cluster: Running, folder: Path, kind: str, chance: random.Random) -> str:
    """One life; how it ended."""
    order = f"{kind}:{chance.randint(1, 2)}" if ":" in kind else ""
    life = Life(cluster, folder, order, sys.maxsize)
    try:
        if not order:
            life.until_batch()
            time.sleep(chance.uniform(0, 2))
            if kind == "broker":
                restart(cluster)
                return "went on" if life.until_batch() else "query failed"
            life.kill_group()
        return life.until_end()
    finally:
        life.kill()


def restart(cluster: Running) -> None:
    """SIGKILL for the broker, and its next life."""
    broker = cluster.process
    assert isinstance(broker, DoomedUp | ApacheKafka)
    broker.kill()
    broker.start()


def check(cluster: Running) -> int:
    """What is there, against the marker; gives the number of batches."""
    begun = driving.begin(cluster.settings(TOPIC, SINK_ID))  # aborts what is open
    batches = begun.marker.next_batch if begun.marker is not None else 0
    values = cluster.values(TOPIC)
    expected: Counter[bytes | None] = Counter(
        str(number).encode() for number in range(batches * ROWS)
    )
    twice = [value for value, count in values.items() if count > 1]
    assert not twice, f"{len(twice)} values are there twice, such as {twice[0]!r}"
    missing = expected - values
    assert not missing, (
        f"{len(missing)} of {len(expected)} values are lost: {next(iter(missing))!r}"
    )
    assert values == expected, f"{len(values)} values of {batches} batches"
    return batches


@contextmanager
def brokers(kind: str, folder: Path) -> Iterator[Running]:
    """A broker with its log on disk, that comes back to the same port."""
    if kind == "kafka":
        with ApacheKafka() as kafka:
            yield Running(kafka)
        return
    (port,) = free_ports(1)
    with DoomedUp(port, "--data-dir", str(folder / "broker")) as ours:
        yield Running(ours)


def run(kind: str, rounds: int, seed: int) -> list[Round]:
    """All rounds, and a last life that nobody kills."""
    chance = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="fencepost-kill-pipeline-"))
    kinds = list(KINDS)
    chance.shuffle(kinds)
    found = []
    try:
        with brokers(kind, folder) as cluster:
            cluster.create(TOPIC, 2)
            for number in range(rounds):
                how = kinds[number % len(kinds)]
                ended = live(cluster, folder, how, chance)
                found.append(Round(how, check(cluster), ended))
                print(f"{number + 1}: {how}: {ended}, {found[-1].batches} batches", flush=True)
            before = found[-1].batches if found else 0
            life = Life(cluster, folder, "", before + 1)
            try:
                ended = life.until_end()
                assert ended == "done", f"the last life: {ended}: {life.said[-3:]}"
            finally:
                life.kill()
            found.append(Round("nobody", check(cluster), ended))
            assert found[-1].batches >= before + 2
    except BaseException:
        print(f"seed {seed}; what there is, is in {folder}", flush=True)
        raise
    shutil.rmtree(folder)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--broker", choices=("fencepost", "kafka"), default="fencepost")
    parser.add_argument("--out", type=Path, help="write the page there")
    options = parser.parse_args()
    started = time.time()
    found = run(options.broker, options.rounds, options.seed)
    page = written(found, options.broker, options.seed, time.time() - started)
    print(page)
    if options.out is not None:
        options.out.write_text(page, encoding="utf-8")


def written(found: list[Round], broker: str, seed: int, seconds: float) -> str:
    """The page for docs/proofs."""
    *killed, last = found
    lines = [
        "# A Spark query that is killed",
        "",
        f"Written by `make kill-pipeline KILL_ROUNDS={len(killed)} BROKER={broker} SEED={seed}`.",
        "",
        'A query writes numbers by `format("fencepost")` and dies, round after round, on the same',
        "checkpoint. After each round readers of committed data see the numbers from 0 on, each",
        "once, and exactly as many as the sink's marker has batches. A last life goes on behind.",
        "",
        f"{len(killed)} rounds, {last.batches} batches, {last.batches * ROWS} numbers, none lost "
        f"and none twice; {seconds / 60:.0f} minutes.",
        "",
        "| what is killed | rounds | the query's process |",
        "|---|---:|---|",
    ]
    for kind, text in KINDS.items():
        of_kind = [each for each in killed if each.kind == kind]
        if of_kind:
            ends = ", ".join(sorted({each.ended for each in of_kind}))
            lines.append(f"| {text} | {len(of_kind)} | {ends} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
