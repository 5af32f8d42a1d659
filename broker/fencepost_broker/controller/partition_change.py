"""From what a partition is to be to the one record that makes it so.

What a reassignment adds has to be in sync before what it removes may go. Whoever changes the set of
those in sync therefore asks here, and the change that lets the last of the added in ends the
reassignment, in the same record: the removed are gone then, and another leads if the leader was one
of them. A partition that loses a replica gets a new leader epoch, even if its leader stays.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord

from fencepost_broker.controller.context import Context
from fencepost_broker.controller.leadership import elect_uncleanly
from fencepost_broker.controller.model import NO_LEADER, UNASSIGNED_DIRECTORY, Partition

_UNCHANGED: Final = PartitionChangeRecord().leader


class Target(NamedTuple):
    """Who is to hold a partition, who of them is in sync, and who is coming and going."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    removing: tuple[int, ...]
    adding: tuple[int, ...]


def target_of(partition: Partition) -> Target:
    """How it is now."""
    return Target(
        partition.replicas, partition.isr, partition.removing_replicas, partition.adding_replicas
    )


def change_to(
    context: Context,
    topic_id: bytes,
    before: Partition,
    target: Target,
    *,
    uncleanly: bool = False,
) -> PartitionChangeRecord:
    """The record of a change; it may say nothing (``says_something``)."""
    target = _completed(target)
    change = PartitionChangeRecord(before.partition_id, topic_id)
    if target.isr != before.isr:
        change.isr = list(target.isr)
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
    _elect(context, before, target, change, uncleanly=uncleanly)
    if change.leader == _UNCHANGED and not set(before.replicas) <= set(target.replicas):
        change.leader = before.leader
    return change


def says_something(change: PartitionChangeRecord) -> bool:
    """Whether the record changes anything of its partition."""
    return change != PartitionChangeRecord(change.partition_id, change.topic_id)


def _completed(target: Target) -> Target:
    """What a reassignment ends with, if all that it adds are in sync; else what it is at."""
    if not (target.removing or target.adding):
        return target
    isr = tuple(each for each in target.isr if each not in target.removing)
    if not isr or not set(target.adding) <= set(isr):
        return target
    replicas = tuple(each for each in target.replicas if each not in target.removing)
    return Target(replicas, isr, (), ())


def _elect(
    context: Context,
    before: Partition,
    target: Target,
    change: PartitionChangeRecord,
    *,
    uncleanly: bool,
) -> None:
    """The leader stays if it may; else the first that may, in the order of the replicas."""
    can_lead = context.active(target.replicas)
    in_sync = [each for each in can_lead if each in target.isr]
    if before.leader in in_sync:
        return
    if in_sync:
        change.leader = in_sync[0]
    elif can_lead and uncleanly:
        elect_uncleanly(change, can_lead[0])
    elif before.leader != NO_LEADER:
        change.leader = NO_LEADER


def _directory(context: Context, broker_id: int) -> bytes:
    known = broker_id in context.image.brokers
    return context.directory(broker_id) if known else UNASSIGNED_DIRECTORY
