"""Conversion between streams groups and their records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from fencepost_protocol.generated import streams_group_current_member_assignment as current
from fencepost_protocol.generated import streams_group_member_metadata as metadata
from fencepost_protocol.generated import streams_group_target_assignment_member as target
from fencepost_protocol.generated import streams_group_topology as topologies
from fencepost_protocol.generated.streams_group_metadata import (
    LastAssignmentConfig,
    StreamsGroupMetadataKey,
    StreamsGroupMetadataValue,
)
from fencepost_protocol.generated.streams_group_target_assignment_metadata import (
    StreamsGroupTargetAssignmentMetadataKey,
    StreamsGroupTargetAssignmentMetadataValue,
)

from fencepost_broker.coordinator.group.streams.members import (
    Active,
    StreamsMember,
    Target,
    Task,
    Tasks,
    by_subtopology,
)
from fencepost_broker.coordinator.group.streams.topology import InternalTopic, Topology
from fencepost_broker.coordinator.records import LogRecord

T = TypeVar("T")


def member_record(group_id: str, member: StreamsMember) -> LogRecord:
    """Return the record of what a member has told about itself."""
    endpoint = member.endpoint
    value = metadata.StreamsGroupMemberMetadataValue(
        None,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.topology_epoch,
        member.process_id,
        None if endpoint is None else metadata.Endpoint(endpoint.host, endpoint.port),
        [metadata.KeyValue(*each) for each in member.tags],
    )
    return LogRecord(metadata.StreamsGroupMemberMetadataKey(group_id, member.member_id), value)


def topology_record(group_id: str, topology: Topology) -> LogRecord:
    """Return the record of the group's topology."""

    def internal(topics: Iterable[InternalTopic]) -> list[topologies.TopicInfo]:
        return [
            topologies.TopicInfo(
                each.name,
                each.partitions,
                each.replication_factor,
                [topologies.TopicConfig(*pair) for pair in each.configs],
            )
            for each in topics
        ]

    rows = [
        topologies.Subtopology(
            each.name,
            list(each.sources),
            [],
            internal(each.changelogs),
            list(each.sinks),
            internal(each.repartitions),
            [
                topologies.CopartitionGroup(list(group.sources), [], list(group.repartitions))
                for group in each.copartitioned
            ],
        )
        for each in topology.subtopologies
    ]
    value = topologies.StreamsGroupTopologyValue(topology.epoch, rows)
    return LogRecord(topologies.StreamsGroupTopologyKey(group_id), value)


def epoch_record(
    group_id: str, epoch: int, metadata_hash: int, validated: int, configs: Mapping[str, str]
) -> LogRecord:
    """Return the record of the group's epoch, and of what it depends on."""
    rows = [LastAssignmentConfig(*each) for each in configs.items()]
    value = StreamsGroupMetadataValue(epoch, metadata_hash, validated, rows)
    return LogRecord(StreamsGroupMetadataKey(group_id), value)


def target_record(group_id: str, member_id: str, given: Target) -> LogRecord:
    """Return the record of one member's part of the assignment."""
    active, standby = (
        [target.TaskIds(*row) for row in by_subtopology(tasks)]
        for tasks in (given.active, given.standby)
    )
    key = target.StreamsGroupTargetAssignmentMemberKey(group_id, member_id)
    return LogRecord(key, target.StreamsGroupTargetAssignmentMemberValue(active, standby))


def target_epoch_record(group_id: str, epoch: int, at_ms: int) -> LogRecord:
    """Return the record that completes the assignment for a group epoch."""
    value = StreamsGroupTargetAssignmentMetadataValue(epoch, at_ms)
    return LogRecord(StreamsGroupTargetAssignmentMetadataKey(group_id), value)


def current_record(group_id: str, member: StreamsMember) -> LogRecord:
    """Return the record of a member's epoch and tasks."""

    def active(tasks: Active) -> list[current.TaskIds]:
        return [
            current.TaskIds(name, numbers, [tasks[Task(name, each)] for each in numbers])
            for name, numbers in by_subtopology(tasks)
        ]

    def standby(tasks: Tasks) -> list[current.TaskIds]:
        return [current.TaskIds(*row) for row in by_subtopology(tasks)]

    value = current.StreamsGroupCurrentMemberAssignmentValue(
        member.member_epoch,
        member.previous_member_epoch,
        member.state,
        active(member.active),
        standby(member.standby),
        [],
        active(member.revoking_active),
        standby(member.revoking_standby),
    )
    key = current.StreamsGroupCurrentMemberAssignmentKey(group_id, member.member_id)
    return LogRecord(key, value)


def member_tombstones(group_id: str, member_id: str) -> list[LogRecord]:
    """Return the tombstones of a member: its tasks, its assignment, what it has told."""
    return [
        LogRecord(current.StreamsGroupCurrentMemberAssignmentKey(group_id, member_id), None),
        LogRecord(target.StreamsGroupTargetAssignmentMemberKey(group_id, member_id), None),
        LogRecord(metadata.StreamsGroupMemberMetadataKey(group_id, member_id), None),
    ]


def group_tombstones(group_id: str, members: Iterable[str]) -> list[LogRecord]:
    """Return the tombstones of a group with all its members."""
    keys: list[Any] = [
        StreamsGroupTargetAssignmentMetadataKey(group_id),
        StreamsGroupMetadataKey(group_id),
        topologies.StreamsGroupTopologyKey(group_id),
    ]
    return [
        *(record for each in members for record in member_tombstones(group_id, each)),
        *(LogRecord(key, None) for key in keys),
    ]
