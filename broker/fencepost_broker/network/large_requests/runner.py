"""Requests with many thousand elements, carried out so that other clients are served in between.

A broker is one event loop, and a request that takes a second would stop all clients for a second.
A large request is therefore decoded in a thread. If its elements (topics, resources, groups) are
independent, the thread also cuts it into small requests. The API's handler carries them out in
turns of the loop, some milliseconds each, and the thread joins their responses. If the elements
belong together, the handler gets the whole request, and the thread only encodes the response. The
connection's next request waits, as it does for any parked request.

Produce, Fetch and Metadata count as large from the size of the shared buffer on, which takes 100 ms
at most; other requests, whose elements may have two bytes, from 16 KB on.

A large request makes hundreds of thousands of objects. Python's garbage collector would search them
for cycles, for 100 ms at a time and in any thread, so it is disabled meanwhile. The objects are
freed in steps, because freeing them at once would also block the loop.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, cast

from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.context import BrokerContext, HandlerContext
from fencepost_broker.apis.cutting import WHOLE, Part, join, let_go, parts_of
from fencepost_broker.apis.request import (
    NO_ANSWER,
    NO_FRAME,
    Answer,
    CompletedRequest,
    Request,
    encode_answer,
    encode_uncounted,
)
from fencepost_broker.apis.served import ELEMENTS_MAX, Served, Step
from fencepost_broker.network.large_requests.element_limit import refused_as_too_long
from fencepost_broker.network.large_requests.fetch import fetch_large
from fencepost_broker.network.large_requests.produce import has_many_batches
from fencepost_broker.network.receive_buffer import SHARED_BYTES
from fencepost_broker.network.worker_threads import WorkerThreads
from fencepost_broker.observability.metrics import Metrics

if TYPE_CHECKING:
    from fencepost_broker.network.connection import Connection

TURN_NS: Final = 5_000_000
"""The time for which parts are carried out in one turn of the loop."""
LARGE_BYTES: Final = 16 << 10
MANY_BATCHES: Final = 500
NEVER: Final = 1 << 32


class LargeRequests:
    """The large requests of one server."""

    def __init__(self) -> None:
        self._worker: WorkerThreads | None = None
        self._under_way = 0
        self.is_closed = False
        self._collects_garbage = False

    @staticmethod
    def bytes_from(api: Served) -> int:
        """The size from which on a request of an API may be large."""
        # Forwarded requests are not decoded here.
        if api.is_passed_on or api.large is None:
            return NEVER
        return SHARED_BYTES + 1 if api.is_frequent else LARGE_BYTES

    def begin(self) -> None:
        """Note that a large request begins to make or free objects."""
        if not self._under_way:
            self._collects_garbage = gc.isenabled()
            gc.disable()
        self._under_way += 1

    def end(self) -> None:
        """Note that a large request has finished making or freeing objects."""
        self._under_way -= 1
        if self._under_way == 0 and self._collects_garbage:
            gc.enable()

    @staticmethod
    def takes(request: Request) -> bool:
        """Whether a request whose size is above ``bytes_from`` is large, and may be parked."""
        return request.peer.may_park and (
            request.api_key != ApiKey.PRODUCE or has_many_batches(request, MANY_BATCHES)
        )

    def start(
        self, context: HandlerContext, request: Request, api: Served, steps: tuple[Step, ...]
    ) -> None:
        """Carry out a request and release its answer later."""
        if len(request.frame) <= SHARED_BYTES:
            request.frame = memoryview(bytes(request.frame))  # the buffer is shared
        _Large(context, request, api, steps, self).start()

    def thread(self) -> WorkerThreads:
        """The thread in which requests are decoded and responses encoded."""
        if self._worker is None:
            self._worker = WorkerThreads(asyncio.get_running_loop())
        return self._worker

    async def close(self) -> None:
        """Stop the thread after its current work."""
        self.is_closed = True
        if self._worker is not None:
            await self._worker.close()
        if self._under_way:
            self._under_way = 1
            self.end()


class _Kept(CompletedRequest):
    """A large request, or a part of one, with its decoded message."""

    __slots__ = ()
    has_own_frame = True


class _Large:
    """A large request until it is answered; it is also the peer of its parts."""

    def __init__(
        self,
        context: HandlerContext,
        request: Request,
        api: Served,
        steps: tuple[Step, ...],
        all_of_them: LargeRequests,
    ) -> None:
        self._context = context
        self._request = request
        self._api = api
        self._steps = steps
        self._connection = cast("Connection", request.peer)
        self._cut = api.large or WHOLE
        self._all = all_of_them
        self._worker = all_of_them.thread()
        self._loop = asyncio.get_running_loop()
        self._whole = self._like(request.frame, request.body)
        self._message: Any = None
        self._response: Any = None
        self._parts: list[Part] = []
        """The parts that are not carried out yet, in reverse order."""
        self._answers: list[tuple[Part, Any]] = []
        self._waits: tuple[Part, Request] | None = None
        """The part that is parked, and its request."""
        self._on_loss: Callable[[], None] | None = None
        self._encoded: Answer = []
        self._is_busy = False
        self._counted = Metrics()
        """The errors of the response, counted in the thread."""
        self._error: Exception | None = None
        self._drop_reason: str | None = None
        self._is_over = False
        # The attributes of a Peer.
        self.listener = self._connection.listener
        self.client_host = self._connection.client_host
        self.client = self._connection.client
        self.user = self._connection.user
        self.client_software_name = self._connection.client_software_name
        self.client_software_version = self._connection.client_software_version
        self.metrics = self._connection.metrics
        self.connection = self._connection.connection

    def _like(self, frame: memoryview, body: int) -> _Kept:
        """Return a copy of the request, or of a part of it, whose peer is this object."""
        asked = self._request
        return _Kept(
            cast("Any", self), asked.api_key, asked.version, asked.correlation_id,
            asked.client_id, frame, body,
        )  # fmt: skip

    def start(self) -> None:
        """Decode the request in the thread."""
        connection = self._connection.connection
        connection.keep_frame(self._request.frame)
        connection.queued.work_on(len(self._request.frame))
        self._connection.on_loss(self._stop)
        self.busy()
        self._in_thread(self._read, self._begin)

    def _stop(self) -> None:
        """Stop: the connection is lost."""
        if not self._is_over:
            if self._on_loss is not None:
                self._on_loss()
            self._end()

    def _end(self) -> None:
        """Free the objects of the request, in the thread."""
        self._is_over = True
        if not self._all.is_closed:
            self.busy()
            self._worker.run(self._let_go, self.idle)

    def _drop(self, reason: str | Exception) -> None:
        self._end()
        self._connection.drop(reason, self._request.frame)

    def _answer(self, answer: Answer) -> None:
        self._is_over = True  # even if the answer makes the connection end
        if isinstance(self._request, CompletedRequest):
            self._request.take_over(self._whole)
        self._request.release(answer)
        self._end()  # not before: the loop may encode the response, which the thread empties now

    # -- in the thread -------------------------------------------------------------------------

    def _in_thread(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        def try_to() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 (the connection is told, in the loop)
                self._error = error

        self._worker.run(try_to, then)

    def _read(self) -> None:
        request = self._request
        message, _ = self._api.reads(request.frame, request.version, request.body)
        self._message = message
        self._response = refused_as_too_long(self._api, message, request.version)
        if self._response is not None and getattr(message, "acks", None) == 0:
            self._drop_reason = f"a Produce with acks 0 has more than {ELEMENTS_MAX} batches"
        if not self._steps:
            self._take_apart()

    def _take_apart(self) -> None:
        if self._response is None:
            self._parts = parts_of(self._message, self._request.version, self._cut)[::-1]

    def _joined(self) -> Answer:
        answers = [each for each in self._answers if each[1].__class__ is not list]
        response: Answer = join(answers, self._cut) if answers else NO_ANSWER  # acks 0
        return response

    def _encode(self, make: Callable[[], Answer]) -> None:
        response: Any = make()
        self._response = self._encoded = response
        if response is NO_ANSWER or self._whole.is_changed:
            return  # the loop changes the response, and encodes it then
        encode = self._api.encode
        if encode is not encode_uncounted:
            self._counted.note_errors(response)
        if encode is encode_answer:
            encode = encode_uncounted
        self._encoded = encode(self._whole, response)

    def _let_go(self) -> None:
        answers, self._answers = self._answers, []
        parts, self._parts = self._parts, []
        let_go([response for _, response in answers])
        let_go([self._message, self._response])
        let_go(answers)
        let_go(parts)

    # -- what parts and whole requests call ------------------------------------------------------

    @property
    def may_park(self) -> bool:
        """Always true: the whole request is parked already."""
        return True

    def on_loss(self, call: Callable[[], None]) -> None:
        """Call this if the connection is lost before the answer."""
        self._on_loss = call

    def drop(self, reason: str) -> None:
        """Close the connection, once all parts are carried out."""
        self._drop_reason = self._drop_reason or reason

    def release(self, request: Request, answer: Answer) -> None:
        """Accept the answer to a parked part, or to the parked whole request."""
        if self._is_over:
            return
        self.busy()
        if request is self._whole:
            self._leave_whole(answer)
            return
        waits, self._waits = self._waits, None
        if waits is not None:
            self._answers.append((waits[0], answer))
            self._loop.call_soon(self._carry_on)  # not on the stack of what ended the wait

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Close the connection, because a parked part raised an exception."""
        del request
        self._drop(error)

    def busy(self) -> None:
        """Disable the garbage collector while many objects are made or freed."""
        if not self._is_busy:
            self._is_busy = True
            self._all.begin()

    def idle(self) -> None:
        """Allow the garbage collector again while the request waits."""
        if self._is_busy:
            self._is_busy = False
            self._all.end()

    def answer_with(self, make: Callable[[], Answer]) -> None:
        """Answer with the response that ``make`` returns; the thread calls it."""
        self._in_thread(lambda: self._encode(make), self._leave)

    # -- in the loop ---------------------------------------------------------------------------

    def _begin(self) -> None:
        self.connection.queued.work_on(-len(self._request.frame))
        self._go_on()

    def _go_on(self) -> None:
        if self._is_over:
            return
        if self._error is not None:
            self._drop(self._error)
        elif self._response is not None:
            self._leave_whole(self._response)
        elif self._steps:
            self._take_steps()
        elif self._parts:
            self._carry_on()
        else:
            self._carry_out_whole()

    def _take_steps(self) -> None:
        """Run the steps that precede the handler, and then cut the request."""
        try:
            for step in self._steps:
                answer = step(self._context, self._whole, self._message)
                if answer is not None:
                    self._leave_whole(answer)
                    return
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            self._drop(error)
            return
        self._steps = ()
        self._in_thread(self._take_apart, self._go_on)

    def _carry_out_whole(self) -> None:
        answer: Answer | None = None
        try:
            if self._api.key == ApiKey.FETCH:
                assert isinstance(self._context, BrokerContext), "a controller's Fetch is not large"
                fetch_large(self._context, self._whole, self._message, self)
                return
            answer = self._api.handler(self._context, self._whole, self._message)
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            self._drop(error)
            return
        if answer is None:
            self.idle()
        else:
            self._leave_whole(answer)

    def _leave_whole(self, answer: Answer) -> None:
        if self._drop_reason is not None:
            self._drop(self._drop_reason)
        elif answer.__class__ is list:
            self._answer(answer)
        else:
            self.answer_with(lambda: answer)

    def _carry_on(self) -> None:
        """Carry out parts for one turn, and schedule the rest."""
        if self._is_over:
            return
        until_ns = perf_counter_ns() + TURN_NS
        while self._parts and self._error is None and self._waits is None:
            self._carry_out(self._parts.pop())
            if perf_counter_ns() >= until_ns:
                break
        if self._error is not None:
            self._drop(self._error)
        elif self._waits is not None:
            self.idle()
        elif self._parts:
            self._loop.call_soon(self._carry_on)
        elif self._drop_reason is not None:
            self._drop(self._drop_reason)
        else:
            self.answer_with(self._joined)

    def _carry_out(self, part: Part) -> None:
        asked = self._like(NO_FRAME, 0)
        self._waits = part, asked
        try:
            answer = self._api.handler(self._context, asked, part.message)
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            self._error = error
            return
        if answer is not None:
            self._waits = None
            self._answers.append((part, answer))

    def _leave(self) -> None:
        if self._is_over:
            return
        if self._error is not None:
            self._drop(self._error)
            return
        errors = self._connection.metrics.errors
        for at, count in enumerate(self._counted.errors):
            if count:
                errors[at] += count
        if self._cut.finish is not None:
            self._cut.finish(self._context, self._message, self._response)
        self._answer(self._encoded)
