"""``format("fencepost")`` in a Spark session, on our broker and on Apache Kafka.

What the readers decide is in ``test_source_reader.py`` and ``test_source_stream.py``; here is what
only Spark can show.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fencepost_client import NewTopic
from fencepost_client.blocking import Admin, Producer

from tests.pipeline.reading import produce, wait_for_markers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = [pytest.mark.slow, pytest.mark.conformance]  # Spark needs a JVM

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def load(spark: SparkSession, bootstrap: str, **options: Any) -> DataFrame:
    reader = spark.read.format("fencepost").option("kafka.bootstrap.servers", bootstrap)
    return reader.options(**options).load()


def test_all_columns(spark: SparkSession, bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 2)])
    with Producer(bootstrap, compression="lz4") as producer:
        producer.send(topic, b"one", key=b"k", partition=1, timestamp_ms=1_700_000_000_123)
        producer.send(topic, None, key=None, partition=1, headers=[("h", b"x"), ("h", None)])
        producer.send(topic, b"two", partition=0)
    frame = load(spark, bootstrap, subscribe=topic, includeHeaders="true")
    assert frame.schema.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,"
        "timestamp:timestamp,timestampType:int,headers:array<struct<key:string,value:binary>>>"
    )
    rows = {(row.partition, row.offset): row for row in frame.collect()}
    assert sorted(rows) == [(0, 0), (1, 0), (1, 1)]
    first = rows[1, 0]
    assert (first.key, first.value, first.topic, first.timestampType) == (b"k", b"one", topic, 0)
    assert first.timestamp.timestamp() == 1_700_000_000.123
    assert first.headers is None
    second = rows[1, 1]
    assert (second.key, second.value) == (None, None)
    assert [tuple(each) for each in second.headers] == [("h", b"x"), ("h", None)]


def dying_once(folder: Path) -> Any:
    """The source, whose first process that reads is killed behind its first rows."""
    from fencepost_pipeline.spark.data_source import FencepostDataSource
    from fencepost_pipeline.spark.source import BatchReader

    died = folder / "died"

    class Reader(BatchReader):
        def read(self, partition: Any) -> Iterator[Any]:
            for rows in super().read(partition):
                yield rows
                if not died.exists():
                    died.touch()
                    os.kill(os.getpid(), signal.SIGKILL)

    class Source(FencepostDataSource):
        @classmethod
        def name(cls) -> str:
            return "dying"

        def reader(self, schema: Any) -> Any:
            made = super().reader(schema)
            made.__class__ = Reader
            return made

    return Source


def test_a_task_that_is_killed_while_it_reads_is_run_again(
    spark: SparkSession, bootstrap: str, admin: Admin, topic: str, tmp_path: Path
) -> None:
    admin.create_topics([NewTopic(topic, 2)])
    values = [b"%04d" % number for number in range(100)]
    with Producer(bootstrap) as producer:
        for number, value in enumerate(values):
            producer.send(topic, value, partition=number % 2)
    spark.dataSource.register(dying_once(tmp_path))
    reader = spark.read.format("dying").option("kafka.bootstrap.servers", bootstrap)
    rows = reader.options(subscribe=topic).load().collect()
    assert (tmp_path / "died").exists()
    assert sorted(row.value for row in rows) == values


@pytest.mark.parametrize("is_pushed", [False, True])
def test_filters_find_the_same_whether_they_are_pushed_or_not(
    spark: SparkSession, fencepost_broker: Any, is_pushed: bool
) -> None:
    bootstrap = f"127.0.0.1:{fencepost_broker.port}"
    topic = f"filters-{is_pushed}"
    with Admin(bootstrap) as admin:
        admin.create_topics([NewTopic(topic, 3)])
    with Producer(bootstrap) as producer:
        for number in range(30):
            producer.send(topic, b"%d" % number, partition=number % 3)
    spark.conf.set(PUSHDOWN, str(is_pushed).lower())
    try:
        frame = load(spark, bootstrap, subscribe=topic)
        found = frame.where("partition = 1 and offset >= 4 and timestamp > '2020-01-01'")
        assert found.rdd.getNumPartitions() == (1 if is_pushed else 3)
        values = sorted(row.value for row in found.collect())
    finally:
        spark.conf.unset(PUSHDOWN)
    assert values == sorted(b"%d" % number for number in range(13, 30, 3))


def test_a_mistake_is_told_by_spark(spark: SparkSession) -> None:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException, match="the nearest is 'startingOffsets'"):
        load(spark, "127.0.0.1:1", subscribe="t", startingOffset="earliest")


class Sink:
    """Takes micro-batches, by their numbers: one that comes again takes its own place."""

    def __init__(self) -> None:
        self.batches: dict[int, list[str]] = {}

    def __call__(self, frame: DataFrame, number: int) -> None:
        self.batches[number] = sorted(row.value.decode() for row in frame.collect())

    def values(self) -> list[str]:
        return sorted(value for batch in self.batches.values() for value in batch)


def start(
    spark: SparkSession, bootstrap: str, sink: Callable[[DataFrame, int], None], checkpoint: Path,
    *, once: bool = False, **options: Any,
) -> StreamingQuery:  # fmt: skip
    reader = spark.readStream.format("fencepost").option("kafka.bootstrap.servers", bootstrap)
    frame = reader.option("startingOffsets", "earliest").options(**options).load()
    writer = frame.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint))
    if once:
        writer = writer.trigger(availableNow=True)
    return writer.start()


def test_available_now_and_again(
    spark: SparkSession, bootstrap: str, admin: Admin, topic: str, tmp_path: Path
) -> None:
    """Two runs over one checkpoint: each row once, markers stall nothing, both runs end."""
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, *"abcde")
    sink = Sink()
    options: dict[str, Any] = {"subscribe": topic, "maxOffsetsPerTrigger": 3, "once": True}
    query = start(spark, bootstrap, sink, tmp_path, **options)
    query.awaitTermination()
    assert sink.batches == {0: ["a", "b", "c"], 1: ["d", "e"]}
    with Producer(bootstrap, transactional_id=topic) as producer:
        for value, commits in (("never", False), ("f", True)):
            producer.begin()
            producer.send(topic, value.encode(), partition=0)
            producer.flush()
            (producer.commit if commits else producer.abort)()
    wait_for_markers(bootstrap, topic)
    query = start(spark, bootstrap, sink, tmp_path, **options)
    query.awaitTermination()
    assert sink.values() == [*"abcdef"]
    assert query.exception() is None


def test_a_query_goes_on_while_its_topic_grows(
    spark: SparkSession, bootstrap: str, admin: Admin, topic: str, tmp_path: Path
) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    sink = Sink()
    query = start(spark, bootstrap, sink, tmp_path, subscribe=topic)
    try:
        produce(bootstrap, topic, "a")
        query.processAllAvailable()
        assert sink.values() == ["a"]
        admin.create_partitions({topic: 3})
        produce(bootstrap, topic, "b", partition=2)
        query.processAllAvailable()
        assert sink.values() == ["a", "b"]
        end = query.lastProgress["sources"][0]["endOffset"] if query.lastProgress else {}
        assert '"2": 1' in str(end)
    finally:
        query.stop()


def test_a_query_ends_when_its_topic_goes(
    spark: SparkSession, bootstrap: str, admin: Admin, topic: str, tmp_path: Path
) -> None:
    from pyspark.errors import StreamingQueryException

    admin.create_topics([NewTopic(topic, 1)])
    query = start(spark, bootstrap, Sink(), tmp_path, subscribe=topic)
    try:
        produce(bootstrap, topic, "a")
        query.processAllAvailable()
        admin.delete_topics([topic])
        with pytest.raises(StreamingQueryException, match=f"{topic}-0 is gone: it was deleted"):
            query.awaitTermination()
    finally:
        query.stop()
