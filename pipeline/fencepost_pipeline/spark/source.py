"""The reader of batch queries and the reader of streams of ``format("fencepost")``."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from fencepost_client.types import TopicPartition
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, Filter, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from fencepost_pipeline.spark.data_loss import DataLoss
from fencepost_pipeline.spark.filters import Narrowing
from fencepost_pipeline.spark.offset_ranges import OffsetRange, count_between, limit_rows, split
from fencepost_pipeline.spark.offsets import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtPlace,
    Json,
    Offsets,
    StreamOffset,
)
from fencepost_pipeline.spark.options import OptionError
from fencepost_pipeline.spark.read_task import Reading
from fencepost_pipeline.spark.source_options import SourceOptions
from fencepost_pipeline.spark.topic_discovery import Cluster, Found
from fencepost_pipeline.spark.worker_process import keep_modules

_HEADER: Final = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
_COLUMNS: Final = (
    StructField("key", BinaryType()),
    StructField("value", BinaryType()),
    StructField("topic", StringType()),
    StructField("partition", IntegerType()),
    StructField("offset", LongType()),
    StructField("timestamp", TimestampType()),
    StructField("timestampType", IntegerType()),
    StructField("headers", ArrayType(_HEADER)),
)


def source_schema(options: SourceOptions) -> StructType:
    """The columns of Spark's own Kafka source, in its order."""
    return StructType([*_COLUMNS] if options.has_headers else [*_COLUMNS[:-1]])


def arrow_schema(schema: StructType) -> pa.Schema:
    """What Spark expects a task to give for a schema, which may be a part of the columns."""
    known = {column.name: column for column in _COLUMNS}
    for field in schema.fields:
        if field.name not in known:
            raise OptionError(
                f"format('fencepost') has no column {field.name!r}; there are {', '.join(known)}"
            )
        if field.dataType != known[field.name].dataType:
            raise OptionError(
                f"the column {field.name!r} is {known[field.name].dataType.simpleString()}, not "
                f"{field.dataType.simpleString()}: cast it in the query"
            )
    return to_arrow_schema(schema, timezone="UTC")


class RangePartition(InputPartition):
    """What one task reads."""

    def __init__(self, whole: OffsetRange, topic_id: str | None = None) -> None:
        super().__init__(whole)
        self.whole = whole
        self.topic_id = topic_id
        """Of the topic for which it was planned."""


# -- once -----------------------------------------------------------------------------------------


class _OptionalPushdown:
    """``pushFilters`` for sessions that push filters, and for those that do not.

    Spark refuses a reader with a ``pushFilters`` of its own while it does not push filters
    (``spark.sql.python.filterPushdown.enabled``, false by default), so that nobody wonders why
    nothing is pushed. Here nothing is wrong then: only more is read. So this shows the function
    that Spark compares with, and calls another one.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, narrowing: Narrowing) -> None:
        self._narrowing = narrowing

    def __call__(self, filters: list[Filter]) -> list[Filter]:
        return self._narrowing.push(filters)


class BatchReader(DataSourceReader):
    """Reads the offsets that exist when the query is planned."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        self._options = options
        self._reading = Reading(options, arrow_schema(schema))
        self._narrowing = Narrowing()
        self.pushFilters: Any = _OptionalPushdown(self._narrowing)
        for name, bound, refused in (
            ("startingOffsets", options.starting, LATEST),
            ("endingOffsets", options.ending, EARLIEST),
        ):
            places = {bound.place} if isinstance(bound, AtPlace) else set()
            places |= set(bound.offsets.values()) if isinstance(bound, AtOffsets) else set()
            if refused in places:
                word = "latest (-1)" if refused == LATEST else "earliest (-2)"
                raise OptionError(f"{name} cannot be {word} for spark.read: nothing would be read")

    def partitions(self) -> Sequence[InputPartition]:
        """Look up the offsets, and divide them among tasks."""
        keep_modules()
        with Cluster(self._options) as cluster:
            found = cluster.look(self._options.selection).require_all()
            partitions = [each for each in found.partitions if self._narrowing.allows(each)]
            ranges = self._ranges(cluster, found.partitions, set(partitions))
        pieces = split(
            ranges, tasks_min=self._options.tasks_min, rows_max=self._options.task_rows_max
        )
        return _planned(pieces, found) or [InputPartition(None)]

    def _ranges(
        self, cluster: Cluster, partitions: list[TopicPartition], allowed: set[TopicPartition]
    ) -> list[OffsetRange]:
        options = self._options
        starting, ending = options.starting or AtPlace(EARLIEST), options.ending or AtPlace(LATEST)
        start = cluster.resolve(starting, partitions, "startingOffsets")
        end = cluster.resolve(ending, partitions, "endingOffsets")
        partitions = [where for where in partitions if where in allowed]
        first, last = cluster.first_offsets(partitions), cluster.end_offsets(partitions)
        if self._narrowing.time_from_ms is not None:
            times = dict.fromkeys(partitions, self._narrowing.time_from_ms)
            for where, at in cluster.offsets_at(times).items():
                start[where] = max(start[where], min(at, end[where]))
        loss = DataLoss(options.fails_on_data_loss)
        ranges = []
        for where in partitions:
            whole = self._narrowing.narrow(OffsetRange(where, start[where], end[where]))
            if len(whole):
                ranges.append(_clipped(whole, first[where], last[where], loss))
        return ranges

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a range; runs in a task."""
        if not isinstance(partition, RangePartition):
            return iter(())
        return self._reading.read(partition.whole, partition.topic_id)


def _planned(pieces: list[OffsetRange], found: Found) -> list[InputPartition]:
    return [RangePartition(piece, found.ids.get(piece.where.topic)) for piece in pieces]


def _clipped(whole: OffsetRange, first: int, last: int, loss: DataLoss) -> OffsetRange:
    """What is there of a range; what is not is lost."""
    name = f"{whole.where.topic}-{whole.where.partition}"
    if whole.start < first:
        loss.report(f"{name} begins at offset {first}: those from {whole.start} on are gone")
    if whole.end > last:
        loss.report(f"{name} ends at offset {last}: there is nothing up to {whole.end}")
    return OffsetRange(whole.where, max(whole.start, first), min(whole.end, last))


# -- on and on ------------------------------------------------------------------------------------


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans micro-batches. It lives in one process of the driver; ``read`` runs in tasks."""

    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        if options.ending is not None:
            raise OptionError("a stream has no end: endingOffsets and its like are for spark.read")
        self._options = options
        self._reading = Reading(options, arrow_schema(schema))
        self._loss = DataLoss(options.fails_on_data_loss)
        self._cluster: Cluster | None = None
        self._target: StreamOffset | None = None
        self._latest: StreamOffset | None = None
        self._last_batch_at: float | None = None

    def _connected(self) -> Cluster:
        if self._cluster is None:
            self._cluster = Cluster(self._options).__enter__()
        return self._cluster

    def stop(self) -> None:
        """Close the connections."""
        if self._cluster is not None:
            self._cluster.__exit__(None, None, None)
            self._cluster = None

    # -- how far -------------------------------------------------------------------------------

    def initialOffset(self) -> Json:  # noqa: N802
        """The start of a new query."""
        cluster = self._connected()
        found = cluster.look(self._options.selection).require_all()
        starting = self._options.starting or AtPlace(LATEST)
        offsets = cluster.resolve(starting, found.partitions, "startingOffsets")
        return StreamOffset(offsets, found.ids).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """What the options say of a micro-batch's size."""
        if self._options.rows_max is not None:
            return ReadMaxRows(self._options.rows_max)
        if self._options.rows_min is not None:
            return ReadMinRows(self._options.rows_min)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """What is there now is all that this run will read."""
        self._target = self._ends(None)

    def reportLatestOffset(self) -> Json | None:  # noqa: N802
        """How far the topics go, for the query's progress."""
        return None if self._latest is None else self._latest.to_json()

    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:  # noqa: N802
        """The end of the next micro-batch; the start again if there shall be none."""
        begin = StreamOffset.from_json(start)
        target = self._target or self._ends(begin)
        self._latest = target
        begins = self._begins(begin, target)
        offsets = {**target.offsets}
        for where, at in begin.offsets.items():
            offsets.setdefault(where, at)
        ids = {**begin.ids, **target.ids}
        if not isinstance(limit, ReadAllAvailable):
            if self._target is None and self._waits_for_more(begins, offsets):
                return start
            if isinstance(limit, ReadMaxRows):
                offsets = limit_rows(begins, offsets, limit.max_rows)
        return StreamOffset(offsets, ids).to_json()

    def _waits_for_more(self, begins: Offsets, ends: Offsets) -> bool:
        """Whether there is less than ``minOffsetsPerTrigger``, and still time to wait for more."""
        rows_min, now = self._options.rows_min, time.monotonic()
        if rows_min is None:
            return False
        last = self._last_batch_at
        if (
            last is not None
            and (now - last) * 1000 < self._options.delay_max_ms
            and count_between(begins, ends) < rows_min
        ):
            return True
        self._last_batch_at = now
        return False

    def _ends(self, begin: StreamOffset | None) -> StreamOffset:
        """The ends of what there is; what went since ``begin`` is reported."""
        cluster = self._connected()
        found = cluster.look(self._options.selection)
        ends = StreamOffset(cluster.ends_of_what_is_there(found.partitions), found.ids)
        if begin is not None:
            self._report_losses(cluster, begin, ends, found)
        return ends

    def _report_losses(
        self, cluster: Cluster, begin: StreamOffset, ends: StreamOffset, found: Found
    ) -> None:
        gone = sorted({where for where in begin.offsets if where not in ends.offsets})
        if gone:
            name = f"{gone[0].topic}-{gone[0].partition}"
            self._loss.report(f"{name} is gone: it was deleted, or is not selected any more")
        for topic in found.ids:
            if ends.is_of_another(topic, begin):
                self._loss.report(f"{topic} was deleted and made anew: it is another topic now")
        behind = [
            where
            for where, at in begin.offsets.items()
            if ends.offsets.get(where, at) < at and not ends.is_of_another(where.topic, begin)
        ]
        # A transaction that is still open is no loss: the stream has read past it uncommitted.
        for where, end in cluster.end_offsets(behind, with_open=True).items():
            if end >= begin.offsets[where]:
                ends.offsets[where] = begin.offsets[where]
            else:
                self._loss.report(
                    f"{where.topic}-{where.partition} ends at offset {end}, and was read up to "
                    f"{begin.offsets[where]} before"
                )

    @staticmethod
    def _begins(begin: StreamOffset, end: StreamOffset) -> Offsets:
        """The next offset of each partition; new partitions start at their beginning."""
        return {
            where: 0 if end.is_of_another(where.topic, begin) else begin.offsets.get(where, 0)
            for where in {**end.offsets, **begin.offsets}
        }

    # -- the micro-batch -----------------------------------------------------------------------

    def partitions(self, start: Json, end: Json) -> Sequence[InputPartition]:
        """Share a micro-batch out; one that failed is planned again, by the same two offsets."""
        begin, until = StreamOffset.from_json(start), StreamOffset.from_json(end)
        begins = self._begins(begin, until)
        wanted = [
            OffsetRange(where, begins[where], at)
            for where, at in until.offsets.items()
            if at > begins[where]
        ]
        if not wanted:
            return []
        found = self._connected().look(self._options.selection)
        pieces = split(
            self._there(wanted, until, found),
            tasks_min=self._options.tasks_min,
            rows_max=self._options.task_rows_max,
        )
        return _planned(pieces, found)

    def _there(
        self, wanted: list[OffsetRange], until: StreamOffset, found: Found
    ) -> list[OffsetRange]:
        """What is there of the ranges; offsets that were planned before may be gone by now."""
        cluster = self._connected()
        now = StreamOffset({}, found.ids)
        left = []
        for whole in wanted:
            if whole.where not in found.partitions or now.is_of_another(whole.where.topic, until):
                name = f"{whole.where.topic}-{whole.where.partition}"
                self._loss.report(f"{name}, offsets {whole.start} to {whole.end}, is gone")
            else:
                left.append(whole)
        there = [whole.where for whole in left]
        first = cluster.first_offsets(there)
        last = cluster.end_offsets(there, with_open=True)
        return [
            _clipped(whole, first[whole.where], last[whole.where], self._loss) for whole in left
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a range; runs in a task."""
        assert isinstance(partition, RangePartition)
        return self._reading.read(partition.whole, partition.topic_id)
