"""The source's readers, driven as Spark drives them, without a session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fencepost_client import LATEST, TopicPartition
from fencepost_client.blocking import Admin, Producer

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")

from fencepost_pipeline.spark.data_source import FencepostDataSource
from fencepost_pipeline.spark.source import BatchReader, RangePartition, StreamReader
from pyspark.sql.datasource import CaseInsensitiveDict


def data_source(bootstrap: str, **options: Any) -> FencepostDataSource:
    given = {name: str(value) for name, value in options.items()}
    given["kafka.bootstrap.servers"] = bootstrap
    return FencepostDataSource(CaseInsensitiveDict(given))


def values_of(reader: BatchReader | StreamReader, partitions: Any) -> list[str]:
    """What tasks read, in the order of partitions and offsets."""
    rows = [
        row
        for partition in partitions
        for batch in reader.read(partition)
        for row in batch.to_pylist()
    ]
    rows.sort(key=lambda row: (row["topic"], row["partition"], row["offset"]))
    return [row["value"].decode() for row in rows]


def ranges(partitions: Any) -> list[tuple[int, int, int]]:
    wholes = [each.whole for each in partitions if isinstance(each, RangePartition)]
    return [(whole.where.partition, whole.start, whole.end) for whole in wholes]


def batch_reader(bootstrap: str, **options: Any) -> BatchReader:
    source = data_source(bootstrap, **options)
    reader = source.reader(source.schema())
    assert isinstance(reader, BatchReader)
    return reader


def read(bootstrap: str, **options: Any) -> list[str]:
    reader = batch_reader(bootstrap, **options)
    return values_of(reader, reader.partitions())


class Stream:
    """A query as Spark drives it: offsets are kept as texts, and each batch is planned by two."""

    def __init__(self, bootstrap: str, **options: Any) -> None:
        source = data_source(bootstrap, **options)
        reader = source.streamReader(source.schema())
        assert isinstance(reader, StreamReader)
        self.reader = reader
        self.checkpoint = ""

    def restart(self, bootstrap: str, **options: Any) -> None:
        checkpoint = self.checkpoint
        self.reader.stop()
        self.__init__(bootstrap, **options)  # type: ignore[misc]
        self.checkpoint = checkpoint

    def plan(self, limit: Any = None) -> tuple[Any, Any]:
        if not self.checkpoint:
            self.checkpoint = json.dumps(self.reader.initialOffset())
        start = json.loads(self.checkpoint)
        end = self.reader.latestOffset(start, limit or self.reader.getDefaultReadLimit())
        return start, end

    def has_more(self) -> bool:
        start, end = self.plan()
        return json.dumps(start) != json.dumps(end)

    def batch(self, limit: Any = None) -> list[str]:
        start, end = self.plan(limit)
        found = values_of(self.reader, self.reader.partitions(start, end))
        self.checkpoint = json.dumps(end)
        return found


@contextmanager
def stream(bootstrap: str, **options: Any) -> Iterator[Stream]:
    query = Stream(bootstrap, **options)
    try:
        yield query
    finally:
        query.reader.stop()


def produce(bootstrap: str, topic: str, *values: str, partition: int = 0) -> None:
    with Producer(bootstrap) as producer:
        for value in values:
            producer.send(topic, value.encode(), partition=partition)


def transact(bootstrap: str, topic: str, *values: str, commit: bool) -> None:
    with Producer(bootstrap, transactional_id=topic) as producer:
        producer.begin()
        for value in values:
            producer.send(topic, value.encode(), partition=0)
        producer.flush()
        if commit:
            producer.commit()
        else:
            producer.abort()
    wait_for_markers(bootstrap, topic)


def wait_for_markers(bootstrap: str, topic: str) -> None:
    """Until nothing is open in the topic's first partition: Kafka answers EndTxn before markers."""
    where = TopicPartition(topic, 0)
    with Admin(bootstrap) as admin:
        while True:
            ends = [admin.list_offsets({where: LATEST}, read_committed=it) for it in (False, True)]
            if ends[0][where].offset == ends[1][where].offset:
                return
