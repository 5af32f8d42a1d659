"""Rows a second of the sink, with and without transactions, beside Spark's own Kafka connector.

    python -m tests.bench.pipeline.sink [--rows 1000000] [--rounds 5] [--only-stream] [--out PAGE]

Rows that Spark has in memory are written by ``df.write``; then a stream of small micro-batches
shows what each of them costs, also with a sink that does nothing. Contenders take turns. Needs a
Java runtime and Maven.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import uuid
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
    create,
    fill,
    machine,
    session,
)
from tests.bench.table import markdown_table, plain_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OWN: Final = "Spark's own connector"
OURS: Final = "fencepost"
AT_LEAST_ONCE: Final = "fencepost, transactions=false"
CONTENDERS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    OWN: ("kafka", {}),
    OURS: ("fencepost", {}),
    AT_LEAST_ONCE: ("fencepost", {"transactions": "false"}),
}
EMPTY: Final = "a sink in Python that does nothing"
STREAM_CONTENDERS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    **CONTENDERS,
    EMPTY: ("empty", {}),
}
"""By format and options."""
ROWS_SHARE_OF_LARGE: Final = 5
STREAM_SOURCE: Final = "small-batches"
BATCHES: Final = 10
BATCH_ROWS: Final = 1_000
MINUTES: Final = 20.0
END: Final = "<!-- end of what was measured -->\n"
PAGE: Final = """# The Spark sink beside Spark's own connector

Written by `make bench-spark-sink`, {date}, {machine}, load {load:.0f} at the end: where
others work on the same cores, rows a second say less than CPU per row. A topic of {partitions}
partitions on {broker}, `local[{tasks}]`; medians of up to {rounds} rounds in turn, after one that
is not counted. CPU is that of the JVM and of the Python workers, the broker's left out. Spark
4.3.0; its own connector is that of 4.2.0, and at least once. `transactions=false` is so, too.

## `df.write`: one transaction

Rows with key, value and partition, which Spark holds in memory.

{table}

{ratios}

## A stream of {batches} micro-batches of {batch_rows:,} rows of 100 B

From a topic on the same broker, read by Spark's own source, `availableNow`; a query's start and its
end are in it. The sink that does nothing takes the rows in a Python worker, and drops them.

{stream_table}

{stream_ratios}
"""


def some_rows(spark: SparkSession, rows: int, size: int) -> DataFrame:
    """Rows in memory, each partition's in one task."""
    frame = spark.range(rows).selectExpr(
        "CAST(lpad(CAST(id AS STRING), 8, '0') AS BINARY) AS key",
        f"CAST(repeat(lpad(CAST(id AS STRING), 10, '0'), {size // 10}) AS BINARY) AS value",
        f"CAST(id % {PARTITIONS} AS INT) AS partition",
    )
    held = frame.repartition(PARTITIONS, "partition").persist()
    held.count()
    return held


def write(frame: DataFrame, place: Place, contender: str, topic: str) -> None:
    """All rows at once."""
    format_, options = CONTENDERS[contender]
    writing = frame.write.format(format_).mode("append").options(**options)
    writing.option("kafka.bootstrap.servers", place.bootstrap).option("topic", topic).save()


def stream(
    spark: SparkSession, place: Place, contender: str, source_format: str, topic: str
) -> None:
    """A query from its start to its end."""
    format_, options = STREAM_CONTENDERS[contender]
    reader = spark.readStream.format(source_format)
    reader = reader.option("kafka.bootstrap.servers", place.bootstrap)
    reader = reader.option("subscribe", STREAM_SOURCE).option("startingOffsets", "earliest")
    rows = reader.option("maxOffsetsPerTrigger", BATCH_ROWS).load()
    with tempfile.TemporaryDirectory(prefix="bench-sink-") as checkpoint:
        writing = rows.select("key", "value", "partition").writeStream.format(format_)
        if format_ == "fencepost":
            writing = writing.option("sinkId", f"bench-{uuid.uuid4()}")
        writing = writing.options(**options).option("checkpointLocation", checkpoint)
        writing = writing.option("kafka.bootstrap.servers", place.bootstrap)
        query = writing.option("topic", topic).trigger(availableNow=True).start()
        query.awaitTermination()


def measure_writes(
    spark: SparkSession,
    place: Place,
    rows_of_small: int,
    wanted: int,
    budget: Budget,
    names: Sequence[str] = tuple(CONTENDERS),
) -> tuple[list[list[str]], list[str]]:
    """The table's lines, and what the comparison comes to."""
    lines: list[list[str]] = []
    told: list[str] = []
    for left, size in zip(range(len(SIZES) + 1, 1, -1), SIZES, strict=True):
        rows = rows_of_small if size == SIZES[0] else rows_of_small // ROWS_SHARE_OF_LARGE
        topic = f"written-{size}"
        create(place.bootstrap, topic)
        frame = some_rows(spark, rows, size)
        contenders: dict[str, Callable[[], None]] = {
            name: partial(write, frame, place, name, topic) for name in names
        }
        measured = compare(place, contenders, budget, wanted, left, f"{size} B")
        frame.unpersist()
        lines += [taken.row(name, size, rows) for name, taken in measured.items()]
        told += ratios(f"{size} B", measured, OURS, OWN, AT_LEAST_ONCE)
    return lines, told


def measure_stream(
    spark: SparkSession,
    place: Place,
    wanted: int,
    budget: Budget,
    names: Sequence[str] = tuple(STREAM_CONTENDERS),
    source_format: str = "kafka",
) -> tuple[list[list[str]], list[str]]:
    """What a micro-batch costs."""
    from tests.bench.pipeline.empty_sink import EmptyDataSource

    spark.dataSource.register(EmptyDataSource)
    topic = "written-by-streams"
    say("writing what the stream reads")
    fill(place.bootstrap, STREAM_SOURCE, BATCHES * BATCH_ROWS, SIZES[0])
    create(place.bootstrap, topic)
    contenders: dict[str, Callable[[], None]] = {
        name: partial(stream, spark, place, name, source_format, topic) for name in names
    }
    measured = compare(place, contenders, budget, wanted, 1, "stream")
    lines = [
        [
            name,
            f"{statistics.median(taken.seconds) / BATCHES * 1000:.0f}",
            f"{statistics.median(taken.cpu) / BATCHES * 1000:.0f}",
            f"{statistics.median(taken.python_cpu) / BATCHES * 1000:.0f}",
        ]
        for name, taken in measured.items()
    ]
    told = ratios("a micro-batch", measured, OURS, OWN, AT_LEAST_ONCE, EMPTY)
    told += ratios("a micro-batch", measured, EMPTY, OWN) if EMPTY in measured else []
    return lines, told


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of 100 bytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="begin no round later")
    parser.add_argument("--broker", choices=["fencepost", "kafka"], default="kafka")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only-stream", action="store_true", help="no rows of `df.write`, no page")
    given = parser.parse_args()
    if given.only_stream and given.out is not None:
        parser.error("a page has the rows of `df.write`, too")
    budget = Budget(given.minutes)
    with broker(given.broker) as place, session() as spark:
        lines: list[list[str]] = []
        told: list[str] = []
        if not given.only_stream:
            lines, told = measure_writes(spark, place, given.rows, given.rounds, budget)
        stream_lines, stream_told = measure_stream(spark, place, given.rounds, budget)
        name = place.name
    head = ["sink", *HEAD[1:]]
    stream_head = ["sink", "ms a micro-batch", "CPU ms a micro-batch", "of it Python"]
    print(plain_table(head, lines), *told, sep="\n")
    print(plain_table(stream_head, stream_lines), *stream_told, sep="\n")
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
            batches=BATCHES,
            batch_rows=BATCH_ROWS,
            stream_table=markdown_table(stream_head, stream_lines),
            stream_ratios="\n".join(stream_told),
        )
        # What a person has written below is kept.
        old = given.out.read_text(encoding="utf-8") if given.out.exists() else ""
        given.out.write_text(page + "\n" + END + old.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main()
