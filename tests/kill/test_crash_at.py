"""A broker that dies at each step of a commit, and what its files have afterwards."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.operations import OperationRefusedError, TimeOutTransaction
from fencepost_client import Consumer, TopicPartition

from tests.support.waiting import until

OPEN = ("transaction.Empty.after", "transaction.Ongoing.after", "transaction.PrepareCommit.before")
COMMITTED = (
    "transaction.PrepareCommit.after",
    "marker.t-0.before",
    "marker.t-0.after",
    "marker.t-1.before",
    "transaction.CompleteCommit.before",
    "transaction.CompleteCommit.after",
)
PROGRAM = """
import asyncio, sys
from fencepost_broker import Broker, crash_at
from fencepost_client import Producer

async def main(folder, step):
    async with (
        Broker(data_dir=folder, topics={"t": 2}, on_step=crash_at(step)) as broker,
        Producer(broker.bootstrap, transactional_id="a") as producer,
    ):
        async with producer.transaction() as transaction:
            await transaction.send("t", b"one", partition=0)
            await transaction.send("t", b"two", partition=1)
        await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


async def committed_values(folder: Path) -> set[bytes | None]:
    async with (
        Broker(data_dir=folder) as broker,
        Consumer(broker.bootstrap, isolation_level="read_committed") as consumer,
    ):
        with suppress(OperationRefusedError):  # it was decided, or had not begun
            await broker.perform(TimeOutTransaction(transactional_id="a"))
        places = [TopicPartition("t", number) for number in (0, 1)]
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        await until(lambda: all(is_ended(broker, each) for each in places))
        found: set[bytes | None] = set()
        ends = await consumer.end_offsets(places)
        while any([await consumer.position(each) < ends[each] for each in places]):
            found |= {each.value for each in await consumer.getmany(timeout_ms=100)}
        return found


def is_ended(broker: Broker, place: TopicPartition) -> bool:
    """Whether no transaction holds the last stable offset."""
    explained = broker.explain_partition(place.topic, place.partition)
    return explained is not None and explained.holder is None


@pytest.mark.slow
@pytest.mark.parametrize("step", [*OPEN, *COMMITTED])
def test_a_transaction_is_whole_wherever_the_broker_dies(tmp_path: Path, step: str) -> None:
    child = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path, step], timeout=120)
    assert child.returncode == -signal.SIGKILL
    values = asyncio.run(committed_values(tmp_path))
    assert values == ({b"one", b"two"} if step in COMMITTED else set())
