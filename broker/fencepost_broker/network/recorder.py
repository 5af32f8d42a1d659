"""Writes the traffic of a server to a recording, without secrets."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Self, cast

from fencepost_client.recordings.file import (
    ANSWER_ID_BYTES,
    REQUEST_ID_BYTES,
    EntryKind,
    write_entry,
    write_start,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.primitives import Buffer

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.network.tap.publisher import HIDES
from fencepost_broker.network.watchers import unwatch, watch
from fencepost_broker.observability.tap.hiding import (
    BEGINNING_BYTES,
    METADATA_APIS,
    is_of_metadata,
    shown_request,
    shown_response,
)
from fencepost_broker.ports import is_of_broker

if TYPE_CHECKING:
    from types import TracebackType

_SIZE_BYTES: Final = 4
_TOKEN_APIS: Final = frozenset(
    {
        ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN, ApiKey.DESCRIBE_DELEGATION_TOKEN,
    }
)  # fmt: skip
"""APIs of other brokers than ours whose messages have secrets."""


class Part(NamedTuple):
    """What a process writes of a recording that several processes append to."""

    began_ns: int
    """When the recording began, by the clock of this machine."""
    number: int
    """The first number of its connections; the next ones follow."""

    @classmethod
    def of_process(cls, began_ns: int, node_id: int, start: int) -> Part:
        """Return the part of a broker, in its n-th process since the recording began."""
        return cls(began_ns, ((node_id << 8 | start % 256) << 14) + 1)


class Recording:
    """A file to which everything is appended, an entry at a time.

    Of a frame that is hidden completely only the beginning is recorded: API, version and
    correlation id of a request, the correlation id of an answer. If the file cannot be written,
    the recording ends and ``failure`` says why; requests are not affected.
    """

    def __init__(self, path: str | Path, part: Part | None = None) -> None:
        """Make the file, which must not exist yet, or append a part to it; raises ``OSError``."""
        mode: Literal["xb", "ab"] = "xb" if part is None else "ab"
        self._file = Path(path).open(mode, buffering=0)  # noqa: SIM115 (open until `close`)
        self._numbers: dict[Hashable, int] = {}
        self.failure = ""
        if part is None:
            write_start(self._file)
            part = Part(monotonic_ns(), 1)
        self._began_ns, self._number = part

    def close(self) -> None:
        """End the recording."""
        self._file.close()

    def request(self, connection: Hashable, api_key: int, frame: memoryview) -> None:
        """Record a request, without its size."""
        hides = HIDES.get(api_key)
        shown = shown_request(frame, hides[0]) if hides else frame
        if not shown or api_key in _TOKEN_APIS:
            shown = frame[:REQUEST_ID_BYTES]
        self._write(EntryKind.REQUEST, connection, shown)

    def answer(
        self, connection: Hashable, api_key: int, version: int, pieces: Pieces, skip: int = 0
    ) -> None:
        """Record an answer; ``skip`` is the number of bytes that its size takes."""
        hides = HIDES.get(api_key)
        shown = shown_response(pieces, skip, api_key, version, hides[1] if hides else None)
        if (
            not shown
            or api_key in _TOKEN_APIS
            or (
                api_key in METADATA_APIS
                and is_of_metadata(api_key, version, shown[:BEGINNING_BYTES])
            )
        ):
            shown = b"".join(pieces)[skip : skip + ANSWER_ID_BYTES]
        self._write(EntryKind.ANSWER, connection, shown)

    def closed(self, connection: Hashable, reason: str) -> None:
        """Record the end of a connection."""
        if connection in self._numbers:
            self._write(EntryKind.CLOSED, connection, reason.encode())
            del self._numbers[connection]

    def has(self, connection: Hashable) -> bool:
        """Return whether the requests of a connection are recorded."""
        return connection in self._numbers

    def _write(self, kind: EntryKind, connection: Hashable, data: Buffer) -> None:
        if self.failure or self._file.closed:
            return
        time_us = (monotonic_ns() - self._began_ns) // 1000
        if connection not in self._numbers:
            self._numbers[connection] = self._number
            self._number += 1
        try:
            write_entry(self._file, kind, self._numbers[connection], time_us, data)
        except OSError as error:
            self.failure = error.strerror or str(error)


class Recorder:
    """Records the traffic of a server until it is closed; a watcher, and a context manager.

    Requests of other brokers are left out.
    """

    def __init__(self, server: SocketServer, path: str | Path, part: Part | None = None) -> None:
        """Begin; raises ``OSError`` if the file exists or cannot be made."""
        self._server = server
        self._recording = Recording(path, part)
        watch(server, self)

    @property
    def failure(self) -> str:
        """Why the recording has ended early; empty if it has not."""
        return self._recording.failure

    def close(self) -> None:
        """End the recording."""
        unwatch(self._server, self)
        self._recording.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def opened(self, connection: Connection) -> None:
        """A connection is recorded from its first request."""

    def requested(self, request: Request) -> None:
        """Record a request."""
        if is_of_broker(request.client_id):
            return
        connection = cast("Connection", request.peer)
        self._recording.request(connection, request.api_key, request.frame)

    def parked(self, request: Request) -> None:
        """A wait shows in the time of the answer."""

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Record an answer that is sent, if its connection is recorded."""
        connection = cast("Connection", request.peer)
        if pieces and self._recording.has(connection):
            self._recording.answer(
                connection, request.api_key, request.version, pieces, _SIZE_BYTES
            )

    def dropped(self, connection: Connection, reason: str) -> None:
        """The end of the connection follows."""

    def closed(self, connection: Connection, reason: str) -> None:
        """Record the end of a connection."""
        self._recording.closed(connection, reason)
