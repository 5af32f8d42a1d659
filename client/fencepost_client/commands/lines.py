"""What ``fencepost produce`` reads: bytes into lines, lines into records. Pure.

A line is whatever somebody's pipe brings: it is either a record or a ``BrokenLineError`` that says
what is wrong with it.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]
PARTITION_MAX: Final = (1 << 31) - 1
TIMESTAMP_MAX_MS: Final = (1 << 63) - 1
_WRITTEN: Final = frozenset({"key", "value", "headers", "partition", "timestamp"})
_GONE_BY: Final = frozenset({"topic", "offset"})
"""What ``fencepost consume --json`` tells, and a copy of the record gets anew."""


class BrokenLineError(ValueError):
    """A line that is no record; the text says why."""


class Record(NamedTuple):
    """A record to be written."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    partition: int | None = None
    timestamp_ms: int | None = None


class LineSplitter:
    """Finds lines in the pieces of a stream; holds no more than one line of the largest size."""

    def __init__(self, delimiter: bytes, line_bytes_max: int) -> None:
        self._delimiter = delimiter
        self._line_bytes_max = line_bytes_max
        self._buffer = bytearray()
        self._searched = 0
        self._is_too_long = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """The lines that end in this piece; ``None`` stands for one that is too long."""
        self._buffer += data
        lines: list[bytes | None] = []
        begin = 0
        while (at := self._buffer.find(self._delimiter, max(begin, self._searched))) >= 0:
            lines.append(self._line(begin, at))
            begin = at + len(self._delimiter)
        del self._buffer[:begin]
        begun = len(self._delimiter) - 1  # so much of a delimiter may be there
        if len(self._buffer) > self._line_bytes_max + begun:
            self._is_too_long = True
            del self._buffer[: len(self._buffer) - begun]
        self._searched = max(0, len(self._buffer) - begun)
        return lines

    def end(self) -> list[bytes | None]:
        """The last line, if nothing ends it."""
        if not self._buffer and not self._is_too_long:
            return []
        return [self._line(0, len(self._buffer))]

    def _line(self, begin: int, end: int) -> bytes | None:
        if self._is_too_long or end - begin > self._line_bytes_max:
            self._is_too_long = False
            return None
        return bytes(self._buffer[begin:end])


@dataclass(frozen=True)
class PlainLines:
    """``headers SEPARATOR key SEPARATOR value``, where the first two are only there if asked for.

    Headers are written as Kafka's console producer has them: ``name:value,name:value``.
    """

    key_separator: bytes | None = None
    header_separator: bytes | None = None
    null_value: bytes | None = None
    headers: Headers = ()

    def read(self, line: bytes) -> Record:
        """The record that a line is."""
        headers, key = self.headers, None
        if self.header_separator is not None:
            written, found, line = line.partition(self.header_separator)
            if not found:
                raise BrokenLineError(f"no {_shown(self.header_separator)} ends the headers")
            headers += self._headers(written)
        if self.key_separator is not None:
            key, found, line = line.partition(self.key_separator)
            if not found:
                raise BrokenLineError(f"no {_shown(self.key_separator)} ends the key")
        return Record(self._or_null(line), self._or_null(key), headers)

    def _headers(self, written: bytes) -> Headers:
        found = []
        for each in written.split(b",") if written else ():
            name, colon, value = each.partition(b":")
            if not colon or not name:
                raise BrokenLineError(f"the header {_shown(each)} is not name:value")
            try:
                found.append((name.decode(), self._or_null(value)))
            except UnicodeDecodeError:
                raise BrokenLineError(f"the header's name {_shown(name)} is not UTF-8") from None
        return tuple(found)

    def _or_null(self, given: bytes | None) -> bytes | None:
        return None if given == self.null_value else given


@dataclass(frozen=True)
class JsonLines:
    """A JSON object a line, as ``fencepost consume --json`` writes them.

    Bytes are a text (UTF-8), ``null``, or ``{"base64": "…"}``.
    """

    headers: Headers = ()

    def read(self, line: bytes) -> Record:
        """The record that a line is."""
        try:
            given = json.loads(line)
        except RecursionError:
            raise BrokenLineError("the JSON is nested too deeply") from None
        except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are some
            raise BrokenLineError(f"not JSON: {error}") from None
        if not isinstance(given, dict):
            raise BrokenLineError("expected a JSON object")
        for name in given.keys() - _WRITTEN - _GONE_BY:
            raise BrokenLineError(f"there is no field {name!r:.100}: {', '.join(sorted(_WRITTEN))}")
        if "value" not in given:
            raise BrokenLineError("the value is missing; write null for a null value")
        return Record(
            _bytes("value", given["value"]),
            _bytes("key", given.get("key")),
            self.headers + _json_headers(given.get("headers")),
            _number("partition", given.get("partition"), PARTITION_MAX),
            _number("timestamp", given.get("timestamp"), TIMESTAMP_MAX_MS),
        )


def _bytes(what: str, given: Any) -> bytes | None:
    if given is None:
        return None
    if isinstance(given, str):
        return _utf8(what, given)
    if isinstance(given, dict) and given.keys() == {"base64"} and isinstance(given["base64"], str):
        try:
            return base64.b64decode(given["base64"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise BrokenLineError(f"{what}: not base64: {error}") from None
    raise BrokenLineError(f'{what} must be a string, null or {{"base64": "…"}}')


def _utf8(what: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BrokenLineError(f"{what} has half a surrogate pair, which is not text") from None


def _json_headers(given: Any) -> Headers:
    if given is None:
        return ()
    pairs = list(given.items()) if isinstance(given, dict) else given
    if not isinstance(pairs, list):
        raise BrokenLineError("headers must be an object or a list of [name, value]")
    found = []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise BrokenLineError("headers must be an object or a list of [name, value]")
        _utf8("a header's name", pair[0])
        found.append((pair[0], _bytes("a header's value", pair[1])))
    return tuple(found)


def _number(what: str, given: Any, most: int) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= most:
        raise BrokenLineError(f"{what} must be an integer of at least 0, or null")
    return given


def _shown(given: bytes) -> str:
    return repr(given[:100])[1:]
