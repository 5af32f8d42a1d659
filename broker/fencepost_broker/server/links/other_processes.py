"""The connections of a broker's process to the other processes of its cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fencepost_broker.config import Settings
    from fencepost_broker.controller.channel.registration import Registration
    from fencepost_broker.metadata.dynamic_config import DynamicConfig
    from fencepost_broker.metadata.image.metadata_image import MetadataImage
    from fencepost_broker.ports import Clock
    from fencepost_broker.replication.partition import PartitionTable
    from fencepost_broker.replication.quotas import ReplicationQuotas
    from fencepost_broker.server.links.broker_links import BrokerLinks
    from fencepost_broker.server.links.controller_link import ControllerLink
    from fencepost_broker.server.links.replica_fetchers import ReplicaFetchers


class OtherProcessLinks:
    """Makes each kind of connection on demand: a broker by itself imports none of them."""

    def __init__(
        self, settings: Settings, area_log: Callable[[str], Any], on_failure: Callable[[str], None]
    ) -> None:
        """``area_log`` returns the logger of an area; ``on_failure`` gets the reason."""
        self._settings = settings
        self._area_log = area_log
        self._on_failure = on_failure
        self.controller: ControllerLink | None = None
        """The link to a controller in another process, if there is one."""
        self._brokers: BrokerLinks | None = None
        self.leaders: ReplicaFetchers | None = None

    def to_controller(self) -> ControllerLink:
        """Return the link to a controller in another process."""
        from fencepost_broker.server.links.controller_link import ControllerLink

        log = self._area_log("controller")
        self.controller = ControllerLink(self._settings, self._on_failure, log)
        return self.controller

    def to_brokers(self, node_id: int, config: DynamicConfig, image: MetadataImage) -> BrokerLinks:
        """Return the connections to other brokers."""
        from fencepost_broker.server.links.broker_links import BrokerLinks

        self._brokers = BrokerLinks(node_id, config, image, self._area_log("transaction"))
        return self._brokers

    def to_leaders(
        self,
        registration: Registration,
        config: DynamicConfig,
        image: MetadataImage,
        table: PartitionTable,
        clock: Clock,
        quotas: ReplicationQuotas,
    ) -> ReplicaFetchers:
        """Return the fetchers of the partitions that this broker follows."""
        from fencepost_broker.server.links.replica_fetchers import ReplicaFetchers

        log = self._area_log("log")
        self.leaders = ReplicaFetchers(registration, config, image, table, clock, quotas, log)
        return self.leaders

    async def close(self) -> None:
        """Close all connections."""
        for link in (self.leaders, self._brokers, self.controller):
            if link is not None:
                await link.close()
