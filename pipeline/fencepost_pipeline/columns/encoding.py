"""From Arrow columns to record batches.

numpy writes the bytes before the key, between key and value, and after the value, for all records.
Arrow then joins the five columns of bytes; the data of the joined column is the sequence of
records. Uncompressed batches have the same bytes as those of
:mod:`fencepost_protocol.records.writer`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.records.batch import HEADER_SIZE, NO_SEQUENCE, NO_TIMESTAMP, add_to_sequence
from fencepost_protocol.records.writer import BatchOptions, assemble

from fencepost_pipeline.columns.tables import Numbers
from fencepost_pipeline.columns.varints import varint_sizes, write_varints, zigzag

ROWS_MAX: Final = 128 * 1024
"""Records that are encoded at once."""
_LENGTH_MAX: Final = 5
_BYTES_MAX: Final = 1 << 30
"""Arrow counts the bytes of a binary column with 31 bits."""


def encode(
    rows: pa.Table | pa.RecordBatch,
    *,
    max_batch_bytes: int = 1_000_000,
    timestamp_ms: int = NO_TIMESTAMP,
    **options: Unpack[BatchOptions],
) -> list[bytearray]:
    """Make record batches of rows, as few as ``max_batch_bytes`` allows; see :func:`iter_encode`.

    ::

        >>> rows = pa.table({"value": [b"one", b"two"]})
        >>> len(encode(rows, timestamp_ms=0))
        1
    """
    return [
        batch
        for batch, _ in iter_encode(
            rows, max_batch_bytes=max_batch_bytes, timestamp_ms=timestamp_ms, **options
        )
    ]


def iter_encode(
    rows: pa.Table | pa.RecordBatch,
    *,
    max_batch_bytes: int = 1_000_000,
    timestamp_ms: int = NO_TIMESTAMP,
    **options: Unpack[BatchOptions],
) -> Iterator[tuple[bytearray, int]]:
    """Make record batches of the columns ``key``, ``value``, ``headers`` and ``timestamp``.

    Each comes with the number of its records. Columns that are missing are null, for ``timestamp``
    and its nulls ``timestamp_ms`` is taken; keys and values may be text. A batch is no larger than
    ``max_batch_bytes`` before compression, unless one record is. Sequences go on from batch to
    batch. Other options are those of ``fencepost_protocol.records.writer.build_batch``.
    """
    sequence = options.get("base_sequence", NO_SEQUENCE)
    base_offset = options.get("base_offset", 0)
    for some in _slices(rows):
        for batch, count in _encode_some(
            some, max_batch_bytes, timestamp_ms, sequence, base_offset, options
        ):
            yield batch, count
            base_offset += count
            if sequence != NO_SEQUENCE:
                sequence = add_to_sequence(sequence, count)


def _slices(rows: pa.Table | pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut rows into pieces whose columns are one array each, of bounded size."""
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    for batch in table.to_batches(max_chunksize=ROWS_MAX):
        yield from _halved(batch)


def _halved(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if (
        batch.num_rows > 1
        and batch.get_total_buffer_size() > _BYTES_MAX
        and batch.nbytes > _BYTES_MAX
    ):
        half = batch.num_rows // 2
        yield from _halved(batch.slice(0, half))
        yield from _halved(batch.slice(half))
    elif batch.num_rows:
        yield batch


def _encode_some(
    rows: pa.RecordBatch,
    max_batch_bytes: int,
    timestamp_ms: int,
    sequence: int,
    base_offset: int,
    options: BatchOptions,
) -> Iterator[tuple[bytearray, int]]:
    keys = _binary(rows, "key")
    values = _binary(rows, "value")
    headers = _encode_headers(rows)
    timestamps = _timestamps(rows, timestamp_ms)
    key_sizes = _sizes(keys)
    value_sizes = _sizes(values)
    content = np.maximum(key_sizes, 0) + np.maximum(value_sizes, 0)
    if headers is not None:
        content += _sizes(headers)
    # The deltas are known only when it is known where batches begin; these are the longest.
    deltas = zigzag(np.array([rows.num_rows, np.ptp(timestamps)]))
    overhead = _LENGTH_MAX + 2 + varint_sizes(deltas).sum()
    content += varint_sizes(zigzag(key_sizes)) + varint_sizes(zigzag(value_sizes))
    firsts = _split(content + overhead, max_batch_bytes - HEADER_SIZE)
    counts = np.diff(np.append(firsts, rows.num_rows))
    deltas = np.arange(rows.num_rows) - np.repeat(firsts, counts)
    times = timestamps - np.repeat(timestamps[firsts], counts)
    joined = _join(keys, values, headers, deltas, times, key_sizes, value_sizes)
    offsets = np.frombuffer(joined.buffers()[1], np.int32)[joined.offset :]
    data = memoryview(joined.buffers()[2])
    for first, count in zip(firsts.tolist(), counts.tolist(), strict=True):
        body = data[int(offsets[first]) : int(offsets[first + count])]
        of_this: BatchOptions = {**options}
        of_this["base_sequence"] = sequence
        of_this["base_offset"] = base_offset
        yield (
            assemble(
                body,
                count,
                count - 1,
                int(timestamps[first]),
                int(timestamps[first : first + count].max()),
                **of_this,
            ),
            count,
        )
        base_offset += count
        if sequence != NO_SEQUENCE:
            sequence = add_to_sequence(sequence, count)


def _split(sizes: Numbers, room: int) -> Numbers:
    """Find which rows begin a batch, so that none is too large; a large record is one alone."""
    ends = np.cumsum(sizes)
    firsts = [0]
    while True:
        first = firsts[-1]
        before = int(ends[first - 1]) if first else 0
        behind = int(np.searchsorted(ends, before + room, side="right"))
        behind = max(behind, first + 1)
        if behind >= len(sizes):
            return np.array(firsts, np.int64)
        firsts.append(behind)


def _join(
    keys: pa.Array,
    values: pa.Array,
    headers: pa.Array | None,
    deltas: Numbers,
    times: Numbers,
    key_sizes: Numbers,
    value_sizes: Numbers,
) -> pa.Array:
    """Make a column of encoded records."""
    encoded_times, encoded_deltas = zigzag(times), zigzag(deltas)
    encoded_keys, encoded_values = zigzag(key_sizes), zigzag(value_sizes)
    widths = [
        varint_sizes(n) for n in (encoded_times, encoded_deltas, encoded_keys, encoded_values)
    ]
    sizes: Numbers = (
        1 + np.sum(widths, axis=0) + np.maximum(key_sizes, 0) + np.maximum(value_sizes, 0)
    )
    sizes += 1 if headers is None else _sizes(headers)
    encoded_sizes = zigzag(sizes)
    head_sizes = varint_sizes(encoded_sizes) + 1 + widths[0] + widths[1] + widths[2]
    head, at, offsets = _room(head_sizes)
    at = write_varints(head, at, encoded_sizes)
    for numbers in (encoded_times, encoded_deltas, encoded_keys):
        at = write_varints(head, at + (numbers is encoded_times), numbers)
    middle, at, middle_offsets = _room(widths[3])
    write_varints(middle, at, encoded_values)
    return pc.binary_join_element_wise(
        _column(head, offsets),
        keys.fill_null(b""),
        _column(middle, middle_offsets),
        values.fill_null(b""),
        pa.scalar(b"\0", pa.binary()) if headers is None else headers,
        pa.scalar(b"", pa.binary()),
    )


def _room(sizes: Numbers) -> tuple[Any, Numbers, Any]:
    """Room for pieces of these sizes: the bytes, where each begins, and Arrow's offsets."""
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    return np.zeros(int(offsets[-1]), np.uint8), offsets[:-1].astype(np.int64), offsets


def _column(data: Any, offsets: Any) -> pa.Array:
    return pa.Array.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    )


def _sizes(column: pa.Array) -> Numbers:
    """How long each element is; -1 where it is null."""
    sizes = pc.binary_length(column).cast(pa.int64()).fill_null(-1)
    return np.asarray(sizes)


def _binary(rows: pa.RecordBatch, name: str) -> pa.Array:
    """Get a column as bytes; nulls if there is none of that name."""
    if name not in rows.schema.names:
        return pa.nulls(rows.num_rows, pa.binary())
    return _as_binary(rows.column(name), name)


def _as_binary(column: pa.Array, name: str) -> pa.Array:
    if pa.types.is_binary(column.type):
        return column
    try:
        return column.cast(pa.binary())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise LocalProtocolError(
            f"column {name!r} is {column.type}, and only bytes and text can be written: {error}"
        ) from error


def _timestamps(rows: pa.RecordBatch, timestamp_ms: int) -> Numbers:
    if "timestamp" not in rows.schema.names:
        return np.full(rows.num_rows, timestamp_ms, np.int64)
    column = rows.column("timestamp")
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", column.type.tz), safe=False)
    try:
        numbers = np.asarray(column.cast(pa.int64()).fill_null(timestamp_ms))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise LocalProtocolError(
            f"column 'timestamp' is {column.type}, not milliseconds or a time: {error}"
        ) from error
    if len(numbers) and numbers.min() < NO_TIMESTAMP:
        raise LocalProtocolError(f"{numbers.min()} is no timestamp")
    return numbers


def _encode_headers(rows: pa.RecordBatch) -> pa.Array | None:
    """Encode the headers of each row, their count in front; ``None`` if there are none at all."""
    if "headers" not in rows.schema.names:
        return None
    column = rows.column("headers")
    if column.null_count == len(column):
        return None
    if not pa.types.is_list(column.type) or not pa.types.is_struct(column.type.value_type):
        raise LocalProtocolError(
            f"column 'headers' is {column.type}, not a list of structs of key and value"
        )
    pairs = column.flatten()
    counts = np.asarray(pc.list_value_length(column).cast(pa.int64()).fill_null(0))
    keys = _as_binary(pairs.field("key"), "headers.key")
    values = _as_binary(pairs.field("value"), "headers.value")
    if keys.null_count:
        raise LocalProtocolError("a header without a key cannot be written")
    parts = pc.binary_join_element_wise(
        _lengths(keys), keys, _lengths(values), values.fill_null(b""), pa.scalar(b"", pa.binary())
    )
    encoded_counts = zigzag(counts)
    data, at, offsets = _room(varint_sizes(encoded_counts))
    write_varints(data, at, encoded_counts)
    return pc.binary_join_element_wise(
        _column(data, offsets), _merged(parts, counts), pa.scalar(b"", pa.binary())
    )


def _lengths(column: pa.Array) -> pa.Array:
    """Make a column of the encoded lengths of another's elements."""
    encoded = zigzag(_sizes(column))
    data, at, offsets = _room(varint_sizes(encoded))
    write_varints(data, at, encoded)
    return _column(data, offsets)


def _merged(parts: pa.Array, counts: Numbers) -> pa.Array:
    """Put each row's parts together: the same bytes, with fewer borders."""
    borders = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=borders[1:])
    if not len(parts):
        return _column(np.zeros(0, np.uint8), np.zeros(len(counts) + 1, np.int32))
    offsets = np.frombuffer(parts.buffers()[1], np.int32)[parts.offset :]
    merged = np.ascontiguousarray(offsets[borders])
    return pa.Array.from_buffers(
        pa.binary(), len(counts), [None, pa.py_buffer(merged), parts.buffers()[2]]
    )
