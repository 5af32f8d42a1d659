"""How ``fencepost consume`` writes a record: by kcat's placeholders, or as JSON. Pure."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:  # the help needs no SDK
    from fencepost_client.types import ConsumerRecord, Headers

Written: TypeAlias = "Callable[[ConsumerRecord], bytes]"
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|.|$)", re.DOTALL)
_PIECE: Final = re.compile(r"%(.|$)|((?:[^%\\]|\\(?:x[0-9a-fA-F]{2}|.|$))+)", re.DOTALL)
_ESCAPED: Final = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}


def unescape(text: str) -> bytes:
    r"""An argument with ``\n``, ``\t``, ``\r``, ``\0``, ``\\`` and ``\xNN`` in it, as bytes."""
    made, end = b"", 0
    for found in _ESCAPE.finditer(text):
        made += os.fsencode(text[end : found.start()])
        escaped, end = found[1], found.end()
        if len(escaped) == 3:
            made += bytes.fromhex(escaped[1:])
        elif escaped in _ESCAPED:
            made += _ESCAPED[escaped]
        else:
            raise ValueError(rf"\{escaped} is not \n, \t, \r, \0, \\ or \xNN")
    return made + os.fsencode(text[end:])


def read_format(text: str, null: bytes) -> Written:
    """What writes a record by kcat's placeholders; raises ``ValueError`` for others.

    >>> read_format("%t-%p %o: %s", b"")
    """
    holders = _placeholders(null)
    pieces: list[Written] = []
    for found in _PIECE.finditer(text):
        if found[2] is not None:
            pieces.append(_always(unescape(found[2])))
        elif found[1] in holders:
            pieces.append(holders[found[1]])
        else:
            raise ValueError(f"%{found[1]} is not one of %{' %'.join(holders)}")
    return lambda record: b"".join([piece(record) for piece in pieces])


def _always(text: bytes) -> Written:
    return lambda _: text


def _placeholders(null: bytes) -> dict[str, Written]:
    def or_null(given: bytes | None) -> bytes:
        return null if given is None else given

    return {
        "t": lambda record: record.topic.encode(),
        "p": lambda record: b"%d" % record.partition,
        "o": lambda record: b"%d" % record.offset,
        "k": lambda record: or_null(record.key),
        "s": lambda record: or_null(record.value),
        "h": lambda record: _headers(record.headers),
        "T": lambda record: b"%d" % record.timestamp_ms,
        "K": lambda record: _length(record.key),
        "S": lambda record: _length(record.value),
        "%": lambda _: b"%",
    }


def _length(given: bytes | None) -> bytes:
    return b"-1" if given is None else b"%d" % len(given)


def _headers(headers: Headers) -> bytes:
    """As kcat has them; a null is told from a value that is empty."""
    return b",".join(
        name.encode() + b"=" + (b"NULL" if value is None else value) for name, value in headers
    )


def json_line(record: ConsumerRecord) -> bytes:
    """A line that ``fencepost produce --json`` reads; ASCII, so that no terminal obeys it."""
    told = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp_ms,
        "key": _text(record.key),
        "value": _text(record.value),
        "headers": [[name, _text(value)] for name, value in record.headers],
    }
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def _text(given: bytes | None) -> str | dict[str, str] | None:
    if given is None:
        return None
    try:
        return given.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(given).decode()}
