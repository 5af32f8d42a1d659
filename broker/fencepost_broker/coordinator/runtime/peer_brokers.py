"""The other brokers of the cluster: who leads what there, and what they are asked.

A broker that is by itself pays nothing for this: nobody is connected to before somebody is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from fencepost_broker.metadata.changes import BrokerChanged, Changes
from fencepost_broker.metadata.image import MetadataImage

if TYPE_CHECKING:
    from collections.abc import Callable

    from fencepost_protocol.apis import Message

    from fencepost_broker.coordinator.runtime.remote_verification import AskedOfCoordinators


class Links(Protocol):
    """Connections to other brokers, made when they are needed."""

    def ask(self, broker_id: int, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request; ``then`` hears the answer, or ``None``, and never at once."""

    def drop(self, broker_id: int) -> None:
        """Wait for nothing more from a broker."""


class Host(Protocol):
    """What is used of the node."""

    node_id: int
    image: MetadataImage


class PeerBrokers:
    """All brokers but this one."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.make_links: Callable[[], Links] | None = None
        """Makes the connections, when somebody is asked for the first time."""
        self._links: Links | None = None
        self._coordinators: AskedOfCoordinators | None = None

    @property
    def are_there(self) -> bool:
        """Whether there are any."""
        return len(self._host.image.cluster.brokers) > 1

    def leader_of(self, topic: str, number: int) -> int | None:
        """The broker that leads a partition; ``None`` where it is this one, or nobody."""
        partition = self._host.image.topics.partition(topic, number)
        if partition is None or partition.leader < 0 or partition.leader == self._host.node_id:
            return None
        return partition.leader

    def ask(self, broker_id: int, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request; ``then`` hears the answer, and never at once.

        It hears ``None`` where there is none: the broker may have done what it was asked for.
        """
        if self._links is None:
            assert self.make_links is not None, "other brokers are asked by a running process"
            self._links = self.make_links()
        self._links.ask(broker_id, message, then)

    @property
    def coordinators(self) -> AskedOfCoordinators:
        """What this broker asks of transactions' coordinators that are other brokers."""
        if self._coordinators is None:
            from fencepost_broker.coordinator.runtime.remote_verification import AskedOfCoordinators

            self._coordinators = AskedOfCoordinators(self.ask)
        return self._coordinators

    def changed(self, changes: Changes) -> None:
        """Wait no longer for a broker that is fenced or gone: who leads instead is asked."""
        if self._links is None:
            return
        for change in changes:
            if isinstance(change, BrokerChanged) and (change.after is None or change.after.fenced):
                self._links.drop(change.broker_id)
