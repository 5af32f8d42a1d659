"""The other brokers of the cluster: the partitions that they lead, and requests to them.

Connections are made at the first request, so a single broker pays nothing for this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fencepost_broker.metadata.image.changes import BrokerChanged, Changes
from fencepost_broker.metadata.image.metadata_image import MetadataImage

if TYPE_CHECKING:
    from collections.abc import Callable

    from fencepost_protocol.apis import Message

    from fencepost_broker.coordinator.runtime.remote_verification import AskedOfCoordinators


class Links(Protocol):
    """Connections to other brokers, made when they are needed."""

    def ask(self, broker_id: int, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request; ``then`` is called later with the answer, or with ``None``."""

    def drop(self, broker_id: int) -> None:
        """Stop waiting for answers of a broker."""


class PeerBrokers:
    """All brokers except this one."""

    def __init__(
        self, node_id: int, image: MetadataImage, make_links: Callable[[], Links] | None
    ) -> None:
        """``make_links`` is called before the first request to another broker."""
        self._node_id = node_id
        self._image = image
        self._make_links = make_links
        self._links: Links | None = None
        self._coordinators: AskedOfCoordinators | None = None

    @property
    def are_there(self) -> bool:
        """Whether the cluster has other brokers."""
        return len(self._image.cluster.brokers) > 1

    def leader_of(self, topic: str, number: int) -> int | None:
        """Return the leader of a partition; ``None`` if it is this broker or there is none."""
        partition = self._image.topics.partition(topic, number)
        if partition is None or partition.leader < 0 or partition.leader == self._node_id:
            return None
        return partition.leader

    def ask(self, broker_id: int, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request; ``then`` is called with the answer later, never during this call.

        ``None`` means that there is no answer; the broker may have carried out the request.
        """
        if self._links is None:
            assert self._make_links is not None, "only a process has links to other brokers"
            self._links = self._make_links()
        self._links.ask(broker_id, message, then)

    @property
    def coordinators(self) -> AskedOfCoordinators:
        """The questions to transaction coordinators in other brokers."""
        if self._coordinators is None:
            from fencepost_broker.coordinator.runtime.remote_verification import AskedOfCoordinators

            self._coordinators = AskedOfCoordinators(self.ask)
        return self._coordinators

    def changed(self, changes: Changes) -> None:
        """Stop waiting for a broker that is fenced or gone; the new leaders are asked instead."""
        if self._links is None:
            return
        for change in changes:
            if isinstance(change, BrokerChanged) and (change.after is None or change.after.fenced):
                self._links.drop(change.broker_id)
