"""The source's reader as Spark calls it, without a session: on our broker and on Apache Kafka."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fencepost_client import NewTopic, TopicPartition
from fencepost_client.blocking import Admin, Producer

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")

from fencepost_pipeline.spark.data_source import FencepostDataSource
from fencepost_pipeline.spark.loss import DataLossError, DataLossWarning
from fencepost_pipeline.spark.options import OptionError
from fencepost_pipeline.spark.source import BatchReader, RangePartition, StreamReader
from fencepost_pipeline.spark.task import NothingCameError, UnreadableBatchError
from fencepost_protocol.records.batch import renew_crc
from fencepost_protocol.records.writer import build_batch
from pyspark.sql import datasource as ds
from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from tests.support.apache_kafka import free_ports
from tests.support.up import Up


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


# -- once -----------------------------------------------------------------------------------------


def test_transactions_are_seen_when_committed(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    transact(bootstrap, topic, "a", "b", commit=True)
    transact(bootstrap, topic, "c", "d", commit=False)
    transact(bootstrap, topic, "e", commit=True)
    assert read(bootstrap, subscribe=topic) == ["a", "b", "e"]
    assert read(bootstrap, subscribe=topic, isolation="read_uncommitted") == list("abcde")
    assert read(bootstrap, subscribe=topic, **{"kafka.isolation.level": "read_uncommitted"}) == [
        *"abcde"
    ]
    split = read(bootstrap, subscribe=topic, maxRecordsPerPartition=1)
    assert split == ["a", "b", "e"], "a task that begins inside of an aborted transaction"


def test_open_transactions_end_what_is_read(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, "a")
    with Producer(bootstrap, transactional_id=topic) as producer:
        producer.begin()
        producer.send(topic, b"open", partition=0)
        producer.flush()
        produce(bootstrap, topic, "behind")
        assert read(bootstrap, subscribe=topic) == ["a"]
        producer.commit()
    assert read(bootstrap, subscribe=topic) == ["a", "open", "behind"]


def test_offsets_and_times_bound_what_is_read(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 2)])
    with Producer(bootstrap) as producer:
        for number in range(10):
            producer.send(
                topic, b"%d" % number, partition=number % 2, timestamp_ms=1000 + number * 10
            )
            producer.flush()
    starting = json.dumps({topic: {"0": 2, "1": -2}})
    ending = json.dumps({topic: {"0": -1, "1": 1}})
    found = read(bootstrap, subscribe=topic, startingOffsets=starting, endingOffsets=ending)
    assert found == ["4", "6", "8", "1"]
    found = read(bootstrap, subscribe=topic, startingTimestamp=1040, endingTimestamp=1070)
    assert found == ["4", "6", "5"]
    times = json.dumps({topic: {"0": 1000, "1": 1090}})
    found = read(bootstrap, subscribe=topic, startingOffsetsByTimestamp=times)
    assert found == ["0", "2", "4", "6", "8", "9"]
    with pytest.raises(OptionError, match="has no record of 5000 ms or later; set starting"):
        read(bootstrap, subscribe=topic, startingTimestamp=5000)
    assert not read(
        bootstrap, subscribe=topic, startingTimestamp=5000,
        startingOffsetsByTimestampStrategy="latest",
    )  # fmt: skip


def test_topics_are_selected(bootstrap: str, admin: Admin, topic: str) -> None:
    one, two = f"{topic}-one", f"{topic}-two"
    admin.create_topics([NewTopic(one, 2), NewTopic(two, 1)])
    produce(bootstrap, one, "a")
    produce(bootstrap, one, "b", partition=1)
    produce(bootstrap, two, "c")
    assert read(bootstrap, subscribe=f"{one}, {two}") == ["a", "b", "c"]
    assert read(bootstrap, subscribePattern=f"{topic}-.*o") == ["c"]
    assert read(bootstrap, subscribePattern="no-topic-of-this-name") == []
    assert read(bootstrap, assign=json.dumps({one: [1], two: [0]})) == ["b", "c"]


def test_partitions_are_split(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    expected = [f"{number:03}" for number in range(200)]
    produce(bootstrap, topic, *expected)
    reader = batch_reader(bootstrap, subscribe=topic, minPartitions=3)
    partitions = reader.partitions()
    assert ranges(partitions) == [(0, 0, 66), (0, 66, 133), (0, 133, 200)]
    assert values_of(reader, partitions) == expected


def test_an_empty_topic(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    assert read(bootstrap, subscribe=topic) == []
    with stream(bootstrap, subscribe=topic, startingOffsets="earliest") as query:
        assert not query.has_more()
        produce(bootstrap, topic, "a")
        assert query.batch() == ["a"]


def test_filters_narrow_what_is_planned(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 2)])
    with Producer(bootstrap) as producer:
        for number in range(20):
            producer.send(
                topic, b"%d" % number, partition=number % 2, timestamp_ms=1000 + number * 1000
            )
            producer.flush()
    reader = batch_reader(bootstrap, subscribe=topic)
    offset = ds.LessThan(("offset",), 8)
    partition = ds.EqualTo(("partition",), 1)
    time = ds.GreaterThanOrEqual(("timestamp",), _utc(12))
    assert reader.pushFilters([offset, partition, time]) == [time]
    assert ranges(reader.partitions()) == [(1, 5, 8)]


def _utc(seconds: int) -> Any:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC)


def test_some_columns_are_read_when_only_these_are_wanted(
    bootstrap: str, admin: Admin, topic: str
) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, "a")
    source = data_source(bootstrap, subscribe=topic)
    schema = type(source.schema())([source.schema()["offset"], source.schema()["value"]])
    reader = source.reader(schema)
    batches: list[Any] = [batch for part in reader.partitions() for batch in reader.read(part)]
    (batch,) = batches
    assert batch.to_pylist() == [{"offset": 0, "value": b"a"}]
    with pytest.raises(OptionError, match="no column 'when'; there are key, value, topic"):
        source.reader(type(schema)().add("when", "long"))
    with pytest.raises(OptionError, match="column 'value' is binary, not string: cast it"):
        source.reader(type(schema)().add("value", "string"))


# -- what is refused ------------------------------------------------------------------------------


def test_mistakes_are_told(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 2)])
    with pytest.raises(OptionError, match="there is no no-such-topic: create it first"):
        read(bootstrap, subscribe=f"{topic},no-such-topic")
    with pytest.raises(OptionError, match=f"there is no {topic}-7"):
        read(bootstrap, assign=json.dumps({topic: [0, 7]}))
    with pytest.raises(OptionError, match=f"startingOffsets has none for {topic}-1"):
        read(bootstrap, subscribe=topic, startingOffsets=json.dumps({topic: {"0": 0}}))
    found = {topic: {"0": 0, "1": 0}, "another": {"0": 0}}
    with pytest.raises(OptionError, match="has one for another-0, which is not read"):
        read(bootstrap, subscribe=topic, startingOffsets=json.dumps(found))
    with pytest.raises(OptionError, match="startingOffsets cannot be latest"):
        read(bootstrap, subscribe=topic, startingOffsets="latest")
    with pytest.raises(OptionError, match="endingOffsets cannot be earliest"):
        read(bootstrap, subscribe=topic, endingOffsets="earliest")
    with pytest.raises(OptionError, match="a stream has no end"):
        Stream(bootstrap, subscribe=topic, endingOffsets="latest")


def test_what_is_gone_is_told_or_passed_over(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, *"abcde")
    admin.delete_records({TopicPartition(topic, 0): 3})
    starting = json.dumps({topic: {"0": 1}})
    ending = json.dumps({topic: {"0": 7}})
    with pytest.raises(DataLossError, match=r"begins at offset 3: .* from 1 on are gone\. .*false"):
        read(bootstrap, subscribe=topic, startingOffsets=starting)
    with pytest.raises(DataLossError, match="ends at offset 5: there is nothing up to 7"):
        read(bootstrap, subscribe=topic, endingOffsets=ending)
    with pytest.warns(DataLossWarning):
        found = read(
            bootstrap, subscribe=topic, startingOffsets=starting, endingOffsets=ending,
            failOnDataLoss="false",
        )  # fmt: skip
    assert found == ["d", "e"]


def test_what_goes_between_plan_and_task(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, *"abc")
    produce(bootstrap, topic, *"de")
    reader = batch_reader(bootstrap, subscribe=topic)
    planned = reader.partitions()
    admin.delete_records({TopicPartition(topic, 0): 3})
    with pytest.raises(DataLossError, match=r"nothing at offset 0 any more, .* begins at 3"):
        values_of(reader, planned)
    forgiving = batch_reader(bootstrap, subscribe=topic, failOnDataLoss="false")
    with pytest.warns(DataLossWarning):
        assert values_of(forgiving, planned) == ["d", "e"]


def test_a_task_does_not_wait_for_ever(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, "a")
    options = {"subscribe": topic, "kafkaConsumer.pollTimeoutMs": 50}
    reader = batch_reader(bootstrap, **options)
    (planned,) = reader.partitions()
    assert isinstance(planned, RangePartition)
    beyond = RangePartition(type(planned.whole)(planned.whole.where, 1, 9))
    with pytest.raises(NothingCameError, match=r"nothing came for 50 ms at offset 1"):
        values_of(reader, [beyond])


def test_a_batch_that_makes_no_sense_is_told(fencepost_broker: Up) -> None:
    """The broker believes large batches: their records are ours to find wrong."""
    poisoned = build_batch(None, [b"x" * 20] * 50, 1000)
    poisoned[-22] ^= 0x40  # the length of the last value
    renew_crc(poisoned)
    bootstrap = f"127.0.0.1:{fencepost_broker.port}"
    with fencepost_broker.connect() as connection:
        connection.create("poisoned")
        produce(bootstrap, "poisoned", "before")
        assert not connection.produce("poisoned", poisoned).error_code
    with pytest.raises(UnreadableBatchError, match=r"poisoned-0: .* begins at offset 1 cannot"):
        read(bootstrap, subscribe="poisoned")


# -- on and on ------------------------------------------------------------------------------------


def test_a_stream_begins_at_the_end_and_goes_on(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, "before")
    with stream(bootstrap, subscribe=topic) as query:
        assert not query.has_more()
        produce(bootstrap, topic, "a", "b")
        assert query.batch() == ["a", "b"]
        produce(bootstrap, topic, "c")
        query.restart(bootstrap, subscribe=topic)
        assert query.batch() == ["c"]
        assert not query.has_more()


def test_offsets_that_end_in_a_marker_stall_nothing(
    bootstrap: str, admin: Admin, topic: str
) -> None:
    """SPARK-24720: a range whose last offsets are markers or aborted has nothing to give there."""
    admin.create_topics([NewTopic(topic, 1)])
    with stream(bootstrap, subscribe=topic, startingOffsets="earliest") as query:
        transact(bootstrap, topic, "a", commit=True)
        assert query.batch() == ["a"]
        transact(bootstrap, topic, "x", commit=False)
        assert query.has_more()
        assert query.batch() == []
        assert not query.has_more()
        transact(bootstrap, topic, "b", commit=True)
        assert query.batch(ReadMaxRows(1)) == ["b"]
        assert query.batch() == []
        assert not query.has_more()


def test_micro_batches_are_limited(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 2)])
    produce(bootstrap, topic, *"abcdefgh")
    produce(bootstrap, topic, *"xy", partition=1)
    options = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 5}
    with stream(bootstrap, **options) as query:
        assert query.batch() == [*"abcd", "x"]
        assert query.batch() == [*"efgh", "y"]
        assert not query.has_more()
        produce(bootstrap, topic, *"123456")
        assert query.batch(ReadAllAvailable()) == [*"123456"]


def test_a_micro_batch_waits_for_enough(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, "a")
    options = {"subscribe": topic, "startingOffsets": "earliest", "minOffsetsPerTrigger": 3}
    with stream(bootstrap, **options) as query:
        assert query.batch() == ["a"], "the first one does not wait"
        produce(bootstrap, topic, "b", "c")
        assert not query.has_more()
        produce(bootstrap, topic, "d")
        assert query.batch() == ["b", "c", "d"]
        produce(bootstrap, topic, "e")
        assert not query.has_more()
        query.restart(bootstrap, **options | {"maxTriggerDelay": "0s"})
        assert query.batch() == ["e"]
        produce(bootstrap, topic, "f")
        assert query.batch() == ["f"], "the delay is over"


def test_available_now_is_what_was_there_at_first(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, *"abc")
    options = {
        "subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 2,
        "minOffsetsPerTrigger": 2,
    }  # fmt: skip
    with stream(bootstrap, **options) as query:
        query.reader.prepareForTriggerAvailableNow()
        produce(bootstrap, topic, "later")
        assert query.batch() == ["a", "b"]
        assert query.batch() == ["c"], "there is nothing to wait for"
        assert not query.has_more()


def test_a_topic_grows_under_a_query(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    with stream(bootstrap, subscribe=topic) as query:
        produce(bootstrap, topic, "a")
        assert not query.has_more(), "it begins at the end"
        admin.create_partitions({topic: 2})
        produce(bootstrap, topic, "b", "c", partition=1)
        produce(bootstrap, topic, "d")
        assert query.batch() == ["d", "b", "c"], "new partitions are read from their beginning"
        assert not query.has_more()


def test_a_topic_comes_under_a_pattern(bootstrap: str, admin: Admin, topic: str) -> None:
    with stream(bootstrap, subscribePattern=f"{topic}.*") as query:
        assert not query.has_more()
        admin.create_topics([NewTopic(topic, 1)])
        produce(bootstrap, topic, "a")
        assert query.batch() == ["a"]


def test_a_topic_goes_under_a_query(bootstrap: str, admin: Admin, topic: str) -> None:
    other = f"{topic}-other"
    admin.create_topics([NewTopic(topic, 1), NewTopic(other, 1)])
    options = {"subscribe": f"{topic},{other}", "startingOffsets": "earliest"}
    with stream(bootstrap, **options) as query:
        produce(bootstrap, topic, "a")
        assert query.batch() == ["a"]
        admin.delete_topics([topic])
        with pytest.raises(DataLossError, match=f"{topic}-0 is gone: it was deleted"):
            query.batch()
        query.restart(bootstrap, **options | {"failOnDataLoss": "false"})
        produce(bootstrap, other, "b")
        with pytest.warns(DataLossWarning, match="is gone"):
            assert query.batch() == ["b"]
        with pytest.warns(DataLossWarning, match="is gone"):
            assert not query.has_more()
        admin.create_topics([NewTopic(topic, 1)])
        produce(bootstrap, topic, "new", "newer")
        with pytest.warns(DataLossWarning, match="deleted and made anew"):
            assert query.batch() == ["new", "newer"], "from the beginning of the new one"
        assert not query.has_more()


def test_a_topic_is_made_anew_and_is_longer(bootstrap: str, admin: Admin, topic: str) -> None:
    """By its offsets alone it could go on as if nothing had been."""
    admin.create_topics([NewTopic(topic, 1)])
    with stream(bootstrap, subscribe=topic, startingOffsets="earliest") as query:
        produce(bootstrap, topic, "a")
        assert query.batch() == ["a"]
        admin.delete_topics([topic])
        admin.create_topics([NewTopic(topic, 1)])
        produce(bootstrap, topic, "x", "y")
        with pytest.raises(DataLossError, match="deleted and made anew"):
            query.batch()


def test_records_go_before_they_are_read(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    options = {"subscribe": topic, "startingOffsets": "earliest"}
    with stream(bootstrap, **options) as query:
        produce(bootstrap, topic, "a")
        assert query.batch() == ["a"]
        produce(bootstrap, topic, *"bcd")
        admin.delete_records({TopicPartition(topic, 0): 3})
        with pytest.raises(DataLossError, match="begins at offset 3: those from 1 on are gone"):
            query.batch()
        query.restart(bootstrap, **options | {"failOnDataLoss": "false"})
        with pytest.warns(DataLossWarning):
            assert query.batch() == ["d"]


def test_an_open_transaction_is_no_loss(bootstrap: str, admin: Admin, topic: str) -> None:
    """Who has read uncommitted is ahead of the last stable offset, and waits for it to catch up."""
    admin.create_topics([NewTopic(topic, 1)])
    options = {"subscribe": topic, "startingOffsets": "earliest"}
    with (
        stream(bootstrap, **options, isolation="read_uncommitted") as query,
        Producer(bootstrap, transactional_id=topic) as producer,
    ):
        producer.begin()
        producer.send(topic, b"open", partition=0)
        producer.flush()
        assert query.batch() == ["open"]
        query.restart(bootstrap, **options)
        assert not query.has_more()
        producer.commit()
        produce(bootstrap, topic, "next")
        assert query.batch() == ["next"]


def test_a_broker_dies_under_a_query(tmp_path: Path) -> None:
    """The reader connects again by itself, and each row is given once."""
    (port,) = free_ports(1)
    bootstrap = f"127.0.0.1:{port}"
    with Up("--port", str(port), "--data-dir", str(tmp_path)) as broker:
        with broker.connect() as connection:
            connection.create("t")
        with stream(bootstrap, subscribe="t", startingOffsets="earliest") as query:
            produce(bootstrap, "t", "a")
            assert query.batch() == ["a"]
            produce(bootstrap, "t", "b")
            start, end = query.plan()
            broker.kill()
            broker.start()
            planned = query.reader.partitions(start, end)
            assert values_of(query.reader, planned) == ["b"]
            query.checkpoint = json.dumps(end)
            assert not query.has_more()
            produce(bootstrap, "t", "c")
            assert query.batch() == ["c"]
