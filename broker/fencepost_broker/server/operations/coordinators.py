"""Operations that unload and load coordinators, or end the broker at a step of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator import RecordFamily, partition_of
from fencepost_broker.operations import (
    BrokerNow,
    CoordinatorNow,
    CrashAtStep,
    LoadCoordinator,
    OperationRefusedError,
    UnloadCoordinator,
)
from fencepost_broker.server.operations.lookup import NAMES, led_here, shard_of

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
    topic = server.image.topics.by_name.get(family.value)
    if topic is None:
        raise OperationRefusedError(
            f"there is no {NAMES[family]} {coordinator_id!r}; there is none at all"
        )
    number = partition_of(coordinator_id, len(topic.partitions))
    partition = led_here(server, family.value, number)
    runtime.begin_to_lead(partition)
    return _now(server, partition)


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


def _named(operation: UnloadCoordinator | LoadCoordinator) -> tuple[RecordFamily, str]:
    if operation.group is not None:
        return RecordFamily.GROUPS, operation.group
    assert operation.transactional_id is not None
    return RecordFamily.TRANSACTIONS, operation.transactional_id


def _now(server: BrokerServer, partition: Partition) -> CoordinatorNow:
    shard = server.coordinators.runtime.shards.get((partition.topic, partition.number))
    is_loaded = shard is not None and shard.is_loaded
    return CoordinatorNow(topic=partition.topic, partition=partition.number, is_loaded=is_loaded)
