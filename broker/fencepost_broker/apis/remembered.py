"""Answers that are asked for again and again, kept as bytes while they stay true.

A client asks for the metadata of its topics in the same words for as long as it lives, and the
answer depends on nothing but these words, the listener and the metadata image. Kept as a whole, it
costs the same for ten partitions and for ten thousand.
"""

from __future__ import annotations

import struct
from typing import Final

from fencepost_broker.apis.request import Pieces, Request

_CORRELATION: Final = struct.Struct(">i")
_CORRELATION_AT: Final = 4
REQUEST_BYTES_MAX: Final = 4096
BYTES_MAX: Final = 4 << 20

Key = tuple[int, str, bytes]
"""Version, listener and body of a request."""


class RememberedAnswers:
    """The answers of one API, all of which become untrue together."""

    __slots__ = ("_answers", "_bytes", "_true_at")

    def __init__(self) -> None:
        self._answers: dict[Key, bytes] = {}
        self._bytes = 0
        self._true_at = -1

    def find(self, request: Request, true_at: int) -> Pieces | None:
        """The answer to the same request, if it was kept at this state of the image."""
        if true_at != self._true_at:
            self._forget()
            self._true_at = true_at
            return None
        answer = self._answers.get(_key(request))
        if answer is None:
            return None
        frame = bytearray(answer)
        _CORRELATION.pack_into(frame, _CORRELATION_AT, request.correlation_id)
        return [frame]

    def keep(self, request: Request, answer: Pieces) -> None:
        """Keep an answer that changed nothing when it was made."""
        size = len(request.frame) - request.body
        if size > REQUEST_BYTES_MAX:
            return
        frame = bytes(answer[0])
        size += len(frame)
        if size > BYTES_MAX:
            return
        if self._bytes + size > BYTES_MAX:
            self._forget()
        self._bytes += size
        self._answers[_key(request)] = frame

    def _forget(self) -> None:
        self._answers.clear()
        self._bytes = 0


def _key(request: Request) -> Key:
    return request.version, request.peer.listener, bytes(request.frame[request.body :])
