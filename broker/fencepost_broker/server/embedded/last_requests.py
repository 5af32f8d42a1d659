"""The last requests of a broker, for the report of a test that has failed.

Each request costs some microseconds for it. Answers are read only when they are asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, cast

from fencepost_protocol.apis import response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import read_response_head
from fencepost_protocol.generated.index import APIS

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.network.connection import Connection
from fencepost_broker.observability.metrics import errors_in

KEPT: Final = 50
_ANSWER_BYTES_MAX: Final = 1 << 16
"""Errors in a larger answer are not looked for."""
_SIZE_BYTES: Final = 4


@dataclass(slots=True)
class _Seen:
    """A request, and what became of it."""

    api_key: int
    version: int
    client_id: str | None
    outcome: str = "is not answered yet"
    answer: bytes = b""

    def __str__(self) -> str:
        client = self.client_id or "(no client id)"
        return f"{APIS[self.api_key][0]} version {self.version} of {client}: {self._outcome()}"

    def _outcome(self) -> str:
        if not self.answer:
            return self.outcome
        frame = memoryview(self.answer)[_SIZE_BYTES:]
        _, body = read_response_head(frame, self.api_key, self.version)
        answer, _ = response_class(self.api_key).decode(frame, self.version, body)
        errors = [name for name in errors_in(answer) if name != ErrorCode.NONE.name]
        return ", ".join(errors) or "answered"


class LastRequests:
    """Watches a server."""

    def __init__(self) -> None:
        self._kept: deque[_Seen] = deque(maxlen=KEPT)
        self._open: dict[Connection, _Seen] = {}

    def forget(self) -> None:
        """Forget the requests so far."""
        self._kept.clear()
        self._open.clear()

    def lines(self) -> Iterator[str]:
        """Yield a line for each request, the oldest first; equal ones in a row share a line."""
        for line, same in groupby(map(str, self._kept)):
            count = sum(1 for _ in same)
            yield line if count == 1 else f"{line} ({count} times)"

    # -- what the server tells ------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        """Do nothing: connections are not shown."""

    def requested(self, request: Request) -> None:
        """Keep a request."""
        seen = _Seen(request.api_key, request.version, request.client_id)
        self._open[cast("Connection", request.peer)] = seen
        self._kept.append(seen)

    def parked(self, request: Request) -> None:
        """Note that a request waits."""
        seen = self._open.get(cast("Connection", request.peer))
        if seen is not None:
            seen.outcome = "waits in the broker"

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Keep an answer, unless it is large."""
        seen = self._open.pop(cast("Connection", request.peer), None)
        if seen is None:
            return  # it came before the watch
        seen.outcome = "answered"
        if sum(map(len, pieces)) <= _ANSWER_BYTES_MAX:
            seen.answer = b"".join(pieces)

    def dropped(self, connection: Connection, reason: str) -> None:
        """Note why the broker closes a connection."""
        seen = self._open.pop(connection, None)
        if seen is not None:
            seen.outcome = f"the connection is closed: {reason}"

    def closed(self, connection: Connection, reason: str) -> None:
        """Note that a connection is gone."""
        seen = self._open.pop(connection, None)
        if seen is not None:
            seen.outcome = f"the connection was lost{': ' if reason else ''}{reason}"
