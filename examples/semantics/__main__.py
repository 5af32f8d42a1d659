"""At most once, at least once, exactly once: three programs are killed, and the records counted.

    fencepost up &
    python examples/semantics

Each program copies the same numbers to a topic of its own. Each is killed (kill -9) at its danger
point, the worst moment that there is for it, and started again. Then the copies are compared with
the numbers. The topics stay, to be looked at:

    fencepost consume -t semantics-…-exactly-once -e --isolation read_committed
"""

import argparse
import asyncio
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from fencepost_client import Admin, Consumer, NewTopic, Producer, TopicPartition
from fencepost_client.config.settings import IsolationLevel

NUMBERS = [b"%d" % number for number in range(100)]
THE_END = b"the end"
DIE_AT = "45"
PROGRAMS = {
    "at_most_once": (
        "killed between its commit and its writing: what it had in hand is called done, so nobody\n"
        "reads it again. Good for what is soon outdated: measurements, positions."
    ),
    "at_least_once": (
        "killed between its writing and its commit: it reads again, and writes again. Good when\n"
        "twice does no harm, or when somebody behind it can tell: see examples/dedup.py."
    ),
    "exactly_once": (
        "killed between its writing and its commit, too. What it had written belongs to a\n"
        "transaction, which the restart aborts: who reads committed records never sees it."
    ),
}


async def compare(bootstrap: str) -> None:
    """Run all three, and print what became of the numbers."""
    source = f"semantics-{time.time_ns() // 1_000_000:x}"
    targets = {program: f"{source}-{program.replace('_', '-')}" for program in PROGRAMS}
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(name, 1) for name in (source, *targets.values())])
    async with Producer(bootstrap) as producer:
        await producer.send_many(source, [*NUMBERS, THE_END])
    print(f"{len(NUMBERS)} numbers stand in the topic {source}.")
    for program, target in targets.items():
        await run_and_die(program, source, target, bootstrap)
        copies = await read(bootstrap, target, "read_committed")
        lost = [number for number in NUMBERS if not copies[number]]
        repeated = [number for number in NUMBERS if copies[number] > 1]
        print(f"\n{program}: {len(lost)} lost, {len(repeated)} duplicated")
        print(PROGRAMS[program])
        for what, numbers in (("lost", lost), ("duplicated", repeated)):
            if numbers:
                print(f"{what}: {words(numbers)}")
        aborted = (await read(bootstrap, target, "read_uncommitted") - copies).total()
        if aborted:
            print(f"written, aborted, and invisible to who reads committed records: {aborted}")


async def run_and_die(program: str, source: str, target: str, bootstrap: str) -> None:
    """Run a program until it is killed at its danger point, and again until it is done."""
    path = Path(__file__).with_name(f"{program}.py")
    command = [sys.executable, str(path), source, target, "--bootstrap", bootstrap]
    for arguments, expected in ((["--die-at", DIE_AT], -signal.SIGKILL), ([], 0)):
        process = await asyncio.create_subprocess_exec(*command, *arguments)
        code = await process.wait()
        if code != expected:
            raise SystemExit(f"{program} ended with {code}, and not as planned with {expected}")


async def read(
    bootstrap: str, topic: str, isolation_level: IsolationLevel
) -> Counter[bytes | None]:
    """How often each value is in a topic, up to the record that says that it ends."""
    found: Counter[bytes | None] = Counter()
    async with Consumer(
        bootstrap, isolation_level=isolation_level, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        while not found[THE_END]:
            found.update(record.value for record in await consumer.getmany(timeout_ms=1_000))
    return found


def words(numbers: Iterable[bytes]) -> str:
    """Numbers with spaces in between."""
    return " ".join(number.decode() for number in numbers)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python examples/semantics", description=__doc__)
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    asyncio.run(compare(parser.parse_args().bootstrap))
