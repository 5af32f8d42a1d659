"""Operations that unload and load coordinators, or end the broker at a step of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.operations import (
    BrokerNow,
    CoordinatorNow,
    CrashAtStep,
    LoadCoordinator,
    MoveCoordinator,
    MoveLeader,
    OperationRefusedError,
    PartitionNow,
    UnloadCoordinator,
)
from fencepost_broker.server.operations.cluster import move_leader
from fencepost_broker.server.operations.lookup import NAMES, led_here, number_of, shard_of

if TYPE_CHECKING:
    from fencepost_broker.replication.partition import Partition
    from fencepost_broker.server.broker_server import BrokerServer


def unload(server: BrokerServer, operation: UnloadCoordinator) -> CoordinatorNow:
    """Unload a coordinator; its clients get the operation's error."""
    shard = shard_of(server, *_named(operation))
    server.coordinators.runtime.unload(shard, ErrorCode[operation.answer])
    return _now(server, shard.partition)


def load(server: BrokerServer, operation: LoadCoordinator) -> CoordinatorNow:
    """Load a coordinator from its log. A large log is loaded between requests, as at a start."""
    family, coordinator_id = _named(operation)
    runtime = server.coordinators.runtime
    if runtime.shard(family, coordinator_id) is not None:
        raise OperationRefusedError(
            f"the coordinator of {NAMES[family]} {coordinator_id!r} is loaded already"
        )
    partition = led_here(server, family.value, number_of(server, family, coordinator_id))
    runtime.begin_to_lead(partition)
    return _now(server, partition)


async def move(server: BrokerServer, operation: MoveCoordinator) -> PartitionNow:
    """Move the leader of the partition in which the coordinator keeps its records."""
    family, coordinator_id = _named(operation)
    number = number_of(server, family, coordinator_id)
    leader = MoveLeader(topic=family.value, partition=number, broker=operation.broker)
    return await move_leader(server, leader)


def crash_at_step(server: BrokerServer, operation: CrashAtStep) -> BrokerNow:
    """Let the process end at a step of a transaction."""
    from fencepost_broker.server.crash import crash_at

    try:
        on_step = crash_at(operation.step, operation.which)
    except ValueError as error:
        raise OperationRefusedError(str(error)) from None
    server.coordinators.tell_steps(on_step)
    node_id = server.identity.node_id
    return BrokerNow(broker=node_id, is_fenced=server.image.cluster.brokers[node_id].fenced)


def _named(
    operation: UnloadCoordinator | LoadCoordinator | MoveCoordinator,
) -> tuple[RecordFamily, str]:
    if operation.group is not None:
        return RecordFamily.GROUPS, operation.group
    assert operation.transactional_id is not None
    return RecordFamily.TRANSACTIONS, operation.transactional_id


def _now(server: BrokerServer, partition: Partition) -> CoordinatorNow:
    shard = server.coordinators.runtime.shards.get((partition.topic, partition.number))
    is_loaded = shard is not None and shard.is_loaded
    return CoordinatorNow(topic=partition.topic, partition=partition.number, is_loaded=is_loaded)
