"""Replay of the records of share groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from fencepost_protocol.generated import share_group_current_member_assignment as current
from fencepost_protocol.generated import share_group_member_metadata as metadata
from fencepost_protocol.generated import share_group_state_partition_metadata as states
from fencepost_protocol.generated import share_group_target_assignment_member as target
from fencepost_protocol.generated.share_group_metadata import ShareGroupMetadataKey
from fencepost_protocol.generated.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataKey,
)

from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.share.members import (
    PartitionStates,
    ShareMember,
    Stage,
    TopicState,
)
from fencepost_broker.coordinator.records import LogRecord

_Replay = Callable[[ShareGroup, Any, Any], None]
"""Applies a key and a value, which is ``None`` for a tombstone, to a group."""


def _member(group: ShareGroup, key: Any, value: Any) -> None:
    if value is None:
        group.remove(key.member_id)
        return
    member = replace(
        group.members.get(key.member_id) or ShareMember(key.member_id),
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        topics=tuple(value.subscribed_topic_names),
    )
    group.put(member)


def _current(group: ShareGroup, key: Any, value: Any) -> None:
    before = group.members.get(key.member_id)
    if value is None:
        value = current.ShareGroupCurrentMemberAssignmentValue(0, -1)
        if before is None:
            return
    member = replace(
        before or ShareMember(key.member_id),
        member_epoch=value.member_epoch,
        previous_member_epoch=value.previous_member_epoch,
        assigned={row.topic_id: frozenset(row.partitions) for row in value.assigned_partitions},
    )
    group.put(member)


def _target(group: ShareGroup, key: Any, value: Any) -> None:
    group.is_checked = False
    if value is None:
        group.target.pop(key.member_id, None)
    else:
        rows = value.topic_partitions
        group.target[key.member_id] = {row.topic_id: frozenset(row.partitions) for row in rows}


def _target_epoch(group: ShareGroup, _key: Any, value: Any) -> None:
    group.is_checked = False
    group.assignment_epoch = 1 if value is None else value.assignment_epoch
    group.assignment_at_ms = 0 if value is None else value.assignment_timestamp


def _epoch(group: ShareGroup, _key: Any, value: Any) -> None:
    group.group_epoch, group.metadata_hash = value.epoch, value.metadata_hash


def _states(group: ShareGroup, _key: Any, value: Any) -> None:
    def stage(rows: list[Any]) -> Stage:
        return {
            row.topic_id: TopicState(row.topic_name, frozenset(getattr(row, "partitions", ())))
            for row in rows
        }

    group.is_checked = False
    group.states = PartitionStates()
    if value is not None:
        group.states = PartitionStates(
            stage(value.initializing_topics),
            stage(value.initialized_topics),
            stage(value.deleting_topics),
        )


def _on_group(apply: _Replay) -> Callable[[Context, LogRecord, int, int], None]:
    def replay(ctx: Context, record: LogRecord, _offset: int, _producer_id: int) -> None:
        key: Any = record.key
        group = ctx.groups.get(key.group_id)
        if not isinstance(group, ShareGroup):
            if record.value is None:
                return
            group = ctx.groups[key.group_id] = ShareGroup(key.group_id)
        if record.value is None and isinstance(key, ShareGroupMetadataKey):
            del ctx.groups[key.group_id]
        else:
            apply(group, key, record.value)

    return replay


REPLAYS: Final = {
    key: _on_group(apply)
    for key, apply in {
        metadata.ShareGroupMemberMetadataKey: _member,
        current.ShareGroupCurrentMemberAssignmentKey: _current,
        target.ShareGroupTargetAssignmentMemberKey: _target,
        ShareGroupTargetAssignmentMetadataKey: _target_epoch,
        ShareGroupMetadataKey: _epoch,
        states.ShareGroupStatePartitionMetadataKey: _states,
    }.items()
}
