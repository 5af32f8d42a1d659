"""Replay of the records of streams groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

from fencepost_protocol.generated import streams_group_current_member_assignment as current
from fencepost_protocol.generated import streams_group_member_metadata as metadata
from fencepost_protocol.generated import streams_group_target_assignment_member as target
from fencepost_protocol.generated.streams_group_metadata import StreamsGroupMetadataKey
from fencepost_protocol.generated.streams_group_target_assignment_metadata import (
    StreamsGroupTargetAssignmentMetadataKey,
)
from fencepost_protocol.generated.streams_group_topology import StreamsGroupTopologyKey

from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.coordinator.group.streams.members import (
    Active,
    Endpoint,
    MemberState,
    StreamsMember,
    Target,
    Task,
    tasks_of,
)
from fencepost_broker.coordinator.group.streams.topology import topology_of
from fencepost_broker.coordinator.records import LogRecord

_Replay = Callable[[StreamsGroup, Any, Any], None]
"""Applies a key and a value, which is ``None`` for a tombstone, to a group."""


def _member(group: StreamsGroup, key: Any, value: Any) -> None:
    if value is None:
        group.members.pop(key.member_id, None)
        if not group.members:
            group.shutdown_by = None
        return
    endpoint = value.user_endpoint
    group.members[key.member_id] = replace(
        group.members.get(key.member_id) or StreamsMember(key.member_id),
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        topology_epoch=value.topology_epoch,
        process_id=value.process_id,
        endpoint=None if endpoint is None else Endpoint(endpoint.host, endpoint.port),
        tags=tuple((each.key, each.value) for each in value.client_tags),
    )


def _current(group: StreamsGroup, key: Any, value: Any) -> None:
    before = group.members.get(key.member_id)
    if value is None:
        if before is None:
            return
        value = current.StreamsGroupCurrentMemberAssignmentValue(state=MemberState.STABLE)
    group.members[key.member_id] = replace(
        before or StreamsMember(key.member_id),
        member_epoch=value.member_epoch,
        previous_member_epoch=value.previous_member_epoch,
        state=MemberState(value.state),
        active=_active(value.active_tasks, value.member_epoch),
        standby=tasks_of(value.standby_tasks),
        revoking_active=_active(value.active_tasks_pending_revocation, value.member_epoch),
        revoking_standby=tasks_of(value.standby_tasks_pending_revocation),
    )


def _active(rows: Iterable[Any], epoch: int) -> Active:
    """Return active tasks; records without the epochs of tasks have that of the member."""
    return {
        Task(row.subtopology_id, number): since
        for row in rows
        for number, since in zip(
            row.partitions, row.assignment_epochs or [epoch] * len(row.partitions), strict=False
        )
    }


def _target(group: StreamsGroup, key: Any, value: Any) -> None:
    if value is None:
        group.target.pop(key.member_id, None)
    else:
        given = Target(tasks_of(value.active_tasks), tasks_of(value.standby_tasks))
        group.target[key.member_id] = given


def _target_epoch(group: StreamsGroup, _key: Any, value: Any) -> None:
    group.assignment_epoch = 1 if value is None else value.assignment_epoch
    group.assignment_at_ms = 0 if value is None else value.assignment_timestamp


def _epoch(group: StreamsGroup, _key: Any, value: Any) -> None:
    group.group_epoch, group.metadata_hash = value.epoch, value.metadata_hash
    group.validated_epoch = value.validated_topology_epoch
    rows = value.last_assignment_configs or ()
    group.assignment_configs = {each.key: each.value for each in rows}


def _topology(group: StreamsGroup, _key: Any, value: Any) -> None:
    group.topology = None if value is None else topology_of(value)
    group.is_checked = False


def _on_group(apply: _Replay) -> Callable[[Context, LogRecord, int, int], None]:
    def replay(ctx: Context, record: LogRecord, _offset: int, _producer_id: int) -> None:
        key: Any = record.key
        group = ctx.groups.get(key.group_id)
        if not isinstance(group, StreamsGroup):
            if record.value is None:
                return
            group = ctx.groups[key.group_id] = StreamsGroup(key.group_id, ctx.topics)
        if record.value is None and isinstance(key, StreamsGroupMetadataKey):
            del ctx.groups[key.group_id]
        else:
            apply(group, key, record.value)

    return replay


REPLAYS: Final = {
    key: _on_group(apply)
    for key, apply in {
        metadata.StreamsGroupMemberMetadataKey: _member,
        current.StreamsGroupCurrentMemberAssignmentKey: _current,
        target.StreamsGroupTargetAssignmentMemberKey: _target,
        StreamsGroupTargetAssignmentMetadataKey: _target_epoch,
        StreamsGroupMetadataKey: _epoch,
        StreamsGroupTopologyKey: _topology,
    }.items()
}
