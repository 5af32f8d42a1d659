"""The records of ``__transaction_state`` as columns, a row for each step of a transactional id.

The fixed fields of all records are taken at once. What lies between them, a transaction's
partitions, comes again and again, and is decoded once. A record of any other form is decoded by
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue

from fencepost_pipeline.audit.batch_headers import NONE, Bools, Ints

Where: TypeAlias = tuple[str, int]


class State(IntEnum):
    """The status byte of the log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    EXPIRED = -1
    """A tombstone: the id was forgotten."""


class Steps(NamedTuple):
    """The columns, in the order of offsets."""

    offset: Ints
    time: Ints
    name: Ints
    """The transactional id, as its number in ``StepReader.names``."""
    state: Ints
    producer_id: Ints
    producer_epoch: Ints
    timeout_ms: Ints
    start_time: Ints
    places: Ints
    """The partitions, as the number of their set in ``StepReader.places``."""


class UnreadableStep(NamedTuple):
    """A record that is not a transaction's state."""

    offset: int
    why: str


_HEAD: Final = np.dtype(
    [
        ("version", ">i2"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("timeout_ms", ">i4"),
        ("state", "i1"),
    ]
)
_TIMES: Final = np.dtype([("update", ">i8"), ("start", ">i8")])
_VERSION_TAG: Final = bytes([1, 2, 2, 0])
"""One tagged field, ``ClientTransactionVersion`` with two bytes; the last of them follows."""
_TAILS: Final = ((0, 0), (1, 1), (1, 5))
"""Version, and the bytes after the times: none, no tagged field, or that one."""


class StepReader:
    """Reads one or more of the log's partitions."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.places: dict[frozenset[Where], int] = {frozenset(): 0}
        self._keys: dict[bytes, int | None] = {}
        self._decoded: dict[tuple[int, bytes], int] = {}

    def read(self, batches: Iterable[pa.RecordBatch], unreadable: list[UnreadableStep]) -> Steps:
        """The steps of a partition, from rows of the table ``records``."""
        found = [self._read_batch(batch, unreadable) for batch in batches]
        if not found:
            return Steps(*[np.empty(0, np.int64)] * len(Steps._fields))
        return Steps(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    def _read_batch(self, batch: pa.RecordBatch, unreadable: list[UnreadableStep]) -> Steps:
        names, of_key = self._names(batch.column("key"))
        use = ~batch.column("control").to_numpy(zero_copy_only=False) & (of_key != _OTHER_KIND)
        batch, of_key = batch.filter(pa.array(use)), of_key[use]
        values = batch.column("value")
        rows = np.full((len(Steps._fields), batch.num_rows), NONE, np.int64)
        steps = Steps(*rows)
        steps.offset[:] = batch.column("offset").to_numpy()
        steps.time[:] = batch.column("timestamp").to_numpy()
        steps.name[:] = names[of_key]
        steps.places[:] = 0
        done = values.is_null().to_numpy(zero_copy_only=False) & (steps.name != NONE)
        steps.state[done] = State.EXPIRED
        for chosen, tail in _forms(values, ~done & (steps.name != NONE)):
            done[chosen] = self._take(steps, values, chosen, tail)
        for row in np.flatnonzero(~done).tolist():
            key, value = batch.column("key")[row].as_py(), values[row].as_py()
            try:
                self._take_alone(steps, row, key, value)
                done[row] = True
            except (RemoteProtocolError, ValueError) as error:
                unreadable.append(UnreadableStep(int(steps.offset[row]), str(error)))
        return steps if done.all() else Steps(*rows[:, done])

    def _names(self, keys: pa.Array) -> tuple[Ints, Ints]:
        """By different key its name's number, and each row's key; NONE: it cannot be read."""
        coded = keys.dictionary_encode()
        names = np.empty(len(coded.dictionary), np.int64)
        for i, key in enumerate(coded.dictionary.to_pylist()):
            names[i] = self._name(key)
        of_key = pc.fill_null(coded.indices, _OTHER_KIND).to_numpy().astype(np.int64)
        other = np.flatnonzero(names == _OTHER_KIND)
        of_key[np.isin(of_key, other)] = _OTHER_KIND
        return names, of_key

    def _name(self, key: bytes) -> int:
        if int.from_bytes(key[:2], "big") != 0:
            return _OTHER_KIND
        known = self._keys.get(key)
        if known is None:
            try:
                name = TransactionLogKey.decode(memoryview(key), 0, 2)[0].transactional_id
            except (RemoteProtocolError, ValueError):
                return NONE
            known = self._keys[key] = self.names.setdefault(name, len(self.names))
        return known

    def _take(self, steps: Steps, values: pa.Array, chosen: Ints, tail: int) -> Bools:
        """Read records of one form; gives which of them have it indeed."""
        data, start, end = _bytes_of(values)
        head = _gather(data, start[chosen], _HEAD)
        times = _gather(data, end[chosen] - tail - _TIMES.itemsize, _TIMES)
        between = pc.binary_slice(
            values.take(pa.array(chosen)), _HEAD.itemsize, -(_TIMES.itemsize + tail)
        ).dictionary_encode()
        version = int(head["version"][0])
        sets = [self._decode(version, each) for each in between.dictionary.to_pylist()]
        places = np.array(sets, np.int64)[between.indices.to_numpy()]
        steps.places[chosen] = places
        steps.state[chosen] = head["state"]
        steps.producer_id[chosen] = head["producer_id"]
        steps.producer_epoch[chosen] = head["producer_epoch"]
        steps.timeout_ms[chosen] = head["timeout_ms"]
        steps.start_time[chosen] = times["start"]
        is_state = (head["state"] >= State.EMPTY) & (head["state"] <= State.COMPLETE_ABORT)
        return np.asarray((places != NONE) & is_state)

    def _decode(self, version: int, between: bytes) -> int:
        """The number of a set of partitions; NONE if these bytes are not one, from end to end."""
        known = self._decoded.get((version, between))
        if known is None:
            whole = bytes(_HEAD.itemsize - 2) + between + bytes(_TIMES.itemsize + version)
            try:
                message, end = TransactionLogValue.decode(memoryview(whole), version)
                known = self._set(message) if end == len(whole) else NONE
            except (RemoteProtocolError, ValueError):
                known = NONE
            self._decoded[version, between] = known
        return known

    def _take_alone(self, steps: Steps, row: int, key: bytes, value: bytes | None) -> None:
        """Read a record of any form."""
        name = TransactionLogKey.decode(memoryview(key), 0, 2)[0].transactional_id
        steps.name[row] = self.names.setdefault(name, len(self.names))
        if value is None:
            steps.state[row] = State.EXPIRED
            return
        version = int.from_bytes(value[:2], "big", signed=True)
        message = TransactionLogValue.decode(memoryview(value), version, 2)[0]
        steps.state[row] = State(message.transaction_status)
        steps.producer_id[row] = message.producer_id
        steps.producer_epoch[row] = message.producer_epoch
        steps.timeout_ms[row] = message.transaction_timeout_ms
        steps.start_time[row] = message.transaction_start_timestamp_ms
        steps.places[row] = self._set(message)

    def _set(self, message: Any) -> int:
        places = frozenset(
            (topic.topic, number)
            for topic in message.transaction_partitions or ()
            for number in topic.partition_ids
        )
        return self.places.setdefault(places, len(self.places))


_OTHER_KIND: Final = -2
"""A key without bytes, or of a kind that a later Kafka may write."""


def _forms(values: pa.Array, chosen: Bools) -> Iterator[tuple[Ints, int]]:
    """Rows that seem to have one of the usual forms, and the length of what follows the times."""
    data, start, end = _bytes_of(values)
    rows = np.flatnonzero(chosen & (end - start > _HEAD.itemsize + _TIMES.itemsize))
    if not len(rows):
        return
    version = _gather(data, start[rows], np.dtype(">i2"))
    last = data[end[rows] - 1]
    tagged = np.ones(len(rows), np.bool_)
    for i, byte in enumerate(_VERSION_TAG):
        tagged &= data[end[rows] - len(_VERSION_TAG) - 1 + i] == byte
    fits = (version == 0, (version == 1) & (last == 0), (version == 1) & (last != 0) & tagged)
    for fit, (_, tail) in zip(fits, _TAILS, strict=True):
        if fit.any():
            yield rows[fit], tail


def _bytes_of(values: pa.Array) -> tuple[np.ndarray[Any, np.dtype[np.uint8]], Ints, Ints]:
    """The bytes of all values, and where each begins and ends."""
    _, offsets, data = values.buffers()
    all_ends = np.frombuffer(offsets, np.int32).astype(np.int64)
    ends = all_ends[values.offset : values.offset + len(values) + 1]
    return np.frombuffer(data or b"", np.uint8), ends[:-1], ends[1:]


def _gather(
    data: np.ndarray[Any, np.dtype[np.uint8]], at: Ints, kind: np.dtype[Any]
) -> np.ndarray[Any, np.dtype[Any]]:
    """Fields of this kind, one at each of these positions."""
    fields: np.ndarray[Any, np.dtype[Any]] = data[at[:, None] + np.arange(kind.itemsize)].view(kind)
    return fields[:, 0]
