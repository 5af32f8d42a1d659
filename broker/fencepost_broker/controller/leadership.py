"""Leadership of partitions when a broker comes or goes; ``partition_change`` has the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fencepost_broker.controller.context import Context
from fencepost_broker.controller.partition_change import (
    Election,
    change_to,
    min_insync_of,
    says_something,
    target_of,
    unclean_allowed,
)
from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.features import keeps_eligible
from fencepost_broker.metadata.image.model import NO_LEADER, Partition, Topic
from fencepost_broker.metadata.log.records import PARTITION_VERSION


def without_broker(
    context: Context, broker_id: int, *, is_lost: bool = False
) -> Iterator[MetadataRecord]:
    """Return the changes of all partitions when a broker may no longer lead or be in sync.

    ``is_lost``: it was not stopped cleanly, so it may have lost what it had in memory.
    """
    is_lost = is_lost and keeps_eligible(context.image)

    def may_lead(each: int) -> bool:
        return each != broker_id and context.is_active(each)

    def is_concerned(before: Partition) -> bool:
        return broker_id in before.isr or (is_lost and broker_id in before.eligible_leader_replicas)

    for topic, before, election, min_insync in _found(context, is_concerned):
        isr = tuple(each for each in before.isr if each != broker_id)
        change = change_to(
            context,
            topic,
            before,
            target_of(before)._replace(isr=isr),
            election=election,
            may_lead=may_lead,
            lost=broker_id if is_lost else NO_LEADER,
            min_insync=min_insync,
        )
        if says_something(change):
            yield MetadataRecord(change, PARTITION_VERSION)


def with_broker(context: Context, broker_id: int) -> Iterator[MetadataRecord]:
    """Return the changes of partitions without a leader, now that this broker may lead."""

    def may_lead(each: int) -> bool:
        return each == broker_id or context.is_active(each)

    for topic, before, election, min_insync in _found(context, _has_no_leader):
        change = change_to(
            context,
            topic,
            before,
            target_of(before),
            election=election,
            may_lead=may_lead,
            min_insync=min_insync,
        )
        if says_something(change):
            yield MetadataRecord(change, PARTITION_VERSION)


def leads_any(context: Context, broker_id: int) -> bool:
    """Return whether the broker leads a partition."""
    return any(
        partition.leader == broker_id
        for topic in context.image.topics.by_name.values()
        for partition in topic.partitions.values()
    )


def _has_no_leader(partition: Partition) -> bool:
    return partition.leader == NO_LEADER


def _found(
    context: Context, is_concerned: Callable[[Partition], bool]
) -> Iterator[tuple[Topic, Partition, Election, int]]:
    """Yield partitions with their topic's settings, which are looked up once."""
    for topic in context.image.topics.by_name.values():
        found = [each for each in topic.in_order() if is_concerned(each)]
        if not found:
            continue
        election = Election.UNCLEAN if unclean_allowed(context, topic) else Election.CLEAN
        min_insync = min_insync_of(context, topic)
        for partition in found:
            yield topic, partition, election, min_insync
