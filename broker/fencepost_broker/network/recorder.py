"""Writes the traffic of a server to a recording, without secrets."""

from __future__ import annotations

from pathlib import Path
from time import monotonic_ns
from typing import Final, cast

from fencepost_client.recordings.file import EntryKind, write_entry, write_start

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.network.tap.publisher import HIDES
from fencepost_broker.network.watchers import watch
from fencepost_broker.observability.tap.hiding import (
    BEGINNING_BYTES,
    METADATA_APIS,
    is_of_metadata,
    shown_request,
    shown_response,
)

_SIZE_BYTES: Final = 4


class Recorder:
    """A watcher that appends everything to a file, an entry at a time.

    A frame that is hidden completely is recorded as an empty one. If the file cannot be written,
    the recording ends and ``failure`` says why; requests are not affected.
    """

    def __init__(self, path: str | Path) -> None:
        """Make the file, which must not exist yet; raises ``OSError``."""
        self._file = Path(path).open("xb", buffering=0)  # noqa: SIM115 (open until `close`)
        self._numbers: dict[Connection, int] = {}
        self._count = 0
        self._began_ns = monotonic_ns()
        self.failure = ""
        write_start(self._file)

    def close(self) -> None:
        """End the recording."""
        self._file.close()

    def opened(self, connection: Connection) -> None:
        """A connection is recorded from its first request."""

    def requested(self, request: Request) -> None:
        """Record a request."""
        hides = HIDES.get(request.api_key)
        frame = shown_request(request.frame, hides[0]) if hides else request.frame
        self._write(EntryKind.REQUEST, cast("Connection", request.peer), frame)

    def parked(self, request: Request) -> None:
        """A wait shows in the time of the answer."""

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Record an answer; an answer that is not sent has no entry."""
        if not pieces:
            return
        key, version = request.api_key, request.version
        hides = HIDES.get(key)
        frame = shown_response(pieces, _SIZE_BYTES, key, version, hides[1] if hides else None)
        if key in METADATA_APIS and is_of_metadata(key, version, frame[:BEGINNING_BYTES]):
            frame = b""
        self._write(EntryKind.ANSWER, cast("Connection", request.peer), frame)

    def dropped(self, connection: Connection, reason: str) -> None:
        """The end of the connection follows."""

    def closed(self, connection: Connection, reason: str) -> None:
        """Record the end of a connection."""
        if connection in self._numbers:
            self._write(EntryKind.CLOSED, connection, reason.encode())
            del self._numbers[connection]

    def _write(self, kind: EntryKind, connection: Connection, data: bytes | memoryview) -> None:
        if self.failure or self._file.closed:
            return
        if connection not in self._numbers:
            self._count += 1
            self._numbers[connection] = self._count
        time_us = (monotonic_ns() - self._began_ns) // 1000
        try:
            write_entry(self._file, kind, self._numbers[connection], time_us, data)
        except OSError as error:
            self.failure = error.strerror or str(error)


def record(server: SocketServer, path: str | Path) -> Recorder:
    """Record the traffic of a server from now on."""
    recorder = Recorder(path)
    watch(server, recorder)
    return recorder
