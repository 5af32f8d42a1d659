"""The parts of a broker or a controller that request handlers may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fencepost_broker.apis.authorization.access_control import AccessControl
    from fencepost_broker.apis.fetch.sessions import FetchSessions
    from fencepost_broker.apis.share.sessions import ShareSessions
    from fencepost_broker.controller.allocation_rate import AllocationRate
    from fencepost_broker.controller.channel.local import LocalController
    from fencepost_broker.controller.channel.remote import RemoteController
    from fencepost_broker.controller.channel.topic_creation import TopicCreation
    from fencepost_broker.coordinator.runtime.coordinators import Coordinators
    from fencepost_broker.metadata.dynamic_config import DynamicConfig
    from fencepost_broker.metadata.image.metadata_image import MetadataImage
    from fencepost_broker.observability.client_telemetry import ClientTelemetry
    from fencepost_broker.observability.log_levels import LogLevels
    from fencepost_broker.observability.metrics import Metrics
    from fencepost_broker.ports import Address, Clock
    from fencepost_broker.replication.replica_manager import ReplicaManager
    from fencepost_broker.replication.share.share_partitions import SharePartitions
    from fencepost_broker.storage.log.identity import Identity


@dataclass(slots=True, eq=False, repr=False)
class HandlerContext:
    """The parts that brokers and controllers share."""

    identity: Identity
    clock: Clock
    config: DynamicConfig
    image: MetadataImage
    controller: LocalController | RemoteController
    access: AccessControl
    metrics: Metrics
    log_levels: LogLevels
    versions: Mapping[int, tuple[int, int]]
    """The lowest and the highest served version, by API key."""
    controller_addresses: Sequence[Address]
    """The addresses of this process's controller; without one, no other broker may join."""


@dataclass(slots=True, eq=False, repr=False)
class BrokerContext(HandlerContext):
    """The parts that handlers of a broker's APIs may use."""

    replicas: ReplicaManager
    coordinators: Coordinators
    topics: TopicCreation
    fetch_sessions: FetchSessions
    telemetry: ClientTelemetry | None
    """``None`` unless clients are asked for their metrics."""
    shares: SharePartitions
    share_sessions: ShareSessions


@dataclass(slots=True, eq=False, repr=False)
class ControllerContext(HandlerContext):
    """The parts that handlers at a controller's listener may use."""

    controller: LocalController
    allocation_rate: AllocationRate
