"""The programs in ``examples/``: killed at their danger points, started again, outputs counted.

Against Apache Kafka, too (``conformance``): they are to work there unchanged.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_client import Admin, Consumer, ConsumerRecord, TopicPartition

from tests.support.waiting import asked_until

# The programs are processes of their own: on which loop they are waited for makes no difference.
pytestmark = [pytest.mark.asyncio(loop_factories=["asyncio"]), pytest.mark.slow]
ROOT = Path(__file__).parents[2]


async def killed_at(point: str, program: str, *arguments: str) -> None:
    """Run it until it is killed there; ``point`` as in ``Producer.commit 2 before``."""
    runner = ("-m", "tests.support.killed_at", *point.split())
    process = await asyncio.create_subprocess_exec(
        sys.executable, *runner, program, *arguments, cwd=ROOT, stdout=PIPE, stderr=PIPE
    )
    _, stderr = await process.communicate()
    assert process.returncode == -signal.SIGKILL, stderr.decode()
    assert not stderr, stderr.decode()


def _hear_ctrl_c() -> None:
    """Undo what shells do to commands in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


async def run_until(is_done: Callable[[], Awaitable[bool]], program: str, *arguments: str) -> None:
    """Run it until that is so, then Ctrl-C; or until it ends by itself."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, program, *arguments, cwd=ROOT, stdout=PIPE, stderr=PIPE,
        preexec_fn=_hear_ctrl_c,
    )  # fmt: skip
    output = asyncio.ensure_future(process.communicate())
    try:
        while not output.done():
            if await is_done():
                process.send_signal(signal.SIGINT)
                break
            await asyncio.wait([output], timeout=0.1)
        _, stderr = await output
    finally:
        if process.returncode is None:
            process.kill()
    assert (process.returncode, stderr.decode()) == (0, "")


async def records_of(bootstrap: str, topic: str) -> list[ConsumerRecord]:
    """All records that are committed, a partition's in their order."""
    async with Admin(bootstrap) as admin:
        described = (await admin.describe_topics([topic]))[topic]
    where = [TopicPartition(topic, number) for number in range(len(described.partitions))]
    found: list[ConsumerRecord] = []
    async with Consumer(
        bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(where)
        ends = await consumer.end_offsets(where)
        while any(consumer.positions().get(each, 0) < end for each, end in ends.items()):
            found += await consumer.getmany(timeout_ms=100)
    return found


async def values_of(bootstrap: str, topic: str) -> Counter[bytes | None]:
    return Counter(record.value for record in await records_of(bootstrap, topic))


async def is_processed(bootstrap: str, group_id: str, topic: str) -> bool:
    """Whether the group has committed that it is done with all records that the topic has."""
    ends: dict[TopicPartition, int] = {}
    for record in await records_of(bootstrap, topic):
        ends[TopicPartition(topic, record.partition)] = record.offset + 1
    async with Consumer(bootstrap, group_id=group_id, enable_auto_commit=False) as consumer:
        committed = await consumer.committed(ends)
    return bool(ends) and {where: at.offset for where, at in committed.items()} == ends


async def test_wordcount(bootstrap: str) -> None:
    program, server = "examples/wordcount.py", ("--bootstrap", bootstrap)
    await killed_at("Producer.commit 2 before", program, *server, "--demo", "1000")
    await killed_at("Producer.commit 3 after", program, *server)
    await killed_at("Producer.send_offsets 3 after", program, *server)

    async def is_done() -> bool:
        return await is_processed(bootstrap, "wordcount-split", "lines") and await is_processed(
            bootstrap, "wordcount-count", "words"
        )

    await run_until(is_done, program, *server)
    counts: dict[bytes, int] = {}
    for record in await records_of(bootstrap, "counts"):
        counts[record.key or b""] = int(record.value or b"")
    words = b"to be or not to be that is the question the rest is silence".split()
    assert counts == Counter(words * 500)


async def test_outbox(bootstrap: str, tmp_path: Path) -> None:
    program = "examples/outbox.py"
    options = ("--bootstrap", bootstrap, "--db", str(tmp_path / "shop.db"))
    await killed_at("Producer.commit 2 before", program, *options, "--orders", "55")
    await killed_at("Producer.commit 2 after", program, *options)

    async def never() -> bool:
        return False

    await run_until(never, program, *options)
    published = await values_of(bootstrap, "placed-orders")
    numbers = Counter(json.loads(value or b"")["order"] for value in published.elements())
    assert numbers == Counter(range(1, 56))


STEPS = {
    "Producer.send 8 before": 0,  # nothing is prepared
    "Producer.prepare 2 after": 0,  # the database has not committed
    "Producer.complete 3 before": 5,  # it has
    "Producer.complete 1 before": 5,  # the next one has not yet recovered
    "Producer.commit 1 after": 0,  # it has
}
"""Where the shop is killed, one after the other, and how far its database is then ahead."""


async def test_two_phase_commit(tmp_path: Path) -> None:
    program, shop = "examples/two_phase_commit.py", tmp_path / "shop.db"
    settings = {
        "unstable.api.versions.enable": "true",
        "transaction.two.phase.commit.enable": "true",
    }

    async def placed() -> tuple[Counter[int], Counter[int]]:
        with closing(sqlite3.connect(shop)) as database:
            in_database = Counter(number for (number,) in database.execute("SELECT id FROM orders"))
        told = await values_of(broker.bootstrap, "placed-orders")
        return in_database, Counter(json.loads(value or b"")["order"] for value in told.elements())

    async def is_ahead(orders: int) -> bool:
        in_database, in_kafka = await placed()
        assert in_kafka <= in_database
        return (in_database - in_kafka).total() == orders

    async with Broker(settings=settings) as broker:
        options = ("--bootstrap", broker.bootstrap, "--db", str(shop), "--orders", "35")
        for point, ahead in STEPS.items():
            await killed_at(point, program, *options)
            await asked_until(partial(is_ahead, ahead))  # markers may be on their way

        async def never() -> bool:
            return False

        await run_until(never, program, *options)
        assert await placed() == (Counter(range(1, 36)),) * 2


async def test_dedup(bootstrap: str) -> None:
    program, server = "examples/dedup.py", ("--bootstrap", bootstrap)
    await killed_at("Producer.commit 2 before", program, *server, "--demo", "1500")
    await killed_at("Producer.commit 2 after", program, *server)
    await run_until(lambda: is_processed(bootstrap, "dedup", "events"), program, *server)
    ids = Counter(record.key for record in await records_of(bootstrap, "events-once"))
    assert ids == Counter(b"event-%d" % number for number in range(1500))


async def test_retry_topic(bootstrap: str) -> None:
    program = "examples/retry_topic.py"
    options = ("--bootstrap", bootstrap, "--back-off", "0.1", "0.2")
    await killed_at("Producer.commit 2 before", program, *options, "--demo", "200")
    await killed_at("Producer.commit 2 after", program, *options)

    async def is_done() -> bool:
        dead = await values_of(bootstrap, "orders-dead")
        return dead.total() + (await values_of(bootstrap, "charges")).total() >= 200

    await run_until(is_done, program, *options)
    charged = await values_of(bootstrap, "charges")
    assert charged == Counter(b'{"charged": %d}' % n for n in range(200) if n % 5 < 3)
    dead = await records_of(bootstrap, "orders-dead")
    numbers = Counter(json.loads(record.value or b"")["id"] for record in dead)
    assert numbers == Counter(number for number in range(200) if number % 5 >= 3)
    assert {tuple(name for name, _ in record.headers) for record in dead} == {("failure",) * 3}
    tried = {record.value: record for record in await records_of(bootstrap, "orders-retry-2")}
    waited = [record.timestamp_ms - tried[record.value].timestamp_ms for record in dead]
    assert min(waited) >= 199  # two clocks, and milliseconds cut off


async def test_semantics(bootstrap: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "examples/semantics", "--bootstrap", bootstrap,
        cwd=ROOT, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    stdout, stderr = await process.communicate()
    said = stdout.decode()
    assert (process.returncode, stderr.decode()) == (0, ""), said
    batch = " ".join(str(number) for number in range(40, 50))
    assert "at_most_once: 10 lost, 0 duplicated" in said
    assert f"lost: {batch}" in said
    assert "at_least_once: 0 lost, 10 duplicated" in said
    assert f"duplicated: {batch}" in said
    assert "exactly_once: 0 lost, 0 duplicated" in said
    assert "reads committed records: 10" in said
