"""Requests of many thousand topics, carried out so that others have their turn.

A broker is one loop, so a request that takes a second is a second of everybody's. What a large
frame says is therefore read in a thread. Where its topics (or resources, groups, ...) have nothing
to do with each other it is taken apart there: into small requests, which the API's own handler
carries out in turns of the loop, some milliseconds each; and what they answer is put together in
the thread again. Where they belong together, the handler gets the whole of what was read, and only
its answer is encoded in the thread. The connection's next request waits, as behind any that is
parked.

Produce, Fetch and Metadata are taken for large from the shared buffer's size on, which takes some
100 ms at most; others, whose elements may be two bytes, from 16 KB on.

Hundreds of thousands of objects for each request would have Python look for garbage cycles among
them, for 100 ms at a time and whichever thread it is in: it is told not to meanwhile. They are let
go of some at a time, for the same reason.
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
"""Parts are carried out in one turn of the loop until it has taken this long."""
LARGE_BYTES: Final = 16 << 10
MANY_BATCHES: Final = 500
NEVER: Final = 1 << 32
_NO_FRAME: Final = memoryview(b"")


class LargeRequests:
    """What carries out the large requests of one server."""

    def __init__(self) -> None:
        self._worker: WorkerThreads | None = None
        self._under_way = 0
        self.is_closed = False
        self._collects_garbage = False

    @staticmethod
    def bytes_from(api: Served) -> int:
        """From how many bytes on a frame of an API may be carried out in parts, or in a thread."""
        # What is passed on is not read here, so there is nothing to read in parts.
        if api.is_passed_on or api.large is None:
            return NEVER
        return SHARED_BYTES + 1 if api.is_frequent else LARGE_BYTES

    def begin(self) -> None:
        """A large request is under way."""
        if not self._under_way:
            self._collects_garbage = gc.isenabled()
            gc.disable()
        self._under_way += 1

    def end(self) -> None:
        """It is not, any more."""
        self._under_way -= 1
        if self._under_way == 0 and self._collects_garbage:
            gc.enable()

    @staticmethod
    def takes(request: Request) -> bool:
        """Whether a large request is carried out in parts, or what takes long in a thread."""
        return request.peer.may_park and (
            request.api_key != ApiKey.PRODUCE or has_many_batches(request, MANY_BATCHES)
        )

    def start(
        self, context: HandlerContext, request: Request, api: Served, steps: tuple[Step, ...]
    ) -> None:
        """Carry out a request so; its answer is released."""
        if len(request.frame) <= SHARED_BYTES:
            request.frame = memoryview(bytes(request.frame))  # it lies where others receive
        _Large(context, request, api, steps, self).start()

    def thread(self) -> WorkerThreads:
        """Where requests are read and answers encoded."""
        if self._worker is None:
            self._worker = WorkerThreads(asyncio.get_running_loop())
        return self._worker

    async def close(self) -> None:
        """End the thread, once it has done what it was given."""
        self.is_closed = True
        if self._worker is not None:
            await self._worker.close()
        if self._under_way:
            self._under_way = 1
            self.end()


class _Kept(CompletedRequest):
    """A large request, or a part of one, whose message was read already."""

    __slots__ = ()
    has_own_frame = True


class _Large:
    """One large request on its way; its parts know it as their peer."""

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
        """Those that are still to be carried out, the next one last."""
        self._answers: list[tuple[Part, Any]] = []
        self._waits: tuple[Part, Request] | None = None
        """The part that a handler has parked."""
        self._on_loss: Callable[[], None] | None = None
        self._make: Callable[[], Any] | None = None
        self._answer: Answer = []
        self._is_busy = False
        self._counted = Metrics()
        """Errors that are told, counted in the thread."""
        self._error: Exception | None = None
        self._drop_reason: str | None = None
        self._is_over = False
        # What a handler may know of its peer.
        self.listener = self._connection.listener
        self.client_host = self._connection.client_host
        self.client = self._connection.client
        self.user = self._connection.user
        self.client_software_name = self._connection.client_software_name
        self.client_software_version = self._connection.client_software_version
        self.metrics = self._connection.metrics
        self.connection = self._connection.connection

    def _like(self, frame: memoryview, body: int) -> _Kept:
        """The same request, or a part of it, whose answer comes here, and as a message."""
        asked = self._request
        return _Kept(
            cast("Any", self), asked.api_key, asked.version, asked.correlation_id,
            asked.client_id, frame, body,
        )  # fmt: skip

    def start(self) -> None:
        connection = self._connection.connection
        connection.keep_frame(self._request.frame)
        connection.queued.work_on(len(self._request.frame))
        self._connection.on_loss(self._stop)
        self.busy()
        self._worker.run(lambda: self._try(self._read), self._begin)

    def _stop(self) -> None:
        """Nobody waits for the answer any more."""
        if not self._is_over:
            if self._on_loss is not None:
                self._on_loss()
            self._end()

    def _end(self) -> None:
        """That was it: what it was made of is let go."""
        self._is_over = True
        if not self._all.is_closed:
            self.busy()
            self._worker.run(self._let_go, self.idle)

    def _refuse(self, error: Exception) -> None:
        self._end()
        self._connection.refuse(self._request.frame, error)

    def _drop(self, reason: str) -> None:
        self._end()
        self._connection.drop(reason)

    def _answer_with(self, answer: Answer) -> None:
        self._end()
        if isinstance(self._request, CompletedRequest):
            self._request.take_over(self._whole)
        self._request.release(answer)

    # -- in the thread -------------------------------------------------------------------------

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 (told to the connection, in the loop)
            self._error = error

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

    def _finish(self) -> None:
        """Put answers together, and encode what there is to answer."""
        if self._answers:
            answers = [each for each in self._answers if each[1].__class__ is not list]
            if not answers:
                return  # a Produce that must not be answered
            self._response = join(answers, self._cut)
        elif self._make is not None:
            self._response = self._make()
            self._make = None
        response = self._answer = self._response
        if self._whole.is_changed:
            return  # it is changed in the loop, and encoded behind that
        encode = self._api.encode
        if encode is not encode_uncounted:
            self._counted.note_errors(response)
        if encode is encode_answer:
            encode = encode_uncounted
        self._answer = encode(self._whole, response)

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
        """It waits already."""
        return True

    def on_loss(self, call: Callable[[], None]) -> None:
        """Have this called if the connection is lost before the answer."""
        self._on_loss = call

    def drop(self, reason: str) -> None:
        """Close the connection, once all parts are carried out."""
        self._drop_reason = self._drop_reason or reason

    def release(self, request: Request, answer: Answer) -> None:
        """What was parked has its answer."""
        if self._is_over:
            return
        self.busy()
        if request is self._whole:
            self._leave_whole(answer)
            return
        waits, self._waits = self._waits, None
        if waits is not None:
            self._answers.append((waits[0], answer))
            self._carry_on()

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """A part that was parked ran into a bug of ours."""
        del request
        self._refuse(error)

    def busy(self) -> None:
        """A lot of objects are being made, or let go: no search for garbage among them."""
        if not self._is_busy:
            self._is_busy = True
            self._all.begin()

    def idle(self) -> None:
        """The request waits."""
        if self._is_busy:
            self._is_busy = False
            self._all.end()

    def answer_with(self, make: Callable[[], Any]) -> None:
        """Answer with what this makes, in the thread."""
        self._make = make
        self._worker.run(lambda: self._try(self._finish), self._leave)

    def fail(self, error: Exception) -> None:
        """It could not be carried out."""
        self._refuse(error)

    # -- in the loop ---------------------------------------------------------------------------

    def _begin(self) -> None:
        self.connection.queued.work_on(-len(self._request.frame))
        if self._is_over:
            return
        if self._error is not None or self._parts:
            self._carry_on()
        elif self._response is not None:
            self._leave_whole(self._response)
        elif self._steps:
            self._take_steps()
        else:
            self._carry_out_whole()

    def _take_steps(self) -> None:
        """What comes before the handler comes before the request is taken apart."""
        try:
            for step in self._steps:
                answer = step(self._context, self._whole, self._message)
                if answer is not None:
                    self._leave_whole(answer)
                    return
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            self._refuse(error)
            return
        self._steps = ()
        self._worker.run(lambda: self._try(self._take_apart), self._go_on)

    def _go_on(self) -> None:
        if self._is_over:
            return
        if self._error is not None or self._parts:
            self._carry_on()
        else:
            self._carry_out_whole()

    def _carry_out_whole(self) -> None:
        answer: Answer | None = None
        try:
            if self._api.key == ApiKey.FETCH:
                assert isinstance(self._context, BrokerContext), "a controller's Fetch is not large"
                fetch_large(self._context, self._whole, self._message, self)
                return
            answer = self._api.handler(self._context, self._whole, self._message)
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            self._refuse(error)
            return
        if answer is None:
            self.idle()
        else:
            self._leave_whole(answer)

    def _leave_whole(self, answer: Answer) -> None:
        if self._drop_reason is not None:
            self._drop(self._drop_reason)
        elif answer.__class__ is list:
            self._answer_with(answer)
        else:
            self._response = answer
            self._worker.run(lambda: self._try(self._finish), self._leave)

    def _carry_on(self) -> None:
        """Carry out some parts, and leave the next ones to the loop's next turn."""
        if self._is_over:
            return
        until_ns = perf_counter_ns() + TURN_NS
        while self._parts and self._error is None and self._waits is None:
            self._carry_out(self._parts.pop())
            if perf_counter_ns() >= until_ns:
                break
        if self._error is not None:
            self._refuse(self._error)
        elif self._waits is not None:
            self.idle()
        elif self._parts:
            self._loop.call_soon(self._carry_on)
        elif self._drop_reason is not None:
            self._drop(self._drop_reason)
        else:
            self._worker.run(lambda: self._try(self._finish), self._leave)

    def _carry_out(self, part: Part) -> None:
        asked = self._like(_NO_FRAME, 0)
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
            self._refuse(self._error)
            return
        errors = self._connection.metrics.errors
        for at, count in enumerate(self._counted.errors):
            if count:
                errors[at] += count
        cut = self._cut
        if cut.finish is not None:
            cut.finish(self._context, self._message, self._response)
        self._answer_with(self._answer)
