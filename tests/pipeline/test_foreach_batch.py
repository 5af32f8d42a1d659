"""``examples/foreach_batch.py``: fails at each step of a batch, and goes on with the next start."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client.blocking import Consumer, Producer
from fencepost_client.types import TopicPartition

from tests.support.waiting import polled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow
SETTINGS = {
    "unstable.api.versions.enable": "true",
    "transaction.two.phase.commit.enable": "true",
}
PROGRAM = Path(__file__).parents[2] / "examples/foreach_batch.py"


class CrashedError(Exception):
    """The program ends here."""


@pytest.fixture
def example(spark: SparkSession) -> Any:
    """The program as a module."""
    spec = importlib.util.spec_from_file_location("foreach_batch", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(topics={"orders": 1, "stock": 1}, settings=SETTINGS) as running:
        yield running


def told(broker: Broker) -> list[bytes | None]:
    where = TopicPartition("stock", 0)
    found: list[bytes | None] = []
    with Consumer(
        broker.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([where])
        end = consumer.end_offsets([where])[where]
        while consumer.positions().get(where, 0) < end:
            found += [each.value for each in consumer.getmany(timeout_ms=100)]
    return found


def fails_before_or_after(step: str, *, after: bool) -> Any:
    """A method of the producer that fails, before or after it does its work."""
    original = getattr(Producer, step)

    def fails(*arguments: Any) -> None:
        if after:
            original(*arguments)
        raise CrashedError

    return fails


def test_a_batch_is_in_both_or_in_neither(
    spark: SparkSession,
    example: Any,
    broker: Broker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pyspark.errors import StreamingQueryException

    db, checkpoint = str(tmp_path / "stock.db"), str(tmp_path / "checkpoint")

    def sold() -> list[int]:
        with closing(sqlite3.connect(db)) as database:
            return [number for (number,) in database.execute("SELECT number FROM sold")]

    def crash(step: str, *, after: bool) -> None:
        with Producer(broker.bootstrap) as producer:
            producer.send_many("orders", [b"book"] * 3)
        with example.Stock(broker.bootstrap, db) as stock, monkeypatch.context() as patched:
            patched.setattr(Producer, step, fails_before_or_after(step, after=after))
            with pytest.raises(StreamingQueryException, match="CrashedError"):
                example.start(spark, stock, broker.bootstrap, checkpoint).awaitTermination()

    crash("prepare", after=True)
    assert (sold(), told(broker)) == ([], [])
    crash("complete", after=False)
    assert (sold(), told(broker)) == ([3], [])
    with example.Stock(broker.bootstrap, db) as stock:
        example.start(spark, stock, broker.bootstrap, checkpoint).awaitTermination()
    assert sold() == [6]
    assert polled(lambda: len(told(broker)) >= 2)
    assert told(broker) == [b"3", b"6"]
