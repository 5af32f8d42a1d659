"""What a broker's coordinators know, compared with what their logs say."""

from __future__ import annotations

from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from fencepost_broker.simulation.replays import not_as_logged


def assert_as_logged(coordination: CoordinatorRuntime) -> None:
    """A machine that is made of the log now has to be equal to the one that is there."""
    assert all(shard.is_loaded for shard in coordination.shards.values())
    assert not list(not_as_logged(coordination))
