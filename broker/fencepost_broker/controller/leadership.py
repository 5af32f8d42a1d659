"""Who leads a partition when brokers go and come.

A leader comes from the in-sync replicas, the one that stands first among the replicas. Without
one of those the partition has no leader, unless its topic allows an unclean election: then any
replica will do, what it has not got is lost, and it leads as the only one in sync (KIP-704 marks
it). The last in-sync replica stays in the set when its broker goes: nobody else has all the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord

from fencepost_broker.controller.context import PARTITION_VERSION, Context
from fencepost_broker.controller.model import NO_LEADER, Partition, ResourceType, Topic
from fencepost_broker.machine import MetadataRecord

RECOVERING: Final = 1
UNCLEAN_SETTING: Final = "unclean.leader.election.enable"


def without_broker(context: Context, broker_id: int) -> Iterator[MetadataRecord]:
    """The changes of all partitions when a broker may no longer lead or be in sync."""
    for topic, before in _partitions(context):
        if broker_id != before.leader and broker_id not in before.isr:
            continue
        change = PartitionChangeRecord(before.partition_id, topic.topic_id)
        isr = [each for each in before.isr if each != broker_id] or list(before.isr)
        if tuple(isr) != before.isr:
            change.isr = isr
        if before.leader == broker_id:
            can_lead = [each for each in context.active(before.replicas) if each != broker_id]
            elect(context, topic, change, isr, can_lead)
        if change.isr is not None or before.leader == broker_id:
            yield MetadataRecord(change, PARTITION_VERSION)


def with_broker(context: Context, broker_id: int) -> Iterator[MetadataRecord]:
    """The changes of partitions that have no leader, now that this broker may lead."""
    for topic, before in _partitions(context):
        if before.leader != NO_LEADER or broker_id not in before.replicas:
            continue
        change = PartitionChangeRecord(before.partition_id, topic.topic_id)
        elect(context, topic, change, list(before.isr), [broker_id])
        if change.leader != NO_LEADER:
            yield MetadataRecord(change, PARTITION_VERSION)


def leads_any(context: Context, broker_id: int) -> bool:
    """Whether the broker leads a partition."""
    return any(partition.leader == broker_id for _, partition in _partitions(context))


def _partitions(context: Context) -> Iterator[tuple[Topic, Partition]]:
    for topic in context.image.topics.values():
        for partition in topic.in_order():
            yield topic, partition


def elect(
    context: Context,
    topic: Topic,
    change: PartitionChangeRecord,
    isr: Sequence[int],
    can_lead: Sequence[int],
) -> None:
    """Sets the leader: the first that can and is in sync, an unclean one, or none."""
    in_sync = [each for each in can_lead if each in isr]
    if in_sync:
        change.leader = in_sync[0]
    elif can_lead and unclean_allowed(context, topic):
        elect_uncleanly(change, can_lead[0])
    else:
        change.leader = NO_LEADER


def elect_uncleanly(change: PartitionChangeRecord, broker_id: int) -> None:
    """Let it lead as the only one in sync, and mark that (KIP-704)."""
    change.leader = broker_id
    change.isr = [broker_id]
    change.leader_recovery_state = RECOVERING


def unclean_allowed(context: Context, topic: Topic) -> bool:
    """Whether a replica may lead that has not got all, where nobody else is there."""
    value = context.image.topic_config(topic.name).get(UNCLEAN_SETTING)
    if value is None:
        value = context.image.config(ResourceType.BROKER, "").get(UNCLEAN_SETTING)
    if value is None:
        return context.settings.unclean_leader_election_enable
    return value.strip().lower() == "true"
