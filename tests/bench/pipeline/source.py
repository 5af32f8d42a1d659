"""Rows a second of our sources, beside Spark's own Kafka connector, on one broker in one run.

    python -m tests.bench.pipeline.source [--rows 1000000] [--rounds 5] [--out PAGE]

All columns of all rows go into Spark's sink that throws them away. Contenders take turns, so that a
machine that is busy with other things is as busy for each; CPU seconds are those of the JVM and of
all Python workers. Needs a Java runtime and Maven (the connector's jars).
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.bench.pipeline.rounds import HEAD, Budget, ratios, say
from tests.bench.pipeline.spark_runs import (
    PARTITIONS,
    SIZES,
    TASKS,
    Place,
    broker,
    compare,
    fill,
    machine,
    session,
)
from tests.bench.table import markdown_table, plain_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OWN: Final = "Spark's own connector"
OURS: Final = "fencepost"
VALUE_ONLY: Final = "fencepost, value only"
LOG: Final = "fencepost-log"
ROWS_SHARE_OF_LARGE: Final = 5
"""Of rows of 1 KB there are fewer by this."""
MINUTES: Final = 20.0
PAGE: Final = """# The Spark source beside Spark's own connector

Written by `make bench-spark-source`, {date}, {machine}, load {load:.0f} at the end: where
others work on the same cores, rows a second say less than CPU per row. A topic of {partitions}
partitions on {broker}, `local[{tasks}]`, read_committed, all rows into `noop`; medians of up to
{rounds} rounds in turn, after one that is not counted. CPU is that of the JVM and of the Python
workers, the broker's left out. Spark 4.3.0; its own connector is that of 4.2.0: there is none for
4.3.0.

{table}

{ratios}

All contain the start of a query, some hundred milliseconds. Spark's own connector makes an object
of each record in the JVM; ours decodes in a Python worker, a column at a time, and hands Arrow
batches to the JVM. `.schema("value BINARY")` leaves out what a query does not want.
"fencepost-log" reads the broker's files, with no broker in between.
"""


ALL: Final = (OWN, OURS, VALUE_ONLY, LOG)


def frame(spark: SparkSession, place: Place, topic: str, name: str) -> DataFrame:
    """The rows of a topic, by one contender."""
    if name == LOG:
        reader = spark.read.format("fencepost-log").option("topics", topic)
        return reader.load(str(place.data_dir))
    reader = spark.read.format("kafka" if name == OWN else "fencepost")
    if name == VALUE_ONLY:
        reader = reader.schema("value BINARY")
    reader = reader.option("kafka.bootstrap.servers", place.bootstrap).option("subscribe", topic)
    return reader.option("kafka.isolation.level", "read_committed").load()


def throw_away(rows: DataFrame) -> None:
    """Read all of them."""
    rows.write.format("noop").mode("overwrite").save()


def measure(
    spark: SparkSession,
    place: Place,
    rows_of_small: int,
    wanted: int,
    budget: Budget,
    names: Sequence[str] = ALL,
) -> tuple[list[list[str]], list[str]]:
    """The table's lines, and what the comparison comes to."""
    lines: list[list[str]] = []
    told: list[str] = []
    for left, size in zip(range(len(SIZES), 0, -1), SIZES, strict=True):
        rows = rows_of_small if size == SIZES[0] else rows_of_small // ROWS_SHARE_OF_LARGE
        topic = f"rows-of-{size}"
        say(f"writing {rows:,} rows of {size} bytes")
        fill(place.bootstrap, topic, rows, size)
        contenders: dict[str, Callable[[], None]] = {
            name: partial(throw_away, frame(spark, place, topic, name)) for name in names
        }
        measured = compare(place, contenders, budget, wanted, left, f"{size} B")
        lines += [taken.row(name, size, rows) for name, taken in measured.items()]
        told += ratios(f"{size} B", measured, OURS, OWN)
    return lines, told


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of 100 bytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="begin no round later")
    parser.add_argument("--broker", choices=["fencepost", "kafka"], default="kafka")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    budget = Budget(given.minutes)
    with broker(given.broker) as place, session() as spark:
        lines, told = measure(spark, place, given.rows, given.rounds, budget)
        name = place.name
    head = ["source", *HEAD[1:]]
    print(plain_table(head, lines), *told, sep="\n")
    if given.out is not None:
        page = PAGE.format(
            machine=machine(),
            load=os.getloadavg()[0],
            date=time.strftime("%Y-%m-%d"),
            partitions=PARTITIONS,
            broker=name,
            tasks=TASKS,
            rounds=given.rounds,
            table=markdown_table(head, lines),
            ratios="\n".join(told),
        )
        given.out.write_text(page)


if __name__ == "__main__":
    main()
