"""What handlers may use of the process that they answer for: a broker, or a controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fencepost_broker.apis.authorization.access_control import AccessControl
    from fencepost_broker.apis.fetch.sessions import FetchSessions
    from fencepost_broker.controller.allocation_rate import AllocationRate
    from fencepost_broker.controller.channel.local import LocalController
    from fencepost_broker.controller.channel.remote import RemoteController
    from fencepost_broker.controller.channel.topic_creation import TopicCreation
    from fencepost_broker.coordinator.runtime.coordinators import Coordinators
    from fencepost_broker.metadata.dynamic_config import DynamicConfig
    from fencepost_broker.metadata.image import MetadataImage
    from fencepost_broker.observability.log_levels import LogLevels
    from fencepost_broker.observability.metrics import Metrics
    from fencepost_broker.ports import Address, Clock
    from fencepost_broker.replication.replica_manager import ReplicaManager
    from fencepost_broker.storage.log.identity import Identity


@dataclass(frozen=True, slots=True)
class HandlerContext:
    """What every process has."""

    identity: Identity
    clock: Clock
    config: DynamicConfig
    image: MetadataImage
    controller: LocalController | RemoteController
    access: AccessControl
    metrics: Metrics
    log_levels: LogLevels
    versions: Mapping[int, tuple[int, int]]
    """The lowest and the highest version of what is served, by API key."""
    controller_addresses: Sequence[Address]
    """Where brokers reach the controller that is here; none may join one without."""


@dataclass(frozen=True, slots=True)
class BrokerContext(HandlerContext):
    """What handlers of a broker's APIs may use."""

    replicas: ReplicaManager
    coordinators: Coordinators
    topics: TopicCreation
    fetch_sessions: FetchSessions


@dataclass(frozen=True, slots=True)
class ControllerContext(HandlerContext):
    """What handlers at a controller's listener may use."""

    controller: LocalController
    allocation_rate: AllocationRate
