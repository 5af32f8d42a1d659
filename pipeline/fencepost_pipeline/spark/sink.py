"""``format("fencepost")`` to write: what Spark calls, and in which process.

::

    planner's process    makes a writer and pickles it, twice, for the tasks: here it begins
    tasks                ``write``
    another process      makes a writer anew: ``commit``, and ``abort`` if that raised
                         (of ``df.write`` it is the pickled one)

The reports of the tasks contain all that the committing process needs. It raises all errors, so
that Spark shows them as the reason why the query ended.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from fencepost_pipeline.sink import driver
from fencepost_pipeline.sink.commit_protocol import Begun
from fencepost_pipeline.sink.errors import SinkError
from fencepost_pipeline.sink.marker import Batch, marker_after
from fencepost_pipeline.sink.rows import check_columns
from fencepost_pipeline.sink.settings import SinkSettings
from fencepost_pipeline.sink.task_reports import TaskReport, Work, settle, transaction_of
from fencepost_pipeline.sink.task_writer import Attempt, write
from fencepost_pipeline.spark.sink_options import read_batch_options, read_stream_options
from fencepost_pipeline.spark.worker_process import keep_connections, keep_modules

BATCH_ID: Final = "streaming.sql.batchId"
QUERY_ID: Final = "sql.streaming.queryId"
_LONG: Final = 0.5
"""A batch that takes so much of its transaction's timeout is worth a warning."""


@dataclass
class Message(WriterCommitMessage):
    """A task's report on its way to the driver."""

    report: TaskReport
    begun_at: float


def columns_of(schema: StructType) -> dict[str, str]:
    """Columns by name, with Spark's names of their types."""
    return {field.name: field.dataType.simpleString() for field in schema.fields}


class _Writer:
    """The base of both writers."""

    def __init__(self, settings: SinkSettings, schema: StructType) -> None:
        check_columns(columns_of(schema), settings.topic)
        self.settings = settings
        self.begun: Begun | None = None
        self.begun_at = 0.0
        self.planned: tuple[int, str] | None = None
        """A batch and its offsets in its sources: the last one of the checkpoint, if that is seen
        from the driver."""

    def prepare(self) -> None:
        """In each process: keep what the next batch needs, too."""
        keep_modules()
        keep_connections()

    def __getstate__(self) -> dict[str, Any]:
        """Begin, once, before the tasks can."""
        self.prepare()
        if self.begun is None:
            self.begun_at = time.time()  # noqa: TID251 - compared in another process
            self.planned = planned_in(self.settings.checkpoint)
            self.begun = driver.begin(self.settings)
        return self.__dict__

    def write_task(self, batches: Iterator[pa.RecordBatch], batch: Batch | None) -> Message:
        """In a task."""
        assert self.begun is not None, "a writer begins when it is pickled"
        self.prepare()
        context = TaskContext.get()
        assert context is not None
        if batch is not None and self.planned is not None and self.planned[0] == batch.batch_id:
            batch = Batch(batch.batch_id, batch.query_id, self.planned[1])
        attempt = Attempt(context.partitionId(), context.attemptNumber(), batch)
        return Message(write(batches, self.begun, self.settings, attempt), self.begun_at)

    def commit_work(self, messages: Sequence[Any]) -> None:
        """In the driver, when all tasks have ended."""
        self.prepare()
        reports = [message and message.report for message in messages]
        work = settle(reports, transactional=self.settings.transactional)
        if work is None or not self.settings.transactional:
            return
        marker = None
        if work.batch is not None:
            marker = marker_after(
                work.batch, work.transaction.producer_id, work.transaction.producer_epoch
            )
        driver.commit(self.settings, work.transaction, marker)
        self._warn_if_long(work, min(message.begun_at for message in messages))

    def _warn_if_long(self, work: Work, begun_at: float) -> None:
        took_ms = (time.time() - begun_at) * 1000  # noqa: TID251
        limit_ms = self.settings.transaction_timeout_ms
        if took_ms > _LONG * limit_ms:
            number = f"batch {work.batch.batch_id}" if work.batch is not None else "the write"
            warnings.warn(
                f"{number} of {work.records} rows took {took_ms / 1000:.0f} s of the "
                f"{limit_ms / 1000:.0f} s that its transaction may take: set "
                f"kafka.transaction.timeout.ms higher (the broker's transaction.max.timeout.ms is "
                f"the bound), or have smaller batches, as by maxOffsetsPerTrigger.",
                stacklevel=1,
            )

    def abort_work(self, messages: Sequence[Any]) -> None:
        """In the driver. What cannot be aborted is over, or is ended by the next begin."""
        transaction = transaction_of([message and message.report for message in messages])
        if transaction is None and self.begun is not None:
            transaction = self.begun.transaction
        if transaction is None or not self.settings.transactional:
            return
        over: Exception | None
        try:
            over = driver.abort(self.settings, transaction)
        except Exception as error:  # noqa: BLE001 - Spark would show it instead of the reason
            over = error
        if over is not None:
            warnings.warn(f"not aborted, as the next begin will see to: {over}", stacklevel=1)


class StreamSink(_Writer, DataSourceStreamArrowWriter):
    """Writes each micro-batch in one transaction, with the marker."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """In a task."""
        context = TaskContext.get()
        assert context is not None
        batch_id = context.getLocalProperty(BATCH_ID)
        query_id = context.getLocalProperty(QUERY_ID)
        if batch_id is None or query_id is None:
            raise SinkError(f"Spark does not tell which batch this is: {BATCH_ID}, {QUERY_ID}")
        return self.write_task(iterator, Batch(int(batch_id), query_id))

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        """In the driver."""
        del batchId  # the tasks know it, and which query's it is
        self.commit_work(messages)

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        """In the driver; of a query that was stopped it has no messages."""
        del batchId
        self.abort_work(messages)


class BatchSink(_Writer, DataSourceArrowWriter):
    """Writes all rows in one transaction."""

    def __init__(self, settings: SinkSettings, schema: StructType, batch: Batch | None) -> None:
        super().__init__(settings, schema)
        self.batch = batch

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """In a task."""
        return self.write_task(iterator, self.batch)

    def commit(self, messages: list[Any]) -> None:
        """In the driver."""
        self.commit_work(messages)

    def abort(self, messages: list[Any]) -> None:
        """In the driver."""
        self.abort_work(messages)


def stream_sink(options: Mapping[str, str], schema: StructType) -> StreamSink:
    """What ``df.writeStream`` writes with."""
    return StreamSink(read_stream_options(options), schema)


def batch_sink(options: Mapping[str, str], schema: StructType, *, overwrite: bool) -> BatchSink:
    """What ``df.write`` writes with."""
    if overwrite:
        raise SinkError("a topic cannot be overwritten: df.write.mode('append')")
    settings, batch = read_batch_options(options)
    return BatchSink(settings, schema, batch)


def planned_in(checkpoint: str | None) -> tuple[int, str] | None:
    """The last batch that a checkpoint plans, and its offsets in its sources.

    They are written before the batch is run, and stay when it is run again.
    """
    if checkpoint is None:
        return None
    parts = urlsplit(checkpoint)
    if parts.scheme not in ("", "file"):
        return None
    try:
        folder = Path(unquote(parts.path)) / "offsets"
        batch_id = max(int(path.name) for path in folder.iterdir() if path.name.isdigit())
        # The version, the batch's settings and time, and then a line for each source.
        lines = (folder / str(batch_id)).read_text(encoding="utf-8").splitlines()[2:]
    except (OSError, ValueError):
        return None
    return batch_id, "\n".join(lines)
