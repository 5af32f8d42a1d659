"""The bytes of the requests that were seen last, for those who look at one of them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.dissect.render import as_json
from fencepost_protocol.dissect.tree import Exchange, request_tree, response_tree
from fencepost_protocol.framing import read_response_head

from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import Pieces, Request

FRAME_BYTES_MAX: Final = 1 << 16
"""Longer frames are cut."""
_ALL_BYTES_MAX: Final = 16 << 20
_SIZE_BYTES: Final = 4
READ_BYTES_MAX: Final = 1 << 20
"""Larger requests and answers are not read again to tell of them."""
_SECRET: Final = frozenset(
    int(each.key)
    for each in SERVED
    if each.hides_in_request is not None or each.hides_in_response is not None
)
"""APIs whose requests or answers have passwords or tokens: their bytes are not kept."""


def read_answer(request: Request, pieces: Pieces) -> Message | None:
    """Decode an answer again; ``None`` if there is none, or if it is too large for this."""
    if not _SIZE_BYTES < sum(map(len, pieces)) <= READ_BYTES_MAX:
        return None
    frame = memoryview(b"".join(pieces))[_SIZE_BYTES:]
    _, body = read_response_head(frame, request.api_key, request.version)
    answer: Message = response_class(request.api_key).decode(frame, request.version, body)[0]
    return answer


@dataclass(slots=True)
class Frames:
    """The frames of a request and of its answer, without their sizes."""

    api_key: int
    version: int
    request: bytes
    answer: bytes = b""

    @property
    def request_tree(self) -> dict[str, Any]:
        """The request with a name for each byte."""
        return as_json(request_tree(self.request, sized=False), explain=True)

    @property
    def answer_tree(self) -> dict[str, Any] | None:
        """The answer with a name for each byte; ``None`` if there is none."""
        if not self.answer:
            return None
        exchange = Exchange(self.api_key, self.version)
        return as_json(response_tree(self.answer, exchange, sized=False), explain=True)


class KeptFrames:
    """Frames by the numbers of their requests; the oldest ones are forgotten first."""

    def __init__(self) -> None:
        self._by_number: OrderedDict[int, Frames] = OrderedDict()
        self._size = 0

    def find(self, number: int) -> Frames | None:
        """Return the frames of a request; ``None`` if they are not kept."""
        return self._by_number.get(number)

    def put(self, number: int, request: Request) -> None:
        """Keep a request's frame."""
        if request.api_key in _SECRET:
            return
        frame = bytes(request.frame[:FRAME_BYTES_MAX])
        self._by_number[number] = Frames(request.api_key, request.version, frame)
        self._grow(len(frame))

    def put_answer(self, number: int, pieces: Pieces) -> None:
        """Keep the frame of an answer."""
        frames = self._by_number.get(number)
        if frames is None:
            return
        left = FRAME_BYTES_MAX + _SIZE_BYTES
        kept = bytearray()
        for piece in pieces:
            kept += memoryview(piece)[: left - len(kept)]
        frames.answer = bytes(kept[_SIZE_BYTES:])
        self._grow(len(frames.answer))

    def clear(self) -> None:
        """Forget all frames."""
        self._by_number.clear()
        self._size = 0

    def _grow(self, size: int) -> None:
        self._size += size
        while self._size > _ALL_BYTES_MAX:
            _, oldest = self._by_number.popitem(last=False)
            self._size -= len(oldest.request) + len(oldest.answer)
