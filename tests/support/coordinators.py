"""What a broker's coordinators know, compared with what their logs say."""

from __future__ import annotations

from typing import Any

from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from fencepost_broker.coordinator.runtime.shard import Shard

from tests.machine.coordinator.group.partition import durable


def assert_as_logged(coordination: CoordinatorRuntime) -> None:
    """A machine that is made of the log now has to be equal to the one that is there."""
    for shard in coordination.shards.values():
        assert shard.is_loaded
        machine = coordination._machine(shard.family, shard.partition)
        again = Shard(coordination, shard.family, shard.partition, machine)
        for _ in again.load():
            pass
        assert _durable(again.machine) == _durable(shard.machine), shard.name


def _durable(machine: Any) -> Any:
    return durable(machine) if isinstance(machine, GroupCoordinator) else machine.durable()
