"""A request's way to a coordinator's machine and back, at once or later."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordination.shard import AppendRefusedError
from fencepost_broker.coordinators.records import RecordFamily
from fencepost_broker.coordinators.transactions.commands import GiveUp

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker, Timer
    from fencepost_broker.apis.request import Pieces, Request
    from fencepost_broker.coordination.shard import Shard


class Waiting:
    """The token of a command, and the request behind it, which may have to wait.

    ``answer`` makes frames of what the machine says. It is called once: within ``submit``, or when
    the machine replies, or when the wait (``transaction.park.max.ms`` of wire time) is over, which
    the machine then answers as well. It makes none when the request goes on to wait for the disk.
    """

    __slots__ = ("_answer", "_broker", "_early", "_id", "_request", "_shard", "_timer")

    def __init__(
        self,
        broker: Broker,
        request: Request,
        shard: Shard,
        transactional_id: str,
        answer: Callable[[Any], Pieces | None],
    ) -> None:
        self._broker = broker
        self._request = request
        self._shard = shard
        self._id = transactional_id
        self._answer = answer
        self._timer: Timer | None = None
        self._early: Any = None

    def submit(self, command: Any) -> Pieces | None:
        """Carry out a command that has this as its token."""
        told = submit(self._shard, command)
        if told is None:
            told = self._early
        if told is not None:
            return self._answer(told)
        wait_ms = self._broker.settings.transaction_park_max_ms
        self._timer = self._broker.call_later(wait_ms, self._give_up)
        return None

    def reply(self, answer: Any) -> None:
        """The machine answers."""
        if self._timer is None:
            self._early = answer  # before ``submit`` is back
            return
        self._timer.cancel()
        pieces = self._answer(answer)
        if pieces is not None:
            self._request.release(pieces)

    def _give_up(self) -> None:
        self._shard.submit(GiveUp(self._id, self))


def submit(shard: Shard, command: Any) -> Any:
    """What a machine answers, or that it could not write what it decided."""
    try:
        return shard.submit(command)
    except AppendRefusedError as error:
        return error


def error_or(answer: Any) -> ErrorCode:
    """The code of an answer that never came about; NONE when there is an answer."""
    return answer.error if isinstance(answer, AppendRefusedError) else ErrorCode.NONE


def transaction_shard(broker: Broker, transactional_id: str) -> Shard | None:
    """The machine of a transactional id, if this broker coordinates it."""
    return broker.coordination.shard(RecordFamily.TRANSACTIONS, transactional_id)


def nobody(broker: Broker, transactional_id: str) -> ErrorCode:
    """What is answered when ``transaction_shard`` found none."""
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    return broker.coordination.refusal(RecordFamily.TRANSACTIONS, transactional_id)
