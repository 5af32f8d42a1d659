"""A request's way to a coordinator's machine and back, at once or later.

Whether an answer may leave at once is the shard's to know (``Shard.carry_out``): with
``fsync=always`` each waits for the flush, whether the request wrote anything or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.shard import AppendRefusedError
from fencepost_broker.coordinator.transaction.commands import AddPartitions, GiveUp, Outcome

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.request import Answer, Request
    from fencepost_broker.coordinator.runtime.shard import Shard
    from fencepost_broker.ports import Timer


class ParkedRequest:
    """The token of a transaction's command, and the request that may have to wait for its answer.

    ``answer`` makes a response of what the machine says. If the request waits in the machine, the
    wait is over after ``transaction.park.max.ms`` of wire time; if too many requests wait already,
    it is over at once. The machine answers then, too. ``answer`` may return ``None``: then the
    request goes on to wait for something else.
    """

    __slots__ = ("_answer", "_context", "_id", "_shard", "_timer", "request")

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

    def submit(self, command: Any) -> Answer | None:
        """Carry out a command that has this as its token."""
        told = self._shard.carry_out(command, self)
        if told is not None:
            return self._answer(told)
        if not self.request.peer.may_park:
            self._give_up()
        else:
            wait_ms = self._context.config.settings.transaction_park_max_ms
            self._timer = self._context.clock.call_later(wait_ms, self._give_up)
        return None

    def __call__(self, answer: Any) -> None:
        """The machine answers."""
        if self._timer is not None:
            self._timer.cancel()
        told = self._answer(answer)
        if told is not None:
            self.request.release(told)

    def _give_up(self) -> None:
        self._shard.submit(GiveUp(self._id, self))


Part = tuple["Shard | None", Any]
"""A shard that answered, and what it said; ``None`` and why where nobody coordinates."""


def answer_when_durable(
    request: Request, parts: Sequence[Part], answer: Callable[[list[Any]], Answer]
) -> Answer | None:
    """Answer by what machines said, once all of them have it on disk.

    If one of them could not get there, an ``AppendRefusedError`` is in its place.
    """
    told: list[Any] = [None] * len(parts)
    left = 0

    def reply(at: int, durable: Any) -> None:
        nonlocal left
        told[at] = durable
        left -= 1
        if not left:
            request.release(answer(told))

    for at, (shard, said) in enumerate(parts):
        told[at] = said if shard is None else shard.settle(said, partial(reply, at))
        left += told[at] is None
    return None if left else answer(told)


def submit(shard: Shard, command: Any) -> Any:
    """What a machine answers, or that it could not write what it decided."""
    try:
        return shard.submit(command)
    except AppendRefusedError as error:
        return error


def submit_at_once(shard: Shard, add: AddPartitions) -> Any:
    """As ``submit``, but nothing waits for the markers of the last transaction."""
    add.token = token = _ignore
    outcome = submit(shard, add)
    if outcome is None:
        submit(shard, GiveUp(add.transactional_id, token))
        return Outcome(ErrorCode.CONCURRENT_TRANSACTIONS)
    return outcome


def _ignore(answer: Any) -> None:
    """Take an answer that is known before the machine gives it."""


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
