"""The controller of a process that is a broker, too, as it is met at its own listener.

Other brokers join there (`process.roles=broker,controller` with a listener that
`controller.listener.names` names). Which APIs there are, in which versions, and what is counted are
the port's own; all else that handlers use is the node's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
from fencepost_broker.controller.allocation_rate import AllocationRate
from fencepost_broker.observability.metrics import Metrics

if TYPE_CHECKING:
    from fencepost_broker.metadata.image import MetadataImage
    from fencepost_broker.ports import Address
    from fencepost_broker.server.broker_server import Node


class ControllerPort:
    """What handlers find there."""

    speaks_for_controller = True

    def __init__(self, node: Node) -> None:
        self._node = node
        self.image: MetadataImage = node.image
        self.allocation_rate = AllocationRate()
        self.metrics = Metrics()
        self.versions = {api.key.value: api.versions for api in SERVED_BY_CONTROLLER}

    @property
    def addresses(self) -> list[Address]:
        """Where it is."""
        return self._node.controller_addresses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)
