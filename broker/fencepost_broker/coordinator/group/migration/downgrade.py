"""Downgrade of a consumer group to a classic group, when its last member on KIP-848 leaves.

The other members continue: the group epoch becomes their generation, and they keep their
partitions. If a member has left, they rejoin.
"""

from __future__ import annotations

from typing import Any

from fencepost_protocol.generated.join_group import JoinGroupResponse

from fencepost_broker.coordinator.group.classic.group import (
    CONSUMER_PROTOCOL,
    ClassicGroup,
    Member,
    State,
)
from fencepost_broker.coordinator.group.classic.rebalance import prepare_rebalance
from fencepost_broker.coordinator.group.classic.subscriptions import (
    subscription_version,
    write_assignment,
)
from fencepost_broker.coordinator.group.classic.transition import Work
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.consumer.member import ConsumerMember
from fencepost_broker.coordinator.group.consumer.member_timers import no_timers
from fencepost_broker.coordinator.group.consumer.progress import Progress
from fencepost_broker.coordinator.group.consumer.target import Roster
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.metadata.decision import Decision


def can_downgrade(ctx: Context, roster: Roster) -> bool:
    """Whether all remaining members use the classic protocol, and a downgrade is allowed."""
    settings = ctx.settings
    if settings.group_consumer_migration_policy.lower() not in {"downgrade", "bidirectional"}:
        return False
    counts = roster.counts
    return 0 < counts.members <= settings.group_max_size and counts.classic == counts.members


def downgrade_without(ctx: Context, now_ms: int, roster: Roster, answer: Any) -> Decision[Any]:
    """Remove members; the others rejoin as a classic group."""
    work = classic_work(ctx, now_ms, roster)
    work.store()
    work.records[:0] = roster.group.tombstones()
    group_id = roster.group.group_id
    gone = [each for member_id in roster.gone for each in no_timers(group_id, member_id)]
    prepare_rebalance(work)
    decision = work.decision(answer)
    decision.soft = (*gone, *decision.soft)
    return decision


def classic_work(ctx: Context, now_ms: int, roster: Roster) -> Work:
    """Return the classic group of these members, with new sessions."""
    members = list(roster.members())
    group = ClassicGroup(
        roster.group.group_id,
        State.STABLE,
        State.STABLE,
        now_ms,
        roster.group.group_epoch,
        CONSUMER_PROTOCOL,
    )
    for member in members:
        group.add(_classic(ctx, member), CONSUMER_PROTOCOL)
    group.protocol = group.chosen_protocol()
    group.topics = group.find_topics()
    work = Work(ctx, now_ms, group)
    for member in members:
        assert member.classic is not None
        for timer in no_timers(group.group_id, member.member_id):
            work.timers[timer.key] = None
        work.begin_session(member.member_id, member.classic.session_timeout_ms)
    return work


def _classic(ctx: Context, member: ConsumerMember) -> Member:
    classic = member.classic
    assert classic is not None
    assigned = {
        ctx.topics.topic_name(topic_id): sorted(numbers)
        for topic_id, numbers in member.assigned.items()
    }
    named = {name: numbers for name, numbers in assigned.items() if name is not None}
    version = subscription_version(classic.protocols[0][1])
    return Member(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        classic.session_timeout_ms,
        member.rebalance_timeout_ms,
        classic.protocols,
        write_assignment(named, version),
    )


def downgrade_with_replaced(
    progress: Progress, member: ConsumerMember, former_id: str, ask: Ask, *, rebalance: bool
) -> Decision[Any]:
    """Downgrade because the last member on KIP-848, a static one, returned on the classic one."""
    group = progress.group
    work = classic_work(progress.ctx, progress.now_ms, progress.roster)
    work.group.generation = progress.group_epoch
    work.store()
    work.records[:0] = group.tombstones()
    if former_id != member.member_id:  # or its new session would end here
        for timer in no_timers(group.group_id, former_id):
            work.timers[timer.key] = None
    if rebalance:
        prepare_rebalance(work)
    answer = JoinGroupResponse(
        generation_id=work.group.generation,
        protocol_type=CONSUMER_PROTOCOL,
        protocol_name=work.group.protocol,
        leader=work.group.leader or "",
        member_id=member.member_id,
    )
    return work.decision(answer, ask.token)
