"""What fault rules do to the bytes of an answer, and to the connection that they are sent over."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from fencepost_broker.apis.request import Pieces
from fencepost_broker.faults.acts import corrupt
from fencepost_broker.faults.rule import CorruptAnswer, CutAnswer, RepeatAnswer, SlowAnswer
from fencepost_broker.faults.rules import LoadedRule

_HEAD: Final = 8
"""Size and correlation id."""
_RESET_AT_CLOSE: Final = struct.pack("ii", 1, 0)


def as_rules_say(pieces: Pieces, fired: Iterable[LoadedRule]) -> Pieces:
    """Return an answer's bytes, corrupted, repeated or cut."""
    for rule in fired:
        act = rule.rule.act
        if isinstance(act, CorruptAnswer):
            content = bytearray(b"".join(pieces))
            corrupt(content, _HEAD, act.bits, rule.chance)
            pieces = [content]
        elif isinstance(act, RepeatAnswer):
            pieces = [b"".join(pieces), b"".join(pieces)]
        elif isinstance(act, CutAnswer):
            pieces = [b"".join(pieces)[: act.bytes]]
    return pieces


async def send_slowly(
    act: SlowAnswer, pieces: Pieces, transport: asyncio.Transport | None, stopped: asyncio.Event
) -> Pieces:
    """Send all of an answer but its last piece, which is returned."""
    content = b"".join(pieces)
    sent = 0
    while len(content) - sent > act.piece_bytes and not stopped.is_set():
        if transport is not None:
            transport.write(content[sent : sent + act.piece_bytes])
        sent += act.piece_bytes
        with suppress(TimeoutError):
            async with asyncio.timeout(act.piece_bytes / act.bytes_per_s):
                await stopped.wait()
    return [content[sent:]] if content else pieces


def reset_when_closed(transport: asyncio.Transport | None) -> None:
    """Let the close of a connection send a TCP reset."""
    sock = None if transport is None else transport.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)
