"""Filters that are pushed down: what they leave to be read, and what Spark still has to look at."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from fencepost_client import TopicPartition
from fencepost_pipeline.spark.offset_ranges import OffsetRange

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")

from fencepost_pipeline.spark.filters import Narrowing
from pyspark.sql import datasource as ds

WHERES = [TopicPartition(topic, partition) for topic in ("a", "b") for partition in range(3)]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def push(*filters: ds.Filter) -> tuple[Narrowing, list[ds.Filter]]:
    narrowing = Narrowing()
    return narrowing, narrowing.push(filters)


@pytest.mark.parametrize(
    ("filter_", "allowed"),
    [
        (ds.EqualTo(("topic",), "a"), "a0 a1 a2"),
        (ds.EqualTo(("partition",), 1), "a1 b1"),
        (ds.EqualNullSafe(("partition",), 1), "a1 b1"),
        (ds.In(("partition",), (0, 2)), "a0 a2 b0 b2"),
        (ds.GreaterThan(("partition",), 1), "a2 b2"),
        (ds.GreaterThanOrEqual(("partition",), 1), "a1 a2 b1 b2"),
        (ds.LessThan(("partition",), 1), "a0 b0"),
        (ds.LessThanOrEqual(("topic",), "a"), "a0 a1 a2"),
        (ds.IsNotNull(("partition",)), "a0 a1 a2 b0 b1 b2"),
    ],
)
def test_partitions(filter_: ds.Filter, allowed: str) -> None:
    narrowing, left = push(filter_)
    assert left == []
    found = [f"{each.topic}{each.partition}" for each in WHERES if narrowing.allows(each)]
    assert found == allowed.split()


@pytest.mark.parametrize(
    ("filter_", "start", "end"),
    [
        (ds.EqualTo(("offset",), 15), 15, 16),
        (ds.GreaterThan(("offset",), 15), 16, 20),
        (ds.GreaterThanOrEqual(("offset",), 15), 15, 20),
        (ds.LessThan(("offset",), 15), 10, 15),
        (ds.LessThanOrEqual(("offset",), 15), 10, 16),
        (ds.In(("offset",), (12, 17, 14)), 12, 18),
        (ds.LessThan(("offset",), 5), 10, 5),
        (ds.In(("offset",), ()), 10, 0),
    ],
)
def test_offsets(filter_: ds.Filter, start: int, end: int) -> None:
    narrowing, left = push(filter_)
    assert left == ([filter_] if isinstance(filter_, ds.In) else [])
    assert narrowing.narrow(OffsetRange(WHERES[0], 10, 20)) == OffsetRange(WHERES[0], start, end)


def test_several_filters_together() -> None:
    narrowing, left = push(
        ds.EqualTo(("topic",), "b"),
        ds.GreaterThan(("partition",), 0),
        ds.GreaterThan(("offset",), 11),
        ds.LessThan(("offset",), 13),
    )
    assert left == []
    assert [each for each in WHERES if narrowing.allows(each)] == WHERES[4:]
    assert narrowing.narrow(OffsetRange(WHERES[5], 0, 100)) == OffsetRange(WHERES[5], 12, 13)


@pytest.mark.parametrize("kind", [ds.EqualTo, ds.GreaterThan, ds.GreaterThanOrEqual])
def test_times_narrow_the_beginning_and_are_looked_at_again(kind: Any) -> None:
    filter_ = kind(("timestamp",), NOON)
    narrowing, left = push(filter_)
    assert left == [filter_]
    assert narrowing.time_from_ms is not None
    noon_ms = int(NOON.timestamp() * 1000)
    assert noon_ms - 2 <= narrowing.time_from_ms <= noon_ms


@pytest.mark.parametrize(
    "filter_",
    [
        ds.LessThan(("timestamp",), NOON),
        ds.GreaterThan(("timestamp",), datetime(2026, 1, 1)),  # noqa: DTZ001 -- of which zone?
        ds.Not(ds.EqualTo(("partition",), 1)),
        ds.EqualTo(("value",), b"x"),
        ds.EqualTo(("partition",), None),
        ds.EqualTo(("offset",), 1.5),
        ds.EqualTo(("headers", "key"), "x"),
        ds.IsNull(("offset",)),
        ds.IsNotNull(("key",)),
        ds.StringStartsWith(("topic",), "a"),
    ],
)
def test_what_is_left_to_spark(filter_: ds.Filter) -> None:
    narrowing, left = push(filter_)
    assert left == [filter_]
    assert all(narrowing.allows(each) for each in WHERES)
    assert narrowing.narrow(OffsetRange(WHERES[0], 0, 9)) == OffsetRange(WHERES[0], 0, 9)
    assert narrowing.time_from_ms is None
