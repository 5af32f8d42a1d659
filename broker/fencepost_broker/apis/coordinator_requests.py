"""A request's way to a coordinator's machine and back, at once or later.

Where the machine is behind its disk (``Shard.is_behind``, with ``fsync=always``), every answer of
it waits for the flush, whether the request wrote anything or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.shard import AppendRefusedError
from fencepost_broker.coordinator.transaction.commands import AddPartitions, GiveUp, Outcome

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.request import Answer, Request
    from fencepost_broker.coordinator.runtime.shard import Shard
    from fencepost_broker.ports import Timer


class Waiting:
    """The token of a command, and the request behind it, which may have to wait.

    ``answer`` makes a response of what the machine says. It is called once: within ``submit``, or
    when the machine replies, or when the wait (``transaction.park.max.ms`` of wire time) is over,
    which the machine then answers as well, and at once if too many requests wait already. It makes
    none when the request goes on to wait for the disk.
    """

    __slots__ = ("_answer", "_context", "_early", "_id", "_is_out", "_shard", "_timer", "request")

    def __init__(
        self,
        context: BrokerContext,
        request: Request,
        shard: Shard,
        transactional_id: str,
        answer: Callable[[Any], Answer | None],
    ) -> None:
        self._context = context
        self.request = request
        self._shard = shard
        self._id = transactional_id
        self._answer = answer
        self._timer: Timer | None = None
        self._early: Any = None
        self._is_out = False
        """``submit`` is back, without an answer."""

    def submit(self, command: Any) -> Answer | None:
        """Carry out a command that has this as its token."""
        shard = self._shard
        told = submit(shard, command)
        if told is None and self._early is None and not self.request.peer.may_park:
            self._give_up()  # which answers
        if told is None:
            told = self._early
        if told is not None:
            if not shard.is_behind:
                return self._answer(told)
            self._is_out = True
            shard.hold(self, told)
            return None
        self._is_out = True
        wait_ms = self._context.config.settings.transaction_park_max_ms
        self._timer = self._context.clock.call_later(wait_ms, self._give_up)
        return None

    def reply(self, answer: Any) -> None:
        """The machine answers."""
        if not self._is_out:
            self._early = answer
            return
        if self._timer is not None:
            self._timer.cancel()
        told = self._answer(answer)
        if told is not None:
            self.request.release(told)

    def _give_up(self) -> None:
        self._shard.submit(GiveUp(self._id, self))


class Later:
    """A token for what goes on when a machine's answer may leave."""

    __slots__ = ("reply",)

    def __init__(self, reply: Callable[[Any], None]) -> None:
        self.reply: Final = reply


Part = tuple["Shard | None", Any]
"""Who answered, and what; ``None`` where nobody coordinates."""


def answer_when_durable(
    request: Request, parts: Sequence[Part], answer: Callable[[list[Any]], Answer]
) -> Answer | None:
    """Answer by what machines said, once all of them have it on disk.

    What one of them could not get there is an ``AppendRefusedError`` in its place.
    """
    told = [each for _, each in parts]
    behind = [
        (at, shard) for at, (shard, _) in enumerate(parts) if shard is not None and shard.is_behind
    ]
    if not behind:
        return answer(told)
    left = len(behind)

    def reply(at: int, durable: Any) -> None:
        nonlocal left
        told[at] = durable
        left -= 1
        if not left:
            request.release(answer(told))

    for at, shard in behind:
        shard.hold(Later(partial(reply, at)), told[at])
    return None


def submit(shard: Shard, command: Any) -> Any:
    """What a machine answers, or that it could not write what it decided."""
    try:
        return shard.submit(command)
    except AppendRefusedError as error:
        return error


class _Early:
    """A token whose answer is known before the machine gives it."""

    __slots__ = ()

    def reply(self, answer: Any) -> None:
        """The machine answers."""


def submit_at_once(shard: Shard, add: AddPartitions) -> Any:
    """As ``submit``, but that nothing waits for the last transaction's markers."""
    add.token = token = _Early()
    outcome = submit(shard, add)
    if outcome is None:
        submit(shard, GiveUp(add.transactional_id, token))
        return Outcome(ErrorCode.CONCURRENT_TRANSACTIONS)
    return outcome


def error_or(answer: Any) -> ErrorCode:
    """The code of an answer that never came about; NONE when there is an answer."""
    return answer.error if isinstance(answer, AppendRefusedError) else ErrorCode.NONE


def transaction_shard(
    context: BrokerContext, transactional_id: str, of_producer: Request | None = None
) -> Shard | None:
    """The machine of a transactional id, if this broker coordinates it.

    A request that only its producer sends shows who the producer is.
    """
    coordination = context.coordinators.runtime
    shard = coordination.shard(RecordFamily.TRANSACTIONS, transactional_id)
    if shard is not None and of_producer is not None:
        client = of_producer.peer.client
        coordination.last_clients.note(transactional_id, of_producer.client_id, client)
    return shard


def nobody(context: BrokerContext, transactional_id: str) -> ErrorCode:
    """What is answered when ``transaction_shard`` found none."""
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    return context.coordinators.runtime.refusal(RecordFamily.TRANSACTIONS, transactional_id)
