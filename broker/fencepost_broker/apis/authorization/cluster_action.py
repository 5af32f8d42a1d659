"""Who may ask what brokers ask each other and the controller: Kafka's ClusterAction on Cluster.

By a listener that asks nobody who it is, everybody may, as ever. By one that does, only users that
settings name: `super.users`. Where there is an authorizer, it is asked about all others, whatever
the listener.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

from fencepost_broker.security.authorizer.acls import Operation
from fencepost_broker.security.authorizer.authorizer import Authorizer, Rights

if TYPE_CHECKING:
    from fencepost_broker.apis.request import Peer
    from fencepost_broker.config import Settings


class ClusterAction:
    """What the settings of one process say about it."""

    def __init__(
        self, listeners: Iterable[str], users: Iterable[str], authorizer: Authorizer | None = None
    ) -> None:
        """``listeners`` are those that ask who comes; by them, ``users`` may."""
        self._authorizer = authorizer
        self._listeners = frozenset(listeners)
        self._users = frozenset(users)

    @classmethod
    def from_settings(cls, settings: Settings, authorizer: Authorizer | None = None) -> Self:
        """As a process with these settings goes by it."""
        asking = (each.name for each in settings.endpoints if settings.asks_who(each.name))
        return cls(asking, settings.users_of_brokers, authorizer)

    def allows(self, peer: Peer) -> bool:
        """Whether whoever is there is a broker, or nobody has to be one."""
        if self._authorizer is not None and peer.listener:
            rights = Rights(self._authorizer, peer.user, peer.client_host)
            return peer.user in self._users or rights.of_cluster(Operation.CLUSTER_ACTION)
        return peer.listener not in self._listeners or peer.user in self._users


def refusal_text(user: str, listener: str, what: str) -> str:
    """What a person should hear, who may have forgotten to name a broker's user."""
    return (
        f"User:{user:.100} asks for {what} by listener {listener}, which only brokers may"
        " (CLUSTER_AUTHORIZATION_FAILED): if a broker logs in so, name it in super.users here"
    )
