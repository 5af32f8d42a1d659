"""``RecordBatch``: fetched records as columns, from ``Consumer.fetch_batches``."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import Buffer
from fencepost_protocol.records.spans import RecordSpans
from fencepost_protocol.records.walking import NULL

from fencepost_client.errors import KafkaError, consumer_error
from fencepost_client.types import ConsumerRecord, Headers, TopicPartition


class Column(Sequence["memoryview | None"]):
    """The keys or the values of a batch, as views of its data, without a copy.

    ``starts`` and ``ends`` are their positions in ``data``, -1 for null: use them to avoid an
    object for each value. A view keeps the data of the whole batch in memory: copy what you keep
    for long.
    """

    __slots__ = ("_first", "_is_keys", "_spans", "data")

    def __init__(self, spans: RecordSpans, first: int, *, is_keys: bool) -> None:
        self.data = spans.data
        self._spans = spans
        self._first = first
        self._is_keys = is_keys

    @property
    def starts(self) -> list[int]:
        """The start of each value in ``data``; -1 for null."""
        starts = self._spans.key_starts if self._is_keys else self._spans.value_starts
        return starts[self._first :] if self._first else starts

    @property
    def ends(self) -> list[int]:
        """The end of each value in ``data``; -1 for null."""
        ends = self._spans.key_ends if self._is_keys else self._spans.value_ends
        return ends[self._first :] if self._first else ends

    def __len__(self) -> int:
        return len(self._spans) - self._first

    @overload
    def __getitem__(self, index: int) -> memoryview | None: ...
    @overload
    def __getitem__(self, index: slice) -> list[memoryview | None]: ...
    def __getitem__(self, index: int | slice) -> memoryview | list[memoryview | None] | None:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        start, end = self.starts[index], self.ends[index]
        return None if start == NULL else memoryview(self.data)[start:end]

    def __iter__(self) -> Iterator[memoryview | None]:
        view = memoryview(self.data)
        for start, end in zip(self.starts, self.ends, strict=True):
            yield None if start == NULL else view[start:end]

    def to_list(self) -> list[bytes | None]:
        """Copies of all values, which is faster than views for small records."""
        found = self._spans.keys() if self._is_keys else self._spans.values()
        return found[self._first :] if self._first else found

    def __repr__(self) -> str:
        return f"<Column of {len(self)}>"


class EncodedBatch(NamedTuple):
    """A batch as it is in the log, after a check of its CRC; never a marker or an aborted batch.

    A batch may begin before the position: ignore records before ``from_offset``. The data is a view
    of the whole answer of a broker.
    """

    where: TopicPartition
    from_offset: int
    data: Buffer


class RecordBatch:
    """Records of a partition, with a column for each field.

        for batch in await consumer.fetch_batches(timeout_ms=1000):
            for offset, value in zip(batch.offsets, batch.values):
                print(batch.topic, batch.partition, offset, value)

    They are from one batch of a producer, without records that were aborted or read before.
    """

    __slots__ = ("_first", "_spans", "_timestamps", "offsets", "where")

    def __init__(self, where: TopicPartition, spans: RecordSpans, first: int = 0) -> None:
        self.where = where
        self.offsets: Sequence[int] = spans.offsets[first:] if first else spans.offsets
        self._spans = spans
        self._first = first
        self._timestamps: Sequence[int] | None = None

    @property
    def keys(self) -> Column:
        """The keys of the records."""
        return Column(self._spans, self._first, is_keys=True)

    @property
    def values(self) -> Column:
        """The values of the records."""
        return Column(self._spans, self._first, is_keys=False)

    @property
    def timestamps_ms(self) -> Sequence[int]:
        """The create times or the append times of the records, by the setting of the topic."""
        if self._timestamps is None:
            self._timestamps = self._spans.timestamps()[self._first :]
        return self._timestamps

    @property
    def topic(self) -> str:
        """The topic of the records."""
        return self.where.topic

    @property
    def partition(self) -> int:
        """The partition of the records."""
        return self.where.partition

    def __len__(self) -> int:
        return len(self.offsets)

    def headers(self, index: int) -> Headers:
        """Decode the headers of one record."""
        place = range(self._first, self._first + len(self))[index]
        if place not in self._spans.headers:
            return ()
        try:
            return self._spans.read_headers(place)
        except RemoteProtocolError as error:
            raise unreadable(self.where, self.offsets[index], None, error) from error

    @property
    def has_headers(self) -> bool:
        """Whether any record has headers."""
        return bool(self._spans.headers)

    def to_records(self) -> list[ConsumerRecord]:
        """The records, as ``getmany`` returns them."""
        return [
            ConsumerRecord(*self.where, offset, timestamp, key, value, self.headers(index))
            for index, (offset, timestamp, key, value) in enumerate(
                zip(
                    self.offsets,
                    self.timestamps_ms,
                    self.keys.to_list(),
                    self.values.to_list(),
                    strict=True,
                )
            )
        ]

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.RecordBatch``; needs pyarrow (``pip install 'fencepost[arrow]'``).

        The columns are topic, partition, offset, timestamp, key, value and headers. All batches
        have the same schema: ``pyarrow.Table.from_batches([batch.to_arrow() for batch in
        batches])``.
        """
        try:
            import pyarrow as pa
        except ImportError as error:
            raise ImportError(
                "to_arrow needs pyarrow, which is not installed: pip install 'fencepost[arrow]'"
            ) from error
        count = len(self)
        header_type = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
        if self.has_headers:
            headers = [
                [{"key": key, "value": value} for key, value in self.headers(index)]
                for index in range(count)
            ]
        else:
            headers = [[]] * count
        columns = {
            "topic": pa.repeat(pa.scalar(self.topic), count),
            "partition": pa.repeat(pa.scalar(self.partition, pa.int32()), count),
            "offset": pa.array(self.offsets, pa.int64()),
            "timestamp": pa.array(self.timestamps_ms, pa.timestamp("ms", tz="UTC")),
            "key": _arrow_binary(pa, self.keys),
            "value": _arrow_binary(pa, self.values),
            "headers": pa.array(headers, pa.list_(header_type)),
        }
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

    def __repr__(self) -> str:
        last = f"{self.offsets[0]}-{self.offsets[-1]}" if len(self) else "nothing"
        return f"<RecordBatch {self.topic}-{self.partition} {last}>"


def _arrow_binary(pa: Any, column: Column) -> Any:
    """A column for Arrow, without an object for each value if none is null.

    Arrow's values have no gaps between them. Here there are gaps, so each gap becomes a value of
    its own, and every second value is taken.
    """
    count = len(column)
    if column.starts.count(NULL) == count:
        return pa.nulls(count, pa.binary())
    if NULL in column.starts:
        return pa.array(column.to_list(), pa.binary())
    bounds = array("i", bytes(array("i").itemsize * (2 * count + 1)))
    bounds[0:-1:2] = array("i", column.starts)
    bounds[1::2] = array("i", column.ends)
    bounds[-1] = bounds[-2]
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(column.data)]
    gapless = pa.Array.from_buffers(pa.binary(), 2 * count, buffers)
    return gapless.take(pa.array(range(0, 2 * count, 2), pa.int32()))


def unreadable(
    where: TopicPartition, offset: int, next_offset: int | None, error: RemoteProtocolError
) -> KafkaError:
    """The error for an invalid batch, with the offset after it."""
    past = f" To skip it, seek to {next_offset}." if next_offset is not None else ""
    return consumer_error(
        ErrorCode.CORRUPT_MESSAGE,
        f"{where.topic}-{where.partition} has a batch at or after offset {offset} that cannot be "
        f"read: {error}.{past}",
    )
