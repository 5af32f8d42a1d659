"""A client's connection through a proxy.

Each connection of a client has an upstream connection of its own. So requests reach the broker in
their order and with their correlation ids, and the broker knows whose login a request belongs to.

Passing on. Requests and answers are passed on as they arrive, in the pieces in which they arrive:
of a request its header is looked at, of an answer its correlation id. Only these are held until
they are whole, and read: requests that a fault rule may match, and answers that name addresses.

Order. When a rule fires on a request, the requests after it wait, unread, until its answer is
sent. It is carried out after the answers to all earlier requests, so no answer overtakes another.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from typing import Any, Final, cast

from fencepost_protocol.apis import request_class
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import SIZE_BYTES, read_request_head
from fencepost_protocol.generated.index import APIS, ApiKey

from fencepost_broker.apis.request import NO_ANSWER, Answer, Pieces, Request, encoded
from fencepost_broker.apis.served import Served
from fencepost_broker.faults.rules import LoadedRule
from fencepost_broker.ports import Address, RemoteClient
from fencepost_broker.security.principals import ANONYMOUS
from fencepost_broker.server.proxy.answers import has_addresses, unsupported
from fencepost_broker.server.proxy.broker import Look, ProxiedBroker
from fencepost_broker.server.proxy.broker_end import BrokerEnd
from fencepost_broker.server.proxy.context import BUFFER_BYTES
from fencepost_broker.server.proxy.ends import (
    HELD_BYTES_MAX,
    TOKEN,
    UNSENT_BYTES_MAX,
    Awaited,
    End,
    size_at,
)
from fencepost_broker.server.proxy.requests import acks_of, tokens_after

_read_request: Final = struct.Struct(">ihhi").unpack_from
_REQUEST_HEAD: Final = 12
"""The bytes of a request that are needed to pass it on: size, API, version, correlation id."""

_CONNECTING: Final = 1
"""The upstream broker is not connected yet."""
_PARKED: Final = 2
"""A request is carried out as rules say, or waits for earlier answers."""
_MUTED: Final = 4
"""The client is throttled."""
_TOKENS: Final = 8
"""The next frames are raw tokens of a login."""
_RAW: Final = 16
"""All that follows is passed on unread."""
_HELD: Final = _CONNECTING | _PARKED | _MUTED
"""The reasons why requests wait."""


class ClientEnd(End):
    """A client's connection; to rules and to their acts, the ``Peer`` of its requests."""

    listener = "PROXY"
    user = ANONYMOUS
    client_software_name = ""
    client_software_version = ""

    def __init__(
        self,
        broker: ProxiedBroker,
        opened: Callable[[ClientEnd], None],
        closed: Callable[[ClientEnd], None],
    ) -> None:
        context = broker.context
        super().__init__(context.buffer)
        self._broker = broker
        self._opened, self._closed = opened, closed
        self._context = context
        self._log, self._apis = context.log, context.apis
        self.metrics = context.metrics
        self.client = RemoteClient()
        self.client_host = ""
        self.broker_end = BrokerEnd(self, context)
        self.pending: deque[int | Awaited] = deque()
        """The requests that the broker has not answered, in order: the correlation id, or more."""
        self.has_faults = False
        """Whether a rule has fired on one of its requests."""
        self._mode = _CONNECTING
        self._tokens = 0
        self._waiting = b""
        """What was received but has to wait."""
        self._is_congested = False
        self._is_paused = False
        self._is_closing = False
        self.closes_late_s = 0.0
        """Seconds between a close of the connection and the moment when the client is told."""
        self._parked: Request | None = None
        self._on_loss: Callable[[], None] | None = None
        self._when_answered: Callable[[], None] | None = None
        """Called once all earlier requests are answered."""

    @property
    def node_id(self) -> int:
        """The id of the upstream broker; -1 as long as it is unknown."""
        return self._broker.node_id

    # -- the loop's side -------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Connect to the upstream broker; the event loop calls this."""
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=UNSENT_BYTES_MAX)
        peer = transport.get_extra_info("peername")
        self.client_host = f"/{peer[0]}" if peer else "/"
        self.client.address = Address("", *peer[:2]).bootstrap if peer else ""
        self._opened(self)

    def connected(self) -> None:
        """Pass on requests: the upstream broker is connected."""
        self._mode &= ~_CONNECTING
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the upstream connection after what it still sends; the event loop calls this."""
        del exc
        self._is_closing = True
        self.client.is_connected = False
        self.transport = None
        on_loss, self._on_loss = self._on_loss, None
        if on_loss is not None:
            on_loss()
        if self.broker_end.transport is not None:
            self.broker_end.transport.close()
        if self._context.watcher is not None:
            self._context.watcher.closed(self, "")
        self._closed(self)

    def pause_writing(self) -> None:
        """Do not read answers: the client does not read them."""
        self.broker_end.set_reading(False)

    def resume_writing(self) -> None:
        """Read answers again."""
        self.broker_end.set_reading(True)

    def set_congested(self, is_congested: bool) -> None:
        """Read no requests while the broker does not take them."""
        self._is_congested = is_congested
        self._update_reading()

    def _update_reading(self) -> None:
        stop = bool(self._mode & _HELD) or self._is_congested
        if stop == self._is_paused or self.transport is None or self.transport.is_closing():
            return
        self._is_paused = stop
        if stop:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    # -- requests --------------------------------------------------------------------------------

    def _look(self, view: memoryview, pos: int, end: int) -> int:
        if self._mode:
            return self._look_in_a_mode(view, pos, end)
        if end - pos < _REQUEST_HEAD:
            return 0
        size, api_key, version, correlation_id = _read_request(view, pos)
        total: int = size + SIZE_BYTES
        if total < _REQUEST_HEAD:
            return self._refuse(f"a request of {size} bytes was announced")
        look = self._broker.looks.get(api_key)
        if self._context.watcher is not None and _is_known(api_key, version):
            look = Look.REQUEST
        if look is None:
            self.pending.append(correlation_id)
            return total
        if look is Look.REQUEST:
            if total > HELD_BYTES_MAX:
                return self._refuse(f"a request of {size} bytes is too large for fault rules")
            return -total
        if look is Look.ACKS:
            here = min(end - pos, total)
            acks = acks_of(view[pos : pos + here], version)
            if acks is None and here < min(total, BUFFER_BYTES >> 1):
                return 0  # the header is not here yet
            if acks == 0:
                return total
        self.pending.append(
            Awaited(api_key, version, correlation_id)
            if has_addresses(api_key, version)
            else correlation_id
        )
        return total

    def _look_in_a_mode(self, view: memoryview, pos: int, end: int) -> int:
        """Look at what is no request, or has to wait."""
        if self._mode & _HELD or self._is_closing:
            return 0
        if self._mode & _RAW:
            return end - pos
        if end - pos < SIZE_BYTES:
            return 0
        self.pending.append(TOKEN)
        self._tokens -= 1
        if not self._tokens:
            self._mode &= ~_TOKENS
        return size_at(view, pos)

    def _refuse(self, reason: str) -> int:
        self.drop(reason)
        return 0

    def _keep(self, rest: memoryview) -> None:
        if self._mode & _HELD:
            self._waiting += rest
            self._update_reading()  # uvloop forgets a pause from ``connection_made``
        else:
            self._head = bytes(rest)

    def _send(self, piece: memoryview) -> None:
        if piece and self.broker_end.transport is not None:
            self.broker_end.transport.write(bytes(piece))

    def _take(self, frame: memoryview) -> None:
        content = frame[SIZE_BYTES:]
        try:
            request = Request(self, *_head_of(content))
            if request.api_key == ApiKey.API_VERSIONS and not self._note_versions(request):
                return
            if request.api_key == ApiKey.SASL_HANDSHAKE and request.version == 0:
                self._note_handshake(request)
        except RemoteProtocolError as error:
            self.drop(str(error))
            return
        if self._context.watcher is not None:
            self._context.watcher.requested(request)
        api = self._apis.get(request.api_key)
        if api is not None and _is_known(request.api_key, request.version):
            fired = self._fired(api, request)
            if fired:
                if self._context.watcher is not None:
                    self._context.watcher.parked(request)
                request.frame = memoryview(bytes(content))
                self._park(request, lambda: self._start(api, request, fired))
                return
        self._request_broker(request)

    def _fired(self, api: Served, request: Request) -> list[LoadedRule]:
        faults = self._broker.faults
        if not faults.takes(request.api_key):
            return []
        try:
            return faults.match(api, request)
        except RemoteProtocolError:
            return []  # the broker says what it thinks of it

    def _note_versions(self, request: Request) -> bool:
        """Note the client's software; return whether the version of ApiVersions is known here.

        If not, the answer says which are, as a broker's answer does.
        """
        if not _is_known(request.api_key, request.version):
            old = Request(self, request.api_key, 0, request.correlation_id, None, request.frame, 0)
            self._park(old, lambda: self.release(old, unsupported()))
            return False
        message: Any = request_class(request.api_key).decode(
            request.frame, request.version, request.body
        )[0]
        self.client_software_name = message.client_software_name
        self.client_software_version = message.client_software_version
        return True

    def _note_handshake(self, request: Request) -> None:
        """Expect raw tokens, as after every SaslHandshake of version 0."""
        tokens = tokens_after(request.frame, request.body)
        if tokens is None:
            self._log.warning(
                "nothing is changed in a connection: its SASL mechanism sends raw tokens",
                client=self.client.address,
            )
            self._mode |= _RAW
            self.broker_end.is_raw = True
        else:
            self._tokens = tokens
            self._mode |= _TOKENS

    def _request_broker(self, request: Request, then: Request | None = None) -> bool:
        """Send a whole request to the broker; return whether it will be answered.

        ``then`` is released with the answer.
        """
        api_key, version = request.api_key, request.version
        frame = len(request.frame).to_bytes(SIZE_BYTES) + request.frame
        is_answered = api_key != ApiKey.PRODUCE or acks_of(memoryview(frame), version) != 0
        if is_answered:
            watched = request if then is None and self._context.watcher is not None else None
            is_read = (
                then is not None
                or watched is not None
                or api_key == ApiKey.API_VERSIONS
                or has_addresses(api_key, version)
            )
            correlation_id = request.correlation_id
            self.pending.append(
                Awaited(api_key, version, correlation_id, then, watched)
                if is_read
                else correlation_id
            )
        elif then is None and self._context.watcher is not None:
            self._context.watcher.answered(request, NO_ANSWER)
        if self.broker_end.transport is not None:
            self.broker_end.transport.write(frame)
        return is_answered

    # -- requests that rules have fired on -------------------------------------------------------

    def _park(self, request: Request, then: Callable[[], None]) -> None:
        """Let later requests wait; call ``then`` once all earlier ones are answered."""
        self._parked = request
        self.has_faults = self.broker_end.is_attentive = True
        self._mode |= _PARKED
        self._update_reading()
        if self.pending or self.broker_end.is_within_a_frame:
            self._when_answered = then
        else:
            then()

    def _start(self, api: Served, request: Request, fired: list[LoadedRule]) -> None:
        self._broker.faults.start(api, request, fired, self._carry_out, _encode)

    def _carry_out(self, request: Request) -> Answer | None:
        return None if self._request_broker(request, request) else NO_ANSWER

    def answered(self) -> None:
        """Note that a whole answer was passed on; called if ``has_faults``."""
        if self.transport is not None:
            for piece in self._broker.faults.take_late(self):
                self.transport.write(piece)
        then = self._when_answered
        if then is not None and not self.pending:
            self._when_answered = None
            then()

    @property
    def may_park(self) -> bool:
        """Always true: what waits is not read."""
        return True

    def on_loss(self, call: Callable[[], None]) -> None:
        """Call this if the connection is lost before the parked request is answered."""
        self._on_loss = call

    def release(self, request: Request, answer: Answer) -> None:
        """Send the answer to the parked request, and go on."""
        if self._parked is not request or self.transport is None:
            return
        self._parked = self._on_loss = None
        pieces = _encode(request, answer)
        if self._context.watcher is not None:
            self._context.watcher.answered(request, pieces)
        for piece in self._broker.faults.with_late(request, pieces):
            self.transport.write(piece)
        asyncio.get_running_loop().call_soon(self._unpark)

    def _unpark(self) -> None:
        self._mode &= ~_PARKED
        self._go_on()

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Close the connection: a parked request could not be answered because of a bug."""
        del request
        self._log.error(
            "a request could not be carried out: please report this", reason=repr(error)
        )
        self.end()

    def mute(self, on_end: Callable[[], None]) -> bool:
        """Pass on no requests until ``unmute``; ``on_end`` is called if the connection is lost."""
        if self._is_closing:
            return False
        self._mode |= _MUTED
        self._on_loss = on_end
        self._update_reading()
        return True

    def unmute(self) -> None:
        """Pass on waiting and new requests again."""
        if self._mode & _MUTED:
            self._mode &= ~_MUTED
            self._on_loss = None
            self._go_on()

    def _go_on(self) -> None:
        """Pass on what waits, unless there is another reason to wait."""
        if self._mode & _HELD or self._is_closing:
            return
        waiting, self._waiting = self._waiting, b""
        if waiting:
            self._pass_on(memoryview(waiting), len(waiting))
        self._update_reading()

    # -- the end ---------------------------------------------------------------------------------

    def drop(self, reason: str) -> None:
        """Close the connection, and log the reason."""
        if not self._is_closing:
            self._log.warning("a connection is closed", client=self.client.address, reason=reason)
            if self._context.watcher is not None:
                self._context.watcher.dropped(self, reason)
        self.end()

    def end(self, *, answer: Pieces = NO_ANSWER) -> None:
        """Close the connection after what it still sends; ``answer`` is the last."""
        self._is_closing = True
        self._mode |= _PARKED
        if self.transport is not None:
            for piece in answer:
                self.transport.write(piece)
            if self.closes_late_s:
                loop = asyncio.get_running_loop()
                loop.call_later(self.closes_late_s, self.transport.close)
            else:
                self.transport.close()


def _head_of(frame: memoryview) -> tuple[int, int, int, str | None, memoryview, int]:
    api_key, version, correlation_id, client_id, body = read_request_head(frame)
    return api_key, version, correlation_id, client_id, frame, body


def _is_known(api_key: int, version: int) -> bool:
    _, low, high, *_ = APIS[api_key]
    return low <= version <= high


def _encode(request: Request, answer: Answer) -> Pieces:
    if isinstance(answer, list):
        return answer
    return [encoded(answer, request.version, request.correlation_id)]
