"""The states of a group's share partitions: initializing, initialized, deleting."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from fencepost_protocol.generated import delete_share_group_state as deleting
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated.delete_share_group_state import DeleteShareGroupStateRequest
from fencepost_protocol.generated.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
)

from fencepost_broker.coordinator.group.commands import TopicsDeleted
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.share.commands import (
    DeleteShareGroup,
    SharesDeleted,
    SharesInitialized,
)
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.share.members import PartitionStates, Stage, TopicState
from fencepost_broker.coordinator.group.share.records import states_record
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision

LATEST: Final = -1
"""The start offset that leaves the choice to ``share.auto.offset.reset``."""
_NONE: Final = TopicState("")


def joined(stage: Stage, more: Stage) -> Stage:
    """Return the partitions of both."""
    result = dict(stage)
    for topic_id, topic in more.items():
        known = stage.get(topic_id, _NONE).numbers
        result[topic_id] = TopicState(topic.name, known | topic.numbers)
    return result


def without(stage: Stage, gone: Mapping[bytes, Collection[int]]) -> Stage:
    """Return the partitions that are not among these."""
    left = {
        topic_id: TopicState(topic.name, topic.numbers - frozenset(gone.get(topic_id, ())))
        for topic_id, topic in stage.items()
    }
    return {topic_id: topic for topic_id, topic in left.items() if topic.numbers}


def to_initialize(ctx: Context, now_ms: int, group: ShareGroup, names: Iterable[str]) -> Stage:
    """Return the partitions of these topics whose state has not begun, and is not about to."""
    waited_ms = now_ms - group.initializing_since_ms
    waits = 0 <= waited_ms < ctx.settings.group_share_initialize_retry_interval_ms
    found: dict[bytes, TopicState] = {}
    for name in sorted(names):
        topic_id = ctx.topics.topic_id(name)
        if topic_id is None:
            continue
        numbers = frozenset(range(ctx.topics.partition_count(name)))
        numbers -= group.states.initialized.get(topic_id, _NONE).numbers
        if waits:
            numbers -= group.states.initializing.get(topic_id, _NONE).numbers
        if numbers:
            found[topic_id] = TopicState(name, numbers)
    return found


def with_initializing(states: PartitionStates, stage: Stage) -> PartitionStates:
    """Return the states with these partitions about to begin."""
    return replace(states, initializing=joined(states.initializing, stage))


def request_to_initialize(group_id: str, epoch: int, stage: Stage) -> Any:
    """Return the request that begins the state of these partitions."""
    return InitializeShareGroupStateRequest(
        group_id,
        [
            initializing.InitializeStateData(
                topic_id,
                [
                    initializing.PartitionData(number, epoch, LATEST)
                    for number in sorted(topic.numbers)
                ],
            )
            for topic_id, topic in stage.items()
        ],
    )


def request_to_delete(group_id: str, stage: Stage) -> Any:
    """Return the request that deletes the state of these partitions."""
    return DeleteShareGroupStateRequest(
        group_id,
        [
            deleting.DeleteStateData(
                topic_id, [deleting.PartitionData(number) for number in sorted(topic.numbers)]
            )
            for topic_id, topic in stage.items()
        ],
    )


def begin_to_delete(
    ctx: Context, group: ShareGroup, topic_ids: Collection[bytes]
) -> tuple[LogRecord, Stage]:
    """Return the record that marks these topics, and the partitions whose state has to go."""
    states = group.states
    stage = {
        topic_id: topic
        for topic_id, topic in joined(states.initialized, states.initializing).items()
        if topic_id in topic_ids
    }
    for topic_id, topic in states.deleting.items():
        if topic_id in topic_ids and topic_id not in stage:  # an earlier deletion has failed
            count = ctx.topics.partition_count(topic.name)
            stage[topic_id] = TopicState(topic.name, frozenset(range(count)))
    names = {topic_id: TopicState(topic.name) for topic_id, topic in stage.items()}
    after = PartitionStates(
        {each: topic for each, topic in states.initializing.items() if each not in stage},
        {each: topic for each, topic in states.initialized.items() if each not in stage},
        {**states.deleting, **names},
    )
    return states_record(group.group_id, after), stage


# -- outcomes --------------------------------------------------------------------------------------


def shares_initialized(ctx: Context, _now_ms: int, told: SharesInitialized) -> Decision[Any]:
    """Note the partitions whose state has begun."""
    group = ctx.groups.get(told.group_id)
    if not isinstance(group, ShareGroup):
        return Decision(answer=True)
    states = group.states
    done = {
        topic_id: TopicState(states.initializing[topic_id].name, frozenset(numbers))
        for topic_id, numbers in told.done.items()
        if topic_id in states.initializing
    }
    left = without(without(states.initializing, told.done), told.failed)
    after = PartitionStates(left, joined(states.initialized, done), states.deleting)
    records = () if after == states else (states_record(group.group_id, after),)
    return Decision(answer=True, records=records)


def shares_deleted(ctx: Context, _now_ms: int, told: SharesDeleted) -> Decision[Any]:
    """Forget the topics whose state has been deleted."""
    group = ctx.groups.get(told.group_id)
    if not isinstance(group, ShareGroup):
        return Decision(answer=True)
    states = group.states
    left = {each: topic for each, topic in states.deleting.items() if each not in told.topic_ids}
    after = replace(states, deleting=left)
    return Decision(answer=True, records=(states_record(group.group_id, after),))


def delete_share_group(ctx: Context, _now_ms: int, command: DeleteShareGroup) -> Decision[bool]:
    """Delete the group, unless it has got members; the answer tells whether it is deleted."""
    group = ctx.groups.get(command.group_id)
    if not isinstance(group, ShareGroup) or not group.is_empty:
        return Decision(answer=False)
    return Decision(answer=True, records=tuple(group.tombstones()))


def forget_topics(ctx: Context, command: TopicsDeleted) -> tuple[LogRecord, ...]:
    """Return the records by which groups forget deleted topics."""
    records = []
    for group in ctx.groups.values():
        if isinstance(group, ShareGroup):
            states = group.states
            after = PartitionStates(
                *(
                    {each: topic for each, topic in stage.items() if each not in command.names}
                    for stage in (states.initializing, states.initialized, states.deleting)
                )
            )
            if after != states:
                records.append(states_record(group.group_id, after))
    return tuple(records)


DECIDERS: Final[dict[type, Callable[[Context, int, Any], Decision[Any]]]] = {
    SharesInitialized: shares_initialized,
    SharesDeleted: shares_deleted,
    DeleteShareGroup: delete_share_group,
}
