"""Rendering of events: a line for people, an object for programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from fencepost_protocol.dissect.node import Node
from fencepost_protocol.dissect.render import Style, as_json, printable, text_lines
from fencepost_protocol.dissect.summary import Summary, size_text

from fencepost_broker.observability.tap.datagrams import Event, EventKind
from fencepost_broker.observability.tap.summary import api_name

_ARROWS: Final = {EventKind.REQUEST: ">", EventKind.RESPONSE: "<", EventKind.PARKED: "="}
_WORDS: Final = {
    EventKind.OPENED: "connected",
    EventKind.DROPPED: "DROPPED by the broker",
    EventKind.CLOSED: "closed",
}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HEX_WIDTH: Final = 16
_GREEN, _YELLOW, _RED = "32", "33", "31;1"
_COLOURS: Final = {
    EventKind.RESPONSE: _GREEN,
    EventKind.PARKED: _YELLOW,
    EventKind.DROPPED: _RED,
}


def text_of(event: Event, summary: Summary, style: Style) -> str:
    """Return a line: time, connection, client, direction, API, contents, duration, size."""
    clock = f"{_time(event).astimezone():%H:%M:%S.%f}"
    client = printable(event.client_id) if event.client_id is not None else "-"
    software = f" ({printable(event.software)})" if event.software else ""
    head = f"{clock}  #{event.connection} {printable(event.address)} {client}{software} "
    body = " ".join(filter(None, _body(event, summary)))
    return f"{head}{style.paint(body, _COLOURS.get(event.kind, '0'))}"


def _body(event: Event, summary: Summary) -> tuple[str, ...]:
    if event.kind in _WORDS:
        return (_WORDS[event.kind], printable(event.reason))
    head = f"{_ARROWS[event.kind]} {api_name(event)}"
    if event.kind is EventKind.PARKED:
        return (head, "waits")
    if event.kind is EventKind.RESPONSE and not event.size:
        return (head, _elapsed(event), "has no response")
    size = size_text(event.size)
    if event.is_cut:
        size = f"{size}, cut at {size_text(len(event.frame))}"
    return (head, _elapsed(event), summary.text, f"({size})")


def _time(event: Event) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=event.time_us)
    except OverflowError:
        return _EPOCH  # the sender is not a broker


def _elapsed(event: Event) -> str:
    return f"{event.elapsed_us / 1000:.2f} ms" if event.elapsed_us >= 0 else ""


def object_of(event: Event, summary: Summary, tree: Node | None, *, with_hex: bool) -> str:
    """Return a line of JSON."""
    made: dict[str, Any] = {
        "time": f"{_time(event):%Y-%m-%dT%H:%M:%S.%f}Z",
        "kind": event.kind.name.lower(),
        "connection": event.connection,
        "address": event.address,
        "client_id": event.client_id,
        "software": event.software or None,
    }
    if event.api_key >= 0:
        made["api"] = api_name(event).rpartition(" ")[0]
        made["api_key"] = event.api_key
        made["version"] = event.version
        made["correlation_id"] = event.correlation_id
    if event.kind in (EventKind.REQUEST, EventKind.RESPONSE):
        made |= {"size": event.size, "cut": event.is_cut, "summary": summary.text}
        made["topics"] = sorted(summary.topics)
        if event.elapsed_us >= 0:
            made["elapsed_us"] = event.elapsed_us
    if event.reason:
        made["reason"] = event.reason
    if with_hex:
        made["frame"] = event.frame.hex()
    if tree is not None:
        made["tree"] = as_json(tree)
    return json.dumps(made)


def dissection_of(tree: Node, style: Style) -> str:
    """Return every byte of a frame by name, for the lines after its event."""
    return "\n".join(f"    {line}" for line in text_lines(tree, style))


def hex_of(frame: bytes) -> str:
    """Return the bytes of a frame, sixteen on each line."""
    rows = (frame[at : at + _HEX_WIDTH] for at in range(0, len(frame), _HEX_WIDTH))
    return "\n".join(
        f"    {number * _HEX_WIDTH:04x}  {row.hex(' '):<48}  {_as_ascii(row)}"
        for number, row in enumerate(rows)
    )


def _as_ascii(row: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
