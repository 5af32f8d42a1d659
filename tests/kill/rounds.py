"""kill -9 under load: rounds of it, each with a data directory of its own.

    make kill KILL_ROUNDS=100

A round has several lives of one broker. In each, idempotent producers keep several partitions
busy and an administrator makes and removes topics, until SIGKILL comes at a moment that the
round's seed chose; sometimes it comes again while the broker recovers. After each start:

- every acknowledged record is there, exactly once, at the offset that was told;
- nothing else is but what was sent and not acknowledged, and that at most once and in order;
- offsets are dense, from 0 to the end;
- topics, partitions and settings are those that were acknowledged.

Then the producers send again what was not acknowledged, with the same sequence numbers. After the
last life everything that was sent is there exactly once, and a clean stop and start keeps it so.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.kill.producers import Producer, Promises
from tests.kill.topics import Administrator
from tests.support.up import Up

TOPIC = "load"
PARTITIONS = 4
PRODUCERS = 3
LIVES = 3
BATCHES_PER_LIFE = (20, 600)
KILLED_IN_RECOVERY = 0.3
RECOVERY_SECONDS_MAX = 0.5
"""Until when, after its start, a recovering broker is killed; it may be ready by then."""
SMALL_SEGMENTS = {"segment_ms": "500", "index_interval_bytes": "1024"}
"""Of record time: a segment has some seventy batches."""


@dataclass
class Result:
    """What one round did."""

    seed: str
    batches: int = 0
    records: int = 0
    commands: int = 0
    kills: int = 0
    killed_in_recovery: int = 0
    sent_again: int = 0
    were_there: int = 0
    segments: int = 0
    megabytes: float = 0.0
    starts_ms: list[int] = field(default_factory=list)
    """From the process's start until it serves, after each kill."""


class Round:
    """One data directory and all that happens to it."""

    def __init__(self, seed: str, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.result = Result(seed)
        self.folder = folder
        self.broker = Up("--data-dir", str(folder / "data"))
        self.promises = Promises(PARTITIONS)
        self.producers = [
            Producer(number, TOPIC, self.promises, random.Random(f"{seed}/{number}"))
            for number in range(PRODUCERS)
        ]
        self.administrator = Administrator(random.Random(f"{seed}/administrator"))

    def run(self) -> Result:
        """All lives, then a clean end."""
        result = self.result
        with self.broker as broker:
            with broker.connect() as client:
                client.create(TOPIC, PARTITIONS, **SMALL_SEGMENTS)
            for _ in range(LIVES):
                self._live(self.promises.batches + self.rng.randint(*BATCHES_PER_LIFE))
                broker.kill()
                result.kills += 1
                self._start_again()
                self._verify()
            self._finish()
            assert broker.stop() == 0
            broker.start()
            self._verify()
            self._verify_all_is_there()
            broker.assert_healthy()
        return self._counted()

    def _live(self, batches: int) -> None:
        """Load until so many batches are acknowledged, and then a moment more: the kill."""
        delay_s = self.rng.random() * 0.03
        killed = threading.Event()
        pid = self.broker.pid

        def goes_on() -> bool:
            if self.promises.batches >= batches and not killed.is_set():
                killed.set()
                asyncio.get_running_loop().call_later(delay_s, os.kill, pid, signal.SIGKILL)
            return True

        commands = threading.Thread(
            target=self.administrator.run, args=(self.broker.port, lambda: True)
        )
        commands.start()
        asyncio.run(self._produce(goes_on))
        commands.join()

    async def _produce(self, goes_on: Callable[[], bool]) -> None:
        port = self.broker.port
        await asyncio.gather(*(each.run(port, goes_on) for each in self.producers))

    def _start_again(self) -> None:
        if self.rng.random() < KILLED_IN_RECOVERY:
            timer = self.rng.random() * RECOVERY_SECONDS_MAX
            if self.broker.start_and_kill(timer):
                self.result.killed_in_recovery += 1
            self.result.kills += 1
        began = time.monotonic()
        self.broker.start()
        self.result.starts_ms.append(round((time.monotonic() - began) * 1000))

    def _finish(self) -> None:
        """Everything that was sent gets its acknowledgement."""
        asyncio.run(self._produce(lambda: False))

    # -- what must hold ------------------------------------------------------------------------

    def _verify(self) -> None:
        with self.broker.connect() as client:
            for partition, acknowledged in enumerate(self.promises.acknowledged):
                records = client.fetch(TOPIC, partition)
                offsets = [record.offset for record in records]
                assert offsets == list(range(len(records))), "offsets are not dense"
                values = [bytes(record.value or b"") for record in records]
                assert len(set(values)) == len(values), "a record is there twice"
                lost = [
                    offset
                    for offset, value in acknowledged.items()
                    if offset >= len(values) or values[offset] != value
                ]
                assert not lost, f"{len(lost)} acknowledged records are lost, first {min(lost)}"
                self._verify_others(partition, set(values) - set(acknowledged.values()))
                self._verify_order(values)
                self.promises.ends[partition] = len(values)
            self.administrator.verify(client)

    def _verify_others(self, partition: int, others: set[bytes]) -> None:
        """What is there without an acknowledgement was sent, and batches are there as wholes."""
        for producer in self.producers:
            for batch in producer.unacknowledged[partition]:
                there = others.intersection(batch.values)
                assert len(there) in (0, len(batch.values)), "half a batch is there"
                others -= there
        assert not others, f"nobody sent {min(others)[:40]!r}"

    @staticmethod
    def _verify_order(values: list[bytes]) -> None:
        last: dict[bytes, int] = {}
        for value in values:
            producer, _, number = value.partition(b" ")[0].split(b"/")
            assert int(number) == last.get(producer, -1) + 1, "records are not in order"
            last[producer] = int(number)

    def _verify_all_is_there(self) -> None:
        for partition, acknowledged in enumerate(self.promises.acknowledged):
            assert len(acknowledged) == self.promises.ends[partition]
            for producer in self.producers:
                assert not producer.unacknowledged[partition]

    def _counted(self) -> Result:
        result, promises = self.result, self.promises
        result.batches = promises.batches
        result.records = sum(map(len, promises.acknowledged))
        result.sent_again, result.were_there = promises.sent_again, promises.were_there
        result.commands = self.administrator.commands
        logs = list((self.folder / "data").glob(f"{TOPIC}-*/*.log"))
        result.segments = len(logs)
        result.megabytes = sum(path.stat().st_size for path in logs) / 1e6
        return result


def run_round(seed: str) -> Result:
    """One round in a folder of its own; its failure names the seed."""
    with tempfile.TemporaryDirectory(prefix="fencepost-kill-") as folder:
        try:
            return Round(seed, Path(folder)).run()
        except Exception as error:
            error.add_note(f"in round {seed}")
            raise


def table(results: list[Result]) -> str:
    """The result of many rounds, as a page shows it."""
    starts = sorted(each for result in results for each in result.starts_ms)

    def total(name: str) -> str:
        return f"{sum(getattr(each, name) for each in results):,}"

    rows = [
        ("rounds", f"{len(results)}"),
        ("kills", total("kills")),
        ("of them while the broker recovered", total("killed_in_recovery")),
        ("batches acknowledged", total("batches")),
        ("records acknowledged", total("records")),
        ("segments", total("segments")),
        ("batches sent again after a kill", total("sent_again")),
        ("of them in the log already", total("were_there")),
        ("topic commands acknowledged", total("commands")),
        ("acknowledged and lost, or there twice", "0"),
        (
            "start after a kill: median, longest",
            f"{starts[len(starts) // 2]} ms, {starts[-1]} ms",
        ),
        ("largest log recovered", f"{max(each.megabytes for each in results):.1f} MB"),
    ]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def main() -> int:
    """The long run."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill.rounds")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(1 << 32)))
    options = parser.parse_args()
    results = []
    for number in range(options.rounds):
        result = run_round(f"{options.seed}/{number}")
        results.append(result)
        print(
            f"{result.seed}: {result.batches} batches, {result.segments} segments, "
            f"{result.megabytes:.1f} MB, {result.kills} kills, {result.sent_again} sent again "
            f"({result.were_there} were there), starts {result.starts_ms} ms",
            flush=True,
        )
    print(f"\nseed {options.seed}\n\n{table(results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
