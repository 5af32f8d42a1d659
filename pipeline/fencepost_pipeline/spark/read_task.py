"""A read task: it reads a range of offsets of a partition into Arrow batches."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from fencepost_client.blocking import Consumer
from fencepost_client.errors import LogTruncatedError, OffsetOutOfRangeError
from fencepost_client.types import TopicPartition
from fencepost_protocol.primitives import uuid_text
from fencepost_protocol.records.batch import Buffer, InvalidBatchError

from fencepost_pipeline.columns import iter_decode
from fencepost_pipeline.spark.arrow_batch_size import in_pieces
from fencepost_pipeline.spark.data_loss import DataLoss
from fencepost_pipeline.spark.offset_ranges import OffsetRange
from fencepost_pipeline.spark.source_options import SourceOptions
from fencepost_pipeline.spark.worker_process import keep_modules

if TYPE_CHECKING:
    from fencepost_client.consumer.record_batch import EncodedBatch

_TAKEN_BYTES: Final = 8 << 20
"""So much is taken from the consumer at once, which fetches the next meanwhile."""
_FETCHED_AHEAD: Final = 8 << 20
"""What is fetched of a partition at once, where ``kafka.max.partition.fetch.bytes`` is not set."""
_LOOK_EACH_MS: Final = 1_000
"""How long to wait for records before a look whether the topic is still the same."""
_DECODED_NAMES: Final = {
    "key": "key",
    "value": "value",
    "offset": "offset",
    "timestamp": "timestamp",
    "timestampType": "timestamp_type",
    "headers": "headers",
}
"""Columns by Spark's names, and what they are called when they are decoded."""


class NothingCameError(RuntimeError):
    """Records that exist were not received in time."""


class UnreadableBatchError(RuntimeError):
    """A batch is invalid: its writer or the broker's disk is faulty."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The settings of all read tasks."""

    options: SourceOptions
    schema: pa.Schema
    """The columns that Spark wants, as it wants them."""

    def read(self, whole: OffsetRange, topic_id: str | None = None) -> Iterator[pa.RecordBatch]:
        """The records of a range, some thousands at a time; of the topic with this id only."""
        keep_modules()
        names = {_DECODED_NAMES[name] for name in self.schema.names if name in _DECODED_NAMES}
        settings = {"max.partition.fetch.bytes": str(_FETCHED_AHEAD), **self.options.client}
        isolation = "read_committed" if self.options.is_committed_only else "read_uncommitted"
        settings |= {
            "isolation.level": isolation,
            "auto.offset.reset": "none",
            "enable.auto.commit": "false",
        }
        with Consumer.from_config(settings) as consumer:
            batches = _Batches(consumer, whole, self.options, topic_id)
            decoded = iter_decode(
                batches, columns=names | {"offset"}, on_error=batches.raise_unreadable
            )
            for rows in decoded:
                wanted = _within(rows, whole)
                if wanted.num_rows:
                    yield from in_pieces(self._shaped(wanted, whole.where))

    def _shaped(self, rows: pa.RecordBatch, where: TopicPartition) -> pa.RecordBatch:
        """The decoded columns as Spark wants them."""
        count = rows.num_rows
        columns: list[Any] = []
        for field in self.schema:
            if field.name == "topic":
                column = pa.repeat(pa.scalar(where.topic, pa.string()), count)
            elif field.name == "partition":
                column = pa.repeat(pa.scalar(where.partition, pa.int32()), count)
            else:
                column = rows.column(_DECODED_NAMES[field.name])
                if field.name == "timestamp":
                    column = column.cast(pa.timestamp("ms", tz="UTC"))
            columns.append(column if column.type == field.type else column.cast(field.type))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


class _Batches:
    """The encoded batches that hold a range; whatever is between them is passed over."""

    def __init__(
        self,
        consumer: Consumer,
        whole: OffsetRange,
        options: SourceOptions,
        topic_id: str | None,
    ) -> None:
        self._consumer = consumer
        self._whole = whole
        self._topic_id = topic_id
        self._patience_ms = options.patience_ms
        self._loss = DataLoss(options.fails_on_data_loss)
        self._base_offsets = array("q")
        """Of all batches that were given."""

    def __iter__(self) -> Iterator[Buffer]:
        consumer, where, end = self._consumer, self._whole.where, self._whole.end
        consumer.assign([where])
        consumer.seek(where, self._whole.start, until=end)
        at = self._whole.start
        waited_ms = 0
        while at < end:
            waits_ms = min(_LOOK_EACH_MS, self._patience_ms - waited_ms)
            try:
                batches: list[EncodedBatch] = consumer.fetch_encoded(
                    timeout_ms=waits_ms, max_bytes=_TAKEN_BYTES, until={where: end}
                )
            except (OffsetOutOfRangeError, LogTruncatedError) as error:
                if self._is_another(at):
                    return
                self._find_again(at, error)
                at = consumer.positions()[where]
                continue
            if self._is_another(at):
                return
            before, at = at, consumer.positions()[where]
            for batch in batches:
                self._base_offsets.append(base_offset_of(batch.data))
                yield batch.data
            waited_ms = waited_ms + waits_ms if at == before else 0
            if waited_ms >= self._patience_ms:
                self._give_up(at)
                return

    def _is_another(self, at: int) -> bool:
        """Whether the topic was deleted and created again since the plan; reports it."""
        topic, partition = self._whole.where
        topic_id = self._consumer.topic_id(topic)
        if topic_id is None or self._topic_id in (None, uuid_text(topic_id)):
            return False
        self._loss.report(
            f"{topic} was deleted and made anew: {topic}-{partition} had offsets up to "
            f"{self._whole.end} when it was planned, and was read up to {at}"
        )
        return True

    def raise_unreadable(self, number: int, error: InvalidBatchError) -> None:
        """The batch of this number cannot be decoded."""
        where = self._whole.where
        raise UnreadableBatchError(
            f"{where.topic}-{where.partition}: the batch that begins at offset "
            f"{self._base_offsets[number]} cannot be read: {error}. To go on without it, begin a "
            "new query behind it by startingOffsets."
        ) from error

    def _find_again(self, at: int, error: Exception) -> None:
        where = self._whole.where
        first = self._consumer.beginning_offsets([where])[where]
        self._loss.report(
            f"{where.topic}-{where.partition} has nothing at offset {at} any more, of which "
            f"offsets up to {self._whole.end} were to be read; it begins at {first}",
            error,
        )
        end = self._whole.end
        self._consumer.seek(where, first if first > at else end, until=end)

    def _give_up(self, at: int) -> None:
        where = self._whole.where
        raise NothingCameError(
            f"{where.topic}-{where.partition}: nothing came for {self._patience_ms} ms at offset "
            f"{at}, of which offsets up to {self._whole.end} were to be read. Look whether the "
            "topic is still there and its leader can be reached; kafkaConsumer.pollTimeoutMs is "
            "how long to wait."
        )


def _within(rows: pa.RecordBatch, whole: OffsetRange) -> pa.RecordBatch:
    """The rows of a range: batches begin before it and end after it."""
    offsets = rows.column("offset")
    if offsets[0].as_py() >= whole.start and offsets[-1].as_py() < whole.end:
        return rows
    # Some of the first batch or of the last one was not asked for.
    return rows.filter(pc.and_(pc.greater_equal(offsets, whole.start), pc.less(offsets, whole.end)))


def base_offset_of(batch: Buffer) -> int:
    """The first offset of a batch, where its header has it."""
    return int.from_bytes(batch[:8], "big", signed=True)
