"""Data directories as brokers leave them: ours, and Apache Kafka's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fencepost_client import NewTopic, TopicPartition
from fencepost_client.blocking import Admin, Consumer, Producer
from fencepost_pipeline.segments import (
    Problem,
    ProblemKind,
    list_segments,
    read_batches,
    read_metadata,
    read_offsets,
    read_records,
    read_transactions,
    split,
)

from tests.support.apache_kafka import ApacheKafka
from tests.support.up import Up

VALUES = [b"order %d " % number + bytes(200) for number in range(1000)]


def write_with(bootstrap: str) -> None:
    """A transaction that is committed, with offsets; one that is aborted; plain records."""
    with Admin(bootstrap) as admin:
        admin.create_topics([NewTopic("orders", partitions=2)])
    with Consumer(bootstrap, group_id="billing") as consumer:
        group = consumer.group_metadata()
    with Producer(bootstrap, transactional_id="billing-1", compression="zstd") as producer:
        with producer.transaction() as transaction:
            transaction.send_many("orders", VALUES, partition=0)
            transaction.send_offsets({TopicPartition("orders", 1): 7}, group)
        producer.begin()
        producer.send_and_wait("orders", b"aborted", partition=0)
        producer.abort()
    with Producer(bootstrap, compression="lz4") as producer:
        producer.send_many("orders", VALUES[:100], partition=1)


@pytest.fixture(
    scope="module", params=["fencepost", pytest.param("kafka", marks=pytest.mark.conformance)]
)
def data_dir(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """What a broker has left behind."""
    if request.param == "kafka":
        with ApacheKafka() as kafka:
            write_with(kafka.bootstrap)
            kafka.stop()
            yield kafka.data_dir
    else:
        folder = tmp_path_factory.mktemp("data")
        with Up("--data-dir", str(folder)) as broker:
            write_with(f"127.0.0.1:{broker.port}")
        yield folder


def rows_of(data_dir: Path, reader: Callable[..., Any], *topics: str) -> list[dict[str, Any]]:
    problems: list[Problem] = []
    rows = [
        row
        for segment in list_segments([data_dir], topics=topics)
        for part in split(segment, 4096)
        for some in reader(part, on_problem=problems.append)
        for row in some.to_pylist()
    ]
    assert [problem for problem in problems if problem.kind is not ProblemKind.TORN_TAIL] == []
    return rows


def test_records(data_dir: Path) -> None:
    rows = rows_of(data_dir, read_records, "orders")
    of_zero = [row for row in rows if row["partition"] == 0]
    assert [row["value"] for row in of_zero] == [*VALUES, b"aborted"]
    assert {row["transactional"] for row in of_zero} == {True}
    assert [row["sequence"] for row in of_zero[:1000]] == list(range(1000))
    assert [row["value"] for row in rows if row["partition"] == 1] == VALUES[:100]


def test_batches(data_dir: Path) -> None:
    rows = rows_of(data_dir, read_batches, "orders")
    assert all(row["crc_ok"] for row in rows)
    markers = [row for row in rows if row["control"]]
    assert [row["control_type"] for row in markers] == ["commit", "abort"]
    assert {row["codec"] for row in rows if not row["control"]} == {"zstd", "lz4"}
    assert all(row["coordinator_epoch"] >= 0 for row in markers)


def test_transactions(data_dir: Path) -> None:
    rows = rows_of(data_dir, read_transactions, "__transaction_state")
    assert {row["transactional_id"] for row in rows} == {"billing-1"}
    states = [row["state"] for row in rows]
    assert {"Ongoing", "PrepareCommit", "CompleteCommit", "PrepareAbort", "CompleteAbort"} <= {
        *states
    }
    prepared = next(row for row in rows if row["state"] == "PrepareCommit")
    topics = {each["topic"]: each["partition_ids"] for each in prepared["partitions"]}
    assert topics["orders"] == [0]
    assert "__consumer_offsets" in topics


def test_offsets(data_dir: Path) -> None:
    (row,) = rows_of(data_dir, read_offsets, "__consumer_offsets")
    assert (row["group"], row["committed_topic"], row["committed_partition"]) == (
        "billing",
        "orders",
        1,
    )
    assert (row["committed_offset"], row["transactional"]) == (7, True)


def test_metadata(data_dir: Path) -> None:
    rows = rows_of(data_dir, read_metadata, "__cluster_metadata")
    assert "orders" in {row["name"] for row in rows if row["type"] == "TopicRecord"}
    assert {row["partition_id"] for row in rows if row["type"] == "PartitionRecord"} >= {0, 1}
    assert [row for row in rows if row["type"] == "ProducerIdsRecord"]
