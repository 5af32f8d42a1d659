"""Requests that fault rules have fired on, carried out as the rules say.

Such a request is parked, and a task carries it out: first what rules do to the request, then the
handler, then what they do to the answer. To the handler, the task's object is the client's
connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol, cast

from fencepost_protocol.apis import request_class, response_class
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.framing import (
    SIZE_BYTES,
    encode_request,
    read_request_head,
    read_response_head,
)

from fencepost_broker.apis.request import (
    NO_ANSWER,
    Answer,
    CompletedRequest,
    Peer,
    Pieces,
    Request,
)
from fencepost_broker.apis.served import Handler, Served, not_read
from fencepost_broker.faults.acts import Refusal, change, corrupt, merge, refusal
from fencepost_broker.faults.compiled import Arrived, States, decoded, topic_test
from fencepost_broker.faults.rule import (
    Act,
    Blackhole,
    ChangeAnswer,
    ChangeRequest,
    CorruptRequest,
    CutAnswer,
    Delay,
    Disconnect,
    DropAnswer,
    DropRequest,
    Error,
    Hold,
    ReorderAnswer,
    Run,
    Side,
    SlowAnswer,
    SlowClose,
    Throttle,
)
from fencepost_broker.faults.rules import FaultRules, Held, LoadedRule
from fencepost_broker.network.answer_bytes import as_rules_say, reset_when_closed, send_slowly
from fencepost_broker.operations import OperationRefusedError

CarryOut = Callable[[Request], Answer | None]
"""Decodes a request, and runs the steps and the handler of its API."""
Encode = Callable[[Request, Answer], Pieces]
_WAYS: Final[dict[Side, str]] = {"request": "in", "answer": "out"}


class _DropError(Exception):
    """The connection is closed without an answer."""

    resets = False
    """Whether by a TCP reset."""


class ClientConnection(Peer, Protocol):
    """A client's connection, as far as rules act on it."""

    transport: asyncio.Transport | None
    closes_late_s: float
    """Seconds between a close of the connection and the moment when the client is told."""

    def end(self, *, answer: Pieces) -> None:
        """Close the connection after the last answer."""

    def mute(self, on_end: Callable[[], None]) -> bool:
        """Carry out no requests until ``unmute``; return whether the connection was muted."""

    def unmute(self) -> None:
        """Carry out waiting and new requests again."""


class Faults:
    """The fault rules of a server, and the requests that they have fired on."""

    def __init__(self, rules: FaultRules, states: States | None = None) -> None:
        """``states`` are those of the broker that is asked, if ``rules`` are for several."""
        self.rules = rules
        self.states = states or rules.states
        self._late: dict[ClientConnection, Pieces] = {}
        """Answers that are sent after the next one of their connection."""
        self._tasks: set[asyncio.Task[None]] = set()
        self.stopped = asyncio.Event()
        """Set when the server stops: nothing waits any more."""
        self._listeners: list[Callable[[], None]] = []

    def listen(self, served: Sequence[Served], call_with: Callable[[list[Served]], None]) -> None:
        """Call this with the APIs for which ``takes`` or ``only_topics`` changes."""
        known: dict[int, tuple[bool, bool]] = {}

        def call() -> None:
            changed = []
            for api in served:
                key = api.key.value
                now = self.takes(key), self.only_topics(api)
                if now != known.get(key, (False, False)):
                    known[key] = now
                    changed.append(api)
            if changed:
                call_with(changed)

        self._listeners.append(call)
        self.rules.listen(call)
        call()

    def _changed(self) -> None:
        for call in self._listeners:
            call()

    def takes(self, api_key: int) -> bool:
        """Whether requests of an API have to be shown to ``match``."""
        return bool(self._late) or self.rules.takes(api_key)

    def only_topics(self, api: Served) -> bool:
        """Whether all rules for an API name a topic, so that ``guard`` can show it requests."""
        return (
            not self._late and api.decode is not not_read and self.rules.only_topics(api.key.value)
        )

    def guard(self, api: Served, carry_out: CarryOut, encode: Encode) -> Handler:
        """Return the handler of an API, which first looks for rules on a request's topics.

        It is good while ``only_topics`` holds.
        """
        handler = api.handler
        names_one = topic_test(
            request_class(api.key).NAME, self.rules.topics(api.key.value), self.states
        )

        def handle(context: Any, request: Request, message: Any) -> Answer | None:
            if names_one(message):
                fired = self.rules.match(Arrived(api, request, message, self.states))
                if fired:
                    self.start(api, request, fired, carry_out, encode)
                    return None
            return handler(context, request, message)

        return handle

    def match(self, api: Served, request: Request) -> list[LoadedRule]:
        """Return the rules that fire on a request."""
        message = decoded(api, request)
        return self.rules.match(Arrived(api, request, message, self.states))

    def fire(self, api: Served, request: Request, carry_out: CarryOut, encode: Encode) -> bool:
        """Carry out a request as the rules that fire on it say; return whether any does."""
        fired = self.match(api, request) if self.takes(request.api_key) else []
        if fired:
            self.start(api, request, fired, carry_out, encode)
        return bool(fired)

    def start(
        self,
        api: Served,
        request: Request,
        fired: list[LoadedRule],
        carry_out: CarryOut,
        encode: Encode,
    ) -> None:
        """Carry out a request as rules say; its answer is released later."""
        request.frame = memoryview(bytes(request.frame))  # the buffer is shared
        faulted = _FaultedRequest(self, api, request, fired, carry_out, encode)
        if self.rules.counter is None:
            faulted.hold()
        task = asyncio.get_running_loop().create_task(faulted.run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        faulted.connection.on_loss(partial(_cancel, task))

    def stop(self) -> None:
        """Let everything go on that waits, because the server stops."""
        self.stopped.set()
        self.rules.clear()

    def send_late(self, connection: ClientConnection, pieces: Pieces) -> None:
        """Keep an answer until the next one of its connection is sent."""
        self._late[connection] = [*self._late.get(connection, ()), *pieces]
        self._changed()

    def with_late(self, request: Request, pieces: Pieces) -> Pieces:
        """Return an answer, followed by the one that was kept."""
        if not (self._late and pieces):
            return pieces
        return [*pieces, *self.take_late(cast("ClientConnection", request.peer))]

    def take_late(self, connection: ClientConnection) -> Pieces:
        """Return the answer of a connection that was kept, if any, to be sent now."""
        late = self._late.pop(connection, None)
        if late is None:
            return NO_ANSWER
        self._changed()
        return late

    def forget(self, connection: ClientConnection) -> None:
        """Forget a connection that is closed."""
        if self._late.pop(connection, None) is not None:
            self._changed()


class _FaultedRequest:
    """A request that rules have fired on; the peer of the request that the handler sees."""

    def __init__(
        self,
        faults: Faults,
        api: Served,
        request: Request,
        fired: list[LoadedRule],
        carry_out: CarryOut,
        encode: Encode,
    ) -> None:
        self._faults = faults
        self._api = api
        self._request = request
        self._fired = fired
        self._carry_out = carry_out
        self._encode = encode
        self._released: asyncio.Future[Answer] | None = None
        self._on_loss: Callable[[], None] | None = None
        self._holds: dict[tuple[LoadedRule, Side], tuple[Held, asyncio.Event]] = {}
        self._drop_reason = ""
        # The attributes of a Peer.
        connection = cast("ClientConnection", request.peer)
        self.connection = connection
        self.listener = connection.listener
        self.client_host = connection.client_host
        self.client = connection.client
        self.user = connection.user
        self.client_software_name = connection.client_software_name
        self.client_software_version = connection.client_software_version
        self.metrics = connection.metrics

    async def run(self) -> None:
        """Carry out the request, and send its answer or close the connection."""
        request, connection = self._request, self.connection
        try:
            await self._decide()
            pieces = self._on_the_wire(await self._answer())
            for rule in self._fired:
                if isinstance(rule.rule.act, SlowAnswer):
                    pieces = await send_slowly(
                        rule.rule.act, pieces, connection.transport, self._faults.stopped
                    )
            for rule in self._fired:
                if isinstance(rule.rule.act, CutAnswer | Disconnect):
                    connection.end(answer=pieces)
                    return
                if isinstance(rule.rule.act, ReorderAnswer):
                    self._faults.send_late(connection, pieces)
                    connection.release(request, NO_ANSWER)
                    return
            connection.release(request, pieces)
            self._throttle()
        except asyncio.CancelledError:
            if self._on_loss is not None:
                self._on_loss()
        except _DropError as reason:
            if reason.resets:
                reset_when_closed(connection.transport)
            connection.drop(str(reason))
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            connection.refuse_parked(request, error)
        finally:
            for held, _ in self._holds.values():
                held.forget()

    def hold(self, side: Side = "request") -> None:
        """Begin to hold it: who has waited until a rule fired may release it at once."""
        for rule in self._fired:
            key = rule, side
            if _holds(rule.rule.act, side) and not (rule.is_removed or key in self._holds):
                released = asyncio.Event()
                self._holds[key] = Held(rule, released.set), released

    async def _decide(self) -> None:
        """Forget the rules that do not fire, as the cluster counts; note a late close."""
        faults = self._faults
        if faults.rules.counter is not None:
            message = decoded(self._api, self._request)
            arrived = Arrived(self._api, self._request, message, faults.states)
            self._fired = await faults.rules.decided(self._fired, arrived)
            self.hold()
        for rule in self._fired:
            if isinstance(rule.rule.act, SlowClose):
                self.connection.closes_late_s = rule.rule.act.ms / 1000

    async def _answer(self) -> Answer:
        request = self._request
        message = decoded(self._api, request)
        arrived = Arrived(self._api, request, message, self._faults.states)
        answer: Answer | None = None
        refusals: list[Refusal] = []
        is_changed = False
        corrupting: list[tuple[LoadedRule, CorruptRequest]] = []
        for rule in self._fired:
            act = rule.rule.act
            await self._wait(rule, "request")
            if isinstance(act, DropRequest):
                await self._drop(rule, act, "request")
            elif isinstance(act, ChangeRequest):
                change(rule, message)
                is_changed = True
            elif isinstance(act, CorruptRequest):
                corrupting.append((rule, act))
            elif isinstance(act, Run) and act.when == "before":
                await self._perform(rule, act)
            elif isinstance(act, Error):
                refused = refusal(rule, arrived)
                refusals.append(refused)
                is_changed = True
                if not refused.carries_on:
                    answer = answer or refused.answer
        if answer is None:
            answer = await self._carried_out(message, is_changed, corrupting)
        if refusals and getattr(message, "acks", None) == 0:  # it gets no answer, so no error
            raise _DropError(f"the fault rule {self._fired[0].name} refuses the request")
        for each in refusals:
            if each.is_whole:
                answer = each.answer
            else:
                merge(answer, each.answer)
        return await self._after(answer)

    async def _carried_out(
        self,
        message: Any,
        is_changed: bool,
        corrupting: Iterable[tuple[LoadedRule, CorruptRequest]],
    ) -> Answer:
        request = self._request
        frame = request.frame
        if is_changed:
            frame = self._encoded_again(message)
        for rule, act in corrupting:
            content = bytearray(frame)
            corrupt(content, request.body, act.bits, rule.chance)
            frame = memoryview(bytes(content))
        inner = CompletedRequest(
            cast("Any", self),
            request.api_key,
            request.version,
            request.correlation_id,
            request.client_id,
            frame,
            request.body,
        )
        self._released = asyncio.get_running_loop().create_future()
        answer = self._carry_out(inner)
        if answer is None:
            answer = await self._released
        if self._drop_reason:
            raise _DropError(self._drop_reason)
        return inner.completed(answer)

    async def _after(self, answer: Answer) -> Answer:
        """Do to an answer what rules say, and wait if they say so."""
        for rule in self._fired:
            act = rule.rule.act
            await self._wait(rule, "answer")
            if isinstance(act, DropAnswer):
                await self._drop(rule, act, "answer")
            elif isinstance(act, Run) and act.when == "after":
                await self._perform(rule, act)
            elif isinstance(act, ChangeAnswer | Throttle):
                answer = self._as_message(answer)
                if isinstance(act, ChangeAnswer) and answer is not NO_ANSWER:
                    change(rule, answer)
                elif isinstance(act, Throttle) and hasattr(answer, "throttle_time_ms"):
                    answer.throttle_time_ms = act.ms
        return answer

    def _on_the_wire(self, answer: Answer) -> Pieces:
        """Encode an answer, and do to its bytes what rules say."""
        try:
            pieces = self._encode(self._request, answer)
        except LocalProtocolError as error:
            names = ", ".join(rule.name for rule in self._fired)
            raise _DropError(
                f"the answer cannot be sent as rules ({names}) want it: {error}"
            ) from None
        return as_rules_say(pieces, self._fired) if pieces else pieces

    def _throttle(self) -> None:
        """Let the next requests wait, as a throttled client's do."""
        wait_ms = max(
            (each.rule.act.ms for each in self._fired if isinstance(each.rule.act, Throttle)),
            default=0,
        )
        if wait_ms and self.connection.mute(lambda: None):
            asyncio.get_running_loop().call_later(wait_ms / 1000, self.connection.unmute)

    # -- the acts --------------------------------------------------------------------------------

    async def _wait(self, rule: LoadedRule, side: Side) -> None:
        """Wait if a rule delays or holds the request, or the answer."""
        act = rule.rule.act
        if isinstance(act, Delay) and act.what == side:
            spread_ms = rule.chance.randrange(act.spread_ms + 1) if act.spread_ms else 0
            with suppress(TimeoutError):
                async with asyncio.timeout((act.ms + spread_ms) / 1000):
                    await self._faults.stopped.wait()
        elif _holds(act, side):
            self.hold(side)
            if (rule, side) in self._holds:
                await self._holds[rule, side][1].wait()

    async def _perform(self, rule: LoadedRule, act: Run) -> None:
        """Perform a rule's operation; if it is refused, the rule says why."""
        try:
            await self._faults.states.perform(act.operation)
            rule.refused = ""
        except OperationRefusedError as error:
            rule.refused = str(error)

    async def _drop(self, rule: LoadedRule, act: DropRequest | DropAnswer, what: Side) -> None:
        if act.silently:
            await self._faults.stopped.wait()  # or until the connection is lost
        error = _DropError(f"the fault rule {rule.name} drops the {what}")
        error.resets = act.reset
        raise error

    # -- messages --------------------------------------------------------------------------------

    def _encoded_again(self, message: Any) -> memoryview:
        request = self._request
        try:
            frame = encode_request(
                message, request.version, request.correlation_id, request.client_id
            )
        except LocalProtocolError as error:
            names = ", ".join(rule.name for rule in self._fired)
            raise _DropError(f"the request cannot be as rules ({names}) want it: {error}") from None
        whole = memoryview(bytes(frame))[SIZE_BYTES:]
        *_, request.body = read_request_head(whole)
        return whole

    def _as_message(self, answer: Answer) -> Any:
        if not isinstance(answer, list) or not answer:
            return answer
        request = self._request
        frame = memoryview(b"".join(answer))[SIZE_BYTES:]
        _, pos = read_response_head(frame, request.api_key, request.version)
        return response_class(request.api_key).decode(frame, request.version, pos)[0]

    # -- what the handler calls ------------------------------------------------------------------

    @property
    def may_park(self) -> bool:
        """Always true: the request is parked already."""
        return True

    def on_loss(self, call: Callable[[], None]) -> None:
        """Call this if the connection is lost before the answer."""
        self._on_loss = call

    def release(self, request: Request, answer: Answer) -> None:
        """Accept the answer of the handler."""
        del request
        self._on_loss = None
        if self._released is not None and not self._released.done():
            self._released.set_result(answer)

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Close the connection, because the request raised an exception."""
        del request
        if self._released is not None and not self._released.done():
            self._released.set_exception(error)

    def drop(self, reason: str) -> None:
        """Close the connection once the handler is done."""
        self._drop_reason = self._drop_reason or reason


def _holds(act: Act, side: Side) -> bool:
    if isinstance(act, Blackhole):
        return act.way in ("both", _WAYS[side])
    return isinstance(act, Hold) and act.what == side


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
