"""Reassignments: replicas move to other brokers while the partition is in use (KIP-455).

A reassignment adds the new replicas to the current ones; the new ones fetch, and once all of them
are in sync the old ones are removed, by the AlterPartition that says so (``partition_change``). It
has no time limit: if the broker of a new replica dies, it continues when the broker is back, or it
is cancelled (``replicas`` null), or replaced by another one.

Cancelling removes the added replicas. If only those are in sync, no replica with all data would be
left, so this needs a topic that allows unclean elections.
"""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord

from fencepost_broker.controller.context import Context, Refusal
from fencepost_broker.controller.partition_change import (
    Election,
    Target,
    change_to,
    says_something,
    unclean_allowed,
)
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.model import Partition, Topic
from fencepost_broker.metadata.log.records import PARTITION_VERSION

_UNKNOWN: Final = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def alter_reassignments(
    context: Context, request: AlterPartitionReassignmentsRequest
) -> Decision[AlterPartitionReassignmentsResponse]:
    """Decide an AlterPartitionReassignments request, each partition by itself."""
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, error_message=None
    )
    records: list[MetadataRecord] = []
    for asked_topic in request.topics:
        answers = []
        for asked in asked_topic.partitions:
            answer = ReassignablePartitionResponse(asked.partition_index, error_message=None)
            try:
                change = _decide(
                    context,
                    asked_topic.name,
                    asked,
                    may_resize=request.allow_replication_factor_change,
                )
            except Refusal as refusal:
                answer.error_code, answer.error_message = refusal.code, refusal.message
            else:
                if says_something(change):
                    records.append(MetadataRecord(change, PARTITION_VERSION))
            answers.append(answer)
        response.responses.append(ReassignableTopicResponse(asked_topic.name, answers))
    return Decision(response, tuple(records))


def _decide(
    context: Context, name: str, asked: ReassignablePartition, *, may_resize: bool
) -> PartitionChangeRecord:
    topic = context.image.topics.by_name.get(name)
    if topic is None:
        raise Refusal(_UNKNOWN, f"there is no topic {name}")
    partition = topic.partitions.get(asked.partition_index)
    if partition is None:
        raise Refusal(_UNKNOWN, f"topic {name} has no partition {asked.partition_index}")
    if asked.replicas is None:
        return _call_off(context, topic, partition)
    wanted = tuple(asked.replicas)
    context.check_manual(partition.partition_id, wanted, None)
    if not may_resize:
        _check_size(name, partition, wanted)
    removing = tuple(sorted(set(partition.replicas) - set(wanted)))
    adding = tuple(sorted(set(wanted) - set(partition.replicas)))
    # What an earlier reassignment was at stays so, where this one has nothing to put in its place.
    target = Target(
        wanted + removing,
        partition.isr,
        removing or partition.removing_replicas,
        adding or partition.adding_replicas,
    )
    return change_to(context, topic, partition, target)


def _call_off(context: Context, topic: Topic, partition: Partition) -> PartitionChangeRecord:
    if not (partition.adding_replicas or partition.removing_replicas):
        raise Refusal(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, None)
    adding = partition.adding_replicas
    replicas = tuple(each for each in partition.replicas if each not in adding)
    isr = tuple(each for each in partition.isr if each not in adding)
    uncleanly = unclean_allowed(context, topic)
    if not isr:
        if not uncleanly:
            where = f"{topic.name}-{partition.partition_id}"
            message = (
                f"the reassignment of {where} cannot be cancelled: only replicas that it adds are"
                " in sync, and its topic allows no unclean election"
            )
            raise Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        isr = replicas[:1]
    target = Target(replicas, isr, (), ())
    election = Election.UNCLEAN if uncleanly else Election.CLEAN
    return change_to(context, topic, partition, target, election=election)


def _check_size(name: str, partition: Partition, wanted: tuple[int, ...]) -> None:
    size = len(partition.replicas) - len(partition.removing_replicas)
    if len(wanted) != size:
        message = (
            f"{name}-{partition.partition_id} has {size} replicas (or will have), and the request "
            f"allows no other number: it asks for {len(wanted)}"
        )
        raise Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, message)
