"""Spark's own way through the sink: queries, restarts, and what people read when it refuses."""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fencepost_pipeline.sink.driver import begin
from fencepost_pipeline.sink.marker import Marker

from tests.pipeline.sink.brokers import Running

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.conformance]  # Spark needs a JVM


class Query:
    """Files of lines, one a micro-batch, into a topic."""

    def __init__(self, spark: SparkSession, cluster: Running, topic: str, folder: Path) -> None:
        self.spark = spark
        self.cluster = cluster
        self.topic = topic
        self.source = folder / "in"
        self.checkpoint = folder / "checkpoint"
        self.source.mkdir()
        self.files = 0

    def options(self, **others: str) -> dict[str, str]:
        """Of the sink."""
        return {
            "kafka.bootstrap.servers": self.cluster.bootstrap,
            "topic": self.topic,
            "sinkId": self.topic,
            "checkpointLocation": str(self.checkpoint),
            **others,
        }

    def add(self, *values: str) -> None:
        """One more micro-batch."""
        path = self.source / f"{self.files}.txt"
        path.write_text("".join(f"{value}\n" for value in values))
        os.utime(path, (self.files, self.files))
        self.files += 1

    def lines(self) -> DataFrame:
        """The stream."""
        return self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(self.source))

    def run(self, rows: DataFrame | None = None, **options: str) -> None:
        """Write what there is, and end."""
        df = rows if rows is not None else self.lines().coalesce(1)
        start = df.writeStream.format("fencepost").queryName("a name of its own")
        start = start.options(**self.options(**options))
        start.trigger(availableNow=True).start().awaitTermination()

    def fails(self, rows: DataFrame | None = None, **options: str) -> str:
        """What Spark says when it cannot be written."""
        with pytest.raises(Exception) as caught:  # noqa: PT011 - Spark's own classes
            self.run(rows, **options)
        return str(caught.value)

    def marker(self) -> Marker | None:
        """What the sink knows."""
        return begin(self.cluster.settings(self.topic, self.topic)).marker


@pytest.fixture
def query(spark: SparkSession, bootstrap: str, topic: str, tmp_path: Path) -> Any:
    cluster = Running.at(bootstrap)
    cluster.create(topic)
    return Query(spark, cluster, topic, tmp_path)


def once(*values: str) -> Counter[bytes | None]:
    return Counter(value.encode() for value in values)


def test_a_stream_through_restarts(query: Query) -> None:
    query.add("a", "b")
    query.add("c")
    query.run()
    query.add("d", "e")
    query.run()
    assert query.cluster.values(query.topic) == once("a", "b", "c", "d", "e")
    marker = query.marker()
    assert marker is not None
    assert marker.next_batch == 3
    assert marker.sources is not None
    assert "logOffset" in marker.sources

    # Spark dies between EndTxn and its own note: it runs the batch again.
    for path in (query.checkpoint / "commits").glob("*2*"):
        path.unlink()
    query.add("f")
    query.run()
    assert query.cluster.values(query.topic) == once("a", "b", "c", "d", "e", "f")

    # Its checkpoint is lost.
    shutil.rmtree(query.checkpoint)
    told = query.fails()
    assert "was lost" in told
    assert "new sinkId" in told
    assert query.cluster.values(query.topic) == once("a", "b", "c", "d", "e", "f")


def test_refusals_that_people_read(query: Query) -> None:
    query.add("a", "b", "c", "d")
    wrong = query.lines().selectExpr("value", "0 AS partition").repartition(2)
    told = query.fails(wrong)
    assert "Tasks 0 and 1 both wrote" in told
    assert "df.repartition('topic', 'partition')" in told
    assert "no column 'value'" in query.fails(query.lines().selectExpr("value AS text"))
    assert "'value' is int" in query.fails(query.lines().selectExpr("1 AS value"))
    assert "the nearest is 'sinkId'" in query.fails(sinkID2="x")
    far = query.lines().selectExpr("value", "7 AS partition").coalesce(1)
    assert "partition 7" in query.fails(far)
    assert not query.cluster.values(query.topic)
    query.run()
    assert query.cluster.values(query.topic) == once("a", "b", "c", "d")


def test_the_helper_distributes_any_query(query: Query) -> None:
    from fencepost_pipeline.spark import exactly_once_sink

    rows = query.lines().selectExpr("value", "value AS key").repartition(3)
    values = [f"{number:03}" for number in range(60)]
    for first in range(0, 60, 20):
        query.add(*values[first : first + 20])
    options = query.options(**{"kafka.transaction.timeout.ms": "1000"})
    with pytest.warns(UserWarning, match="trigger interval"):
        exactly_once_sink(rows, options, trigger={"processingTime": "10 seconds"}).stop()
    for _ in range(2):
        exactly_once_sink(rows, query.options(), trigger={"availableNow": True}).awaitTermination()
        for path in (query.checkpoint / "commits").glob("*2*"):
            path.unlink()
    assert query.cluster.values(query.topic) == once(*values)
    marker = query.marker()
    assert marker is not None
    assert marker.next_batch == 3


def test_the_helper_writes_totals_that_grow(query: Query) -> None:
    from fencepost_pipeline.spark import exactly_once_sink

    totals = query.lines().groupBy("value").count()
    rows = totals.selectExpr("value AS key", "concat(value, count) AS value")
    query.add("a", "b", "a")
    query.add("b")
    options, now = query.options(), {"availableNow": True}
    exactly_once_sink(rows, options, trigger=now, output_mode="update").awaitTermination()
    assert query.cluster.values(query.topic) == once("a2", "b1", "b2")
    for path in (query.checkpoint / "commits").glob("*1*"):
        path.unlink()
    query.add("a", "b")
    exactly_once_sink(rows, options, trigger=now, output_mode="update").awaitTermination()
    assert query.cluster.values(query.topic) == once("a2", "b1", "b2", "a3", "b3")


def test_a_query_with_state_goes_on_behind_a_batch_that_is_skipped(query: Query) -> None:
    """What it adds to Spark's state is there all the same."""
    rows = query.lines().dropDuplicates(["value"]).coalesce(1)
    query.add("a", "b", "a")
    query.add("c", "a")
    query.run(rows)
    for path in (query.checkpoint / "commits").glob("*1*"):
        path.unlink()
    query.add("c", "d")
    query.run(rows)
    assert query.cluster.values(query.topic) == once("a", "b", "c", "d")


def dying_once(folder: Path) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Gives rows as they are; the first process that does it is killed behind some of them."""
    died = folder / "died"

    def give(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            if not died.exists():
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    return give


def test_a_task_that_is_run_again_by_spark_fails_the_batch(query: Query, tmp_path: Path) -> None:
    lines = query.lines().coalesce(1)
    query.add("a", "b", "c")
    told = query.fails(lines.mapInArrow(dying_once(tmp_path), lines.schema))
    assert "attempt 2" in told
    assert query.marker() is None
    query.run()
    assert query.cluster.values(query.topic) == once("a", "b", "c")


def test_a_task_before_the_helpers_shuffle_may_be_run_again(query: Query, tmp_path: Path) -> None:
    from fencepost_pipeline.spark import exactly_once_sink

    lines = query.lines()
    query.add("a", "b", "c")
    rows = lines.mapInArrow(dying_once(tmp_path), lines.schema)
    exactly_once_sink(rows, query.options(), trigger={"availableNow": True}).awaitTermination()
    assert (tmp_path / "died").exists()
    assert query.cluster.values(query.topic) == once("a", "b", "c")


def test_a_batch_of_many_tasks_goes_by_its_keys(query: Query, spark: SparkSession) -> None:
    from fencepost_pipeline.spark import by_partition

    given = {"kafka.bootstrap.servers": query.cluster.bootstrap, "topic": query.topic}
    rows = spark.range(100, numPartitions=4).selectExpr(
        "CAST(id % 7 AS STRING) AS key", "CAST(id AS STRING) AS value", "id"
    )
    with pytest.raises(Exception, match=r"df = by_partition\(df, options\)"):
        rows.write.format("fencepost").mode("append").options(**given).save()
    assert not query.cluster.values(query.topic)
    placed = by_partition(rows, given)
    placed.write.format("fencepost").mode("append").options(**given).save()
    assert query.cluster.values(query.topic) == once(*map(str, range(100)))


def test_a_batch_is_one_transaction(query: Query, spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [("k", "a", [("h", b"1")], 1), (None, None, None, 0)],
        "key STRING, value STRING, headers ARRAY<STRUCT<key: STRING, value: BINARY>>, "
        "partition INT",
    )
    given = {"kafka.bootstrap.servers": query.cluster.bootstrap, "kafka.compression.type": "zstd"}
    writing = rows.coalesce(1).selectExpr("*", f"'{query.topic}' AS topic").write
    writing.format("fencepost").mode("append").options(**given).save()
    first, second = query.cluster.records(query.topic)
    assert (first.key, first.value, first.headers) == (None, None, ())
    assert (second.key, second.value) == (b"k", b"a")
    assert list(second.headers) == [("h", b"1")]
    with pytest.raises(Exception, match="MESSAGE_TOO_LARGE"):
        spark.sql("SELECT repeat('x', 3000000) AS value UNION ALL SELECT 'y'").coalesce(
            1
        ).write.format("fencepost").mode("append").options(
            topic=query.topic, **given | {"kafka.compression.type": "none"}
        ).save()
    assert len(query.cluster.records(query.topic)) == 2
