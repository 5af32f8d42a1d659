"""ElectLeaders: elections on request.

A *preferred* election makes the first replica the leader again, if it is in sync; an *unclean* one
gives a partition without a leader to any replica that is up.
"""

from __future__ import annotations

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

from fencepost_broker.controller.context import Context, Refusal
from fencepost_broker.controller.partition_change import (
    Election,
    change_to,
    says_something,
    target_of,
)
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.model import NO_LEADER
from fencepost_broker.metadata.log.records import PARTITION_VERSION

PREFERRED: Final = 0
UNCLEAN: Final = 1


def elect_leaders(context: Context, request: ElectLeadersRequest) -> Decision[ElectLeadersResponse]:
    """Decide an ElectLeaders request; without a list it is about all partitions.

    In that case, the answer has only partitions whose leader changes.
    """
    asked = request.topic_partitions
    everything = asked is None
    if asked is None:
        topics = context.image.topics.by_name.values()
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
        message = f"the election type must be 0 (preferred) or 1 (unclean), not {election_type}"
        raise Refusal(ErrorCode.INVALID_REQUEST, message)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topic = context.image.topics.by_name.get(name)
    if topic is None:
        raise Refusal(unknown, f"there is no topic {name}")
    partition = topic.partitions.get(number)
    if partition is None:
        raise Refusal(unknown, f"topic {name} has no partition {number}")
    has_its_leader = partition.leader == partition.replicas[0]
    if repeated or has_its_leader or (election_type == UNCLEAN and partition.leader != NO_LEADER):
        why = (
            "it was elected by this request" if repeated else f"broker {partition.leader} leads it"
        )
        message = f"{name}-{number} needs no election: {why}"
        raise Refusal(ErrorCode.ELECTION_NOT_NEEDED, message)
    election = Election.PREFERRED if election_type == PREFERRED else Election.UNCLEAN
    change = change_to(context, topic, partition, target_of(partition), election=election)
    if says_something(change):
        return change
    if election_type == PREFERRED:
        message = (
            f"broker {partition.replicas[0]} is the preferred leader of {name}-{number} but cannot "
            "lead: it is not up, or not in sync"
        )
        raise Refusal(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, message)
    message = f"no broker that has a replica of {name}-{number} is up"
    raise Refusal(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, message)
