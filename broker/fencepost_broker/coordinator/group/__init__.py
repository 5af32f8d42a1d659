"""The group coordinator: classic groups, KIP-848's consumer groups, and committed offsets.

One machine (``machine.GroupCoordinator``) is one partition of ``__consumer_offsets``.
"""

from fencepost_broker.coordinator.group.commands import Ask, TopicsChanged, TopicsDeleted
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.group.ports import GroupCoordinatorSettings

__all__ = ["Ask", "GroupCoordinator", "GroupCoordinatorSettings", "TopicsChanged", "TopicsDeleted"]
