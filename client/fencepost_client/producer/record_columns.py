"""What ``send`` and ``send_many`` are given, checked and as batches keep it.

A batch is encoded later: what cannot be encoded has to be refused before it is in one. The columns
of ``send_many`` are cut into batches without a loop over records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from fencepost_client.errors import ConfigError
from fencepost_client.producer.batch import RECORD_OVERHEAD_MAX
from fencepost_client.types import Headers

_TAKEN_AS_THEY_ARE = {bytes, type(None)}


def as_bytes(what: str, given: Any) -> bytes:
    """What is no ``bytes`` yet and can be: a bytearray, a memoryview, an array."""
    try:
        return bytes(memoryview(given))
    except TypeError:
        how = f"{what}.encode()" if isinstance(given, str) else "json.dumps(...).encode(), say"
        kind = type(given).__name__
        raise TypeError(f"{what} is of type {kind}; records contain bytes: write {how}") from None


def as_headers(given: Any) -> Headers:
    """A copy of a record's headers, which may change before they are encoded."""
    try:
        pairs = [(name, value) for name, value in given]
    except (TypeError, ValueError):
        text = f"headers are {given!r:.100}; they are pairs of a name and bytes: [('trace', b'1')]"
        raise TypeError(text) from None
    return [(_header_name(name), _header_value(name, value)) for name, value in pairs]


def _header_name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the header name {name!r:.100} is of type {type(name).__name__}, no str")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"the header name {name!r:.100} cannot be encoded in UTF-8") from None
    return name


def _header_value(name: str, value: Any) -> bytes | None:
    if value is None or value.__class__ is bytes:
        return value
    if isinstance(value, str):
        raise TypeError(f"the value of header {name!r:.100} is a str; header values are bytes")
    return as_bytes("the value of a header", value)


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
