"""Columns and their rules, and which row goes where."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from fencepost_client.producer.partitioner import by_murmur2
from fencepost_pipeline.sink.errors import RowError
from fencepost_pipeline.sink.rows import HEADERS, Rows, check_columns

HEADERS_TYPE = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def batch(**columns: Any) -> pa.RecordBatch:
    types = {"partition": pa.int32(), "headers": HEADERS_TYPE, "topic": pa.string()}
    return pa.RecordBatch.from_pydict(
        {name: pa.array(values, types.get(name, pa.binary())) for name, values in columns.items()}
    )


def split(given: pa.RecordBatch, topic: str | None = "t", count: int = 3, task: int = 0) -> Any:
    found: dict[Any, list[bytes | None]] = {}
    for where, rows in Rows(topic, lambda _: count, task).split(given):
        assert where not in found
        found[where] = rows.column("value").to_pylist()
    return found


def test_a_partition_column_decides() -> None:
    given = batch(value=[b"a", b"b", None, b"d"], partition=[2, 0, 2, 0], key=[b"k"] * 4)
    assert split(given) == {("t", 0): [b"b", b"d"], ("t", 2): [b"a", None]}


def test_keys_go_where_kafkas_clients_put_them() -> None:
    keys = [f"key-{number}".encode() for number in range(50)]
    found = split(batch(key=keys, value=keys, partition=[None] * 50))
    assert found == {
        ("t", number): [key for key in keys if by_murmur2("t", key, 3) == number]
        for number in range(3)
    }


def test_rows_without_key_and_partition_go_to_the_tasks_own() -> None:
    assert split(batch(value=[b"a", b"b"]), task=4) == {("t", 1): [b"a", b"b"]}
    keyed = by_murmur2("t", b"k", 3)
    found = split(batch(key=[b"k", None], value=[b"a", b"b"]), task=keyed + 1)
    assert found == {("t", keyed): [b"a"], ("t", (keyed + 1) % 3): [b"b"]}


def test_the_topic_column_is_used_unless_the_option_names_one() -> None:
    given = batch(value=[b"a", b"b", b"c"], topic=["x", "y", "x"], partition=[1, 1, 0])
    assert split(given, None) == {("x", 1): [b"a"], ("x", 0): [b"c"], ("y", 1): [b"b"]}
    assert split(given) == {("t", 0): [b"c"], ("t", 1): [b"a", b"b"]}


def test_strings_and_large_columns_are_bytes() -> None:
    for kind in (pa.string(), pa.large_string(), pa.large_binary(), pa.binary()):
        given = pa.RecordBatch.from_pydict({"value": pa.array(["\u00e9", None], pa.string())})
        given = given.set_column(0, "value", given.column(0).cast(kind))
        assert split(given, count=1) == {("t", 0): ["\u00e9".encode(), None]}


def test_an_empty_batch_is_nothing() -> None:
    assert split(batch(value=[])) == {}


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"value": [b"a", b"b"], "topic": ["x", None]}, "1 of 2 rows have no topic"),
        ({"value": [b"a"], "topic": ["x"], "partition": [3]}, "partition 3 .* 0 to 2"),
        ({"value": [b"a"], "topic": ["x"], "partition": [-1]}, "partition -1"),
        ({"value": [b"a"], "topic": ["x"], "headers": [[(None, b"v")]]}, "no key"),
        ({"value": [b"a"]}, "No topic is set"),
    ],
)
def test_rows_that_cannot_be_written_are_refused(columns: dict[str, Any], told: str) -> None:
    with pytest.raises(RowError, match=told):
        split(batch(**columns), None)


@pytest.mark.parametrize(
    ("columns", "topic", "told"),
    [
        ({"key": "string"}, "t", "no column 'value'"),
        ({"value": "string"}, None, "No topic is set"),
        ({"value": "int"}, "t", "'value' is int.*cast"),
        ({"value": "string", "partition": "bigint"}, "t", "'partition' is bigint"),
        ({"value": "string", "headers": "map<string,binary>"}, "t", "'headers'"),
        ({"value": "string", "topic": "int"}, "t", "'topic'"),
    ],
)
def test_columns_that_cannot_be_written_are_refused(
    columns: dict[str, str], topic: str | None, told: str
) -> None:
    with pytest.raises(RowError, match=told):
        check_columns(columns, topic)


def test_other_columns_are_left_out() -> None:
    check_columns({"value": "binary", "headers": HEADERS, "id": "bigint"}, "t")
    assert split(batch(value=[b"a"], id=[b"1"])) == {("t", 0): [b"a"]}
