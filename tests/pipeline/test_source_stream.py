"""A streaming query's reader as Spark calls it: on our broker and on Apache Kafka."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fencepost_client import NewTopic, TopicPartition
from fencepost_client.blocking import Admin, Producer

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")

from fencepost_pipeline.spark.data_loss import DataLossError, DataLossWarning
from fencepost_pipeline.spark.topic_discovery import Cluster
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from tests.pipeline.reading import (
    produce,
    stream,
    transact,
    values_of,
    wait_for_markers,
)
from tests.support.apache_kafka import free_ports
from tests.support.up import Up
from tests.support.waiting import polled


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
        polled(lambda: topic not in admin.list_topics())
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


def test_a_topic_goes_while_a_batch_is_planned(
    bootstrap: str, admin: Admin, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there when topics are looked up, and is not when their ends are asked for."""
    admin.create_topics([NewTopic(topic, 1)])
    with stream(bootstrap, subscribe=topic) as query:
        assert not query.has_more()
        ends_of = Cluster.ends_of_what_is_there

        def delete_first(cluster: Cluster, partitions: list[TopicPartition]) -> object:
            admin.delete_topics([topic])
            polled(lambda: not ends_of(cluster, partitions))  # Kafka answers the deletion before
            return ends_of(cluster, partitions)

        monkeypatch.setattr(Cluster, "ends_of_what_is_there", delete_first)
        with pytest.raises(DataLossError, match=f"{topic}-0 is gone: it was deleted"):
            query.has_more()


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
        wait_for_markers(bootstrap, topic)
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
