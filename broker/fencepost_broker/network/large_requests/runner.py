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

from fencepost_protocol.apis import Message, request_class, response_class
from fencepost_protocol.framing import read_response_head
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.request import AnyMessage, Pieces, Request, encoded
from fencepost_broker.network.large_requests.element_limit import ELEMENTS_MAX, refused_as_too_long
from fencepost_broker.network.large_requests.fetch import fetch_large
from fencepost_broker.network.large_requests.produce import has_many_batches, produce_large
from fencepost_broker.network.large_requests.splitting import (
    CUTS,
    Cut,
    Part,
    join,
    let_go,
    parts_of,
)
from fencepost_broker.network.worker_threads import WorkerThreads
from fencepost_broker.observability.metrics import Metrics

if TYPE_CHECKING:
    from fencepost_broker.network.connection import Connection

Handler = Callable[[Any, Request], Pieces | None]

TURN_NS: Final = 5_000_000
"""Parts are carried out in one turn of the loop until it has taken this long."""
LARGE_BYTES: Final = 16 << 10
_SIZE_BYTES: Final = 4
_SMALL_AT_ONCE: Final = (
    ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.METADATA, ApiKey.END_TXN,
    ApiKey.ADD_PARTITIONS_TO_TXN, ApiKey.WRITE_TXN_MARKERS, ApiKey.OFFSET_COMMIT,
    ApiKey.TXN_OFFSET_COMMIT,
)  # fmt: skip
"""They come often, and not even a look at their size is to be spent on them."""
_WHOLE: Final = frozenset(
    {
        ApiKey.FETCH, ApiKey.OFFSET_COMMIT, ApiKey.JOIN_GROUP, ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.LIST_GROUPS, ApiKey.CREATE_TOPICS, ApiKey.END_TXN, ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.OFFSET_DELETE, ApiKey.DESCRIBE_QUORUM, ApiKey.UPDATE_FEATURES,
        ApiKey.LIST_TRANSACTIONS, ApiKey.CONSUMER_GROUP_HEARTBEAT,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        ApiKey.DESCRIBE_CLIENT_QUOTAS, ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS, ApiKey.LIST_PARTITION_REASSIGNMENTS,
    }
)  # fmt: skip
"""Of these all belongs together; their handlers take what was read (``Request.message``)."""
MANY_BATCHES: Final = 500
_LATER: Final[Pieces] = [b""]
"""Stands for an answer that the thread has yet to encode."""


class LargeRequests:
    """What carries out the large requests of one server."""

    def __init__(self) -> None:
        self._worker: WorkerThreads | None = None
        self._under_way = 0
        self.is_closed = False
        self._collects_garbage = False

    def for_any(self, api_key: int, handler: Handler) -> Handler:
        """Who carries out the requests of an API whose frames need not be large to say much."""
        large = self.handler(api_key, handler)
        if large is handler or api_key in _SMALL_AT_ONCE:
            return handler

        def by_size(broker: Any, request: Request) -> Pieces | None:
            if len(request.frame) < LARGE_BYTES or not request.peer.may_park:
                return handler(broker, request)
            request.frame = memoryview(bytes(request.frame))  # it lies where others receive
            return large(broker, request)

        return by_size

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

    def handler(self, api_key: int, handler: Handler) -> Handler:
        """Who carries out large requests of an API: ``handler`` itself, where there is no gain."""
        cut = CUTS.get(api_key)
        if cut is None and api_key not in _WHOLE:
            return handler
        is_produce = api_key == ApiKey.PRODUCE
        of_parts = produce_large if is_produce else handler

        def large(broker: Any, request: Request) -> Pieces | None:
            if not request.peer.may_park:
                return handler(broker, request)
            if is_produce and not has_many_batches(request, MANY_BATCHES):
                return handler(broker, request)
            _Large(broker, request, of_parts, cut, self).start()
            return None

        return large

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


class _Read(Request):
    """A request, or a part of one, that was read already and is answered without being encoded."""

    __slots__ = ("read", "response")

    read: Any
    response: Any

    @classmethod
    def like(cls, request: Request, peer: Any, frame: memoryview, body: int) -> _Read:
        """The same request, with something else to read."""
        made = cls(
            peer, request.api_key, request.version, request.correlation_id, request.client_id,
            frame, body,
        )  # fmt: skip
        made.read = made.response = None
        return made

    def message(self, kind: type[AnyMessage]) -> AnyMessage:
        """What was read in the thread."""
        assert isinstance(self.read, kind)
        return self.read

    def answer(self, response: Message) -> Pieces:
        """Keep the response: its errors are counted and it is encoded in the thread."""
        self.response = response
        return _LATER

    def answer_fine(self, response: Message) -> Pieces:
        """The same."""
        return self.answer(response)


class _Large:
    """One large request on its way; its parts know it as their peer."""

    def __init__(
        self,
        broker: Any,
        request: Request,
        handler: Handler,
        cut: Cut | None,
        all_of_them: LargeRequests,
    ) -> None:
        self._broker = broker
        self._request = request
        self._connection = cast("Connection", request.peer)
        self._handler = handler
        self._cut = cut
        self._all = all_of_them
        self._worker = all_of_them.thread()
        self._loop = asyncio.get_running_loop()
        self._whole = _Read.like(request, self, request.frame, request.body)
        self._parts: list[Part] = []
        """Those that are still to be carried out, the next one last."""
        self._answers: list[tuple[Part, Request, Pieces]] = []
        self._waits: Part | None = None
        """The part that a handler has parked."""
        self._on_loss: Callable[[], None] | None = None
        self._make: Callable[[], tuple[Any, Pieces]] | None = None
        self._answer: Pieces = []
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

    def _answer_with(self, pieces: Pieces) -> None:
        self._end()
        self._request.release(pieces)

    # -- in the thread -------------------------------------------------------------------------

    def _try(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 (told to the connection, in the loop)
            self._error = error

    def _read(self) -> None:
        request = self._request
        message = request_class(request.api_key).decode(
            request.frame, request.version, request.body
        )[0]
        self._whole.read = message
        self._whole.response = refused_as_too_long(request.api_key, message, request.version)
        if self._whole.response is not None and getattr(message, "acks", None) == 0:
            self._drop_reason = f"a Produce with acks 0 has more than {ELEMENTS_MAX} batches"
        if self._cut is not None and self._whole.response is None:
            self._parts = parts_of(message, request.version, self._cut)[::-1]

    def _finish(self) -> None:
        """Put answers together, and encode what there is to answer."""
        whole = self._whole
        if self._cut is not None and self._answers:
            answers = [
                (part, self._response(asked, pieces))
                for part, asked, pieces in self._answers
                if pieces
            ]
            if not answers:
                return  # a Produce that must not be answered
            whole.response = join(answers, self._cut)
        elif self._make is not None:
            whole.response, self._answer = self._make()
            self._make = None
            self._counted.note_errors(whole.response)
            return
        else:
            self._counted.note_errors(whole.response)
        self._answer = [encoded(whole.response, whole.version, whole.correlation_id)]

    def _response(self, asked: Request, pieces: Pieces) -> Any:
        if pieces is _LATER:
            assert isinstance(asked, _Read)
            self._counted.note_errors(asked.response)
            return asked.response
        key, version = asked.api_key, asked.version
        frame = memoryview(b"".join(pieces))[_SIZE_BYTES:]
        body = read_response_head(frame, key, version)[1]
        return response_class(key).decode(frame, version, body)[0]

    def _let_go(self) -> None:
        answers, self._answers = self._answers, []
        parts, self._parts = self._parts, []
        let_go([asked.response for _, asked, _ in answers if isinstance(asked, _Read)])
        let_go([self._whole.read, self._whole.response])
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

    def release(self, request: Request, pieces: Pieces) -> None:
        """What was parked has its answer."""
        if self._is_over:
            return
        self.busy()
        if request is self._whole:
            self._leave_whole(pieces)
            return
        part, self._waits = self._waits, None
        if part is not None:
            self._answers.append((part, request, pieces))
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

    def answer_with(self, make: Callable[[], tuple[Any, Pieces]]) -> None:
        """Answer with what this makes, in the thread."""
        self._make = make
        self._worker.run(lambda: self._try(self._finish), self._leave)

    def fail(self, error: Exception) -> None:
        """It could not be carried out."""
        self._refuse(error)

    # -- in the loop ---------------------------------------------------------------------------

    def _begin(self) -> None:
        self._connection.connection.queued.work_on(-len(self._request.frame))
        if self._is_over:
            return
        if self._error is not None or self._parts:
            self._carry_on()
            return
        if self._whole.response is not None:
            self._leave_whole(_LATER)
            return
        pieces: Pieces | None = None
        try:
            if self._request.api_key == ApiKey.FETCH:
                fetch_large(self._broker, self._whole, self)
                return
            pieces = self._handler(self._broker, self._whole)
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            self._refuse(error)
            return
        if pieces is None:
            self.idle()
        else:
            self._leave_whole(pieces)

    def _leave_whole(self, pieces: Pieces) -> None:
        if self._drop_reason is not None:
            self._drop(self._drop_reason)
        elif pieces is _LATER:
            self._worker.run(lambda: self._try(self._finish), self._leave)
        else:
            self._answer_with(pieces)

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
        if part.body:
            frame = memoryview(part.body)
            asked = Request(
                cast("Any", self), self._request.api_key, self._request.version,
                self._request.correlation_id, self._request.client_id, frame, 0,
            )  # fmt: skip
        else:
            asked = read = _Read.like(self._request, self, memoryview(b""), 0)
            read.read = part.message
        self._waits = part
        try:
            pieces = self._handler(self._broker, asked)
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            self._error = error
            return
        if pieces is not None:
            self._waits = None
            self._answers.append((part, asked, pieces))

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
        if cut is not None and cut.finish is not None:
            cut.finish(self._broker, self._whole.read, self._whole.response)
        self._answer_with(self._answer)
