"""DeleteGroups of share groups: the share coordinators delete the state, then the group is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.coordinator_requests import Part, answer_when_durable, submit
from fencepost_broker.apis.groups.requests import refusal
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.group.share.commands import DeleteShareGroup, Errand
from fencepost_broker.coordinator.runtime.shard import Shard

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


class ShareDeletion:
    """A request of which some groups have an ``Errand`` in place of a result."""

    def __init__(
        self,
        context: BrokerContext,
        request: Request,
        parts: Sequence[Part],
        answer: Callable[[list[Any]], Answer],
    ) -> None:
        self._context = context
        self._request = request
        self._parts = list(parts)
        self._answer = answer
        self._left = 0

    def begin(self) -> None:
        """Carry out the errands; the request is answered when all groups have results."""
        for at, (shard, told) in enumerate(self._parts):
            if shard is not None and isinstance(told, Errand):
                self._left += 1
                durable = shard.settle(told, partial(self._ask, at, shard))
                if durable is not None:
                    self._ask(at, shard, durable)

    def _ask(self, at: int, shard: Shard, errand: Any) -> None:
        """Have the state deleted; the group's own record says so already."""
        code = refusal(errand)
        if code:
            self._take(at, code)
            return
        done = partial(self._delete, at, shard, errand)
        self._context.coordinators.runtime.persister.ask(errand.request, done)

    def _delete(self, at: int, shard: Shard, errand: Errand, told: Any) -> None:
        result = errand.answer.results[0]
        codes = {each.error_code for topic in told.results for each in topic.partitions}
        code = max(codes, default=0)
        if not code and not shard.is_loaded:
            code = ErrorCode.NOT_COORDINATOR
        if not code:
            deleted = submit(shard, DeleteShareGroup(result.group_id))
            code = refusal(deleted) or (0 if deleted else ErrorCode.NON_EMPTY_GROUP)
        result.error_code = code
        self._take(at, errand.answer)

    def _take(self, at: int, told: Any) -> None:
        self._parts[at] = self._parts[at][0], told
        self._left -= 1
        if not self._left:
            answer = answer_when_durable(self._request, self._parts, self._answer)
            if answer is not None:
                self._request.release(answer)
