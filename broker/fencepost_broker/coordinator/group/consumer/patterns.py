"""Subscriptions by regular expression, and their matching with the existing topics.

A heartbeat with a new expression is answered at once. Right after it, all expressions of the group
are matched together, so that they cause one rebalance. They are matched again after topics are
created (at most every ten seconds) and every ten minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.commands import TopicsChanged
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup, Resolved
from fencepost_broker.coordinator.group.consumer.member import ConsumerMember
from fencepost_broker.coordinator.group.consumer.records import (
    epoch_record,
    pattern_record,
    pattern_tombstone,
)
from fencepost_broker.coordinator.group.consumer.target import metadata_hash
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.soft import (
    MetadataChecked,
    NewTopics,
    SetTimer,
    Timer,
    TimerKey,
)
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision

PAUSE_MS: Final = 10_000


@dataclass(slots=True)
class PatternChange:
    """The effect of a member's expression on the group."""

    changed: bool = False
    """Whether the member's expression has changed."""
    resolved: bool = False
    """Whether the topics of a changed expression are known, so that a new epoch can begin."""
    timers: tuple[SetTimer, ...] = ()


def change_pattern(
    ctx: Context,
    now_ms: int,
    group: ConsumerGroup,
    before: ConsumerMember,
    after: ConsumerMember,
    former_id: str,
    records: list[LogRecord],
) -> PatternChange:
    """Apply a member's expression, and schedule a matching if the group needs one.

    ``former_id`` is the member's id in the group so far. An invalid expression raises ``Refusal``.
    """
    result = PatternChange()
    counts = dict(group.counts.patterns)
    counted = group.members.get(former_id)
    old = counted.pattern if counted is not None else ""
    new = after.pattern
    is_new_to_group = False
    if before.pattern != new:
        result.changed = True
        if old and counts[old] == 1:
            records.append(pattern_tombstone(group.group_id, old))
        if new and new not in counts:
            problem = ctx.patterns.problem(new)
            if problem is not None:
                code = ErrorCode.INVALID_REGULAR_EXPRESSION
                raise Refusal(code, f"the regular expression {new!r} is invalid: {problem}")
            is_new_to_group = True
        result.resolved = new in group.resolved if new else bool(before.pattern)
    if old:
        counts[old] -= 1
    if new:
        counts[new] = counts.get(new, 0) + 1
    wanted = {each for each, count in counts.items() if count}
    if wanted and _is_due(ctx, now_ms, group, wanted, new_one=is_new_to_group):
        result.timers = (SetTimer(TimerKey(Timer.PATTERNS, group.group_id), now_ms),)
    return result


def _is_due(
    ctx: Context, now_ms: int, group: ConsumerGroup, wanted: set[str], *, new_one: bool
) -> bool:
    if ctx.timers.at(TimerKey(Timer.PATTERNS, group.group_id)) is not None:
        return False
    if not group.resolved:
        return True
    last_ms = max(each.at_ms for each in group.resolved.values())
    age_ms = now_ms - last_ms  # negative, if the clock was set back
    if 0 <= age_ms <= PAUSE_MS:
        return False
    refresh_ms = ctx.settings.group_consumer_regex_refresh_interval_ms
    return (
        new_one
        or wanted != group.resolved.keys()
        or min(each.version for each in group.resolved.values()) < ctx.new_topics_version
        or not 0 <= age_ms <= refresh_ms
    )


def match_patterns(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """Match a group's expressions with the existing topics."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, ConsumerGroup)
    names = list(ctx.topics.names())
    version = ctx.topics.version()
    records: list[LogRecord] = []
    found: dict[str, Resolved] = {}
    for pattern in group.counts.patterns:
        found[pattern] = Resolved(ctx.patterns.matching(pattern, names), version, now_ms)
        topics = found[pattern].topics
        records.append(pattern_record(group.group_id, pattern, topics, version, now_ms))
    nothing = Resolved(frozenset(), -1, 0)
    differs = any(
        group.resolved.get(pattern, nothing).topics != each.topics
        for pattern, each in found.items()
    )
    topics = frozenset(group.counts.names).union(*(each.topics for each in found.values()))
    known = metadata_hash(ctx.topics, topics)
    if records and (differs or known != group.metadata_hash):
        records.append(epoch_record(group.group_id, group.group_epoch + 1, known))
    return Decision(records=tuple(records), soft=(SetTimer(key, None),))


def topics_changed(ctx: Context, command: TopicsChanged) -> Decision[Any]:
    """Make the groups that read these topics check their metadata at the next heartbeat."""
    soft: list[Any] = [
        MetadataChecked(group.group_id, is_checked=False)
        for group in ctx.groups.values()
        if isinstance(group, ConsumerGroup | ShareGroup | StreamsGroup)
        and group.is_checked
        and any(group.is_subscribed(name) for name in command.names)
    ]
    if command.created:
        soft.append(NewTopics(ctx.topics.version()))
    return Decision(soft=tuple(soft))
