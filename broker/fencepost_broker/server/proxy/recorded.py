"""Clients of a proxy whose traffic is recorded: as they see it, with the proxy's addresses."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final, cast

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import SIZE_BYTES, FrameSplitter, read_request_head
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.network.recorder import Recording
from fencepost_broker.server.proxy.client_end import ClientEnd
from fencepost_broker.server.proxy.ends import HELD_BYTES_MAX

_ANSWER_BYTES_MAX: Final = 1 << 30


class RecordedClient(asyncio.BufferedProtocol):
    """Stands between a client's transport and its end, and records what passes."""

    def __init__(self, client: ClientEnd, recording: Recording) -> None:
        self._client, self._recording = client, recording
        self._is_recorded = True
        self._requests = FrameSplitter(HELD_BYTES_MAX)
        self._answers = FrameSplitter(_ANSWER_BYTES_MAX)
        self._pending: deque[tuple[int, int, int]] = deque()
        """API, version and correlation id of requests that are not answered yet."""
        self._buffer = memoryview(b"")

    # -- from the client -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connect to the upstream broker; the event loop calls this."""
        self._client.connection_made(RecordedTransport(cast("asyncio.Transport", transport), self))

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer that the event loop reads into."""
        self._buffer = self._client.get_buffer(sizehint)
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Record requests and pass them on; the event loop calls this."""
        self._receive(self._requests, self._buffer[:nbytes], self._request)
        self._client.buffer_updated(nbytes)

    def connection_lost(self, exc: Exception | None) -> None:
        """Record the end; the event loop calls this."""
        self._recording.closed(self, "" if exc is None else str(exc))
        self._client.connection_lost(exc)

    def pause_writing(self) -> None:
        """Pass it on."""
        self._client.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._client.resume_writing()

    # -- to the client ---------------------------------------------------------------------------

    def written(self, data: Any) -> None:
        """Record answers."""
        self._receive(self._answers, data, self._answer)

    def _receive(self, splitter: FrameSplitter, data: Any, take: Any) -> None:
        if not self._is_recorded:
            return
        try:
            for frame in splitter.receive(data):
                take(frame)
        except RemoteProtocolError as error:
            self._is_recorded = False
            self._recording.closed(self, f"it is not recorded any more: {error}")

    def _request(self, frame: memoryview) -> None:
        api_key, version, correlation_id, *_ = read_request_head(frame)
        self._recording.request(self, api_key, frame)
        if api_key == ApiKey.SASL_HANDSHAKE and version == 0:
            raise RemoteProtocolError("raw tokens of a login follow")
        self._pending.append((api_key, version, correlation_id))

    def _answer(self, frame: memoryview) -> None:
        correlation_id = int.from_bytes(frame[:SIZE_BYTES], signed=True)
        while self._pending:
            api_key, version, asked = self._pending.popleft()
            if asked == correlation_id:
                self._recording.answer(self, api_key, version, [frame])
                return


class RecordedTransport(asyncio.Transport):
    """A client's transport, as far as the proxy uses it."""

    def __init__(self, transport: asyncio.Transport, client: RecordedClient) -> None:
        super().__init__()
        self._transport, self._recorded = transport, client

    def write(self, data: Any) -> None:
        """Record and send."""
        self._recorded.written(data)
        self._transport.write(data)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Pass it on."""
        return self._transport.get_extra_info(name, default)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Pass it on."""
        self._transport.set_write_buffer_limits(high, low)

    def is_closing(self) -> bool:
        """Pass it on."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Pass it on."""
        self._transport.close()

    def abort(self) -> None:
        """Pass it on."""
        self._transport.abort()

    def pause_reading(self) -> None:
        """Pass it on."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Pass it on."""
        self._transport.resume_reading()
