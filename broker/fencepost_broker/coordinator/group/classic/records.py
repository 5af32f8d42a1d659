"""Conversion between classic groups and their records."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)

from fencepost_broker.coordinator.group.classic.group import ClassicGroup, Member, State
from fencepost_broker.coordinator.records import LogRecord

VALUE_VERSION: Final = 3
"""The version that Kafka 4 writes; version 4 differs only in its encoding."""


def group_record(group: ClassicGroup) -> LogRecord:
    """Return the record of a group with its members and their assignments."""
    members = [
        MemberMetadata(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            member.metadata(group.protocol),
            member.assignment,
        )
        for member in group.members.values()
    ]
    value = GroupMetadataValue(
        group.protocol_type or "",
        group.generation,
        group.protocol,
        group.leader,
        group.state_since_ms,
        members,
    )
    return LogRecord(GroupMetadataKey(group.group_id), value, VALUE_VERSION)


def empty_group_record(group_id: str, now_ms: int) -> LogRecord:
    """Return the record of a new group; it is written before the first member has joined."""
    value = GroupMetadataValue("", 0, None, None, now_ms, [])
    return LogRecord(GroupMetadataKey(group_id), value, VALUE_VERSION)


def restored_group(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """Return the group in a record, with all its members."""
    state = State.STABLE if value.members else State.EMPTY
    group = ClassicGroup(
        group_id,
        state,
        state,
        value.current_state_timestamp,
        value.generation,
        protocol=value.protocol,
        leader=value.leader,
        stored=value,
    )
    for stored in value.members:
        rebalance_ms = stored.rebalance_timeout
        member = Member(
            stored.member_id,
            stored.group_instance_id,
            stored.client_id,
            stored.client_host,
            stored.session_timeout,
            stored.session_timeout if rebalance_ms == -1 else rebalance_ms,
            ((value.protocol or "", stored.subscription),),
            stored.assignment,
        )
        group.add(member, value.protocol_type)
    group.protocol_type = value.protocol_type or None
    group.topics = group.find_topics()
    return group
