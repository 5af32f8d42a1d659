"""Operations on groups and their members."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity

from fencepost_broker.coordinator.group.classic.group import ClassicGroup
from fencepost_broker.coordinator.group.commands import Ask, EndSession, Rebalance
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.operations import (
    ExpireSession,
    GroupNow,
    OperationRefusedError,
    RebalanceGroup,
    RemoveMember,
)
from fencepost_broker.server.operations.lookup import did_you_mean, shard_of

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.shard import Shard
    from fencepost_broker.server.broker_server import BrokerServer

_LEAVE_VERSION: Final = 5
_Group = ClassicGroup | ConsumerGroup | ShareGroup


def rebalance(server: BrokerServer, operation: RebalanceGroup) -> GroupNow:
    """Begin a rebalance of a group with members."""
    shard, group = _found(server, operation.group)
    if not shard.submit(Rebalance(operation.group)):
        raise OperationRefusedError(
            f"group {operation.group!r} is {group.state_name}: only a group that has members and"
            " is not in a rebalance can begin one"
        )
    return _now(shard, operation.group)


def remove_member(server: BrokerServer, operation: RemoveMember) -> GroupNow:
    """Remove a member, as an administrator does."""
    shard, group = _found(server, operation.group)
    member_id = _member_id(group, operation.member)
    request = LeaveGroupRequest(operation.group, members=[MemberIdentity(member_id)])
    answer = shard.submit(Ask(request, _LEAVE_VERSION))
    code = ErrorCode(answer.error_code or answer.members[0].error_code)
    if code is not ErrorCode.NONE:
        raise OperationRefusedError(
            f"group {operation.group!r} does not remove member {operation.member!r}: {code.name}"
        )
    return _now(shard, operation.group)


def expire_session(server: BrokerServer, operation: ExpireSession) -> GroupNow:
    """End a member's session."""
    shard, group = _found(server, operation.group)
    member_id = _member_id(group, operation.member)
    if not shard.submit(EndSession(operation.group, member_id)):
        raise OperationRefusedError(
            f"the session of member {operation.member!r} does not end now: the member waits for an"
            f" answer of group {operation.group!r} ({group.state_name}); use remove-member"
        )
    return _now(shard, operation.group)


def _found(server: BrokerServer, group_id: str) -> tuple[Shard, _Group]:
    shard = shard_of(server, RecordFamily.GROUPS, group_id)
    group = _group(shard, group_id)
    if group is None:
        known = [
            each
            for other in server.coordinators.runtime.shards_of(RecordFamily.GROUPS)
            if isinstance(other.machine, GroupCoordinator)
            for each in other.machine.state.groups
        ]
        raise OperationRefusedError(
            f"broker {server.identity.node_id} knows no group {group_id!r}"
            f"{did_you_mean(group_id, known)}"
        )
    return shard, group


def _group(shard: Shard, group_id: str) -> _Group | None:
    assert isinstance(shard.machine, GroupCoordinator)
    group = shard.machine.state.groups.get(group_id)
    assert group is None or isinstance(group, _Group)
    return group


def _member_id(group: _Group, member: str) -> str:
    member_id = group.static_members.get(member, member)
    if member_id not in group.members:
        known = [*group.members, *group.static_members]
        raise OperationRefusedError(
            f"group {group.group_id!r} has no member {member!r}{did_you_mean(member, known)}"
        )
    return member_id


def _now(shard: Shard, group_id: str) -> GroupNow:
    group = _group(shard, group_id)
    assert group is not None
    generation = group.generation if isinstance(group, ClassicGroup) else group.group_epoch
    return GroupNow(
        group=group_id,
        state=group.state_name,
        generation=generation,
        members=list(group.members),
    )
