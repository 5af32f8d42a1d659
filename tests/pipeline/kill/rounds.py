"""A streaming query that is killed round after round: ``make kill-pipeline KILL_ROUNDS=20``.

Each round kills something at a step that the seed chooses; every kind has its turn before one
comes again. Where the query dies by it, the topic is read as readers of committed data see it: the
numbers from 0 on, each once, and exactly as many as the marker has batches. Then a new life begins,
in processes of its own, on the same checkpoint: whether what was lost is written anew shows there.
A query that goes on, or is started again in its session, is killed by the next round.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fencepost_pipeline.sink import driver

from tests.kill.doomed_up import DoomedUp
from tests.pipeline.sink.brokers import Running
from tests.support.apache_kafka import ApacheKafka, free_ports

ROOT: Final = Path(__file__).parents[3]
PATIENCE_SECONDS: Final = 600.0
TOPIC, SINK_ID, ROWS = "numbers", "doomed", 2_000
_GOES_ON: Final = {"went on", "started again"}
KINDS: Final[dict[str, str]] = {
    "begin:1": "driver, before InitProducerId",
    "begin:2": "driver, behind InitProducerId",
    "begin:4": "driver, behind OffsetFetch",
    "task:1": "driver, while tasks write",
    "worker:1": "a task's Python process; the query is started again",
    "commit:1": "driver, before the marker",
    "commit:2": "driver, behind the marker",
    "commit:3": "driver, before EndTxn",
    "commit:4": "driver, behind EndTxn",
    "anytime": "all of Spark's processes, at any time",
    "broker": "the broker, at any time; it comes back",
}

BESIDES: Final = """
Without Spark the same protocol dies at every step of every request
(`tests/pipeline/sink/test_crashes.py`), on our broker with transaction version 1 and 2 and on
Apache Kafka 4.3.1 with both. `make kill-executors` kills executors that are processes of their own
(Spark's `local-cluster`), one in the middle of a read and one in the middle of a write.
"""


class Kinds:
    """Whose turn it is: all of them in an order by chance, and what missed comes once more."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._left: list[str] = []

    def next(self) -> str:
        """The next one."""
        if not self._left:
            self._left = list(KINDS)
            self._chance.shuffle(self._left)
        return self._left.pop()

    def missed(self, kind: str) -> None:
        """It did not come to that, as when the query failed by something else before."""
        self._left.insert(0, kind)


@dataclass(frozen=True, slots=True)
class Round:
    """What happened, and what was there afterwards."""

    kind: str
    batches: int
    ended: str


class Life:
    """The query in a process group of its own."""

    def __init__(self, cluster: Running, folder: Path, until: int = sys.maxsize) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self.orders = 0
        self.order("")
        environment = os.environ | {
            "FENCEPOST_TEST_DOOM_FOLDER": str(self.folder),
            "PYTHONPATH": str(ROOT),
        }
        arguments = [cluster.bootstrap, str(folder / "checkpoint"), str(until)]
        self.log = (self.folder / "log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.pipeline.kill.doomed", *arguments],
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment, cwd=ROOT,
            start_new_session=True,
        )  # fmt: skip
        self.said: list[str] = []

    def order(self, order: str) -> None:
        """What it has to die of from now on."""
        self.orders += 1
        (self.folder / "struck").unlink(missing_ok=True)
        (self.folder / "next").write_text(f"{self.orders} {order}")
        (self.folder / "next").rename(self.folder / "order")

    @property
    def was_struck(self) -> bool:
        """Whether the last order was carried out."""
        return (self.folder / "struck").exists()

    def until(self, word: str) -> bool:
        """Wait until it says that; False: it has ended."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line.strip())
            if line.startswith(word):
                return True
        return False

    @property
    def batches(self) -> int:
        """How many there are, as far as it has told."""
        told = [line for line in self.said if line.startswith("batch ")]
        return int(told[-1].split()[1]) + 1 if told else 0

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


def strike(life: Life, cluster: Running, kind: str, chance: random.Random) -> str:
    """Kill something; how it was for the query, and "missed" where it did not come to that."""
    if kind == "anytime":
        life.until("batch")
        time.sleep(chance.uniform(0, 2))
        life.kill_group()
        return life.until_end()
    if kind == "broker":
        life.until("batch")
        time.sleep(chance.uniform(0, 2))
        restart(cluster)
        return "went on" if life.until("batch") else "missed"
    life.order(f"{kind}:{chance.randint(1, 2)}")
    if kind.startswith("worker"):
        failed = life.until("failed") and life.was_struck
        return "started again" if failed and life.until("batch") else "missed"
    ended = life.until_end()
    return ended if life.was_struck else "missed"


def restart(cluster: Running) -> None:
    """SIGKILL for the broker, and its next life."""
    broker = cluster.process
    assert isinstance(broker, DoomedUp | ApacheKafka)
    broker.kill()
    broker.start()


def check(cluster: Running) -> int:
    """What is there, against the marker; gives the number of batches."""
    begun = driver.begin(cluster.settings(TOPIC, SINK_ID))  # aborts what is open
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


def run(broker: str, rounds: int, seed: int, only: Sequence[str] = ()) -> list[Round]:
    """All rounds, and a last life that nobody kills; ``only`` these kinds, in turn."""
    chance = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="fencepost-kill-pipeline-"))
    kinds = Kinds(chance)
    found: list[Round] = []
    life: Life | None = None
    try:
        with brokers(broker, folder) as cluster:
            cluster.create(TOPIC, 2)
            for number in range(rounds):
                kind = only[number % len(only)] if only else kinds.next()
                life = life or Life(cluster, folder)
                ended = strike(life, cluster, kind, chance)
                if ended == "missed":
                    kinds.missed(kind)
                if ended in _GOES_ON:
                    found.append(Round(kind, life.batches, ended))
                else:
                    life.kill()
                    life = None
                    found.append(Round(kind, check(cluster), ended))
                print(f"{number + 1}: {kind}: {ended}, {found[-1].batches} batches", flush=True)
            if life is not None:
                life.kill()
            before = check(cluster)
            life = Life(cluster, folder, before + 1)
            ended = life.until_end()
            assert ended == "done", f"the last life: {ended}: {life.said[-3:]}"
            found.append(Round("nobody", check(cluster), ended))
            assert found[-1].batches >= before + 2
    except BaseException:
        print(f"seed {seed}; what there is, is in {folder}", flush=True)
        raise
    finally:
        if life is not None:
            life.kill()
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
        f"Written by `make kill-pipeline KILL_ROUNDS={len(killed)} BROKER={broker} SEED={seed}`; "
        "CI runs three rounds.",
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
    return "\n".join(lines) + "\n" + BESIDES


if __name__ == "__main__":
    main()
