"""Columns of records for ``send_many``, which are cut into batches without a loop over records."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from fencepost_client.errors import ConfigError
from fencepost_client.producer.batch import RECORD_OVERHEAD_MAX

_TAKEN_AS_THEY_ARE = {bytes, type(None)}


def as_bytes(what: str, given: Any) -> bytes:
    """What is no ``bytes`` yet and can be: a bytearray, a memoryview, an array."""
    try:
        return bytes(memoryview(given))
    except TypeError:
        how = f"{what}.encode()" if isinstance(given, str) else "json.dumps(...).encode(), say"
        kind = type(given).__name__
        raise TypeError(f"{what} is of type {kind}; records contain bytes: write {how}") from None


def column(what: str, values: Iterable[bytes | None]) -> list[bytes | None]:
    """A list of bytes; what is not bytes yet is copied."""
    found = list(values)
    if not set(map(type, found)) <= _TAKEN_AS_THEY_ARE:
        found = [
            value if value is None or value.__class__ is bytes else as_bytes(what, value)
            for value in found
        ]
    return found


class Columns:
    """Keys, if there are any, and values; and where the next batch begins."""

    def __init__(
        self, values: Iterable[bytes | None], keys: Iterable[bytes | None] | None = None
    ) -> None:
        self.values = column("value", values)
        self.keys = None if keys is None else column("key", keys)
        if self.keys is not None and len(self.keys) != len(self.values):
            raise ConfigError(f"{len(self.keys)} keys were given for {len(self.values)} values")
        sizes: Iterable[int] = _lengths(self.values)
        if self.keys is not None:
            sizes = map(int.__add__, sizes, _lengths(self.keys))
        self._ends = list(accumulate(size + RECORD_OVERHEAD_MAX for size in sizes))
        self.taken = 0

    @property
    def left(self) -> int:
        """How many records are still to be placed."""
        return len(self.values) - self.taken

    @property
    def next_size(self) -> int:
        """An upper bound of what the next record takes."""
        return self._ends[self.taken] - self._before

    @property
    def _before(self) -> int:
        return self._ends[self.taken - 1] if self.taken else 0

    def take(self, room: int) -> tuple[Sequence[bytes | None] | None, Sequence[bytes | None], int]:
        """The keys and values that fit into so many bytes, and how many they take."""
        start, before = self.taken, self._before
        end = self.taken = bisect_right(self._ends, before + room, start)
        size = self._ends[end - 1] - before if end > start else 0
        keys = None if self.keys is None else self.keys[start:end]
        return keys, self.values[start:end], size


def _lengths(values: list[bytes | None]) -> list[int]:
    return [0 if value is None else len(value) for value in values]
