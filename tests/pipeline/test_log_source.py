"""Log files through Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_protocol.records.compression import Compression

from tests.pipeline.harness import read_one_by_one
from tests.pipeline.logs import data_batches, write_segment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


def test_records_of_slices(spark: SparkSession, tmp_path: Path) -> None:
    some = data_batches(60, codec=Compression.LZ4)
    write_segment(tmp_path, some, index_every=7)
    write_segment(tmp_path, some, folder="other-0")
    frame = spark.read.format("fencepost-log").option("topics", "orders")
    found = frame.option("splitBytes", "2000").load(str(tmp_path))
    rows = [row.asDict(recursive=True) for row in found.collect()]
    assert found.rdd.getNumPartitions() > 1
    for row in rows:
        row["key"], row["value"] = bytes(row["key"]), bytes(row["value"])
        assert (row.pop("topic"), row.pop("partition")) == ("orders", 0)
    assert sorted(rows, key=lambda row: row["offset"]) == read_one_by_one(some)


def test_the_columns_of_every_table_are_what_spark_expects(
    spark: SparkSession, tmp_path: Path
) -> None:
    from fencepost_pipeline.spark.log_options import TABLES
    from pyspark.sql.pandas.types import to_arrow_schema

    for table, (schema, _) in TABLES.items():
        frame = spark.read.format("fencepost-log").option("table", table).load(str(tmp_path))
        assert to_arrow_schema(frame.schema).equals(schema), table


def test_no_segments_are_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    write_segment(tmp_path, [])
    assert spark.read.format("fencepost-log").load(str(tmp_path)).count() == 0


def test_corrupt_data_end_the_query_unless_they_may_be_skipped(
    spark: SparkSession, tmp_path: Path
) -> None:
    some = data_batches(3)
    write_segment(tmp_path, [some[0], some[1][:-1] + b"\1", some[2]])
    frame = spark.read.format("fencepost-log").option("columns", "offset")
    with pytest.raises(Exception, match=r"byte \d+, offset 3: corrupt: .*\s*.*'onCorrupt', 'skip'"):
        frame.load(str(tmp_path)).count()
    rows = frame.option("onCorrupt", "skip").load(str(tmp_path)).collect()
    assert [row.offset for row in rows] == [0, 1, 2, 6, 7, 8]


def test_wrong_options_and_paths_are_told(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.read.format("fencepost-log")
    with pytest.raises(Exception, match="the nearest is 'topics'"):
        frame.option("topic", "orders").load(str(tmp_path))
    with pytest.raises(Exception, match="holds no log"):
        spark.read.format("fencepost-log").load(str(tmp_path)).count()
