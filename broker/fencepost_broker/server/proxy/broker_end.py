"""The upstream connection that belongs to a client's one: answers on their way."""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from typing import Final, Protocol, cast

from fencepost_protocol.apis import response_class
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.framing import SIZE_BYTES, encode_response, read_response_head
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.primitives import Buffer

from fencepost_broker.server.proxy.answers import has_addresses, version_of_answer
from fencepost_broker.server.proxy.context import Context
from fencepost_broker.server.proxy.ends import (
    HELD_BYTES_MAX,
    TOKEN,
    UNSENT_BYTES_MAX,
    Awaited,
    End,
    size_at,
)
from fencepost_broker.server.proxy.fetch_scan import HIDDEN, FetchScan

_read_answer: Final = struct.Struct(">ii").unpack_from
_ANSWER_HEAD: Final = 8


class Client(Protocol):
    """The client's end, as far as the broker's end uses it."""

    transport: asyncio.Transport | None
    pending: deque[int | Awaited]
    has_faults: bool

    def answered(self) -> None:
        """Note that a whole answer was passed on; called if ``has_faults``."""

    def set_congested(self, is_congested: bool) -> None:
        """Read no requests while the broker does not take them."""

    def drop(self, reason: str) -> None:
        """Close the connection, and log the reason."""

    def end(self) -> None:
        """Close the connection after what it still sends."""


class BrokerEnd(End):
    """The upstream connection of a client's one."""

    def __init__(self, client: Client, context: Context) -> None:
        super().__init__(context.buffer)
        self._client = client
        self._context = context
        self.is_raw = False
        """Whether answers are passed on unread."""
        self._awaited: Awaited | None = None
        """What the frame answers that is taken when it is whole."""
        self._scan: FetchScan | None = None

    # -- the loop's side -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the transport; the event loop calls this."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=UNSENT_BYTES_MAX)

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the client's connection after the answers; the event loop calls this."""
        self.transport = None
        client = self._client
        if client.transport is None or client.transport.is_closing():
            return
        if exc is not None or client.pending:
            reason = "it closed the connection" if exc is None else str(exc) or repr(exc)
            client.drop(
                f"the upstream broker is gone, with {len(client.pending)} requests unanswered:"
                f" {reason}"
            )
        client.end()

    def pause_writing(self) -> None:
        """Read no requests: the broker does not take them."""
        self._client.set_congested(True)

    def resume_writing(self) -> None:
        """Read requests again."""
        self._client.set_congested(False)

    def set_reading(self, is_reading: bool) -> None:
        """Read answers, or do not."""
        if self.transport is None or self.transport.is_closing():
            return
        if is_reading:
            self.transport.resume_reading()
        else:
            self.transport.pause_reading()

    # -- answers ---------------------------------------------------------------------------------

    def _look(self, view: memoryview, pos: int, end: int) -> int:
        pending = self._client.pending
        awaited = pending[0] if pending else None
        if awaited is None and self.is_raw:
            return end - pos
        if awaited is TOKEN and end - pos >= SIZE_BYTES:
            pending.popleft()
            return size_at(view, pos)
        if end - pos < _ANSWER_HEAD:
            return 0
        size, correlation_id = _read_answer(view, pos)
        expected = awaited.correlation_id if isinstance(awaited, Awaited) else awaited
        total: int = size + SIZE_BYTES
        if expected != correlation_id or total < _ANSWER_HEAD:
            return self._refuse(size, correlation_id)
        pending.popleft()
        if not isinstance(awaited, Awaited):
            return total
        is_fetched = awaited.api_key == ApiKey.FETCH and awaited.request is awaited.watched is None
        if is_fetched and end - pos < total:
            self._scan, self.is_attentive = FetchScan(), True
            return total
        if total > HELD_BYTES_MAX:
            return self._refuse(size, correlation_id)
        self._awaited = awaited
        return -total

    def _refuse(self, size: int, correlation_id: int) -> int:
        self._client.drop(
            f"the upstream broker sent {size} bytes with correlation id {correlation_id}, which"
            " cannot be the next answer"
        )
        if self.transport is not None:
            self.transport.abort()
        return 0

    def _see(self, piece: memoryview) -> None:
        if self._scan is not None:
            place = self._scan.feed(piece)
            if place is not None:
                piece[place] = HIDDEN

    def _passed(self) -> None:
        self._scan = None
        self.is_attentive = self._client.has_faults
        if self.is_attentive:
            self._client.answered()

    def _take(self, frame: memoryview) -> None:
        awaited, client = self._awaited, self._client
        assert awaited is not None
        self._awaited = None
        try:
            changed = self._changed(awaited, frame)
        except (RemoteProtocolError, LocalProtocolError, OSError) as error:
            client.drop(f"the addresses in an answer cannot be changed: {error}")
            return
        whole = bytes(frame) if changed is None else changed
        if awaited.request is not None:
            awaited.request.release([whole])
            return
        if awaited.watched is not None and self._context.watcher is not None:
            self._context.watcher.answered(awaited.watched, [whole])
        if client.transport is not None:
            client.transport.write(whole)
            if client.has_faults:
                client.answered()

    def _changed(self, awaited: Awaited, frame: memoryview) -> Buffer | None:
        """Return an answer with the proxy's addresses; ``None`` if it stays as it is."""
        api_key, version = awaited.api_key, awaited.version
        content = frame[SIZE_BYTES:]
        _, body = read_response_head(content, api_key, version)
        if api_key == ApiKey.API_VERSIONS:
            version = version_of_answer(content, body, version)
        elif not has_addresses(api_key, version):
            return None
        message, _ = response_class(api_key).decode(content, version, body)
        if not self._context.change(api_key, message):
            return None
        return encode_response(message, version, awaited.correlation_id)

    def _send(self, piece: memoryview) -> None:
        if piece and self._client.transport is not None:
            self._client.transport.write(bytes(piece))
