"""The group coordinator of one partition of ``__consumer_offsets``.

    for record, offset, producer_id in the log: machine.replay(record, offset, producer_id)
    for each marker in the log:                 machine.replay_marker(producer_id, committed=...)
    machine.activate(now_ms)                    starts the deadlines; returns a Decision

    machine.handle(now_ms, Ask(request, version, ...))

A decision's records are one batch, which is transactional if the decision names a producer. After
the append the caller replays each record with its offset and then applies ``soft``; nothing else
may happen in between. The durable state is the result of a replay of the log. Sessions, parked
requests and the state of a classic group between two generations are soft and lost at a restart.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.group_metadata import GroupMetadataKey, GroupMetadataValue
from fencepost_protocol.generated.legacy_offset_commit import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
)
from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue

from fencepost_broker.coordinator.effects import Reply
from fencepost_broker.coordinator.group.classic.group import ClassicGroup
from fencepost_broker.coordinator.group.classic.rebalance import (
    joining_is_over,
    parked_replies,
    rebalance,
    restored_sessions,
    session_is_over,
    syncing_is_over,
)
from fencepost_broker.coordinator.group.classic.records import restored_group
from fencepost_broker.coordinator.group.commands import (
    Ask,
    EndSession,
    Rebalance,
    TopicsChanged,
    TopicsDeleted,
)
from fencepost_broker.coordinator.group.consumer.fencing import (
    begin_group_epoch,
    member_is_overdue,
    restored_members,
    revocation_is_overdue,
)
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.patterns import match_patterns, topics_changed
from fencepost_broker.coordinator.group.consumer.replay import REPLAYS as CONSUMER_REPLAYS
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.deletion import delete_offsets_of_topics
from fencepost_broker.coordinator.group.offsets.expiry import RETENTION_KEY, look_for_old_offsets
from fencepost_broker.coordinator.group.offsets.records import legacy_offset, stored_offset
from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.group.ports import (
    GroupConfigs,
    GroupCoordinatorSettings,
    NoGroupConfigs,
    NoPatterns,
    Patterns,
    Topics,
)
from fencepost_broker.coordinator.group.share.commands import (
    DeleteShareGroup,
    SharesDeleted,
    SharesInitialized,
)
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.share.heartbeat import (
    begin_share_group_epoch,
    restored_share_members,
    share_member_is_overdue,
)
from fencepost_broker.coordinator.group.share.partitions import DECIDERS as SHARE_DECIDERS
from fencepost_broker.coordinator.group.share.partitions import forget_topics
from fencepost_broker.coordinator.group.share.replay import REPLAYS as SHARE_REPLAYS
from fencepost_broker.coordinator.group.soft import (
    MetadataChecked,
    NewTopics,
    Rebalanced,
    SetTimer,
    SharesInitializing,
    Timer,
    TimerKey,
)
from fencepost_broker.coordinator.group.streams.commands import (
    EndpointsChanged,
    ShutdownRequested,
    TopologyConfigured,
)
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.coordinator.group.streams.heartbeat import (
    begin_streams_group_epoch,
    first_assignment_is_due,
    restored_streams_members,
    streams_member_is_overdue,
)
from fencepost_broker.coordinator.group.streams.replay import REPLAYS as STREAMS_REPLAYS
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.ports import Chance

Command = (
    Ask
    | TopicsChanged
    | TopicsDeleted
    | Rebalance
    | EndSession
    | SharesInitialized
    | SharesDeleted
    | DeleteShareGroup
)


Soft = (
    SetTimer
    | ClassicGroup
    | MetadataChecked
    | NewTopics
    | Rebalanced
    | SharesInitializing
    | TopologyConfigured
    | EndpointsChanged
    | ShutdownRequested
)


class GroupCoordinator:
    """The groups and offsets of one partition."""

    def __init__(
        self,
        topics: Topics,
        chance: Chance,
        settings: GroupCoordinatorSettings | None = None,
        *,
        patterns: Patterns | None = None,
        configs: GroupConfigs | None = None,
    ) -> None:
        self._context = Context(
            topics,
            NoPatterns() if patterns is None else patterns,
            NoGroupConfigs() if configs is None else configs,
            chance,
            settings or GroupCoordinatorSettings(),
        )

    # -- the contract of machines ----------------------------------------------------------------

    def handle(self, now_ms: int, command: Command) -> Decision[Any]:
        """Return the decision on a request or an event; the state does not change."""
        if isinstance(command, Ask):
            return _decider(command.request.NAME)(self._context, now_ms, command)
        if isinstance(command, TopicsDeleted):
            records = delete_offsets_of_topics(self._context, now_ms, command).records
            return Decision(records=(*records, *forget_topics(self._context, command)))
        if isinstance(command, TopicsChanged):
            return topics_changed(self._context, command)
        if isinstance(command, Rebalance):
            return self._rebalance(now_ms, command)
        if isinstance(command, EndSession):
            return self._end_session(now_ms, command)
        return SHARE_DECIDERS[type(command)](self._context, now_ms, command)

    def _rebalance(self, now_ms: int, command: Rebalance) -> Decision[bool]:
        group = self._context.groups.get(command.group_id)
        if isinstance(group, ClassicGroup):
            return rebalance(self._context, now_ms, group)
        if isinstance(group, ConsumerGroup) and group.members:
            return begin_group_epoch(self._context, group)
        if isinstance(group, ShareGroup) and group.members:
            return begin_share_group_epoch(self._context, group)
        if isinstance(group, StreamsGroup) and group.members:
            return begin_streams_group_epoch(group)
        return Decision(answer=False)

    def _end_session(self, now_ms: int, command: EndSession) -> Decision[bool]:
        key = TimerKey(Timer.SESSION, command.group_id, command.member_id)
        group = self._context.groups.get(command.group_id)
        if isinstance(group, ClassicGroup):
            ended = session_is_over(self._context, now_ms, key)
        elif isinstance(group, ConsumerGroup):
            ended = member_is_overdue(self._context, now_ms, key)
        elif isinstance(group, ShareGroup):
            ended = share_member_is_overdue(self._context, now_ms, key)
        elif isinstance(group, StreamsGroup):
            ended = streams_member_is_overdue(self._context, now_ms, key)
        else:
            return Decision(answer=False)
        if ended.soft == (SetTimer(key, None),):
            return Decision(answer=False)  # there is no member, or it waits for an answer
        return replace(ended, answer=True)

    def replay(self, record: LogRecord, offset: int, producer_id: int = -1) -> None:
        """Apply a record of the log; ``producer_id`` is set for a transactional batch."""
        _REPLAYS[type(record.key)](self._context, record, offset, producer_id)

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        """Apply a control record: the end of a transaction with offsets in this partition."""
        self._context.offsets.end_transaction(producer_id, committed=committed)

    def apply_soft(self, soft: Soft) -> None:
        """Apply a change that is not in the log, after the records of the same decision."""
        ctx = self._context
        if isinstance(soft, SetTimer):
            if soft.at_ms is None:
                ctx.timers.cancel(soft.key)
            else:
                ctx.timers.set(soft.key, soft.at_ms)
        elif isinstance(soft, ClassicGroup):
            ctx.groups[soft.group_id] = soft
        elif isinstance(soft, Rebalanced):
            ctx.rebalances[soft.group_type] += 1
        elif isinstance(soft, NewTopics):
            ctx.new_topics_version = soft.version
        else:
            group = ctx.groups.get(soft.group_id)
            if isinstance(soft, SharesInitializing):
                if isinstance(group, ShareGroup):
                    group.initializing_since_ms = soft.at_ms
            elif not isinstance(soft, MetadataChecked):
                if isinstance(group, StreamsGroup):
                    group.take(soft)
            elif isinstance(group, ConsumerGroup | ShareGroup | StreamsGroup):
                group.is_checked = soft.is_checked

    def deadline(self) -> int | None:
        """Return the time of the next deadline."""
        due = self._context.timers.next()
        return None if due is None else due[0]

    def not_due_before(self) -> int | None:
        """Return ``deadline``, which is cheap here."""
        return self.deadline()

    def expire(self, now_ms: int) -> Decision[None]:
        """Return the decision on one due deadline; ``deadline`` tells whether there is another."""
        due = self._context.timers.next()
        if due is None or due[0] > now_ms:
            return Decision()
        key = due[1]
        assert isinstance(key, TimerKey)
        if key.timer is Timer.RETENTION:
            return look_for_old_offsets(self._context, now_ms)
        group = self._context.groups.get(key.group_id)
        expiry = _EXPIRIES[type(group)].get(key.timer) if group is not None else None
        if expiry is None:
            return Decision(soft=(SetTimer(key, None),))  # the group no longer exists
        return expiry(self._context, now_ms, key)

    def jumped(self, by_ms: int) -> None:
        """Let sessions and rebalances last as long as before, now that the clock was set."""
        self._context.timers.shift(by_ms)

    def put_off(self) -> None:
        """Skip the deadline that ``expire`` would handle next: its record could not be written."""
        self._context.timers.put_off()

    def take_up(self) -> None:
        """Consider the skipped deadlines again."""
        self._context.timers.take_up()

    def activate(self, now_ms: int) -> Decision[None]:
        """Start the sessions of all members; this is the first decision after loading."""
        ctx = self._context
        next_ms = now_ms + ctx.settings.offsets_retention_check_interval_ms
        soft: list[Any] = [SetTimer(RETENTION_KEY, next_ms)]
        for group in ctx.groups.values():
            if isinstance(group, ClassicGroup):
                soft += restored_sessions(ctx, now_ms, group)
            elif isinstance(group, ConsumerGroup):
                soft += restored_members(ctx, now_ms, group)
            elif isinstance(group, ShareGroup):
                soft += restored_share_members(ctx, now_ms, group)
            elif isinstance(group, StreamsGroup):
                soft += restored_streams_members(ctx, now_ms, group)
        return Decision(soft=tuple(soft))

    def use(self, settings: GroupCoordinatorSettings) -> None:
        """Apply changed settings."""
        self._context.settings = settings

    def unload(self) -> Decision[None]:
        """Answer all waiting requests with NOT_COORDINATOR; this is the last decision."""
        replies: list[Reply] = []
        for group in self._context.groups.values():
            if isinstance(group, ClassicGroup):
                replies += parked_replies(group, ErrorCode.NOT_COORDINATOR)
        return Decision(effects=tuple(replies))

    # -- the state -------------------------------------------------------------------------------

    @property
    def state(self) -> Context:
        """The machine's state, for reading only."""
        return self._context


def _replay_offset(ctx: Context, record: LogRecord, offset: int, producer_id: int) -> None:
    key, value = record.key, record.value
    assert isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey)
    if value is None:
        ctx.offsets.remove(key.group, key.topic, key.partition)
        return
    committed: CommittedOffset
    if isinstance(value, LegacyOffsetCommitValue):
        committed = legacy_offset(value, offset)
    else:
        assert isinstance(value, OffsetCommitValue)
        committed = stored_offset(value, offset)
    if key.group not in ctx.groups:
        ctx.groups[key.group] = ClassicGroup(key.group)  # a consumer without group management
    ctx.offsets.put(key.group, key.topic, key.partition, committed, producer_id)


def _replay_classic_group(ctx: Context, record: LogRecord, _offset: int, _producer: int) -> None:
    key, value = record.key, record.value
    assert isinstance(key, GroupMetadataKey)
    if value is None:
        ctx.groups.pop(key.group, None)
        return
    assert isinstance(value, GroupMetadataValue)
    ctx.groups[key.group] = restored_group(key.group, value)


_REPLAYS: Final[dict[type[Any], Callable[[Context, LogRecord, int, int], None]]] = {
    GroupMetadataKey: _replay_classic_group,
    LegacyOffsetCommitKey: _replay_offset,
    OffsetCommitKey: _replay_offset,
    **CONSUMER_REPLAYS,
    **SHARE_REPLAYS,
    **STREAMS_REPLAYS,
}

_EXPIRIES: Final[dict[type[Group], dict[Timer, Callable[..., Decision[Any]]]]] = {
    ClassicGroup: {
        Timer.SESSION: session_is_over,
        Timer.JOIN: joining_is_over,
        Timer.SYNC: syncing_is_over,
    },
    ConsumerGroup: {
        Timer.SESSION: member_is_overdue,
        Timer.JOIN: member_is_overdue,
        Timer.SYNC: member_is_overdue,
        Timer.REBALANCE: revocation_is_overdue,
        Timer.PATTERNS: match_patterns,
    },
    ShareGroup: {Timer.SESSION: share_member_is_overdue},
    StreamsGroup: {
        Timer.SESSION: streams_member_is_overdue,
        Timer.REBALANCE: streams_member_is_overdue,
        Timer.JOIN: first_assignment_is_due,
    },
}

_MEMBERSHIP: Final = "fencepost_broker.coordinator.group.classic.membership"
_LISTS: Final = "fencepost_broker.coordinator.group.lists"
_COMMIT: Final = "fencepost_broker.coordinator.group.offsets.commit"
_DESCRIBE: Final = "fencepost_broker.coordinator.group.consumer.describe"
_HEARTBEAT: Final = "fencepost_broker.coordinator.group.consumer.heartbeat"
_SHARE_DESCRIBE: Final = "fencepost_broker.coordinator.group.share.describe"
_SHARE_HEARTBEAT: Final = "fencepost_broker.coordinator.group.share.heartbeat"
_SHARE_OFFSETS: Final = "fencepost_broker.coordinator.group.share.offsets"
_STREAMS_DESCRIBE: Final = "fencepost_broker.coordinator.group.streams.describe"
_STREAMS_HEARTBEAT: Final = "fencepost_broker.coordinator.group.streams.heartbeat"
_DECIDERS: Final = {
    "AlterShareGroupOffsetsRequest": f"{_SHARE_OFFSETS}:alter_share_offsets",
    "ConsumerGroupDescribeRequest": f"{_DESCRIBE}:describe_consumer_groups",
    "ConsumerGroupHeartbeatRequest": f"{_HEARTBEAT}:consumer_group_heartbeat",
    "DeleteGroupsRequest": f"{_LISTS}:delete_groups",
    "DeleteShareGroupOffsetsRequest": f"{_SHARE_OFFSETS}:delete_share_offsets",
    "DescribeGroupsRequest": f"{_LISTS}:describe_groups",
    "DescribeShareGroupOffsetsRequest": f"{_SHARE_OFFSETS}:describe_share_offsets",
    "HeartbeatRequest": f"{_MEMBERSHIP}:heartbeat",
    "JoinGroupRequest": "fencepost_broker.coordinator.group.classic.joining:join_group",
    "LeaveGroupRequest": f"{_MEMBERSHIP}:leave_group",
    "ListGroupsRequest": f"{_LISTS}:list_groups",
    "OffsetCommitRequest": f"{_COMMIT}:commit_offsets",
    "OffsetDeleteRequest": "fencepost_broker.coordinator.group.offsets.deletion:delete_offsets",
    "OffsetFetchRequest": "fencepost_broker.coordinator.group.offsets.fetch:fetch_offsets",
    "StreamsGroupDescribeRequest": f"{_STREAMS_DESCRIBE}:describe_streams_groups",
    "StreamsGroupHeartbeatRequest": f"{_STREAMS_HEARTBEAT}:streams_group_heartbeat",
    "ShareGroupDescribeRequest": f"{_SHARE_DESCRIBE}:describe_share_groups",
    "ShareGroupHeartbeatRequest": f"{_SHARE_HEARTBEAT}:share_group_heartbeat",
    "SyncGroupRequest": f"{_MEMBERSHIP}:sync_group",
    "TxnOffsetCommitRequest": f"{_COMMIT}:commit_transactional_offsets",
}
"""The module and function that decide on each request; the modules are imported on first use."""


@functools.cache
def _decider(request: str) -> Callable[[Context, int, Ask], Decision[Any]]:
    if request not in _DECIDERS:
        raise TypeError(f"{request} is not a request for the group coordinator")
    module, _, name = _DECIDERS[request].partition(":")
    decider: Callable[[Context, int, Ask], Decision[Any]]
    decider = getattr(importlib.import_module(module), name)
    return decider
