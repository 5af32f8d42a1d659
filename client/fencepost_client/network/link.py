"""``Link``: a :class:`~fencepost_client.requests.connection.Connection` with its socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, cast

from fencepost_protocol.apis import Message
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.framing import api_key_of
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.errors import KafkaError, MalformedAnswerError, NetworkError
from fencepost_client.metrics import RequestMetrics, RequestOutcome, SentRequest
from fencepost_client.network import log
from fencepost_client.network.wake_time import wake_time
from fencepost_client.requests import connection
from fencepost_client.requests.connection import Answered, Connection, Event, Failed, State

P = ParamSpec("P")
T = TypeVar("T")
Reply: TypeAlias = "asyncio.Future[tuple[Any, int]]"
"""A future with a decoded answer and its version."""


class ReplyHandler(Protocol):
    """Takes the outcome of a request; a future is one. It is called while data is read."""

    def done(self) -> bool:
        """Whether the outcome is not wanted any longer."""

    def set_result(self, result: tuple[Any, int], /) -> None:
        """Take a decoded answer and its version."""

    def set_exception(self, exception: KafkaError, /) -> None:
        """Take the reason why there is no answer."""


class Link(asyncio.BufferedProtocol):
    """A connection with its socket. It writes requests immediately, in the order of the calls."""

    def __init__(
        self,
        machine: Connection,
        loop: asyncio.AbstractEventLoop,
        on_lost: Callable[[Link], None],
        metrics: RequestMetrics | None = None,
        on_silent: Callable[[Link], None] = lambda _: None,
    ) -> None:
        self.machine = machine
        self.ready: asyncio.Future[None] = loop.create_future()
        """Done when requests can be sent, or with an error."""
        self.closed: asyncio.Future[None] = loop.create_future()
        self._loop = loop
        self._on_lost = on_lost
        self._on_silent = on_silent
        """Called repeatedly while an answer is overdue."""
        self._metrics = metrics
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._reason = "the broker closed it"
        self._is_expected = False
        self._throttling = log.Repeated()
        self._loss: type[NetworkError] = NetworkError
        self._refusal: KafkaError | None = None
        """The error of a failed login."""

    @property
    def is_ready(self) -> bool:
        """Whether requests can be sent."""
        return self.machine.state is State.READY

    def now_ms(self) -> int:
        """The loop's time."""
        return int(self._loop.time() * 1000)

    def send(self, request: Message, version: int, timeout_ms: int, wait_ms: int = 0) -> Reply:
        """Send a request, and return a future for its answer, which may be cancelled.

        ``wait_ms`` is the time for which the broker may hold the request.
        """
        reply: Reply = self._loop.create_future()
        if self._metrics is not None:
            sent = SentRequest(ApiKey(api_key_of(request)), version, self.machine.peer)
            reply.add_done_callback(self._stopwatch(self._metrics, sent))
        self._submit(request, version, timeout_ms, wait_ms, reply)
        return reply

    def send_for(
        self,
        handler: ReplyHandler,
        request: Message,
        version: int,
        timeout_ms: int,
        wait_ms: int = 0,
    ) -> None:
        """Send a request as ``send`` does, and call the handler without a turn of the loop."""
        if self._metrics is None:
            self._submit(request, version, timeout_ms, wait_ms, handler)
        else:
            reply = self.send(request, version, timeout_ms, wait_ms)
            reply.add_done_callback(partial(forward_reply, handler))

    def _submit(
        self, request: Message, version: int, timeout_ms: int, wait_ms: int, handler: ReplyHandler
    ) -> None:
        transport = self._transport
        if transport is None or not self.is_ready:
            raise NetworkError(f"The connection to {self.machine.peer} is closed.")
        now_ms = self.now_ms()
        if login := self.machine.renew(now_ms):
            transport.write(login)
        silent_at_ms = now_ms + wait_ms + connection.SILENCE_MS
        transport.writelines(
            self.machine.submit(request, version, handler, now_ms + timeout_ms, silent_at_ms)
        )
        self._arm()

    def _stopwatch(self, metrics: RequestMetrics, sent: SentRequest) -> Callable[[Reply], None]:
        hooks = metrics.hooks
        for hook in hooks:
            self._tell_hook(hook.on_request, sent)
        sent_at = monotonic()  # uvloop's time has milliseconds, and is the same during a turn

        def stop(reply: Reply) -> None:
            time_us = int((monotonic() - sent_at) * 1_000_000)
            is_awaited = not reply.cancelled()
            error = reply.exception() if is_awaited else None
            if is_awaited:
                metrics.finished(sent.api_key, time_us, is_answered=error is None)
            for hook in hooks:
                outcome = RequestOutcome(time_us, error, is_awaited)
                self._tell_hook(hook.on_response, sent, outcome)

        return stop

    def _tell_hook(self, method: Callable[P, None], *told: P.args, **named: P.kwargs) -> None:
        """Call a hook of the application, whose exceptions must not affect the request."""
        try:
            method(*told, **named)
        except Exception as error:  # noqa: BLE001
            self._loop.call_exception_handler(
                {"message": f"a metrics hook of the client failed: {error}", "exception": error}
            )

    def close(self, reason: str = "the client closed it", *, is_expected: bool = False) -> None:
        """Close the socket. Requests under way fail."""
        self._reason = reason
        self._is_expected = is_expected
        if self._transport is not None:
            self._transport.abort()

    # -- the loop's side -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self.machine.open(self.now_ms()))
        self._arm()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer that the event loop reads into."""
        del sizehint
        return self.machine.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop with the number of bytes that have arrived."""
        if self.machine.state is State.CLOSED:
            return
        try:
            events, reply = self.machine.received(self.now_ms(), nbytes)
        except ProtocolError as error:
            self._loss = MalformedAnswerError
            self.close(str(error))
            return
        except KafkaError as error:
            self._refusal = error
            self.close(str(error))
            return
        if reply and self._transport is not None:
            self._transport.write(reply)
        if events or reply:
            self._tell(events)
            self._arm()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        if exc is not None:
            self._reason = str(exc) or type(exc).__name__
        self._transport = None
        if self.machine.state is State.READY:
            log.disconnected(
                self.machine.peer,
                self._reason,
                expected=self._is_expected,
                under_way=self.machine.under_way,
            )
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._tell(self.machine.lost(self._reason, self._loss))
        if not self.ready.done():
            gone = NetworkError(f"The connection to {self.machine.peer} was lost: {self._reason}.")
            gone.__cause__ = exc
            self.ready.set_exception(self._refusal or gone)
            self.ready.exception()  # no task may wait for it, and asyncio must not warn
        self.closed.set_result(None)
        self._on_lost(self)

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Answered):
                if getattr(event.response, "throttle_time_ms", 0):
                    self._tell_throttled(event.response.throttle_time_ms)
                if not event.token.done():
                    event.token.set_result((event.response, event.version))
            elif isinstance(event, Failed):
                # ApiVersions has no token: callers wait for `ready`.
                if event.token is not None and not event.token.done():
                    event.token.set_exception(event.error)
            elif not self.ready.done():
                self.ready.set_result(None)

    def _tell_throttled(self, throttle_ms: int) -> None:
        if self._throttling.is_due():
            log.throttled(self.machine.peer, throttle_ms)

    def _arm(self) -> None:
        """Set the timer for the deadline of the oldest request.

        It also fires regularly while a request is under way, to notice a silent broker.
        """
        deadline_ms = self.machine.deadline()
        if deadline_ms is None:
            return
        if self._timer is not None:
            if self._timer_ms <= deadline_ms:
                return
            self._timer.cancel()
        self._timer_ms = min(deadline_ms, self.now_ms() + connection.SILENCE_MS)
        self._timer = self._loop.call_at(wake_time(self._timer_ms), self._expire)

    def _expire(self) -> None:
        self._timer = None
        now_ms = self.now_ms()
        events = self.machine.expire(now_ms)
        if events:
            self._tell(events)
            self.close("a request was not answered in time")
        else:
            self._arm()
            if self.machine.is_silent(now_ms):
                self._on_silent(self)


class ReplyCallbacks(Generic[T]):
    """Calls a function with an answer at once, or another one with an error in the next turn.

    Errors come while a connection is being closed, and are handled when it is closed.
    """

    __slots__ = ("_answered", "_failed", "_loop", "_of")

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        of: T,
        answered: Callable[[T, Any], None],
        failed: Callable[[T, KafkaError], None],
    ) -> None:
        self._loop = loop
        self._of = of
        self._answered = answered
        self._failed = failed

    def done(self) -> bool:
        """Return False: the outcome is always wanted."""
        return False

    def set_result(self, result: tuple[Any, int]) -> None:
        """Call with the answer."""
        self._answered(self._of, result[0])

    def set_exception(self, exception: KafkaError) -> None:
        """There is no answer."""
        self._loop.call_soon(self._failed, self._of, exception)


def forward_reply(handler: ReplyHandler, reply: Reply) -> None:
    """Pass the outcome of a future to a handler."""
    if reply.cancelled() or handler.done():
        return
    error = reply.exception()
    if isinstance(error, KafkaError):
        handler.set_exception(error)
    else:
        handler.set_result(reply.result())
