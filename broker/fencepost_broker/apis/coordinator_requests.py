"""Submitting requests to coordinators' machines, and answering them at once or later.

The shard decides whether an answer may be sent at once (``Shard.carry_out``). With
``fsync=always`` every answer waits for the flush, even if the request wrote nothing.
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


_TRANSACTIONS: Final = RecordFamily.TRANSACTIONS


class ParkedTransactionRequest:
    """The token of a transaction's command, with the request that may have to wait for its answer.

    ``answer`` converts the machine's result to a response. A request waits in the machine for at
    most ``transaction.park.max.ms`` of wire time, or not at all if too many requests wait already.
    When the wait ends, the machine still gives a result. ``answer`` may return ``None`` if the
    request has to wait for something else.
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
        """Carry out a command whose token is this object."""
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
        """Accept the machine's result; the machine calls this."""
        if self._timer is not None:
            self._timer.cancel()
        told = self._answer(answer)
        if told is not None:
            self.request.release(told)

    def _give_up(self) -> None:
        self._shard.submit(GiveUp(self._id, self))


Part = tuple["Shard | None", Any]
"""A shard and its result, or ``None`` and the error if no shard here is responsible."""


def answer_when_durable(
    request: Request, parts: Sequence[Part], answer: Callable[[list[Any]], Answer]
) -> Answer | None:
    """Answer with the machines' results once all of them are durable.

    A result that could not be written is replaced by an ``AppendRefusedError``.
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
    """Return a machine's result, or the error if its decision could not be written."""
    try:
        return shard.submit(command)
    except AppendRefusedError as error:
        return error


def submit_at_once(shard: Shard, add: AddPartitions) -> Any:
    """Submit like ``submit``, but never wait for the markers of the previous transaction."""
    add.token = token = _ignore
    outcome = submit(shard, add)
    if outcome is None:
        submit(shard, GiveUp(add.transactional_id, token))
        return Outcome(ErrorCode.CONCURRENT_TRANSACTIONS)
    return outcome


def _ignore(answer: Any) -> None:
    """Discard the result: it is known already."""


def error_or(answer: Any) -> ErrorCode:
    """Return the error if the answer could not be written, else NONE."""
    return answer.error if isinstance(answer, AppendRefusedError) else ErrorCode.NONE


def transaction_shard(
    context: BrokerContext, transactional_id: str, of_producer: Request | None = None
) -> Shard | None:
    """Return the shard of a transactional id if this broker coordinates it, else ``None``.

    Pass ``of_producer`` for requests that only producers send: it records the producer's client.
    """
    coordination = context.coordinators.runtime
    shard = coordination.shard(_TRANSACTIONS, transactional_id)
    if of_producer is not None and shard is not None:
        client = of_producer.peer.client
        coordination.last_clients.note(transactional_id, of_producer.client_id, client)
    return shard


def coordinator_error(context: BrokerContext, transactional_id: str) -> ErrorCode:
    """Return the error to answer with if ``transaction_shard`` returned ``None``."""
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    return context.coordinators.runtime.refusal(_TRANSACTIONS, transactional_id)
