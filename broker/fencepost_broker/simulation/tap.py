"""Names the requests and answers that processes of a simulation send to each other."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from fencepost_protocol.generated.index import APIS, ApiKey

_LENGTH: Final = struct.Struct(">i").unpack_from
_REQUEST: Final = struct.Struct(">ihhi").unpack_from
_ANSWER: Final = struct.Struct(">ii").unpack_from


class Tap:
    """Cuts what is written on connections into requests and answers, and tells each."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell
        self._unfinished: dict[tuple[int, str, str], bytes] = {}
        self._asked: dict[tuple[int, int], str] = {}
        """Requests without an answer, by connection and correlation id."""

    def written(
        self, connection: int, source: str, target: str, data: bytes, *, by_client: bool
    ) -> None:
        """Take what one end has written."""
        way = (connection, source, target)
        data = self._unfinished.pop(way, b"") + data
        at = 0
        while len(data) - at >= 4 and len(data) - at - 4 >= _LENGTH(data, at)[0]:
            size = _LENGTH(data, at)[0]
            text = self._request(connection, data, at) if by_client else ""
            text = text or self._answer(connection, data, at)
            self._tell(f"{source} -> {target}: {text}, {size} bytes")
            at += 4 + max(size, 0)
        if at < len(data):
            self._unfinished[way] = data[at:]

    def _request(self, connection: int, data: bytes, at: int) -> str:
        _, key, version, number = _REQUEST(data, at)
        name = f"{ApiKey(key).name if key in APIS else f'API {key}'} v{version}"
        self._asked[connection, number] = name
        return f"{name} ({number})"

    def _answer(self, connection: int, data: bytes, at: int) -> str:
        number = _ANSWER(data, at)[1]
        return f"answer to {self._asked.pop((connection, number), 'a request')} ({number})"
