"""``format("fencepost-log")``: log files as Spark tables, without a broker.

::

    spark.dataSource.register(LogDataSource)
    batches = (
        spark.read.format("fencepost-log")
        .option("table", "batches")  # or records, problems, transactions, offsets, groups, metadata
        .option("topics", "orders")
        .load("/var/lib/kafka")  # a data directory that all executors reach
    )

Each segment is a partition of the data frame. A segment of more than ``splitBytes`` (64 MB) is
split at batches, by its offset index. Files are listed once, when a query is planned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from fencepost_pipeline import segments
from fencepost_pipeline.segments import OnProblem, Problem, ProblemKind, Slice
from fencepost_pipeline.spark.arrow_batch_size import in_pieces
from fencepost_pipeline.spark.log_options import PLACE, LogOptions, parse
from fencepost_pipeline.spark.options import OptionError
from fencepost_pipeline.spark.worker_process import keep_modules


class CorruptLogError(Exception):
    """A log file cannot be read, and ``onCorrupt`` is not ``skip``."""


@dataclass(slots=True)
class LogPartition(InputPartition):
    """What one task reads."""

    part: Slice


class LogDataSource(DataSource):
    """The data source as Spark knows it."""

    @classmethod
    def name(cls) -> str:
        """What to write into ``format``."""
        return "fencepost-log"

    def schema(self) -> str:
        """Name the table's columns, in Spark's words."""
        return spark_schema(parse(self.options).schema)

    def reader(self, schema: object) -> LogReader:  # noqa: ARG002 - it is what we said
        """Make what is sent to the executors."""
        return LogReader(parse(self.options))


class LogReader(DataSourceReader):
    """Lists segments where the query is planned, and reads slices of them in the tasks."""

    def __init__(self, options: LogOptions) -> None:
        self._options = options

    def partitions(self) -> Sequence[LogPartition]:
        """Cut all segments that are wanted into what one task reads."""
        options = self._options
        found = segments.list_segments(options.paths, topics=options.topics)
        if options.is_for_named_topics:
            self._require_topics({segment.topic for segment in found})
        return [
            LogPartition(part)
            for segment in found
            if segment.size
            and (options.partitions is None or segment.partition in options.partitions)
            for part in segments.split(segment, options.split_bytes)
        ]

    def _require_topics(self, there: set[str]) -> None:
        """A misspelt name is no topic without records."""
        missing = sorted(set(self._options.topics or ()) - there)
        if missing:
            every = {segment.topic for segment in segments.list_segments(self._options.paths)}
            own = ", ".join(sorted(name for name in every if not name.startswith("__"))) or "none"
            raise OptionError(
                f"{PLACE}: topics names {', '.join(missing)}, of which there is no log in "
                f"{', '.join(self._options.paths)}; there are: {own}"
            )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read one slice."""
        if not isinstance(partition, LogPartition):
            return  # Spark runs one task for no partitions at all.
        keep_modules()
        options = self._options
        on_problem = _ignore if options.skip_corrupt else _fail
        wanted = options.schema
        for rows in _read(options)(partition.part, on_problem=on_problem):
            yield from in_pieces(rows if rows.schema.equals(wanted) else rows.select(wanted.names))


_ReadSlice: TypeAlias = Callable[..., Iterator[pa.RecordBatch]]


def _read(options: LogOptions) -> _ReadSlice:
    if options.table == "records":
        return partial(
            segments.read_records,
            control=options.control,
            check_crcs=options.check_crcs,
            columns=options.columns,
        )
    if options.table == "batches":
        return partial(segments.read_batches, check_crcs=options.check_crcs)
    return _READERS[options.table]


def _read_problems(part: Slice, *, on_problem: OnProblem) -> Iterator[pa.RecordBatch]:
    del on_problem  # They are what is asked for.
    return segments.read_problems(part)


_READERS: Final[dict[str, _ReadSlice]] = {
    "problems": _read_problems,
    "transactions": segments.read_transactions,
    "offsets": segments.read_offsets,
    "groups": segments.read_groups,
    "metadata": segments.read_metadata,
}


def _ignore(_: Problem) -> None:
    """What ``onCorrupt`` = ``skip`` does."""


def _fail(problem: Problem) -> None:
    """End the query, unless it is what a broker that is running or has crashed leaves."""
    if problem.kind is not ProblemKind.TORN_TAIL:
        raise CorruptLogError(
            f"{problem}\nTo read the rest write .option('onCorrupt', 'skip'); "
            "all there is to tell is in .option('table', 'problems')"
        )


_SPARK_TYPES: Final = {
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
}


def spark_schema(schema: pa.Schema) -> str:
    """Say in Spark's words what columns an Arrow schema has."""
    return ", ".join(f"`{field.name}` {_spark_type(field.type)}" for field in schema)


def _spark_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"ARRAY<{_spark_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return f"STRUCT<{', '.join(f'`{each.name}`: {_spark_type(each.type)}' for each in kind)}>"
    return _SPARK_TYPES[kind]
