"""Paths and conditions on fields, by the schemas."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.faults.paths import Condition, Path, PathError
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.schema.files import load

SCHEMA = load("DeleteRecordsRequest")


def message() -> DeleteRecordsRequest:
    return DeleteRecordsRequest(
        [
            DeleteRecordsTopic("a", [DeleteRecordsPartition(0, 5), DeleteRecordsPartition(3, 7)]),
            DeleteRecordsTopic("b", [DeleteRecordsPartition(0, 9)]),
        ],
        timeout_ms=100,
    )


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("timeout_ms", [100]),
        ("TimeoutMs", [100]),
        ("topics[].name", ["a", "b"]),
        ("topics.name", ["a", "b"]),
        ("topics[1].name", ["b"]),
        ("topics[7].name", []),
        ("topics[].partitions[].offset", [5, 7, 9]),
        ("topics[0].partitions[1].partitionIndex", [3]),
    ],
)
def test_a_path_leads_to_values(path: str, values: list[Any]) -> None:
    assert list(Path.read(path, SCHEMA).values(message())) == values


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("topics[].partitions[].partition_index == 3", True),
        ("topics[].partitions[].partition_index == 4", False),
        ("topics[1].partitions[].partition_index == 3", False),
        ("topics[].name == b", True),
        ('topics[].name == "b"', True),
        ("topics[].name != a", True),
        ("topics[].name ~ ^[ab]$", True),
        ("topics[].name ~ c", False),
        ("timeout_ms < 100", False),
        ("timeout_ms <= 100", True),
        ("timeout_ms > 99", True),
        ("timeout_ms >= 101", False),
    ],
)
def test_a_condition_holds_for_any_value(condition: str, holds: bool) -> None:
    assert Condition.read(condition, SCHEMA).holds(message()) is holds


def test_a_value_may_be_null() -> None:
    schema = load("ProduceRequest")
    from fencepost_protocol.generated.produce import ProduceRequest

    condition = Condition.read("transactional_id == null", schema)
    assert condition.holds(ProduceRequest(None))
    assert not condition.holds(ProduceRequest("x"))
    assert Condition.read("transactional_id != null", schema).holds(ProduceRequest("x"))


@pytest.mark.parametrize(
    ("path", "value", "changed"),
    [
        ("timeout_ms", 7, 7),
        ("topics[].partitions[].offset", 1, [1, 1, 1]),
        ("topics[0].partitions[1].offset", 1, [5, 1, 9]),
    ],
)
def test_a_field_is_set_wherever_the_path_leads(path: str, value: int, changed: Any) -> None:
    asked = message()
    read = Path.read(path, SCHEMA)
    read.set(asked, read.read_value(value))
    if isinstance(changed, list):
        assert [each.offset for topic in asked.topics for each in topic.partitions] == changed
    else:
        assert asked.timeout_ms == changed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("timeout_m == 3", "did you mean timeout_ms?"),
        ("topics[].partition[].offset == 3", "did you mean partitions?"),
        ("timeout_ms[] == 3", "is no list"),
        ("timeout_ms.x == 3", "timeout_ms has no fields"),
        ("timeout_ms == x", "not a number from -2147483648 to 2147483647"),
        ("timeout_ms == 2147483648", "not a number from"),
        ("timeout_ms == true", "not a number"),
        ("timeout_ms = 3", "not PATH == VALUE"),
        ("timeout_ms ~ 3", "compares text"),
        ("topics[].name ~ (", "no pattern"),
        ("topics[].name == null", "null is not possible"),
        ("topics[x].name == a", "is not NAME, NAME[] or NAME[NUMBER]"),
        ("x" * 2000 + " == 1", "at most 1000"),
    ],
)
def test_what_does_not_fit_is_told(text: str, told: str) -> None:
    with pytest.raises(PathError) as caught:
        Condition.read(text, SCHEMA)
    assert told in str(caught.value)


def test_an_error_code_may_be_named() -> None:
    path = Path.read("error_code", load("EndTxnResponse"))
    assert path.read_value("NOT_COORDINATOR") == 16
    with pytest.raises(PathError, match="did you mean NOT_COORDINATOR"):
        path.read_value("NOT_COORDINATR")
