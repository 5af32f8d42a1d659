"""Disks that fail at any byte of any file, and kill -9: nothing acknowledged may be lost.

    make failing-disks FAILING_ROUNDS=50

A round is one data directory and several lives of a broker whose writes fail at random for some of
the time (see ``failing_broker``). All logs roll all the time: a topic's, ``__transaction_state``,
``__consumer_offsets`` and the metadata log. A life ends with SIGKILL, sometimes while writes fail.
After each start all acknowledged records, transactions, committed offsets and topics are there,
and nothing that was refused.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.records.writer import build_batch

from tests.hostile.failing_broker import SEED, SWITCH
from tests.hostile.transactional_loop import Loop, committed, read_committed
from tests.support.up import Up, Wire

LIVES = 3
STEPS = 14
SETTINGS = (
    "metadata.log.segment.ms=1",
    "log.roll.ms=1",
    "log.index.interval.bytes=100",
    "offsets.topic.num.partitions=2",
    "transaction.state.log.num.partitions=2",
)


class FailingDisk:
    """Says when writes fail."""

    def __init__(self, switch: Path) -> None:
        self.switch = switch

    def fill(self) -> None:
        """Writes fail from now on."""
        self.switch.touch()

    def make_room(self) -> None:
        """They succeed again."""
        self.switch.unlink(missing_ok=True)


@dataclass
class Promised:
    """What the broker has acknowledged."""

    values: list[bytes] = field(default_factory=list)
    topics: set[str] = field(default_factory=set)
    refused: int = 0
    done: int = 0


def produce(client: Wire, promised: Promised, rng: random.Random, time_ms: int) -> None:
    """One batch of any size; a refused one is not sent again."""
    value = b"%d " % time_ms + bytes(rng.choice((10, 500, 3000)))
    answer = client.produce("plain", build_batch(None, [value], time_ms))
    if answer.error_code:
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR, answer
        promised.refused += 1
    else:
        assert answer.base_offset == len(promised.values)
        promised.values.append(value)


def create(client: Wire, promised: Promised, name: str) -> None:
    """One topic, which is acknowledged or not."""
    request = CreateTopicsRequest(topics=[CreatableTopic(name, 1, 1)])
    code = client.ask(request, 7).topics[0].error_code
    if not code:
        promised.topics.add(name)
    else:
        assert code == ErrorCode.KAFKA_STORAGE_ERROR, code
        promised.refused += 1


def check(client: Wire, promised: Promised) -> None:
    """All that was acknowledged is there, and nothing else."""
    records = client.fetch("plain")
    assert [record.offset for record in records] == list(range(len(records)))
    found = [bytes(record.value or b"") for record in records]
    assert found == promised.values
    assert {name for name in client.topics() if name.startswith("made-")} == promised.topics
    if promised.done:
        assert read_committed(client) == list(range(0, promised.done, 2))
        assert committed(client, "plain") == promised.done - 1


def live(
    client: Wire, disk: FailingDisk, promised: Promised, rng: random.Random, life: int
) -> None:
    """One life's work, some of it while writes fail."""
    for name, kind in (("g", 0), ("plain", 0), ("x", 1)):
        while client.ask(FindCoordinatorRequest(name, kind), 2).error_code:
            pass
    loop = Loop(client, disk)
    for step in range(STEPS):
        if rng.random() < 0.6:
            disk.fill()
        for number in range(rng.randrange(1, 8)):
            produce(client, promised, rng, 1_000 + (life * STEPS + step) * 100 + number * 10)
        create(client, promised, f"made-{life}-{step}")
        loop.round(promised.done)
        promised.done += 1
        if rng.random() < 0.5:
            disk.make_room()
    promised.refused += len(loop.refusals)


def run_round(seed: str) -> Promised:
    """One data directory; gives what was acknowledged and how much was refused."""
    rng = random.Random(seed)
    promised = Promised()
    with tempfile.TemporaryDirectory(prefix="fencepost-failing-") as folder:
        disk = FailingDisk(Path(folder) / "fails")
        command = ("-m", "tests.hostile.failing_broker", "up", "--port", "0", "--json")
        settings = [word for each in SETTINGS for word in ("-c", each)]
        with Up(
            "--data-dir", f"{folder}/data", *settings, command=(sys.executable, *command),
            environment={SWITCH: str(disk.switch), SEED: seed},
        ) as broker:  # fmt: skip
            with broker.connect() as client:
                client.create("plain", 1)
                client.create("t", 1)
            for life in range(LIVES):
                with broker.connect() as client:
                    live(client, disk, promised, rng, life)
                broker.assert_healthy()
                broker.kill()
                disk.make_room()
                broker.start()
                with broker.connect() as client:
                    check(client, promised)
            broker.stop()
            broker.start()
            with broker.connect() as client:
                check(client, promised)
            broker.assert_healthy()
    return promised


def main() -> None:
    """Run rounds until one fails; its seed is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", default="disks")
    options = parser.parse_args()
    for number in range(options.rounds):
        seed = f"{options.seed}-{number}"
        try:
            promised = run_round(seed)
        except BaseException:
            print(f"round {seed} failed")
            raise
        print(f"{seed}: {len(promised.values)} batches, {promised.done} transactions, "
              f"{promised.refused} refusals")  # fmt: skip


if __name__ == "__main__":
    main()
