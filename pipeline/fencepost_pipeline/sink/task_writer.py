"""A task of the sink: it writes Arrow batches as record batches in the transaction, and reports.

It collects rows of a partition until they fill a batch, and sends it while Spark computes the next
rows. Errors of the sink are in the report; errors of Spark are raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import time_ns
from typing import Final, Self

import pyarrow as pa
from fencepost_client.clients.batch_producer import BatchProducer
from fencepost_client.errors import KafkaError
from fencepost_protocol.errors import ErrorCode

from fencepost_pipeline.columns import iter_encode
from fencepost_pipeline.sink.commit_protocol import Begun
from fencepost_pipeline.sink.connections import Connected, connected
from fencepost_pipeline.sink.errors import MarkerError, SinkError
from fencepost_pipeline.sink.marker import Batch, must_be_written
from fencepost_pipeline.sink.rows import Rows
from fencepost_pipeline.sink.settings import SinkSettings
from fencepost_pipeline.sink.task_reports import TaskReport, Where

COLLECTED_BYTES_MAX: Final = 64 << 20
"""The bytes of rows that are collected, for all partitions."""
_FIRST_OFFSET: Final = bytes(8)
"""A batch's first field, which its CRC does not cover: the broker takes 0 only."""
_ENDED: Final = {
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.PRODUCER_FENCED,
    ErrorCode.INVALID_TXN_STATE,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING,
}
_TWO_WRITERS: Final = {
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """The number of a task, and of its attempt."""

    task: int
    number: int = 0
    batch: Batch | None = None


class _UpstreamError(Exception):
    """Spark could not compute the rows."""


def write(
    batches: Iterator[pa.RecordBatch], begun: Begun, settings: SinkSettings, attempt: Attempt
) -> TaskReport:
    """Write the rows of a task; raises only errors of Spark."""
    report = TaskReport(attempt.task, begun.transaction, attempt.batch)
    try:
        if settings.transactional:
            _check_first(attempt)
        if attempt.batch is not None and settings.place is not None:
            place = str(settings.place)
            report.skipped = not must_be_written(
                attempt.batch, begun.marker, place, settings.allowed
            )
        if report.skipped:
            for _ in _given(batches):  # Spark commits the state of what is read to its end only
                pass
            return report
        with (
            connected(settings) as here,
            _Writer(here, begun, settings, report) as writer,
        ):
            try:
                for batch in _given(batches):
                    writer.take(batch)
                writer.finish()
            except KafkaError as error:
                writer.check_topics(error)
                raise
    except _UpstreamError as error:
        raise (error.__cause__ or error) from None
    except MarkerError as error:
        report.error, report.refused = str(error), True
    except Exception as error:  # noqa: BLE001 - told to the driver, with its cause
        report.error = explained(error, settings)
    return report


def _check_first(attempt: Attempt) -> None:
    if attempt.number > 0:
        raise SinkError(
            f"this is its attempt {attempt.number + 1}: what the one before has written cannot be "
            f"taken back within the transaction. The batch is aborted, and written anew when the "
            f"query starts again. The executor's log tells what happened to the first attempt; "
            f"with spark.speculation=true, set it to false."
        )


def _given(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except Exception as error:
        raise _UpstreamError from error


def explained(error: Exception, settings: SinkSettings) -> str:
    """An error and its causes, as text; and what it means for a sink."""
    causes: list[str] = []
    codes = set()
    step: BaseException | None = error
    while step is not None and len(causes) < 5:
        causes.append(f"{type(step).__name__}: {step}")
        if isinstance(step, KafkaError):
            codes.add(step.code)
        step = step.__cause__
    text = "; caused by ".join(causes)
    if codes & _ENDED:
        text += (
            f" The transaction is over: it took longer than "
            f"kafka.transaction.timeout.ms={settings.transaction_timeout_ms}, or another driver "
            f"has begun with the transactional id {settings.transactional_id!r}."
        )
    elif codes & _TWO_WRITERS:
        text += (
            " Another task writes to the partition in this transaction: distribute the rows by "
            "df.repartition('topic', 'partition')."
        )
    return text


@dataclass(slots=True)
class _Collected:
    batches: list[pa.RecordBatch] = field(default_factory=list)
    size_bytes: int = 0


class _Writer:
    """The producer of a task, and the rows that it has collected."""

    def __init__(
        self, here: Connected, begun: Begun, settings: SinkSettings, report: TaskReport
    ) -> None:
        self._settings = settings
        self._report = report
        self._collected: dict[Where, _Collected] = {}
        self._total_bytes = 0
        self._portal = here.portal
        self._counts: dict[str, int] = {}
        self._ids: dict[str, bytes | None] = {}
        self._rows = Rows(settings.topic, self._count_of, report.task)
        self._producer = BatchProducer(
            here.client.settings,
            begun.transaction if settings.transactional else None,
            compression=settings.codec,
            delivery_timeout_ms=settings.delivery_timeout_ms,
            buffer_bytes=settings.buffer_bytes,
            client=here.client,
        )

    def __enter__(self) -> Self:
        self._portal.call(self._producer.start)
        return self

    def __exit__(self, *_: object) -> None:
        self._portal.call(self._producer.close)

    def _count_of(self, topic: str) -> int:
        if topic not in self._counts:
            self._counts[topic] = self._portal.call(self._producer.partition_count, topic)
            self._ids[topic] = self._portal.call(self._producer.topic_id, topic)
        return self._counts[topic]

    def take(self, batch: pa.RecordBatch) -> None:
        """Divide rows by partition, and send full batches."""
        for where, rows in self._rows.split(batch):
            if where not in self._collected:
                self._report.records[where] = 0
                self._check_alone(where)
            known = self._collected.setdefault(where, _Collected())
            size = rows.nbytes
            known.batches.append(rows)
            known.size_bytes += size
            self._total_bytes += size
            if known.size_bytes >= self._settings.batch_bytes:
                self._send(where)
        if self._total_bytes >= COLLECTED_BYTES_MAX:
            for where in self._collected:
                self._send(where)

    def _check_alone(self, where: Where) -> None:
        """Notice whom a first attempt does not know of: that of a stage that is run again."""
        if self._portal.call(self._producer.has_writer, *where):
            raise SinkError(
                f"{where[0]}-{where[1]} has rows of this transaction already, which another task "
                f"has written, or this one before its stage was run again. They cannot be taken "
                f"back within the transaction: the batch is aborted."
            )

    def _send(self, where: Where) -> None:
        known = self._collected[where]
        if not known.batches:
            return
        self._total_bytes -= known.size_bytes
        rows = known.batches[0]
        if len(known.batches) > 1:
            rows = _joined(known.batches)
        known.batches, known.size_bytes = [], 0
        settings = self._settings
        for batch, count in iter_encode(
            rows,
            max_batch_bytes=settings.batch_bytes,
            timestamp_ms=time_ns() // 1_000_000,
            codec=settings.codec,
            transactional=settings.transactional,
        ):
            batch[: len(_FIRST_OFFSET)] = _FIRST_OFFSET  # they are numbered on; brokers number anew
            self._portal.call(self._producer.send, *where, batch)
            self._report.records[where] += count

    def finish(self) -> None:
        """Send the rest, and wait for all acknowledgements."""
        for where in self._collected:
            self._send(where)
        self._portal.call(self._producer.flush)
        self.check_topics()

    def check_topics(self, cause: Exception | None = None) -> None:
        """Raise if a topic is another one by now, which is then what is wrong."""
        for topic, known in self._ids.items():
            found = self._portal.call(self._producer.topic_id, topic)
            if None not in (known, found) and known != found:
                raise SinkError(
                    f"{topic} was deleted and made anew while the batch was written: rows of it "
                    f"went with the old one. The batch is aborted, and written anew when the query "
                    f"starts again."
                ) from cause


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of several, which may differ in whether they have headers."""
    table = pa.concat_tables(
        [pa.Table.from_batches([batch]) for batch in batches], promote_options="default"
    )
    (joined,) = table.combine_chunks().to_batches()
    return joined
