"""The effect and the soft state of streams groups."""

from __future__ import annotations

from dataclasses import dataclass

from fencepost_broker.coordinator.group.streams.topology import Configured, InternalTopic


@dataclass(frozen=True, slots=True)
class CreateInternalTopics:
    """The effect that has the controller make topics; a later heartbeat finds them."""

    topics: tuple[InternalTopic, ...]


@dataclass(frozen=True, slots=True)
class TopologyConfigured:
    """A group's topology was compared with the topics that there are."""

    group_id: str
    configured: Configured


@dataclass(frozen=True, slots=True)
class EndpointsChanged:
    """The next epoch of what members are told about each other's endpoints."""

    group_id: str


@dataclass(frozen=True, slots=True)
class ShutdownRequested:
    """A member has asked for the end of the application."""

    group_id: str
    member_id: str
