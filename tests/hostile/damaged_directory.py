"""Each file of a data directory is damaged in each way: healed, cut and told, or refused.

    make damaged-directory

A cell is one file, one kind of damage and one stop: the directory of a broker that was stopped
cleanly, or as it was when the broker was killed. A broker starts on the damaged copy, and all that
was acknowledged is read: topics, records, transactions, committed offsets, users, quotas. What is
lost must have been told with the file or the partition that lost it. A start that is refused
changes nothing, so that the next one is refused, too.

``ends earlier``: the last segment of a log that was open when the broker was killed is cut between
two batches, or gone. No other file tells how long it was, so that recovery can only say where the
log ends; it does so for every log.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fencepost_broker.config import Value
from fencepost_broker.server.clock import StateClock
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.log import StorageError
from fencepost_client import (
    EARLIEST,
    LATEST,
    Admin,
    Consumer,
    KafkaError,
    Producer,
    QuotaEntity,
    ScramMechanism,
    SetPassword,
    TopicPartition,
)

from tests.support.broker import QuietLog, RunningBroker, running_broker

RECORDS: Final = 12
TRANSACTIONS: Final = 6
ANSWER_SECONDS: Final = 5.0
SETTINGS: Final[dict[str, Value]] = {
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
    "log.roll.ms": 1000,
    "log.index.interval.bytes": 100,
    "metadata.log.max.record.bytes.between.snapshots": 300,
    "group.initial.rebalance.delay.ms": 0,
}
LOCK: Final = ".lock"


class Lines(QuietLog):
    """Keeps warnings and errors."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.ends: list[str] = []
        """After an unclean stop: where each log ends."""

    def info(self, event: str, **values: Any) -> None:
        """Keep what recovery tells."""
        if values.get("kind") == "recovered":
            self.ends.append(f"{event} {values}")

    def warning(self, event: str, **values: Any) -> None:
        """Keep a line."""
        self.lines.append(f"{event} {values}")

    error = warning

    def exception(self, event: str, **values: Any) -> None:
        """A bug of ours."""
        self.lines.append(f"Traceback: {event} {values}")


@dataclass
class Found:
    """All that a reader can see."""

    records: dict[str, list[bytes]] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    users: set[str] = field(default_factory=set)
    quotas: dict[str, float] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    """What a client was told by an error."""


async def fill(broker: RunningBroker, clock: StateClock) -> None:
    """Several segments of every log, a snapshot of the metadata, transactions of both ends."""
    bootstrap = f"{broker.host}:{broker.port}"
    async with Admin(bootstrap) as admin:
        for name in ("plain", "out"):
            broker.create(name)
        await admin.alter_user_scram_credentials(
            {"alice": SetPassword(ScramMechanism.SCRAM_SHA_256, "secret")}
        )
        async with Producer(bootstrap) as producer:
            for number in range(RECORDS):
                clock.advance(ms=600)
                await producer.send("plain", b"%d" % number, timestamp_ms=clock.now_ms())
                await producer.flush()
        quotas = {QuotaEntity(client_id="loader"): {"producer_byte_rate": 1e6}}
        await admin.alter_client_quotas(quotas)
        async with Producer(bootstrap, transactional_id="x") as producer:
            for number in range(TRANSACTIONS):
                clock.advance(ms=600)
                producer.begin()
                await producer.send("out", b"%d" % number, timestamp_ms=clock.now_ms())
                await (producer.abort() if number % 3 == 2 else producer.commit())
        for number in range(1, RECORDS + 1):
            clock.advance(ms=600)
            await admin.alter_group_offsets("readers", {TopicPartition("plain", 0): number})


async def read(bootstrap: str) -> Found:
    """Read everything; an error that a client gets is one of the answers."""
    found = Found()
    async with Admin(bootstrap) as admin, asyncio.timeout(4 * ANSWER_SECONDS):
        for topic in ("plain", "out"):
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    found.records[topic] = await read_topic(admin, bootstrap, topic)
            except (KafkaError, TimeoutError) as error:  # clients try again while it is offline
                found.refused.append(f"{topic}: {error}")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                committed = await admin.list_group_offsets("readers", require_stable=True)
                found.offsets = {str(each): it.offset for each, it in committed.items()}
        except (KafkaError, TimeoutError) as error:
            found.refused.append(f"readers: {error}")
        found.users = set(await admin.describe_user_scram_credentials())
        quotas = await admin.describe_client_quotas()
        found.quotas = {
            str(each): rate for each, rates in quotas.items() for rate in rates.values()
        }
    return found


async def read_topic(admin: Admin, bootstrap: str, topic: str) -> list[bytes]:
    """All committed values of a topic, in order."""
    partition = TopicPartition(topic, 0)
    first = await admin.list_offsets({partition: EARLIEST})
    last = await admin.list_offsets({partition: LATEST}, read_committed=True)
    end = last[partition].offset
    values: list[bytes] = []
    if first[partition].offset >= end:
        return values
    async with Consumer(
        bootstrap, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        consumer.assign([partition])
        while await consumer.position(partition) < end:
            records = await consumer.getmany(timeout_ms=1000)
            values += [bytes(record.value or b"") for record in records]
    return values


# --- damages ----------------------------------------------------------------------------------

Damage = Callable[[Path, random.Random], None]


def changed(change: Callable[[bytearray, random.Random], bytes | bytearray]) -> Damage:
    """Other bytes in the same file."""

    def damage(path: Path, rng: random.Random) -> None:
        path.write_bytes(change(bytearray(path.read_bytes()), rng))

    return damage


def flip(data: bytearray, rng: random.Random) -> bytearray:
    """One wrong bit."""
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


DAMAGES: Final[dict[str, Damage]] = {
    "one bit": changed(flip),
    "another bit": changed(flip),
    "a third bit": changed(flip),
    "emptied": changed(lambda data, rng: b""),
    "cut to half": changed(lambda data, rng: data[: len(data) // 2]),
    "last byte cut": changed(lambda data, rng: data[:-1]),
    "random bytes": changed(lambda data, rng: rng.randbytes(max(len(data), 100))),
    "second half zeros": changed(lambda data, rng: data[: len(data) // 2].ljust(len(data), b"\0")),
    "zeros appended": changed(lambda data, rng: data + bytes(100)),
    "garbage appended": changed(lambda data, rng: data + rng.randbytes(100)),
    "removed": lambda path, rng: path.unlink(),
}


# --- one cell ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One file, damaged in one way, after one kind of stop."""

    stop: str
    file: str
    damage: str

    @property
    def kind(self) -> str:
        """The file without its offsets."""
        return re.sub(r"[0-9]{20}(-[0-9]{10})?", "N", self.file)


async def outcome(cell: Cell, whole: Path, expected: Found, seed: str) -> tuple[str, str]:
    """What came of a cell, and why."""
    with tempfile.TemporaryDirectory(prefix="fencepost-damaged-") as name:
        folder = Path(name) / "data"
        shutil.copytree(whole, folder)
        rng = random.Random(f"{seed} {cell}")
        DAMAGES[cell.damage](folder / cell.file, rng)
        damaged = contents(folder)
        lines = Lines()
        try:
            async with started(folder, lines) as broker:
                found = await read(f"{broker.host}:{broker.port}")
        except StorageError as error:
            if contents(folder) != damaged:
                return "CHANGED", f"refused, but files were changed: {error}"
            return "refused", str(error)
        except TimeoutError:
            return "HANG", "\n".join(lines.lines)
        except Exception as error:  # noqa: BLE001 - any other one is a finding
            return "TRACEBACK", f"{type(error).__name__}: {error}"
    told = "\n".join([*lines.lines, *found.refused])
    return judged(cell, found, expected, told, "\n".join(lines.ends)), told


def started(folder: Path, lines: Lines) -> Any:
    """A broker on this folder."""
    clock = StateClock(manual=True)
    return running_broker(SETTINGS, disk=FileDisk(folder), clock=clock, log=lines)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file but the lock, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if path.name != LOCK
    }


def judged(cell: Cell, found: Found, expected: Found, told: str, ends: str) -> str:
    """Compare what is there with what was acknowledged, and with what was told."""
    if "Traceback" in told:
        return "TRACEBACK"
    lost = False
    for topic, values in expected.records.items():
        there = found.records.get(topic)
        if there is None:
            continue  # the client has an error, which is in ``told``
        if [value for value in there if value not in values] or there != sorted(there, key=int):
            return "WRONG"
        lost |= there != values
    lost |= found.offsets != expected.offsets or found.quotas != expected.quotas
    lost |= found.users != expected.users
    place = cell.file.partition("/")[0]
    if lost or found.refused:
        if place in told:
            return "cut"
        return "ends earlier" if place in ends else "SILENT"
    return "healed" if told else "whole"


# --- all cells --------------------------------------------------------------------------------


async def make(folder: Path) -> dict[str, Path]:
    """The directories: as a kill leaves it, and as a clean stop does."""
    clock = StateClock(manual=True)
    running = folder / "running"
    async with running_broker(SETTINGS, disk=FileDisk(running), clock=clock) as broker:
        await fill(broker, clock)
        shutil.copytree(running, folder / "killed")
    running.rename(folder / "stopped")
    return {"killed": folder / "killed", "stopped": folder / "stopped"}


def cells(directories: dict[str, Path]) -> Iterator[Cell]:
    """All of them, in a fixed order."""
    for stop, folder in directories.items():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != LOCK:
                for damage in DAMAGES:
                    yield Cell(stop, str(path.relative_to(folder)), damage)


async def run(seed: str, sample: int | None = None) -> dict[Cell, tuple[str, str]]:
    """The outcomes of all cells, or of so many of them."""
    with tempfile.TemporaryDirectory(prefix="fencepost-whole-") as name:
        directories = await make(Path(name))
        expected = {}
        for stop, whole in directories.items():
            folder = Path(name) / f"{stop}-copy"
            shutil.copytree(whole, folder)
            async with started(folder, Lines()) as broker:
                expected[stop] = await read(f"{broker.host}:{broker.port}")
            check_whole(expected[stop])
        chosen = list(cells(directories))
        if sample is not None:
            chosen = random.Random(seed).sample(chosen, sample)
        return {
            cell: await outcome(cell, directories[cell.stop], expected[cell.stop], seed)
            for cell in chosen
        }


def check_whole(found: Found) -> None:
    """What is expected is all that was done."""
    assert found.records["plain"] == [b"%d" % number for number in range(RECORDS)]
    out = [b"%d" % number for number in range(TRANSACTIONS) if number % 3 != 2]
    assert found.records["out"] == out
    assert list(found.offsets.values()) == [RECORDS]
    assert found.users == {"alice"}
    assert list(found.quotas.values()) == [1e6]
    assert not found.refused


WRONG: Final = ("SILENT", "WRONG", "HANG", "TRACEBACK", "CHANGED")


def main() -> None:
    """Run all cells, print the table and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="damaged")
    parser.add_argument("--sample", type=int)
    options = parser.parse_args()
    outcomes = asyncio.run(run(options.seed, options.sample))
    rows: dict[tuple[str, str], Counter[str]] = {}
    for cell, (came, why) in outcomes.items():
        rows.setdefault((cell.kind, cell.stop), Counter())[came] += 1
        if came in WRONG:
            print(f"{came}: {cell}: {why}\n")
    possible = ("whole", "healed", "cut", "ends earlier", "refused", *WRONG)
    names = [each for each in possible if any(row[each] for row in rows.values())]
    print(f"{len(outcomes)} cells, seed {options.seed!r}\n")
    print(f"| file | stop | {' | '.join(names)} |")
    print("|---" * (2 + len(names)) + "|")
    for (kind, stop), row in sorted(rows.items()):
        print(f"| `{kind}` | {stop} | {' | '.join(str(row[each] or '') for each in names)} |")


if __name__ == "__main__":
    main()
