"""A coordinator's live state is that which a replay of its log gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fencepost_broker.coordinator.group.classic.group import ClassicGroup
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.coordinator.group.streams.topology import NOT_READY
from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.coordinator.share.machine import ShareCoordinator
from fencepost_broker.coordinator.transaction.machine import TransactionCoordinator


def not_as_logged(coordination: CoordinatorRuntime) -> Iterator[str]:
    """The names of partitions whose coordinators are not what their logs say."""
    for shard in coordination.shards.values():
        if not shard.is_loaded:
            continue
        machine = coordination._machine(shard.family, shard.partition)
        again = Shard(coordination, shard.family, shard.partition, machine)
        for _ in again.load():
            pass
        if durable(again.machine) != durable(shard.machine):
            yield shard.name


def durable(machine: Any) -> Any:
    """All of a coordinator that a restart must bring back."""
    if isinstance(machine, TransactionCoordinator):
        return machine.durable()
    if isinstance(machine, ShareCoordinator):
        # The greatest epochs seen may be in records that were deleted since, as in Kafka.
        return {
            key: replace(each, state_epoch_seen=0, leader_epoch_seen=0)
            for key, each in machine.state.items()
        }
    if not isinstance(machine, GroupCoordinator):
        return machine.state
    groups: dict[str, Any] = {}
    for group_id, group in machine.state.groups.items():
        if isinstance(group, ClassicGroup):
            groups[group_id] = group.stored
        elif isinstance(group, ShareGroup):
            groups[group_id] = replace(group, is_checked=False, initializing_since_ms=0)
        elif isinstance(group, StreamsGroup):
            groups[group_id] = replace(
                group, configured=NOT_READY, is_checked=False, endpoints_epoch=0, shutdown_by=None
            )
        else:
            assert isinstance(group, ConsumerGroup)
            groups[group_id] = replace(group, is_checked=False)
    return groups, machine.state.offsets
