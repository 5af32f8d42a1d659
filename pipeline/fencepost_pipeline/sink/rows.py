"""Rows in the format of Spark's Kafka sink: their columns, and their partitions.

========= ===================================== ====================================================
column    type                                  rule
========= ===================================== ====================================================
value     string or binary, required            null is a record without a value: a tombstone
key       string or binary                      null is a record without a key
topic     string                                required unless the option ``topic`` names one
partition int                                   null: the partition of the key's hash, as in Kafka's
                                                clients; without a key, the task's own partition
headers   array of struct of key and value      string and binary; a key may come more than once
========= ===================================== ====================================================

Other columns are ignored. A row without key and partition goes to the partition with the number of
the task, modulo their count, so that tasks write to different partitions, unless there are more
tasks than partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fencepost_pipeline.sink.errors import RowError
from fencepost_pipeline.sink.key_hash import murmur2_of
from fencepost_pipeline.sink.task_reports import Where

Counts: TypeAlias = Callable[[str], int]
"""The number of partitions of a topic."""
TEXT: Final = ("string", "binary")
HEADERS: Final = "array<struct<key:string,value:binary>>"
TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "value": TEXT,
    "key": TEXT,
    "topic": ("string",),
    "partition": ("int",),
    "headers": (HEADERS,),
}
NOWHERE: Final = -1
_POSITIVE: Final = np.uint32(0x7FFF_FFFF)


def check_columns(columns: Mapping[str, str], topic: str | None) -> None:
    """Check the names and the types of columns."""
    if "value" not in columns:
        raise RowError(
            f"There is no column 'value' (there are: {', '.join(columns) or 'none'}). Make one, "
            f"such as df.selectExpr('to_json(struct(*)) AS value')."
        )
    if topic is None and "topic" not in columns:
        raise RowError(
            "No topic is set: use .option('topic', 'orders'), or a string column 'topic'."
        )
    for name, types in TYPES.items():
        given = columns.get(name)
        if given is not None and given not in types:
            raise RowError(
                f"Column {name!r} is {given}; it can be {' or '.join(types)}. Cast it, such as "
                f"df.withColumn('{name}', df['{name}'].cast('{types[0]}'))."
            )


class Rows:
    """Divides Arrow batches by partition, in the order of the rows."""

    def __init__(self, topic: str | None, counts: Counts, task: int) -> None:
        self._topic = topic
        self._counts = counts
        self._task = task

    def split(self, batch: pa.RecordBatch) -> Iterator[tuple[Where, pa.RecordBatch]]:
        """The batch's rows by partition, with key, value and headers."""
        if not batch.num_rows:
            return
        rows = _content(batch)
        for topic, chosen in self._by_topic(batch):
            some = rows if chosen is None else rows.take(chosen)
            column = _column(batch, "partition")
            wanted = column if column is None or chosen is None else column.take(chosen)
            yield from self._by_partition(topic, some, wanted)

    def placed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with a partition in every row."""
        rows = _content(batch)
        places = np.zeros(batch.num_rows, dtype=np.int32)
        wanted = _column(batch, "partition")
        for topic, chosen in self._by_topic(batch) if batch.num_rows else ():
            if chosen is None:
                places = self._places(topic, rows, wanted)
            else:
                some = wanted if wanted is None else wanted.take(chosen)
                places[chosen.to_numpy()] = self._places(topic, rows.take(chosen), some)
        at = batch.schema.get_field_index("partition")
        rest = batch if at < 0 else batch.remove_column(at)
        return rest.append_column("partition", pa.array(places, pa.int32()))

    def _by_topic(self, batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Array | None]]:
        if self._topic is not None:
            yield self._topic, None
            return
        column = _column(batch, "topic")
        if column is None:
            raise RowError("No topic is set: set the option 'topic'.")
        if column.null_count:
            raise RowError(
                f"{column.null_count} of {len(column)} rows have no topic: fill the column, drop "
                f"these rows, or set the option 'topic'."
            )
        coded = column.dictionary_encode()
        names = coded.dictionary.to_pylist()
        if len(names) == 1:
            yield names[0], None
            return
        codes = coded.indices.to_numpy()
        for code, name in enumerate(names):
            yield name, pa.array(np.flatnonzero(codes == code))

    def _by_partition(
        self, topic: str, rows: pa.RecordBatch, wanted: pa.Array | None
    ) -> Iterator[tuple[Where, pa.RecordBatch]]:
        places = self._places(topic, rows, wanted)
        first = int(places[0])
        if (places == first).all():
            yield (topic, first), rows
            return
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        for start, end in zip(starts, np.r_[starts[1:], len(order)], strict=True):
            yield (topic, int(ordered[start])), rows.take(pa.array(order[start:end]))

    def _places(self, topic: str, rows: pa.RecordBatch, wanted: pa.Array | None) -> Any:
        count = self._counts(topic)
        if wanted is None:
            places = np.full(rows.num_rows, NOWHERE, dtype=np.int32)
        else:
            asked = wanted.drop_null()
            if len(asked) and not 0 <= pc.min(asked).as_py() <= pc.max(asked).as_py() < count:
                numbers = asked.to_numpy()
                wrong = int(numbers[(numbers < 0) | (numbers >= count)][0])
                raise RowError(
                    f"A row is for partition {wrong} of topic {topic!r}, which has the partitions "
                    f"0 to {count - 1}."
                )
            places = wanted.fill_null(NOWHERE).to_numpy(zero_copy_only=False).astype(np.int32)
        missing = np.flatnonzero(places == NOWHERE)
        if len(missing):
            keys = rows.column("key")
            keys = keys if len(missing) == len(places) else keys.take(pa.array(missing))
            places[missing] = self._by_key(keys, count)
        return places

    def _by_key(self, keys: pa.Array, count: int) -> Any:
        own = self._task % count
        if keys.null_count == len(keys):
            return np.full(len(keys), own, dtype=np.int32)
        places = ((murmur2_of(keys) & _POSITIVE) % np.uint32(count)).astype(np.int32)
        if keys.null_count:
            places[keys.is_null().to_numpy(zero_copy_only=False)] = own
        return places


def _column(batch: pa.RecordBatch, name: str) -> pa.Array | None:
    at = batch.schema.get_field_index(name)
    return batch.column(at) if at >= 0 else None


def _content(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Key, value and headers, as bytes."""
    value = _column(batch, "value")
    if value is None:
        raise RowError("There is no column 'value'.")
    key = _column(batch, "key")
    if key is None:
        key = pa.nulls(batch.num_rows, pa.binary())
    columns = {"key": _bytes(key), "value": _bytes(value)}
    headers = _column(batch, "headers")
    if headers is not None and headers.null_count < len(headers):
        names = headers.flatten().field(0)
        if names.null_count:
            raise RowError(f"{names.null_count} headers have no key; leave such headers out.")
        columns["headers"] = headers
    return pa.RecordBatch.from_pydict(columns)


def _bytes(column: pa.Array) -> pa.Array:
    large = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    return column.cast(pa.large_binary() if large else pa.binary())
