"""Submitting requests to groups' machines, and answering them at once or later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorized_operations import GROUP_OPERATIONS
from fencepost_broker.apis.coordinator_requests import (
    Part,
    answer_when_durable,
    error_or,
    submit,
)
from fencepost_broker.apis.groups.unknown_partitions import put_first
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.records import RecordFamily

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.request import Answer, Request


def has_feature(context: BrokerContext, feature: str) -> bool:
    """Whether the cluster's level of a feature, such as ``group.version``, is above 0."""
    return context.image.features.levels.get(feature, 0) > 0


Refused = Callable[[Any, ErrorCode], "Message"]
"""Builds the response to a request that no machine carried out, or whose write failed."""


def describe_each(
    context: BrokerContext,
    request: Request,
    feature: str,
    message: Any,
    group: Callable[[ErrorCode, str | None, str], Any],
    response: Callable[[list[Any]], Message],
) -> Answer | None:
    """Describe the groups of a message, for clusters with a feature.

    ``group`` is the class of a described group, here of one with an error, and ``response`` makes
    the response of all of them.
    """
    group_ids: list[str] = message.group_ids

    def answer(told: list[Any]) -> Answer:
        groups: list[Any] = []
        for group_id, each in zip(group_ids, told, strict=True):
            code = refusal(each)
            groups += [group(code, None, group_id)] if code else each.groups
        tell_operations(message, groups)
        return response(groups)

    if not has_feature(context, feature):
        return answer([ErrorCode.UNSUPPORTED_VERSION] * len(group_ids))
    parts = [ask_one(context, request, each, type(message)([each])) for each in group_ids]
    return answer_when_durable(request, parts, answer)


def tell_operations(message: Any, groups: list[Any]) -> None:
    """Tell what may be done with groups, if the client asks; an authorizer removes some of it."""
    if message.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = GROUP_OPERATIONS


class ParkedGroupRequest:
    """The token of a request that waits for its group.

    The loss of its connection does not change the group, as in Kafka: the member stays until its
    session or the rebalance times out. The token drops its reference to the connection.
    """

    __slots__ = ("_message", "_refused", "_request")

    def __init__(self, request: Request, message: Any, refused: Refused) -> None:
        self._request: Request | None = request
        self._message = message
        self._refused = refused

    def submit(self, context: BrokerContext, group_id: str) -> Answer | None:
        """Submit the request; return the answer, or ``None`` if it comes later."""
        request = self._request
        assert request is not None
        shard = context.coordinators.runtime.shard(RecordFamily.GROUPS, group_id)
        if shard is None:
            return self._answer(_nobody(context, group_id))
        told = shard.carry_out(_asked(request, self._message, self), self)
        if told is not None:
            return self._answer(told)
        if not request.peer.may_park:
            # The client retries; the machine's result for this request is discarded.
            self._forget()
            return self._answer(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        request.peer.on_loss(self._forget)
        return None

    def __call__(self, answer: Any) -> None:
        """Accept the machine's result; the machine calls this."""
        if self._request is not None:
            self._request.release(self._answer(answer))

    def _answer(self, told: Any) -> Answer:
        return _answer(self._message, self._refused, told)

    def _forget(self) -> None:
        self._request = None


def ask(
    context: BrokerContext,
    request: Request,
    group_id: str,
    message: Message,
    refused: Refused,
    unknown: Sequence[Any] = (),
) -> Answer | None:
    """Answer with the result of the group's machine; ``None`` if that has to wait for the disk.

    The ``unknown`` topics come first in the answer: see ``take_unknown``.
    """

    def answer(told: Any) -> Message:
        return put_first(unknown, _answer(message, refused, told))

    shard = context.coordinators.runtime.shard(RecordFamily.GROUPS, group_id)
    if shard is None:
        return answer(_nobody(context, group_id))
    told = shard.carry_out(_asked(request, message), lambda told: request.release(answer(told)))
    return None if told is None else answer(told)


def ask_one(context: BrokerContext, request: Request, group_id: str, message: Message) -> Part:
    """Return the result of this group's machine for a part of a request: see ``refusal``."""
    shard = context.coordinators.runtime.shard(RecordFamily.GROUPS, group_id)
    if shard is None:
        return None, _nobody(context, group_id)
    return shard, submit(shard, _asked(request, message))


def ask_all(context: BrokerContext, request: Request, message: Message) -> list[Part]:
    """Return the results of all groups' machines: see ``refusal``."""
    if context.coordinators.runtime.is_loading(RecordFamily.GROUPS):
        return [(None, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)]
    shards = context.coordinators.runtime.shards_of(RecordFamily.GROUPS)
    return [(shard, submit(shard, _asked(request, message))) for shard in shards]


def refusal(told: Any) -> ErrorCode:
    """Return the error if no machine carried out the request, else NONE."""
    return told if isinstance(told, ErrorCode) else error_or(told)


def _answer(message: Message, refused: Refused, told: Any) -> Message:
    code = refusal(told)
    answer: Message = refused(message, code) if code else told
    return answer


def _nobody(context: BrokerContext, group_id: str) -> ErrorCode:
    return context.coordinators.runtime.refusal(RecordFamily.GROUPS, group_id)


def _asked(request: Request, message: Message, token: Any = None) -> Ask:
    peer = request.peer
    return Ask(message, request.version, request.client_id or "", peer.client_host, token)
