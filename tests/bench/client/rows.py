"""What is measured: rows, who takes part, and what is to be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

OURS: Final = "fencepost"
AIOKAFKA: Final = "aiokafka"
KAFKA_PYTHON: Final = "kafka-python"
CONFLUENT: Final = "confluent-kafka"
ASYNCIO_ALONE: Final = "asyncio alone"
"""No library: what no client can pass that uses asyncio's loop."""

MODULES: Final = {
    OURS: "fencepost",
    AIOKAFKA: "aiokafka",
    KAFKA_PYTHON: "kafka_python",
    CONFLUENT: "confluent_kafka",
    ASYNCIO_ALONE: "frames",
}
"""By the library: its `with_…` module."""

RATE, CPU, P50, P99, MEMORY = "rate", "cpu_us", "p50_ms", "p99_ms", "kilobytes"
MORE_IS_BETTER: Final = frozenset({RATE})
CONFLUENT_TIMES: Final = 0.5


class Contender(NamedTuple):
    """A library, and which of its ways."""

    library: str
    way: str = ""

    @property
    def name(self) -> str:
        """As it stands in the tables."""
        return f"{self.library}, {self.way}" if self.way else self.library


class Goal(NamedTuple):
    """Be so many times as good as somebody else."""

    who: Contender
    whom: Contender
    metric: str
    times: float


@dataclass(frozen=True)
class Row:
    """One thing that all of them do."""

    name: str
    title: str
    kind: str
    units: Mapping[str, str]
    """What is shown of it."""
    contenders: tuple[Contender, ...]
    goals: tuple[Goal, ...]
    job: Mapping[str, Any] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    """Of the records, by library: the slow ones get fewer, or the row would take minutes."""
    partitions: int = 1
    filled_with: int = 0
    """Records a partition that are there before."""
    warm_up_rounds: int = 0
    """Rounds that come first and do not count: a cold JVM still compiles."""


ours, aiokafka, kafka_python, confluent, asyncio_alone = map(Contender, MODULES)
BATCHES, GETMANY, ITERATE = (Contender(OURS, way) for way in ("batches", "getmany", "async for"))
SEND_MANY, OF_JAVAS_SIZE = Contender(OURS, "send_many"), Contender(OURS, "batches of 16 KB")
THEIR_GETMANY, THEIR_ITERATE = (Contender(AIOKAFKA, way) for way in ("getmany", "async for"))
_SPEED: Final = {RATE: "records/s", CPU: "µs CPU a record"}


def _produce(size: int, count: int) -> Row:
    return Row(
        f"produce-{size}",
        f"Produce, {size:,} bytes",
        "produce",
        _SPEED,
        (ours, OF_JAVAS_SIZE, SEND_MANY, aiokafka, kafka_python, confluent),
        (
            Goal(ours, aiokafka, RATE, 3),
            Goal(ours, aiokafka, CPU, 3),
            Goal(ours, confluent, RATE, CONFLUENT_TIMES),
        ),
        {"size": size, "count": count},
        {AIOKAFKA: 0.5, KAFKA_PYTHON: 0.1},
    )


def _consume(size: int, count: int) -> Row:
    pairs = ((BATCHES, THEIR_GETMANY), (GETMANY, THEIR_GETMANY), (ITERATE, THEIR_ITERATE))
    return Row(
        f"consume-{size}",
        f"Consume, {size:,} bytes",
        "consume",
        _SPEED,
        (BATCHES, GETMANY, ITERATE, THEIR_GETMANY, THEIR_ITERATE, kafka_python, confluent),
        (
            *(Goal(mine, theirs, metric, 3) for mine, theirs in pairs for metric in (RATE, CPU)),
            Goal(BATCHES, confluent, RATE, CONFLUENT_TIMES),
            Goal(GETMANY, confluent, RATE, CONFLUENT_TIMES),
        ),
        {"size": size, "count": count},
        {KAFKA_PYTHON: 0.1},
        filled_with=count,
    )


ROWS: Final = (
    _produce(100, 200_000),
    _produce(1000, 60_000),
    _consume(100, 400_000),
    _consume(1000, 480_000),
    Row(
        "latency",
        "From send to arrival, 1,000 records/s of 100 bytes",
        "latency",
        {P50: "ms p50", P99: "ms p99", CPU: "µs CPU a record"},
        (ours, aiokafka, kafka_python, confluent, asyncio_alone),
        tuple(
            Goal(ours, peer, metric, 1) for peer in (aiokafka, confluent) for metric in (P50, P99)
        ),
        {"size": 100, "seconds": 3.0},
        warm_up_rounds=1,
    ),
    Row(
        "transactions",
        "Transactions of one record",
        "transactions",
        {RATE: "transactions/s"},
        (ours, aiokafka, kafka_python, confluent, asyncio_alone),
        (Goal(ours, aiokafka, RATE, 3), Goal(ours, confluent, RATE, CONFLUENT_TIMES)),
        {"size": 100, "seconds": 2.0},
    ),
    Row(
        "memory",
        "Memory of each of 100 consumers in a process",
        "memory",
        {MEMORY: "KB"},
        (ours, aiokafka, kafka_python, confluent),
        (Goal(ours, aiokafka, MEMORY, 3),),
        {"count": 100, "clients": 100},
        partitions=100,
        filled_with=100,
    ),
)
BY_NAME: Final = {row.name: row for row in ROWS}
