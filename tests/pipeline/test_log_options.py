"""Options of the log source: what is wrong is said with what to write instead."""

from __future__ import annotations

import pytest
from fencepost_pipeline.spark.log_options import LogOptions, parse
from fencepost_pipeline.spark.options import OptionError


def test_defaults() -> None:
    assert parse({"path": "/data"}) == LogOptions(("/data",))


def test_everything() -> None:
    assert parse(
        {
            "paths": '["/a", "file:///b"]',
            "TABLE": "Records",
            "topics": "orders, totals",
            "partitions": "0,3",
            "columns": "offset,value",
            "splitbytes": "100",
            "control": "true",
            "checkCrcs": "False",
            "onCorrupt": "skip",
        }
    ) == LogOptions(
        ("/a", "/b"),
        "records",
        ("orders", "totals"),
        (0, 3),
        ("offset", "value"),
        100,
        True,
        False,
        True,
    )


def test_wanted_columns_are_the_schema() -> None:
    options = parse({"path": "/data", "columns": "value,offset"})
    assert options.schema.names == ["offset", "value"]


def test_an_internal_log_needs_no_topic() -> None:
    assert parse({"path": "/d", "table": "offsets"}).topics == ("__consumer_offsets",)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "no path is given"),
        ({"tabel": "records"}, "the nearest is 'table'"),
        ({"oncorupt": "skip"}, "the nearest is 'onCorrupt'"),
        ({"table": "rows"}, "table is 'rows': it can be batches, records, problems"),
        ({"partitions": "one"}, "partitions is 'one': write whole numbers"),
        ({"splitBytes": "0"}, "splitBytes is '0'"),
        ({"splitBytes": "64m"}, "splitBytes is '64m'"),
        ({"control": "yes"}, "control is 'yes': it can be true, false"),
        ({"control": "true", "table": "batches"}, "only table 'records'"),
        ({"columns": "ofset"}, "columns is 'ofset': table 'records' has topic, partition"),
        ({"columns": ","}, "name one column at least"),
        ({"onCorrupt": "ignore"}, "it can be fail, skip"),
        ({"table": "metadata", "topics": "orders"}, "is read of __cluster_metadata only"),
    ],
)
def test_what_is_refused(given: dict[str, str], words: str) -> None:
    path = {"path": "/data"} if given else {}
    with pytest.raises(OptionError, match=words):
        parse(path | given)
