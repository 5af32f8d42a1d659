"""Share groups (KIP-932): members heartbeat; administrators describe groups and set offsets.

Behaviour: a heartbeat never waits for its group. A request about offsets is decided by the group,
then carried out by the share coordinators, then noted by the group, and then answered.

``share_offsets`` describes offsets.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
)
from fencepost_protocol.generated.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
)
from fencepost_protocol.generated.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from fencepost_protocol.generated.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

from fencepost_broker.apis.coordinator_requests import submit
from fencepost_broker.apis.groups.requests import (
    ask,
    ask_one,
    describe_each,
    has_feature,
    refusal,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.group.share.commands import (
    Errand,
    SharesDeleted,
    shares_initialized,
)
from fencepost_broker.coordinator.runtime.shard import Shard

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

FEATURE = "share.version"


def share_group_heartbeat(
    context: BrokerContext, request: Request, message: ShareGroupHeartbeatRequest
) -> Answer | None:
    """Answer ShareGroupHeartbeat, version 1."""
    if not has_feature(context, FEATURE):
        return _heartbeat_refused(message, ErrorCode.UNSUPPORTED_VERSION)
    return ask(context, request, message.group_id, message, _heartbeat_refused)


def _heartbeat_refused(_message: Message, code: ErrorCode) -> ShareGroupHeartbeatResponse:
    return ShareGroupHeartbeatResponse(error_code=code)


def share_group_describe(
    context: BrokerContext, request: Request, message: ShareGroupDescribeRequest
) -> Answer | None:
    """Answer ShareGroupDescribe, version 1."""
    return describe_each(
        context,
        request,
        FEATURE,
        message,
        DescribedGroup,
        lambda groups: ShareGroupDescribeResponse(groups=groups),
    )


# -- offsets ---------------------------------------------------------------------------------------


def alter_share_group_offsets(
    context: BrokerContext, request: Request, message: AlterShareGroupOffsetsRequest
) -> Answer | None:
    """Answer AlterShareGroupOffsets, version 0."""

    def refused(code: ErrorCode) -> Message:
        return AlterShareGroupOffsetsResponse(0, code, code.name)

    def complete(answer: AlterShareGroupOffsetsResponse, told: Any) -> Any:
        errors = {
            (topic.topic_id, each.partition): each
            for topic in told.results
            for each in topic.partitions
            if each.error_code
        }
        for topic in answer.responses:
            for partition in topic.partitions:
                error = errors.get((topic.topic_id, partition.partition_index))
                if error is not None:
                    partition.error_code = error.error_code
                    partition.error_message = error.error_message
        return shares_initialized(message.group_id, told)

    return run_errand(context, request, message.group_id, message, refused, complete)


def delete_share_group_offsets(
    context: BrokerContext, request: Request, message: DeleteShareGroupOffsetsRequest
) -> Answer | None:
    """Answer DeleteShareGroupOffsets, version 0."""

    def refused(code: ErrorCode) -> Message:
        return DeleteShareGroupOffsetsResponse(0, code, code.name)

    def complete(answer: DeleteShareGroupOffsetsResponse, told: Any) -> Any:
        errors = {
            topic.topic_id: each
            for topic in told.results
            for each in topic.partitions
            if each.error_code
        }
        for topic in answer.responses:
            error = errors.get(topic.topic_id)
            if error is not None:
                topic.error_code, topic.error_message = error.error_code, error.error_message
        done = [topic.topic_id for topic in told.results if topic.topic_id not in errors]
        return SharesDeleted(message.group_id, done)

    return run_errand(context, request, message.group_id, message, refused, complete)


def run_errand(
    context: BrokerContext,
    request: Request,
    group_id: str,
    message: Message,
    refused: Callable[[ErrorCode], Message],
    complete: Callable[[Any, Any], Any],
) -> Answer | None:
    """Answer a request whose decision is an ``Errand``.

    ``complete`` adds what the share coordinators say to the answer, and returns the command by
    which the group notes the outcome.
    """
    shard, told = ask_one(context, request, group_id, message)
    if shard is None:
        return refused(told)

    def go_on(decided: Any) -> Answer | None:
        code = refusal(decided)
        if code:
            return refused(code)
        assert isinstance(decided, Errand)
        if decided.request is None:
            answer: Answer = decided.answer
            return answer
        done = partial(_note_outcome, request, shard, decided, refused, complete)
        context.coordinators.runtime.persister.ask(decided.request, done)
        return None

    def later(decided: Any) -> None:
        answer = go_on(decided)
        if answer is not None:
            request.release(answer)

    settled = shard.settle(told, later)
    return None if settled is None else go_on(settled)


def _note_outcome(
    request: Request,
    shard: Shard,
    errand: Errand,
    refused: Callable[[ErrorCode], Message],
    complete: Callable[[Any, Any], Any],
    told: Any,
) -> None:
    """Note what the share coordinators have done, and answer."""
    command = complete(errand.answer, told)
    if not shard.is_loaded:
        request.release(refused(ErrorCode.NOT_COORDINATOR))
        return

    def answer(noted: Any) -> None:
        code = refusal(noted)
        request.release(refused(code) if code else errand.answer)

    settled = shard.settle(submit(shard, command), answer)
    if settled is not None:
        answer(settled)
