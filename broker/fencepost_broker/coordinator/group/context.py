"""The state and interfaces that all modules of the group coordinator share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.store import OffsetStore
from fencepost_broker.coordinator.group.ports import (
    GroupConfigs,
    GroupCoordinatorSettings,
    Patterns,
    Topics,
)
from fencepost_broker.coordinator.group.timers import Timers
from fencepost_broker.ports import Chance


@dataclass(slots=True)
class Context:
    """The state of one machine, and its ports.

    Decisions only read it; ``replay`` and ``apply_soft`` change it.
    """

    topics: Topics
    patterns: Patterns
    configs: GroupConfigs
    chance: Chance
    settings: GroupCoordinatorSettings
    groups: dict[str, Group] = field(default_factory=dict)
    offsets: OffsetStore = field(default_factory=OffsetStore)
    timers: Timers = field(default_factory=Timers)
    new_topics_version: int = -1
    """Soft: the version of the metadata in which a topic was last created."""
    rebalances: Counter[str] = field(default_factory=Counter)
    """Soft: how many rebalances there were, by the type of the groups."""

    def number(self, group_id: str, name: str, of_broker: int) -> int:
        """Return a setting of a group: its own, or else the broker's."""
        own = self.configs.number(group_id, name)
        return of_broker if own is None else own
