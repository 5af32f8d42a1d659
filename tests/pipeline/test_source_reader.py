"""The reader of a batch query as Spark calls it, without a session: on ours and on Apache Kafka."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fencepost_client import NewTopic, TopicPartition
from fencepost_client.blocking import Admin, Consumer, Producer

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")

from fencepost_pipeline.spark.data_loss import DataLossError, DataLossWarning
from fencepost_pipeline.spark.offset_ranges import OffsetRange
from fencepost_pipeline.spark.options import OptionError
from fencepost_pipeline.spark.read_task import NothingCameError, UnreadableBatchError, _Batches
from fencepost_pipeline.spark.source import RangePartition
from fencepost_pipeline.spark.source_options import SourceOptions
from fencepost_protocol.records.batch import renew_crc
from fencepost_protocol.records.writer import build_batch
from pyspark.sql import datasource as ds

from tests.pipeline.reading import (
    Stream,
    batch_reader,
    data_source,
    produce,
    ranges,
    read,
    stream,
    transact,
    values_of,
    wait_for_markers,
)
from tests.support.up import Up
from tests.support.waiting import polled


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
    wait_for_markers(bootstrap, topic)
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


def test_a_range_is_read_without_what_is_behind_it(
    bootstrap: str, admin: Admin, topic: str
) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, *["x" * 15_000] * 200)
    where = TopicPartition(topic, 0)
    options = SourceOptions.read(data_source(bootstrap, subscribe=topic).options)
    with Consumer(bootstrap, max_partition_fetch_bytes=8 << 20) as consumer:
        read = list(_Batches(consumer, OffsetRange(where, 0, 20), options, None))
        assert read
        position = consumer._subject._fetching().fetcher.positions[where]
        assert 20 <= position.fetch_offset < 40


def test_an_empty_topic(bootstrap: str, admin: Admin, topic: str) -> None:
    admin.create_topics([NewTopic(topic, 1)])
    polled(lambda: topic in admin.list_topics(), "Apache Kafka tells of a topic a moment later")
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
    with pytest.raises(OptionError, match="no topic or partition no-such-topic: create it"):
        read(bootstrap, subscribe=f"{topic},no-such-topic")
    with pytest.raises(OptionError, match=f"no topic or partition {topic}-7"):
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


@pytest.mark.parametrize("is_longer", [True, False])
def test_a_topic_is_made_anew_between_plan_and_task(
    bootstrap: str, admin: Admin, topic: str, is_longer: bool
) -> None:
    """Its offsets say nothing, or that there is something to wait for."""
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, *"abc")
    planned = batch_reader(bootstrap, subscribe=topic).partitions()
    admin.delete_topics([topic])
    admin.create_topics([NewTopic(topic, 1)])
    produce(bootstrap, topic, *("wxyz" if is_longer else "w"))
    with pytest.raises(DataLossError, match=f"{topic} was deleted and made anew"):
        values_of(batch_reader(bootstrap, subscribe=topic), planned)
    forgiving = batch_reader(bootstrap, subscribe=topic, failOnDataLoss="false")
    with pytest.warns(DataLossWarning, match="made anew"):
        assert values_of(forgiving, planned) == []


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
