"""The group coordinator: classic groups, KIP-848's consumer groups, and committed offsets.

Each partition of ``__consumer_offsets`` has one machine (``machine.GroupCoordinator``).
"""

from fencepost_broker.coordinator.group.commands import Ask, TopicsChanged, TopicsDeleted
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.group.ports import GroupCoordinatorSettings

__all__ = ["Ask", "GroupCoordinator", "GroupCoordinatorSettings", "TopicsChanged", "TopicsDeleted"]
