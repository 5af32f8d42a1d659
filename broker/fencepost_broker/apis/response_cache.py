"""A cache of encoded answers to repeated requests, valid until the metadata changes.

A client repeats the same Metadata request for as long as it runs, and the answer depends only on
the request's bytes, the listener and the metadata image. A cached answer costs the same for ten
partitions and for ten thousand.

The server looks here after reading a request's API, version and correlation id only; it keeps the
answers that a handler allows to be cached (``Request.true_at``).
"""

from __future__ import annotations

import struct
from typing import Final

from fencepost_broker.apis.request import Peer, Pieces, Request

_pack_correlation: Final = struct.Struct(">i").pack_into
_CORRELATION_AT: Final = 4
_WORDS_AT: Final = 8
"""The offset after API key, version and correlation id, of the rest of the header and the body."""
REQUEST_BYTES_MAX: Final = 4096
BYTES_MAX: Final = 4 << 20

_Key = tuple[int, str, str, str, bytes]
"""Version, listener, the client's software name and version, and the rest of the request. The
software is noted when ApiVersions is handled, so that request must not be answered from the cache
before."""


class RememberedAnswers:
    """The cached answers of one API, all of which become invalid together."""

    __slots__ = ("_answers", "_bytes", "_true_at")

    def __init__(self) -> None:
        self._answers: dict[_Key, bytes] = {}
        self._bytes = 0
        self._true_at = -1

    def find(
        self, peer: Peer, version: int, correlation_id: int, frame: memoryview, true_at: int
    ) -> Pieces | None:
        """Return the cached answer to the same request, if the image has not changed since."""
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
        """Keep the answer to a request that had no side effects."""
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
