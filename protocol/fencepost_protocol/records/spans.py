"""The positions of the fields of all records of a batch, without an object for each record.

This is for programs that process whole batches (a column store, an audit, a filter). A record costs
some numbers in lists; keys and values become objects only when they are used. For a batch of
records of one size, even the lists are made on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fencepost_protocol import limits
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    LOG_APPEND_TIME_FLAG,
    Buffer,
    RawHeader,
    unpack_header,
)
from fencepost_protocol.records.reader import (
    Headers,
    invalid,
    open_records,
    outside,
    read_headers,
)
from fencepost_protocol.records.runs import are_consecutive, cut_run, numbers_of
from fencepost_protocol.records.walking import NULL, PADDING, Lists, Walked, lists_of, walk
from fencepost_protocol.varint import MAX_VARLONG, MIN_VARLONG

FAR: Final = 1 << 62
"""Two numbers below it make a sum that fits into 64 bits."""
_NO_HEADERS: Final[dict[int, tuple[int, int]]] = {}


class RecordSpans:
    """The records of a batch."""

    __slots__ = (
        "_walked",
        "base_timestamp",
        "data",
        "has_own_times",
        "headers",
        "offsets",
        "shift",
    )

    def __init__(
        self, data: bytes, walked: Walked, offsets: Sequence[int], base: int, shift: int
    ) -> None:
        self.data = data
        """The records, decompressed."""
        self.offsets = offsets
        self.headers = walked.headers if isinstance(walked, Lists) else _NO_HEADERS
        """By the record's place: where its header count is, and where the record ends."""
        self.base_timestamp = base
        self.has_own_times = True
        """Whether records have timestamps of their own; else all have the base, from the log."""
        self.shift = shift
        """What to add to a position for an error message."""
        self._walked = walked

    def __len__(self) -> int:
        return len(self.offsets)

    def _lists(self) -> Lists:
        if not isinstance(self._walked, Lists):
            self._walked = lists_of(self.data, self._walked)
        return self._walked

    @property
    def key_starts(self) -> list[int]:
        """Where each key starts in the data; -1: it is null."""
        return self._lists().key_starts

    @property
    def key_ends(self) -> list[int]:
        """Where each key ends in the data; -1: it is null."""
        return self._lists().key_ends

    @property
    def value_starts(self) -> list[int]:
        """Where each value starts in the data; -1: it is null."""
        return self._lists().value_starts

    @property
    def value_ends(self) -> list[int]:
        """Where each value ends in the data; -1: it is null."""
        return self._lists().value_ends

    def keys(self) -> list[bytes | None]:
        """Copies of all keys."""
        if isinstance(self._walked, Lists):
            return _cut(self.data, self._walked.key_starts, self._walked.key_ends)
        keys: list[bytes | None] = []
        for run in self._walked:
            cut_run(self.data, run, run.shape.key, keys)
        return keys

    def values(self) -> list[bytes | None]:
        """Copies of all values."""
        if isinstance(self._walked, Lists):
            return _cut(self.data, self._walked.value_starts, self._walked.value_ends)
        values: list[bytes | None] = []
        for run in self._walked:
            cut_run(self.data, run, run.shape.value, values)
        return values

    def timestamps(self) -> list[int]:
        """Make all timestamps."""
        if not self.has_own_times:
            return [self.base_timestamp] * len(self)
        if isinstance(self._walked, Lists):
            return timestamps_of(self._walked.times, self.base_timestamp, self.shift)
        times: list[int] = []
        if not -FAR < self.base_timestamp < FAR:
            for run in self._walked:
                times += numbers_of(self.data, run, run.shape.time)
            return timestamps_of(times, self.base_timestamp, self.shift)
        for run in self._walked:  # whose numbers are too small to add up to 64 bits
            times += add_base(numbers_of(self.data, run, run.shape.time), self.base_timestamp)
        return times

    def read_headers(self, index: int) -> Headers:
        """Decode the headers of one record, which may raise an error."""
        place = self.headers.get(index)
        return [] if place is None else read_headers(self.data, *place, self.shift)


def read_spans(
    batch: Buffer,
    limit: int = limits.MAX_DECOMPRESSED_BYTES,
    header: RawHeader | None = None,
) -> RecordSpans:
    """Find all records of one batch.

    The CRC is the caller's to check. A compressed batch is decompressed whole, up to ``limit``; one
    that is not is copied whole, so that nobody who keeps a record keeps all that arrived with it.
    """
    if header is None:
        header = unpack_header(batch)
    base_offset, attributes, last_delta, count = header[0], header[5], header[6], header[12]
    body, shift = open_records(batch, header, limit)
    data = b"".join((body, PADDING))
    walked = walk(data, len(body), count, shift)
    dense = range(base_offset, base_offset + count)
    offsets: Sequence[int] = dense
    if count != last_delta + 1 or isinstance(walked, Lists) or not are_consecutive(data, walked):
        if not isinstance(walked, Lists):
            walked = lists_of(data, walked)
        if count != last_delta + 1 or walked.deltas != list(range(0, 2 * count, 2)):
            offsets = offsets_of(walked.deltas, base_offset, last_delta)
    by_log = attributes & LOG_APPEND_TIME_FLAG
    base = header[8] if by_log else header[7]
    found = RecordSpans(data, walked, offsets, base, shift)
    found.has_own_times = not by_log
    is_far = isinstance(walked, Lists) and max(walked.times, default=0) >= FAR
    if is_far or not -FAR < base < FAR:
        found.timestamps()  # which may be refused
    return found


def timestamps_of(times: list[int], base_timestamp: int, shift: int) -> list[int]:
    """Make timestamps of encoded deltas."""
    timestamps = add_base(times, base_timestamp)
    near = -FAR < base_timestamp < FAR and max(times, default=0) < FAR
    if times and not near and not MIN_VARLONG <= min(timestamps) <= max(timestamps) <= MAX_VARLONG:
        raise invalid("a timestamp has more than 64 bits", shift)
    return timestamps


def add_base(times: Sequence[int], base_timestamp: int) -> list[int]:
    """Make timestamps of encoded deltas: a producer's are a few, and often one."""
    if times and times[0] == times[-1] and times.count(times[0]) == len(times):
        return [base_timestamp + (times[0] >> 1 ^ -(times[0] & 1))] * len(times)
    different = {time: base_timestamp + (time >> 1 ^ -(time & 1)) for time in set(times)}
    return list(map(different.__getitem__, times))


def offsets_of(deltas: list[int], base_offset: int, last_delta: int) -> list[int]:
    """Make offsets of encoded deltas, which are 0, 1, 2 ... unless the batch was compacted."""
    count = len(deltas)
    if count <= last_delta + 1 and deltas == list(range(0, 2 * count, 2)):
        return list(range(base_offset, base_offset + count))
    for delta in deltas:
        if delta & 1 or delta >> 1 > last_delta:
            raise outside(delta >> 1 ^ -(delta & 1), last_delta, HEADER_SIZE)
    return [base_offset + (delta >> 1) for delta in deltas]


def _cut(data: bytes, starts: list[int], ends: list[int]) -> list[bytes | None]:
    nulls = starts.count(NULL)
    if not nulls:
        return [data[start:end] for start, end in zip(starts, ends, strict=True)]
    if nulls == len(starts):
        return [None] * nulls
    return [
        None if start == NULL else data[start:end] for start, end in zip(starts, ends, strict=True)
    ]
