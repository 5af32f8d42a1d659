"""Changes of a partition: from the wanted replicas and ISR to one record.

The leader is the first replica that is in sync. Without one, an eligible leader replica will do
(KIP-966): a replica that left the ISR when too few were in sync for anything to be committed
without it, so it has everything that was committed. Without one of those the partition waits,
unless its topic allows unclean elections: then any replica leads, as the only one in sync, and what
it lacks is lost (KIP-704 marks it). The last leader may lead again in this way without such a
setting if no other replica is left: it had everything committed in its log, though perhaps not on
its disk. Where the feature is off, the last in-sync replica stays in the ISR when its broker dies.

Replicas that a reassignment adds must be in sync before those that it removes may go. So every
change of an ISR is made here, and the change that brings the last of the added replicas into the
ISR completes the reassignment, in the same record: the removed replicas are gone then, and another
replica leads if the leader was one of them. A partition that loses a replica gets a new leader
epoch, even if its leader stays.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Final, NamedTuple

from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord

from fencepost_broker.controller.context import Context
from fencepost_broker.metadata.features import MIN_INSYNC_SETTING, keeps_eligible
from fencepost_broker.metadata.image.model import (
    NO_LEADER,
    UNASSIGNED_DIRECTORY,
    Partition,
    ResourceType,
    Topic,
)

RECOVERING: Final = 1
UNCLEAN_SETTING: Final = "unclean.leader.election.enable"
_UNCHANGED: Final = PartitionChangeRecord().leader
_UNCHANGED_STATE: Final = PartitionChangeRecord().leader_recovery_state


class Election(Enum):
    """How to choose a leader if the current one may not stay."""

    CLEAN = auto()
    """A replica with everything that was committed."""
    PREFERRED = auto()
    """The first replica, even if the leader may stay; otherwise as CLEAN."""
    UNCLEAN = auto()
    """Any replica, if no other is possible."""


class Target(NamedTuple):
    """Wanted replicas and ISR of a partition, and the replicas of a reassignment."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    removing: tuple[int, ...]
    adding: tuple[int, ...]


class Elected(NamedTuple):
    """The leader, and whether records may be lost by the election."""

    leader: int
    is_unclean: bool = False


def target_of(partition: Partition) -> Target:
    """Return the current state as a target."""
    return Target(
        partition.replicas, partition.isr, partition.removing_replicas, partition.adding_replicas
    )


def change_to(
    context: Context,
    topic: Topic,
    before: Partition,
    target: Target,
    *,
    election: Election = Election.CLEAN,
    may_lead: Callable[[int], bool] | None = None,
    lost: int = NO_LEADER,
    min_insync: int | None = None,
) -> PartitionChangeRecord:
    """Return the record of a change; it may be empty (``says_something``).

    ``may_lead`` tells whether a broker may lead (default: active brokers). ``lost`` is a broker
    that was killed: it has lost what it had not flushed, so it is not eligible any more.
    ``min_insync`` is ``min_insync_of`` the topic, if the caller knows it.
    """
    target = _completed(target)
    change = PartitionChangeRecord(before.partition_id, topic.topic_id)
    _assign(context, before, target, change)
    is_kept = keeps_eligible(context.image)
    isr: tuple[int, ...] = target.isr
    eligible: tuple[int, ...] = ()
    if is_kept:
        if min_insync is None:
            min_insync = min_insync_of(context, topic)
        eligible = _eligible(before, target, lost, min_insync)
    is_there = may_lead or context.is_active
    leader, is_unclean = _elected(before, target, eligible, election, is_there, is_kept=is_kept)
    if leader != before.leader:
        change.leader = leader
        if leader in eligible:
            isr = (leader,)
            eligible = tuple(each for each in eligible if each != leader)
        if is_unclean:
            isr, eligible = (leader,), ()
            if before.leader_recovery_state != RECOVERING:
                change.leader_recovery_state = RECOVERING
    elif not set(before.replicas) <= set(target.replicas):
        change.leader = before.leader
    if eligible != before.eligible_leader_replicas:
        change.eligible_leader_replicas = list(eligible)
    if is_unclean or (isr != before.isr and (isr or is_kept)):
        change.isr = list(isr)
    if is_kept:
        _note_who_led_last(before, change)
    return change


def says_something(change: PartitionChangeRecord) -> bool:
    """Return whether the record changes anything of its partition."""
    return (
        change.leader != _UNCHANGED
        or change.isr is not None
        or change.replicas is not None
        or change.removing_replicas is not None
        or change.adding_replicas is not None
        or change.eligible_leader_replicas is not None
        or change.last_known_elr is not None
        or change.leader_recovery_state != _UNCHANGED_STATE
    )


def unclean_allowed(context: Context, topic: Topic) -> bool:
    """Return whether the topic allows unclean elections."""
    value = context.image.configs.of_topic(topic.name).get(UNCLEAN_SETTING)
    if value is None:
        value = context.image.configs.of(ResourceType.BROKER, "").get(UNCLEAN_SETTING)
    if value is None:
        return context.settings.unclean_leader_election_enable
    return value.strip().lower() == "true"


def min_insync_of(context: Context, topic: Topic) -> int:
    """Return how many replicas must be in sync for a commit (if there are that many)."""
    image = context.image
    for values in (
        image.configs.of_topic(topic.name),
        image.configs.of(ResourceType.BROKER, str(context.settings.node_id)),
        image.configs.of(ResourceType.BROKER, ""),
    ):
        if MIN_INSYNC_SETTING in values:
            return int(values[MIN_INSYNC_SETTING])
    return context.settings.min_insync_replicas


def _completed(target: Target) -> Target:
    """Return the target after the reassignment, if it can complete; otherwise the target itself."""
    if not (target.removing or target.adding):
        return target
    isr = tuple(each for each in target.isr if each not in target.removing)
    if not isr or not set(target.adding) <= set(isr):
        return target
    replicas = tuple(each for each in target.replicas if each not in target.removing)
    if len(target.adding) < len(target.removing) and not set(replicas) <= set(isr):
        return target  # fewer replicas than there were: all that are left have to be in sync
    return Target(replicas, isr, (), ())


def _assign(
    context: Context, before: Partition, target: Target, change: PartitionChangeRecord
) -> None:
    if target.replicas != before.replicas:
        change.replicas = list(target.replicas)
        held_in = dict(zip(before.replicas, before.directories, strict=True))
        change.directories = [
            held_in.get(each) or _directory(context, each) for each in target.replicas
        ]
    if target.removing != before.removing_replicas:
        change.removing_replicas = list(target.removing)
    if target.adding != before.adding_replicas:
        change.adding_replicas = list(target.adding)


def _directory(context: Context, broker_id: int) -> bytes:
    known = broker_id in context.image.cluster.brokers
    return context.directory(broker_id) if known else UNASSIGNED_DIRECTORY


def _eligible(before: Partition, target: Target, lost: int, min_insync: int) -> tuple[int, ...]:
    """Return replicas outside the ISR that have every committed record."""
    if len(target.isr) >= min(min_insync, len(before.replicas)):
        return ()
    were = {*before.eligible_leader_replicas, *before.isr}
    # A broker that is not a replica any more has deleted its data, even if it becomes one again.
    return tuple(sorted(were & set(target.replicas) - {*target.isr, lost}))


def _elected(
    before: Partition,
    target: Target,
    eligible: tuple[int, ...],
    election: Election,
    is_there: Callable[[int], bool],
    *,
    is_kept: bool,
) -> Elected:
    has_all = target.isr or eligible
    first, others = target.replicas[:1], target.replicas[1:]
    preferred = first if election is Election.PREFERRED else ()
    for each in (*preferred, before.leader, *first, *others):
        if each in has_all and is_there(each):
            return Elected(each)
    if is_kept and not has_all:
        for each in before.last_known_elr:
            if each in target.replicas and is_there(each):
                return Elected(each, is_unclean=True)
    if election is Election.UNCLEAN:
        for each in target.replicas:
            if is_there(each):
                return Elected(each, is_unclean=True)
    return Elected(NO_LEADER)


def _note_who_led_last(before: Partition, change: PartitionChangeRecord) -> None:
    """Keep the last leader in the record as long as the partition has none."""
    was_alone = len(before.isr) == 1 and change.isr == []
    if was_alone and before.leader == NO_LEADER and not before.last_known_elr:
        # Written before ELRs were kept: the last in-sync replica waited to lead again.
        change.last_known_elr = list(before.isr)
    elif change.leader == NO_LEADER and not before.last_known_elr:
        change.last_known_elr = [before.leader]
    elif change.leader >= 0 and before.last_known_elr:
        change.last_known_elr = []
