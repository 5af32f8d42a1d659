"""What Spark's planner and tasks call of the log source, called without a Spark session."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from fencepost_pipeline.segments import TRANSACTION_TOPIC
from fencepost_pipeline.spark.log_options import TABLES, parse
from fencepost_protocol.records.writer import build_batch

from tests.pipeline.harness import OFFSETS, read_one_by_one
from tests.pipeline.logs import data_batches, write_segment

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")

from fencepost_pipeline.spark.log_source import CorruptLogError, LogReader
from fencepost_pipeline.spark.options import OptionError
from pyspark.sql.datasource import InputPartition

Rows = list[dict[str, Any]]


def read(path: Path, **options: str) -> tuple[Rows, int]:
    """The rows of all tasks, and how many tasks there are; all goes through pickle, as in Spark."""
    reader = LogReader(parse({"path": str(path), **options}))
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    again: LogReader = pickle.loads(pickle.dumps(reader))
    rows: Rows = []
    for part in parts:
        for some in again.read(part):
            assert some.schema.equals(parse({"path": "x", **options}).schema)
            rows += some.to_pylist()
    return rows, len(parts)


def test_large_segments_are_several_tasks(tmp_path: Path) -> None:
    some = data_batches(60)
    write_segment(tmp_path, some, index_every=7)
    whole, tasks = read(tmp_path)
    assert (len(whole), tasks) == (180, 1)
    cut, tasks = read(tmp_path, splitBytes="2000")
    assert (cut, tasks) == (whole, 5)
    where = {"topic": "orders", "partition": 0}
    assert cut == [where | row for row in read_one_by_one(some)]


def test_only_what_is_wanted_is_read(tmp_path: Path) -> None:
    for folder in ("orders-0", "orders-1", "other-0"):
        write_segment(tmp_path, data_batches(1, records=1, size=0), folder=folder)
    write_segment(tmp_path, [], folder="empty-0")
    assert read(tmp_path)[1] == 3
    rows, tasks = read(tmp_path, topics="orders", partitions="1,2", columns="value,partition")
    assert (rows, tasks) == ([{"partition": 1, "value": b"0/0"}], 1)


def test_a_topic_that_is_not_there_is_told(tmp_path: Path) -> None:
    write_segment(tmp_path, [])
    write_segment(tmp_path, [], folder="__consumer_offsets-0")
    told = rf"topics names order, .* no log in {tmp_path}; there are: orders$"
    with pytest.raises(OptionError, match=told):
        read(tmp_path, topics="orders,order", partitions="0")
    assert read(tmp_path, topics="orders", partitions="7") == ([], 0)


def test_tables(tmp_path: Path) -> None:
    write_segment(tmp_path, data_batches(3), tail=b"torn")
    keys, values = zip(*OFFSETS, strict=True)
    commits = bytes(build_batch(keys, values, 77))
    write_segment(tmp_path, [commits], folder="__consumer_offsets-0")
    write_segment(tmp_path, [], folder=f"{TRANSACTION_TOPIC}-0")
    counts = {table: len(read(tmp_path, table=table)[0]) for table in TABLES}
    assert counts == {
        "batches": 4,
        "records": 15,
        "problems": 1,
        "transactions": 0,
        "offsets": 3,
        "groups": 2,
        "metadata": 0,
    }
    rows, _ = read(tmp_path, table="offsets", columns="group")
    assert rows == [{"group": "g"}, {"group": "g"}, {"group": "old"}]


def test_what_is_corrupt_ends_the_query_unless_it_may_be_skipped(tmp_path: Path) -> None:
    some = data_batches(3)
    path = write_segment(tmp_path, [some[0], some[1][:-2] + b"\1\0", some[2]])
    with pytest.raises(CorruptLogError, match=f"{path}, byte {len(some[0])}, offset 3: corrupt"):
        read(tmp_path)
    rows, _ = read(tmp_path, onCorrupt="skip")
    assert [row["offset"] for row in rows] == [0, 1, 2, 6, 7, 8]
    assert len(read(tmp_path, checkCrcs="false")[0]) == 9


def test_spark_runs_one_task_for_no_segments(tmp_path: Path) -> None:
    write_segment(tmp_path, [])
    assert list(LogReader(parse({"path": str(tmp_path)})).read(InputPartition(None))) == []
