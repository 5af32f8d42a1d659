"""A request's way to a group's machine and back, at once or later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordination.shard import AppendRefusedError
from fencepost_broker.coordinators.groups.commands import Ask
from fencepost_broker.coordinators.records import RecordFamily

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker
    from fencepost_broker.apis.request import Pieces, Request
    from fencepost_broker.coordination.shard import Shard


class NoCoordinatorError(Exception):
    """No machine here could carry out a request, or it could not write what it decided."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class Waiting:
    """The token of a request that waits until its group has come so far."""

    __slots__ = ("_early", "_is_parked", "_request")

    def __init__(self, request: Request) -> None:
        self._request = request
        self._early: Any = None
        self._is_parked = False

    def park(self) -> Pieces | None:
        """The machine has no answer yet, unless there has been one meanwhile."""
        if self._early is not None:
            return self._request.answer(self._early)
        self._is_parked = True
        return None

    def reply(self, answer: Any) -> None:
        """The machine answers."""
        if self._is_parked:
            self._request.release(self._request.answer(answer))
        else:
            self._early = answer


def ask(
    broker: Broker, request: Request, group_id: str, message: Message, token: Any = None
) -> Any:
    """What the machine of this group answers; ``None`` when it will, under the token."""
    shard = broker.coordination.shard(RecordFamily.GROUPS, group_id)
    if shard is None:
        raise NoCoordinatorError(broker.coordination.refusal(RecordFamily.GROUPS, group_id))
    return _submit(shard, request, message, token)


def ask_all(broker: Broker, request: Request, message: Message) -> list[Any]:
    """What the machines of all groups answer."""
    if broker.coordination.is_loading(RecordFamily.GROUPS):
        raise NoCoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    shards = broker.coordination.shards_of(RecordFamily.GROUPS)
    return [_submit(shard, request, message) for shard in shards]


def _submit(shard: Shard, request: Request, message: Message, token: Any = None) -> Any:
    command = Ask(
        message, request.version, request.client_id or "", request.peer.client_host, token
    )
    try:
        return shard.submit(command)
    except AppendRefusedError as error:
        raise NoCoordinatorError(error.error) from error
