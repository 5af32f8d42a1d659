"""Who leads a partition: when brokers go and come, and when somebody asks for an election.

A leader comes from the in-sync replicas, the one that stands first among the replicas. Without
one of those the partition has no leader, unless its topic allows an unclean election: then any
replica will do, what it has not got is lost, and it leads as the only one in sync (KIP-704 marks
it). The last in-sync replica stays in the set when its broker goes: nobody else has all the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from fencepost_protocol.generated.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
    TopicPartitions,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord

from fencepost_broker.controller.context import PARTITION_VERSION, Context, Refusal
from fencepost_broker.controller.model import NO_LEADER, Partition, Topic
from fencepost_broker.machine import Decision, MetadataRecord

PREFERRED: Final = 0
UNCLEAN: Final = 1
RECOVERING: Final = 1
UNCLEAN_SETTING: Final = "unclean.leader.election.enable"


# -- brokers come and go ------------------------------------------------------------------------


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
            _elect(context, topic, change, isr, can_lead)
        if change.isr is not None or before.leader == broker_id:
            yield MetadataRecord(change, PARTITION_VERSION)


def with_broker(context: Context, broker_id: int) -> Iterator[MetadataRecord]:
    """The changes of partitions that have no leader, now that this broker may lead."""
    for topic, before in _partitions(context):
        if before.leader != NO_LEADER or broker_id not in before.replicas:
            continue
        change = PartitionChangeRecord(before.partition_id, topic.topic_id)
        _elect(context, topic, change, list(before.isr), [broker_id])
        if change.leader != NO_LEADER:
            yield MetadataRecord(change, PARTITION_VERSION)


def leads_any(context: Context, broker_id: int) -> bool:
    """Whether the broker leads a partition."""
    return any(partition.leader == broker_id for _, partition in _partitions(context))


def _partitions(context: Context) -> Iterator[tuple[Topic, Partition]]:
    for topic in context.image.topics.values():
        for partition in topic.in_order():
            yield topic, partition


def _elect(
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
    elif can_lead and _unclean_allowed(context, topic):
        _elect_uncleanly(change, can_lead[0])
    else:
        change.leader = NO_LEADER


def _elect_uncleanly(change: PartitionChangeRecord, broker_id: int) -> None:
    change.leader = broker_id
    change.isr = [broker_id]
    change.leader_recovery_state = RECOVERING


def _unclean_allowed(context: Context, topic: Topic) -> bool:
    value = context.image.topic_config(topic.name).get(UNCLEAN_SETTING)
    if value is None:
        return context.settings.unclean_leader_election_enable
    return value.strip().lower() == "true"


# -- somebody asks ------------------------------------------------------------------------------


def elect_leaders(context: Context, request: ElectLeadersRequest) -> Decision[ElectLeadersResponse]:
    """Decides an ElectLeaders request; without a list of partitions it is about all of them.

    When it is about all, only partitions whose leader changes are in the answer.
    """
    asked = request.topic_partitions
    everything = asked is None
    if asked is None:
        topics = context.image.topics.values()
        asked = [TopicPartitions(topic.name, sorted(topic.partitions)) for topic in topics]
    response = ElectLeadersResponse()
    records: list[MetadataRecord] = []
    decided: set[tuple[str, int]] = set()
    if request.election_type not in {PREFERRED, UNCLEAN}:
        response.error_code = ErrorCode.INVALID_REQUEST
    for each in asked:
        result = ReplicaElectionResult(each.topic)
        for number in each.partitions:
            answer = PartitionResult(number, error_message=None)
            try:
                repeated = (each.topic, number) in decided
                change = _election(context, request.election_type, each.topic, number, repeated)
            except Refusal as refusal:
                if everything and refusal.code is ErrorCode.ELECTION_NOT_NEEDED:
                    continue
                answer.error_code, answer.error_message = refusal.code, refusal.message
            else:
                decided.add((each.topic, number))
                records.append(MetadataRecord(change, PARTITION_VERSION))
            result.partition_result.append(answer)
        response.replica_election_results.append(result)
    return Decision(response, tuple(records))


def _election(
    context: Context, election_type: int, name: str, number: int, repeated: bool
) -> PartitionChangeRecord:
    if election_type not in {PREFERRED, UNCLEAN}:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"Unknown election type {election_type}")
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topic = context.image.topics.get(name)
    if topic is None:
        raise Refusal(unknown, f"No such topic as {name}")
    partition = topic.partitions.get(number)
    if partition is None:
        raise Refusal(unknown, f"No such partition as {name}-{number}")
    has_its_leader = partition.leader == partition.replicas[0]
    if repeated or has_its_leader or (election_type == UNCLEAN and partition.leader != NO_LEADER):
        message = "Leader election not needed for topic partition."
        raise Refusal(ErrorCode.ELECTION_NOT_NEEDED, message)
    change = PartitionChangeRecord(number, topic.topic_id)
    can_lead = context.active(partition.replicas)
    if election_type == PREFERRED:
        preferred = partition.replicas[0]
        if preferred not in can_lead or preferred not in partition.isr:
            message = "The preferred leader was not available."
            raise Refusal(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, message)
        change.leader = preferred
        return change
    in_sync = [each for each in can_lead if each in partition.isr]
    if not can_lead:
        message = "Eligible topic partition leaders are not available."
        raise Refusal(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
    if in_sync:
        change.leader = in_sync[0]
    else:
        _elect_uncleanly(change, can_lead[0])
    return change
