"""``exactly_once_sink``, which distributes rows by partition; ``by_partition``, that step alone.

The plain sink writes rows as the query distributes them, and fails if two tasks write to one
partition. ``exactly_once_sink`` computes partitions first and shuffles the rows by them, so that it
can write any query, at the cost of a shuffle.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import IntegerType, StructField, StructType

from fencepost_pipeline.sink import driver
from fencepost_pipeline.sink.rows import TYPES, Rows, check_columns
from fencepost_pipeline.sink.settings import SinkSettings
from fencepost_pipeline.spark.sink import QUERY_ID, columns_of
from fencepost_pipeline.spark.sink_options import read_batch_options, read_stream_options

_SECONDS: Final = {"millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86_400}


def exactly_once_sink(
    df: DataFrame,
    options: Mapping[str, str],
    *,
    trigger: Mapping[str, Any] | None = None,
    output_mode: str = "append",
    query_name: str | None = None,
) -> StreamingQuery:
    """Start a query that writes a stream exactly once, with any distribution of rows.

        query = exactly_once_sink(
            totals,
            {
                "kafka.bootstrap.servers": "localhost:9092",
                "topic": "totals",
                "sinkId": "orders-to-totals",
                "checkpointLocation": "/var/spark/orders-to-totals",
            },
            trigger={"processingTime": "10 seconds"},
        )

    ``options`` are those of ``df.writeStream.format("fencepost")``, ``trigger`` those of Spark's
    ``DataStreamWriter.trigger``. ``output_mode`` is for queries that aggregate: ``update`` writes a
    group whenever it has changed, ``append`` once, when the watermark has passed it.
    """
    settings = read_stream_options(options)
    check_columns(columns_of(df.schema), settings.topic)
    _check_trigger(trigger or {}, settings)
    start = df.writeStream.outputMode(output_mode).foreachBatch(_writer_of(options, settings))
    if query_name is not None:
        start = start.queryName(query_name)
    if settings.checkpoint is not None:
        start = start.option("checkpointLocation", settings.checkpoint)
    if trigger:
        start = start.trigger(**trigger)
    return start.start()


def by_partition(df: DataFrame, options: Mapping[str, str]) -> DataFrame:
    """Set the partition of each row, and move all rows of a partition to one task.

        options = {"kafka.bootstrap.servers": "localhost:9092", "topic": "totals"}
        rows = by_partition(df, options)
        rows.write.format("fencepost").mode("append").options(**options).save()

    Use it before ``df.write`` of rows whose keys choose their partitions; it costs a shuffle.
    ``options`` are those of ``df.write``. Columns that the sink does not write are dropped.
    """
    settings, _ = read_batch_options(options)
    check_columns(columns_of(df.schema), settings.topic)
    return distributed(df, settings)


def _writer_of(
    options: Mapping[str, str], settings: SinkSettings
) -> Callable[[DataFrame, int], None]:
    def write(batch: DataFrame, batch_id: int) -> None:
        query_id = batch.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
        writing = distributed(batch, settings).write.format("fencepost").mode("append")
        given = {**options, "batchId": str(batch_id), "queryId": str(query_id)}
        writing.options(**given).save()

    return write


def distributed(batch: DataFrame, settings: SinkSettings) -> DataFrame:
    """The rows with a partition each, every partition's in one task."""
    kept = [field for field in batch.schema.fields if field.name in TYPES]
    by = ["partition"]
    if settings.topic is None:
        by.insert(0, "topic")
    else:
        kept = [field for field in kept if field.name != "topic"]
    others = [field for field in kept if field.name != "partition"]
    schema = StructType([*others, StructField("partition", IntegerType())])
    rows = batch.select(*(field.name for field in kept))
    return rows.mapInArrow(_placing(settings), schema).repartition(*by)


def _placing(settings: SinkSettings) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        known: dict[str, int] = {}

        def count_of(topic: str) -> int:
            if topic not in known:
                known[topic] = driver.partition_count(settings, topic)
            return known[topic]

        context = TaskContext.get()
        first = context.partitionId() if context is not None else 0
        for number, batch in enumerate(batches):
            # Rows without a key spread, an Arrow batch to each partition in turn.
            yield Rows(settings.topic, count_of, first + number).placed(batch)

    return place


def _check_trigger(trigger: Mapping[str, Any], settings: SinkSettings) -> None:
    """A batch that just keeps up with its trigger takes as long as that."""
    interval = str(trigger.get("processingTime", ""))
    found = re.fullmatch(r"\s*(?:interval\s+)?(\d+)\s*([a-z]+?)s?\s*", interval.lower())
    if found is None or found[2] not in _SECONDS:
        return
    seconds = int(found[1]) * _SECONDS[found[2]]
    if seconds * 1000 >= settings.transaction_timeout_ms:
        warnings.warn(
            f"a batch may take as long as its trigger interval, {interval}, but its transaction is "
            f"aborted after {settings.transaction_timeout_ms / 1000:g} s: set "
            f"kafka.transaction.timeout.ms higher, up to the broker's transaction.max.timeout.ms.",
            stacklevel=3,
        )
