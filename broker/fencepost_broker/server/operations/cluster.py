"""Operations on the leaders, the in-sync replicas and the brokers of a cluster.

Each is a request to the controller, which may be another process. The broker hears of the decision
by the metadata log.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
)
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.broker_heartbeat import BrokerHeartbeatRequest
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions

from fencepost_broker.controller.elect_leaders import PREFERRED
from fencepost_broker.metadata.image.model import Broker, Partition
from fencepost_broker.operations import (
    BrokerNow,
    FenceBroker,
    MoveLeader,
    OperationRefusedError,
    PartitionNow,
    ShrinkIsr,
    UnfenceBroker,
)
from fencepost_broker.server.operations.lookup import described, led_here

if TYPE_CHECKING:
    from fencepost_broker.server.broker_server import BrokerServer


async def move_leader(server: BrokerServer, operation: MoveLeader) -> PartitionNow:
    """Make the broker the first replica, if it is not, and elect the preferred leader."""
    topic, number, broker = operation.topic, operation.partition, operation.broker
    before = described(server, topic, number)
    name = f"{topic}-{number}"
    _check_replica(server, name, before, broker)
    if before.leader == broker:
        raise OperationRefusedError(f"broker {broker} leads {name} already")
    if broker not in before.isr:
        raise OperationRefusedError(
            f"broker {broker} cannot lead {name}: its replica is not in sync, those of brokers"
            f" {_listed(before.isr)} are"
        )
    if before.adding_replicas or before.removing_replicas:
        raise OperationRefusedError(f"{name} is being reassigned: wait until that is done")
    replicas = [broker, *(each for each in before.replicas if each != broker)]
    if before.replicas[0] != broker:
        asked = ReassignableTopic(topic, [ReassignablePartition(number, replicas)])
        answer = await _ask(server, AlterPartitionReassignmentsRequest(topics=[asked]))
        placed = answer.error_code or answer.responses[0].partitions[0].error_code
        _check(placed, f"{name} gets no other order of replicas")
    election = ElectLeadersRequest(PREFERRED, [TopicPartitions(topic, [number])])
    answer = await _ask(server, election)
    elected = answer.error_code
    if not elected:
        elected = answer.replica_election_results[0].partition_result[0].error_code
    if elected != ErrorCode.ELECTION_NOT_NEEDED:
        _check(elected, f"broker {broker} is not elected as the leader of {name}")
    return _partition_now(operation, broker, replicas, before.isr)


async def shrink_isr(server: BrokerServer, operation: ShrinkIsr) -> PartitionNow:
    """Propose an ISR without the follower, as its leader does when a follower lags."""
    topic, number, broker = operation.topic, operation.partition, operation.broker
    led_here(server, topic, number)
    before = described(server, topic, number)
    name = f"{topic}-{number}"
    _check_replica(server, name, before, broker)
    if broker == before.leader:
        raise OperationRefusedError(
            f"broker {broker} leads {name} and stays in sync: use move-leader first"
        )
    if broker not in before.isr:
        raise OperationRefusedError(
            f"broker {broker} is not in the ISR of {name}, which is {_listed(before.isr)}"
        )
    isr = [each for each in before.isr if each != broker]
    partition = AlterPartitionRequestPartitionData(
        number,
        before.leader_epoch,
        new_isr_with_epochs=[BrokerState(each) for each in isr],
        leader_recovery_state=before.leader_recovery_state,
        partition_epoch=before.partition_epoch,
    )
    topic_id = server.image.topics.by_name[topic].topic_id
    node_id, epoch = server.registration.node_id, server.registration.epoch
    asked = [AlterPartitionRequestTopicData(topic_id, [partition])]
    answer = await _ask(server, AlterPartitionRequest(node_id, epoch, asked))
    code = answer.error_code or answer.topics[0].partitions[0].error_code
    _check(code, f"broker {broker} stays in the ISR of {name}")
    return _partition_now(operation, before.leader, before.replicas, isr)


def _check_replica(server: BrokerServer, name: str, partition: Partition, broker: int) -> None:
    _registered(server, broker)
    if broker not in partition.replicas:
        raise OperationRefusedError(
            f"broker {broker} has no replica of {name}: brokers {_listed(partition.replicas)} have"
        )
    if len(partition.replicas) == 1:
        raise OperationRefusedError(
            f"{name} has only one replica: create the topic with two replicas or more"
        )


def _partition_now(
    operation: MoveLeader | ShrinkIsr, leader: int, replicas: Any, in_sync: Any
) -> PartitionNow:
    return PartitionNow(
        topic=operation.topic,
        partition=operation.partition,
        leader=leader,
        replicas=list(replicas),
        in_sync=list(in_sync),
    )


# -- brokers -------------------------------------------------------------------------------------


async def fence_broker(server: BrokerServer, operation: FenceBroker) -> BrokerNow:
    """Send the controller a heartbeat of the broker that asks to be fenced."""
    broker = _registered(server, operation.broker)
    if broker.fenced:
        raise OperationRefusedError(f"broker {operation.broker} is fenced already")
    if sum(each.is_active for each in server.image.cluster.brokers.values()) == 1:
        raise OperationRefusedError(
            f"broker {operation.broker} is the only one that is active: without it nothing leads"
        )
    return await _heartbeat(server, broker, wants_fence=True)


async def unfence_broker(server: BrokerServer, operation: UnfenceBroker) -> BrokerNow:
    """Send the controller a heartbeat of the broker that has caught up."""
    broker = _registered(server, operation.broker)
    if not broker.fenced:
        raise OperationRefusedError(f"broker {operation.broker} is not fenced")
    return await _heartbeat(server, broker, wants_fence=False)


async def _heartbeat(server: BrokerServer, broker: Broker, *, wants_fence: bool) -> BrokerNow:
    request = BrokerHeartbeatRequest(broker.broker_id, broker.epoch, broker.epoch, wants_fence)
    answer = await _ask(server, request)
    _check(answer.error_code, f"broker {broker.broker_id} stays as it is")
    return BrokerNow(broker=broker.broker_id, is_fenced=answer.is_fenced)


def _registered(server: BrokerServer, broker: int) -> Broker:
    brokers = server.image.cluster.brokers
    if broker not in brokers:
        raise OperationRefusedError(
            f"there is no broker {broker}; the brokers are {_listed(sorted(brokers))}"
        )
    return brokers[broker]


def _listed(brokers: Any) -> str:
    return ", ".join(map(str, brokers))


async def _ask(server: BrokerServer, request: Message) -> Any:
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    server.controller.ask(request, answered.set_result)
    answer = await answered
    if answer is None:
        raise OperationRefusedError(
            "the connection to the controller was lost: look at the cluster, and try again"
        )
    return answer


def _check(error_code: int, what: str) -> None:
    if error_code:
        raise OperationRefusedError(f"{what}: {ErrorCode(error_code).name}")
