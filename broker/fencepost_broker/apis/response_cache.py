"""Answers that are asked for again and again, kept as bytes while they stay true.

A client asks for the metadata of its topics in the same words for as long as it lives, and the
answer depends on nothing but these words, the listener and the metadata image. Kept as a whole, it
costs the same for ten partitions and for ten thousand.

The server looks here before it reads more of a request than its API, version and correlation id;
it puts here what a handler says may be kept (``Request.true_at``).
"""

from __future__ import annotations

import struct
from typing import Final

from fencepost_broker.apis.request import Peer, Pieces, Request

_pack_correlation: Final = struct.Struct(">i").pack_into
_CORRELATION_AT: Final = 4
_WORDS_AT: Final = 8
"""Behind API key, version and correlation id: what is left of a request's header, and its body."""
REQUEST_BYTES_MAX: Final = 4096
BYTES_MAX: Final = 4 << 20

_Key = tuple[int, str, str, str, bytes]
"""Version, listener, the client's software (which ApiVersions tells, and its answer must not be
given before that is noted), and the words of a request."""


class RememberedAnswers:
    """The answers of one API, all of which become untrue together."""

    __slots__ = ("_answers", "_bytes", "_true_at")

    def __init__(self) -> None:
        self._answers: dict[_Key, bytes] = {}
        self._bytes = 0
        self._true_at = -1

    def find(
        self, peer: Peer, version: int, correlation_id: int, frame: memoryview, true_at: int
    ) -> Pieces | None:
        """The answer to the same request, if it was kept at this state of the image."""
        if true_at != self._true_at:
            return None
        words = frame[_WORDS_AT:].tobytes()
        answer = self._answers.get(
            (
                version,
                peer.listener,
                peer.client_software_name,
                peer.client_software_version,
                words,
            )
        )
        if answer is None:
            return None
        copy = bytearray(answer)
        _pack_correlation(copy, _CORRELATION_AT, correlation_id)
        return [copy]

    def keep(self, request: Request, answer: Pieces, true_at: int) -> None:
        """Keep an answer that changed nothing when it was made."""
        size = len(request.frame)
        if size > REQUEST_BYTES_MAX:
            return
        frame = bytes(answer[0])
        size += len(frame)
        if size > BYTES_MAX:
            return
        if self._bytes + size > BYTES_MAX or true_at != self._true_at:
            self._answers.clear()
            self._bytes = 0
        self._true_at = true_at
        self._bytes += size
        peer = request.peer
        key = (
            request.version,
            peer.listener,
            peer.client_software_name,
            peer.client_software_version,
            request.frame[_WORDS_AT:].tobytes(),
        )
        self._answers[key] = frame
