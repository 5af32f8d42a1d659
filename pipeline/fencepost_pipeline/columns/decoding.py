"""From record batches to Arrow columns.

Batches are collected until they have enough records, and then each field of all records is read
with a few numpy calls. An invalid batch is detected by arithmetic; the protocol's reader then reads
the record in question, and explains the error.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from fencepost_protocol import limits
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.records.batch import (
    CONTROL_FLAG,
    HEADER,
    LOG_APPEND_TIME_FLAG,
    MAX_SEQUENCE,
    NO_SEQUENCE,
    TRANSACTIONAL_FLAG,
    Buffer,
    InvalidBatchError,
    RawHeader,
    unpack_header,
)
from fencepost_protocol.records.reader import (
    invalid,
    left_behind,
    open_records,
    outside,
    read_fields,
)
from fencepost_protocol.records.reader import read_headers as read_headers_of_one
from fencepost_protocol.varint import MAX_VARLONG, MIN_VARLONG

from fencepost_pipeline.columns.binary_columns import take_pairs
from fencepost_pipeline.columns.header_columns import (
    HeaderSpans,
    find_headers,
    headers_column,
)
from fencepost_pipeline.columns.record_starts import walk
from fencepost_pipeline.columns.tables import (
    HEADER_FIELDS,
    RECORD_SCHEMA,
    Bytes,
    Flags,
    Numbers,
)
from fencepost_pipeline.columns.varints import PADDING, read_varints, read_varlongs

ROWS_MAX: Final = 128 * 1024
"""Records that are read at once, and the most that one record batch of columns holds."""
BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of records that are read at once, unless a single one is larger. More is memory that the
system has to give each time, less is numpy calls that are not worth it: half a millisecond."""
_GROUP_BYTES_MAX: Final = 1 << 30
"""Arrow counts the bytes of a binary column with 31 bits."""

OnError: TypeAlias = Callable[[int, InvalidBatchError], None]
"""Called for a batch that is skipped, with its number and the error."""


class _Opened(NamedTuple):
    """A batch whose records were got at."""

    number: int
    header: RawHeader
    body: bytes | bytearray | memoryview
    shift: int


def decode(
    batches: Iterable[Buffer],
    *,
    control: bool = False,
    limit: int = limits.MAX_DECOMPRESSED_BYTES,
) -> pa.Table:
    """Read all records of some batches into one table.

    With ``control`` the table has the records of control batches, too. CRCs are not checked. An
    invalid batch raises ``InvalidBatchError``.

    ::

        >>> from fencepost_protocol.records.writer import build_batch
        >>> decode([build_batch(None, [b"one", b"two"], 0)])["value"].to_pylist()
        [b'one', b'two']
    """
    return pa.Table.from_batches(
        iter_decode(batches, control=control, limit=limit), schema=RECORD_SCHEMA
    )


def iter_decode(
    batches: Iterable[Buffer],
    *,
    control: bool = False,
    limit: int = limits.MAX_DECOMPRESSED_BYTES,
    columns: Container[str] | None = None,
    on_error: OnError | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read the records of batches, some thousands at a time; memory stays bounded.

    ``columns`` selects columns; ``None`` means all. An invalid batch is reported to ``on_error``
    and skipped; without ``on_error`` it raises an error. (Records of a batch with more than
    ``ROWS_MAX`` may be returned before an error in a later one is found.) ``limit`` is the largest
    size of an uncompressed batch.
    """
    group: list[_Opened] = []
    rows = size = 0
    for index, batch in enumerate(batches):
        try:
            header = unpack_header(batch)
            if header[5] & CONTROL_FLAG and not control:
                continue
            body, shift = open_records(batch, header, min(limit, _GROUP_BYTES_MAX))
        except InvalidBatchError as error:
            if on_error is None:
                raise
            on_error(index, error)
            continue
        if group and (rows + header[12] > ROWS_MAX or size + len(body) > BYTES_MAX):
            yield from _decode_group(group, columns, on_error)
            group = []
            rows = size = 0
        if len(body) > _GROUP_BYTES_MAX:
            raise LocalProtocolError(f"a batch of {len(body)} bytes is too large for one column")
        group.append(_Opened(index, header, body, shift))
        rows += header[12]
        size += len(body)
    if group:
        yield from _decode_group(group, columns, on_error)


def _decode_group(
    group: list[_Opened], columns: Container[str] | None, on_error: OnError | None
) -> Iterator[pa.RecordBatch]:
    """Read the records of opened batches, a range of rows at a time."""
    rows = _Rows(group)
    bad = rows.failed_in_walk()
    while True:
        for place, row in bad:
            error = rows.explain(place, row)
            if on_error is None:
                raise error
            on_error(group[place].number, error)
        bad = []
        for first, last in rows.ranges_left():
            part = rows.decode(first, last, columns, bad)
            if bad:
                break
            if part is not None:
                yield part
        else:
            return


class _Rows:
    """The records of some batches, walked, and how far they were given out."""

    def __init__(self, group: list[_Opened]) -> None:
        self._group = group
        raw = b"".join([*(opened.body for opened in group), bytes(PADDING)])
        self._source = pa.py_buffer(raw)
        self._data: Bytes = np.frombuffer(raw, np.uint8)
        self._headers = _HeaderColumns([opened.header for opened in group])
        counts = self._headers["record_count"]
        sizes = np.array([len(opened.body) for opened in group], np.int64)
        self._body_ends: Numbers = np.cumsum(sizes)
        self._body_starts: Numbers = self._body_ends - sizes
        self._starts, self._failed, self._walked = walk(
            self._data, raw, self._body_starts, self._body_ends, counts
        )
        self._behind = np.empty_like(self._starts)
        self._behind[:-1] = self._starts[1:]
        last_rows = np.cumsum(counts) - 1
        self._behind[last_rows[counts > 0]] = self._body_ends[counts > 0]
        self._first_rows: Numbers = last_rows + 1 - counts
        self._batch_of: Numbers = np.repeat(np.arange(len(group)), counts)
        self._given = 0

    def failed_in_walk(self) -> list[tuple[int, int]]:
        """Which batches do not come out even, each with the row where that shows."""
        return [
            (place, int(self._first_rows[place] + self._walked[place]))
            for place in np.flatnonzero(self._failed).tolist()
        ]

    def ranges_left(self) -> Iterator[tuple[int, int]]:
        """Cut the rows that were not given yet into ranges that take bounded memory."""
        while self._given < len(self._starts):
            first = self._given
            reach = int(self._starts[first]) + BYTES_MAX
            stop = min(first + ROWS_MAX, len(self._starts))
            if self._failed.any():
                # The starts of what could not be walked mean nothing.
                within = self._behind[first:stop] <= reach
                within |= self._failed[self._batch_of[first:stop]]
                inside = int(np.argmin(within)) if not within.all() else len(within)
            else:
                inside = int(np.searchsorted(self._behind[first:stop], reach, side="right"))
            last = first + max(inside, 1)
            yield first, last
            self._given = last

    def decode(
        self, first: int, last: int, columns: Container[str] | None, bad: list[tuple[int, int]]
    ) -> pa.RecordBatch | None:
        """Make columns of a range of rows, or add to ``bad`` the batches that are not right."""
        batch_of = self._batch_of[first:last]
        rows = np.arange(first, last)
        if self._failed.any():
            keep = ~self._failed[batch_of]
            rows, batch_of = rows[keep], batch_of[keep]
        if not rows.size:
            return None
        headers = self._headers.of_rows(batch_of)
        found = _find_fields(self._data, self._starts[rows], self._behind[rows], headers)
        if found.wrong.any():
            wrong_rows = rows[found.wrong]
            places, at = np.unique(self._batch_of[wrong_rows], return_index=True)
            self._failed[places] = True
            bad += zip(places.tolist(), wrong_rows[at].tolist(), strict=True)
            return None
        return _make_columns(self._source, headers, found, columns)

    def explain(self, place: int, row: int) -> InvalidBatchError:
        """Say what is wrong with the record of that row, as the protocol's reader says it."""
        opened = self._group[place]
        count = opened.header[12]
        number = row - int(self._first_rows[place])
        try:
            if number == count:
                behind = 0
                if count:
                    behind = self._read_one(opened, int(self._starts[row - 1]), place)
                left = len(opened.body) - behind
                return left_behind(left, behind + opened.shift)
            start = int(self._starts[row])
            if number == int(self._walked[place]) and number:
                start = self._read_one(opened, int(self._starts[row - 1]), place)
                start += int(self._body_starts[place])
            elif number == int(self._walked[place]):
                start = int(self._body_starts[place])
            self._read_one(opened, start, place)
        except InvalidBatchError as error:
            return error
        return invalid(f"record {number} is not right", opened.shift)

    def _read_one(self, opened: _Opened, start: int, place: int) -> int:
        """Let the protocol's reader look at a record; the position after it in its batch."""
        view = memoryview(opened.body)
        at = start - int(self._body_starts[place])
        behind, time, delta, _, _, _, _, pos = read_fields(view, at, opened.shift)
        if not 0 <= delta <= opened.header[6]:
            raise outside(delta, opened.header[6], at + opened.shift)
        if not opened.header[5] & LOG_APPEND_TIME_FLAG:
            timestamp = opened.header[7] + time
            if not MIN_VARLONG <= timestamp <= MAX_VARLONG:
                raise invalid(f"the timestamp {timestamp} has more than 64 bits", at + opened.shift)
        if view[pos]:
            read_headers_of_one(view, pos, behind, opened.shift)
        return behind


class _HeaderColumns:
    """Fields of batch headers by name, a number per batch or, made when asked for, per record."""

    def __init__(self, headers: list[RawHeader]) -> None:
        packed = b"".join([HEADER.pack(*header) for header in headers])
        self._fields = np.frombuffer(packed, HEADER_FIELDS)
        self._batch_of: Numbers | None = None

    def of_rows(self, batch_of: Numbers) -> _HeaderColumns:
        columns = object.__new__(_HeaderColumns)
        columns._fields, columns._batch_of = self._fields, batch_of
        return columns

    def __getitem__(self, name: str) -> Numbers:
        column: Numbers = self._fields[name].astype(np.int64)
        return column if self._batch_of is None else column[self._batch_of]


class _Fields(NamedTuple):
    """Where the parts of some records are, and their numbers."""

    wrong: Flags
    timestamps: Numbers
    offset_deltas: Numbers
    bounds: Numbers
    null_keys: Flags
    null_values: Flags
    headers: HeaderSpans


def _find_fields(data: Bytes, starts: Numbers, behind: Numbers, headers: _HeaderColumns) -> _Fields:
    """Find the fields of all records between ``starts`` and ``behind``.

    Every position that is looked at lies before ``behind`` or a few bytes after it: what runs
    further is set back, and is wrong anyway.
    """
    wrong = np.zeros(len(starts), np.bool_)
    _, pos = read_varints(data, starts, wrong)
    times, pos = read_varlongs(data, pos + 1, wrong)
    deltas, pos = read_varints(data, np.minimum(pos, behind), wrong)
    key_sizes, key_starts = read_varints(data, np.minimum(pos, behind), wrong)
    null_keys = key_sizes < 0
    key_ends = key_starts + np.where(null_keys, 0, key_sizes)
    wrong |= key_ends >= behind
    value_sizes, value_starts = read_varints(data, np.minimum(key_ends, behind), wrong)
    null_values = value_sizes < 0
    value_ends = value_starts + np.where(null_values, 0, value_sizes)
    wrong |= value_ends >= behind
    spans = find_headers(data, np.minimum(value_ends, behind), behind, wrong)
    base_timestamps = headers["base_timestamp"]
    timestamps = base_timestamps + times
    overflown = ((base_timestamps ^ timestamps) & (times ^ timestamps)) < 0
    stamped = headers["attributes"] & LOG_APPEND_TIME_FLAG != 0
    wrong |= overflown & ~stamped
    timestamps = np.where(stamped, headers["max_timestamp"], timestamps)
    wrong |= (deltas < 0) | (deltas > headers["last_offset_delta"])
    bounds = np.stack((key_starts, key_ends, value_starts, value_ends), axis=1)
    return _Fields(wrong, timestamps, deltas, bounds, null_keys, null_values, spans)


def _make_columns(
    source: pa.Buffer,
    headers: _HeaderColumns,
    found: _Fields,
    columns: Container[str] | None,
) -> pa.RecordBatch:
    """Make Arrow columns of what was found, those that are wanted."""
    wanted = [f for f in RECORD_SCHEMA if columns is None or f.name in columns]
    names = {f.name for f in wanted}
    arrays: dict[str, pa.Array] = {}
    attributes = headers["attributes"]
    if "offset" in names:
        arrays["offset"] = pa.array(headers["base_offset"] + found.offset_deltas)
    arrays["timestamp"] = pa.array(found.timestamps)
    if "timestamp_type" in names:
        stamped = attributes & LOG_APPEND_TIME_FLAG != 0
        arrays["timestamp_type"] = pa.array(stamped.astype(np.int8))
    if "producer_id" in names:
        arrays["producer_id"] = pa.array(headers["producer_id"])
    if "producer_epoch" in names:
        arrays["producer_epoch"] = pa.array(headers["producer_epoch"].astype(np.int16))
    if "sequence" in names:
        base = headers["base_sequence"]
        sequences = np.where(
            base == NO_SEQUENCE, NO_SEQUENCE, (base + found.offset_deltas) & MAX_SEQUENCE
        )
        arrays["sequence"] = pa.array(sequences.astype(np.int32))
    arrays["transactional"] = pa.array(attributes & TRANSACTIONAL_FLAG != 0)
    arrays["control"] = pa.array(attributes & CONTROL_FLAG != 0)
    if "key" in names or "value" in names:
        arrays["key"], arrays["value"] = take_pairs(
            source, found.bounds, found.null_keys, found.null_values
        )
    if "headers" in names:
        arrays["headers"] = headers_column(source, found.headers)
    return pa.RecordBatch.from_arrays([arrays[f.name] for f in wanted], schema=pa.schema(wanted))
