"""Options of ``format("fencepost-log")``; unknown names are refused, with the nearest known one."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import pyarrow as pa

from fencepost_pipeline import segments
from fencepost_pipeline.segments import METADATA_TOPIC, OFFSETS_TOPIC, TRANSACTION_TOPIC
from fencepost_pipeline.spark.options import OptionError

_Value = TypeVar("_Value")

PLACE: Final = 'format("fencepost-log")'
TABLES: Final[dict[str, tuple[pa.Schema, str | None]]] = {
    "batches": (segments.BATCH_SCHEMA, None),
    "records": (segments.RECORD_TABLE_SCHEMA, None),
    "problems": (segments.PROBLEM_SCHEMA, None),
    "transactions": (segments.TRANSACTION_SCHEMA, TRANSACTION_TOPIC),
    "offsets": (segments.OFFSET_SCHEMA, OFFSETS_TOPIC),
    "groups": (segments.GROUP_SCHEMA, OFFSETS_TOPIC),
    "metadata": (segments.METADATA_SCHEMA, METADATA_TOPIC),
}
"""The columns of each table, and the one topic that it is about, if it is about one."""

NAMES: Final = (
    "path",
    "paths",
    "table",
    "topics",
    "partitions",
    "columns",
    "splitBytes",
    "control",
    "checkCrcs",
    "onCorrupt",
)
_SPLIT_BYTES: Final = 64 * 1024 * 1024
_FLAGS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What is to be read."""

    paths: tuple[str, ...]
    table: str = "records"
    topics: tuple[str, ...] | None = None
    partitions: tuple[int, ...] | None = None
    columns: tuple[str, ...] | None = None
    split_bytes: int = _SPLIT_BYTES
    control: bool = False
    check_crcs: bool = True
    skip_corrupt: bool = False

    @property
    def is_for_named_topics(self) -> bool:
        """Whether topics are somebody's choice, not what the table is about."""
        return self.topics is not None and TABLES[self.table][1] is None

    @property
    def schema(self) -> pa.Schema:
        """The table's columns, those that are wanted."""
        schema, _ = TABLES[self.table]
        if self.columns is None:
            return schema
        return pa.schema([field for field in schema if field.name in self.columns])


def parse(given: Mapping[str, str]) -> LogOptions:
    """Make options of what Spark gives: texts under names of any case."""
    proper = {name.lower(): name for name in NAMES}
    values: dict[str, str] = {}
    for name, value in given.items():
        if name.lower() not in proper:
            raise OptionError(
                f"{name!r} is no option of {PLACE}; the nearest is "
                f"{proper[difflib.get_close_matches(name.lower(), proper, 1, 0.0)[0]]!r}"
            )
        values[proper[name.lower()]] = value
    table = _choice(values, "table", TABLES, "records")
    _, own_topic = TABLES[table]
    topics = _list(values, "topics", str)
    if own_topic is not None:
        if topics not in (None, (own_topic,)):
            raise _wrong("topics", values["topics"], f"table {table!r} is read of {own_topic} only")
        topics = (own_topic,)
    options = LogOptions(
        paths=_paths(values),
        table=table,
        topics=topics,
        partitions=_list(values, "partitions", int),
        columns=_columns(values, table),
        split_bytes=_whole(values, "splitBytes", _SPLIT_BYTES),
        control=_FLAGS[_choice(values, "control", _FLAGS, "false")],
        check_crcs=_FLAGS[_choice(values, "checkCrcs", _FLAGS, "true")],
        skip_corrupt=_choice(values, "onCorrupt", ("fail", "skip"), "fail") == "skip",
    )
    if options.control and table != "records":
        raise _wrong("control", "true", "only table 'records' leaves control batches out")
    return options


def _paths(values: Mapping[str, str]) -> tuple[str, ...]:
    if "paths" in values:  # what Spark makes of load([...])
        found = json.loads(values["paths"])
    else:
        found = [values["path"]] if values.get("path") else []
    if not found:
        raise OptionError(
            f'{PLACE}: no path is given: write .load("/var/lib/kafka") with a data directory, '
            "a partition's folder or a .log file"
        )
    # Spark's paths are URLs; what the executors open are files.
    return tuple(str(path).removeprefix("file://") for path in found)


_Words: TypeAlias = Mapping[str, object] | tuple[str, ...]


def _choice(values: Mapping[str, str], name: str, words: _Words, default: str) -> str:
    value = values.get(name, default).lower()
    if value not in words:
        raise _wrong(name, values[name], f"it can be {', '.join(words)}")
    return value


def _list(
    values: Mapping[str, str], name: str, kind: Callable[[str], _Value]
) -> tuple[_Value, ...] | None:
    if name not in values:
        return None
    try:
        return tuple(kind(word.strip()) for word in values[name].split(",") if word.strip())
    except ValueError:
        raise _wrong(name, values[name], "write whole numbers, separated by commas") from None


def _columns(values: Mapping[str, str], table: str) -> tuple[str, ...] | None:
    columns = _list(values, "columns", str)
    names = TABLES[table][0].names
    for column in columns or ():
        if column not in names:
            raise _wrong("columns", column, f"table {table!r} has {', '.join(names)}")
    if columns == ():
        raise _wrong("columns", values["columns"], "name one column at least")
    return columns


def _whole(values: Mapping[str, str], name: str, default: int) -> int:
    text = values.get(name, str(default))
    if not (text.isascii() and text.isdigit() and int(text)):
        raise _wrong(name, text, "write a whole number, 1 or larger")
    return int(text)


def _wrong(name: str, value: str, what: str) -> OptionError:
    return OptionError(f"{PLACE}: {name} is {value!r}: {what}")
