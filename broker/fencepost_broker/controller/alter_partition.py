"""AlterPartition: a leader proposes a new ISR (KIP-497).

Only the leader knows which replicas have caught up; only the controller knows which brokers are up.
So the leader proposes a set, with the leader epoch and the partition epoch that it knows, and the
controller accepts it or says why not. A replica is accepted only while its broker is active and in
the incarnation whose fetches the leader saw (broker epochs, KIP-903): a broker that was killed has
lost what was not on its disk.

The change that adds the last new replica of a reassignment to the ISR also completes it.
"""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
    BrokerState,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord

from fencepost_broker.controller.context import Context
from fencepost_broker.controller.partition_change import (
    RECOVERING,
    change_to,
    says_something,
    target_of,
)
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.model import Partition
from fencepost_broker.metadata.log.records import PARTITION_VERSION

RECOVERED: Final = 0
_UNCHECKED_EPOCH: Final = -1
_UNCHANGED_LEADER: Final = PartitionChangeRecord().leader


def alter_partition(
    context: Context, request: AlterPartitionRequest
) -> Decision[AlterPartitionResponse]:
    """Decide an AlterPartition request, each partition by itself."""
    broker = context.image.cluster.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        return Decision(AlterPartitionResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
    records: list[MetadataRecord] = []
    response = AlterPartitionResponse()
    for asked in request.topics:
        answers = [
            _decide(context, request.broker_id, asked, partition, records)
            for partition in asked.partitions
        ]
        response.topics.append(AlterPartitionResponseTopicData(asked.topic_id, answers))
    return Decision(response, tuple(records))


def _decide(
    context: Context,
    leader_id: int,
    asked_topic: AlterPartitionRequestTopicData,
    asked: AlterPartitionRequestPartitionData,
    records: list[MetadataRecord],
) -> AlterPartitionResponsePartitionData:
    answer = AlterPartitionResponsePartitionData(asked.partition_index)
    topic = context.image.topics.by_id.get(asked_topic.topic_id)
    if topic is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_ID
        return answer
    partition = topic.partitions.get(asked.partition_index)
    if partition is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return answer
    # Version 2 names brokers without their epochs.
    wanted = asked.new_isr_with_epochs or [BrokerState(each) for each in asked.new_isr]
    answer.error_code = _problem(context, leader_id, partition, asked, wanted)
    if answer.error_code:
        return answer
    isr = tuple(each.broker_id for each in wanted)
    target = target_of(partition)._replace(isr=isr)
    change = change_to(context, topic, partition, target)
    if asked.leader_recovery_state != partition.leader_recovery_state:
        change.leader_recovery_state = asked.leader_recovery_state
    changed = says_something(change)
    if changed:
        records.append(MetadataRecord(change, PARTITION_VERSION))
    if change.leader not in {_UNCHANGED_LEADER, leader_id}:
        # A reassignment that removes the leader has completed: the metadata log tells it the rest.
        answer.error_code = ErrorCode.NEW_LEADER_ELECTED
        return answer
    answer.leader_id = partition.leader
    answer.leader_epoch = partition.leader_epoch + (change.leader == leader_id)
    answer.isr = list(partition.isr) if change.isr is None else change.isr
    answer.leader_recovery_state = asked.leader_recovery_state
    answer.partition_epoch = partition.partition_epoch + changed
    return answer


def _problem(
    context: Context,
    leader_id: int,
    partition: Partition,
    asked: AlterPartitionRequestPartitionData,
    wanted: list[BrokerState],
) -> ErrorCode:
    if (
        asked.leader_epoch > partition.leader_epoch
        or asked.partition_epoch > partition.partition_epoch
    ):
        return (
            ErrorCode.NOT_CONTROLLER
        )  # the leader knows more than this controller: another one decides
    if asked.leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if leader_id != partition.leader:
        return ErrorCode.INVALID_REQUEST
    if asked.partition_epoch < partition.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    isr = [each.broker_id for each in wanted]
    recovering = asked.leader_recovery_state == RECOVERING
    if (
        len(set(isr)) != len(isr)
        or not set(isr) <= set(partition.replicas)
        or leader_id not in isr
        or asked.leader_recovery_state not in {RECOVERED, RECOVERING}
        # A leader that was elected uncleanly is alone until it says that it has recovered.
        or (recovering and (len(isr) > 1 or partition.leader_recovery_state == RECOVERED))
    ):
        return ErrorCode.INVALID_REQUEST
    brokers = context.image.cluster.brokers
    for each in wanted:
        broker = brokers.get(each.broker_id)
        if broker is None or not broker.is_active:
            return ErrorCode.INELIGIBLE_REPLICA
        if each.broker_epoch not in {_UNCHECKED_EPOCH, broker.epoch}:
            return ErrorCode.INELIGIBLE_REPLICA
    return ErrorCode.NONE
