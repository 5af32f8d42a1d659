"""Who may do what: ACLs, and who may ask what only brokers ask (Kafka's ClusterAction on Cluster).

By a listener that asks nobody who it is, everybody may ask what brokers ask, as ever. By one that
does, only users that settings name: `super.users`. Where there is an authorizer, it is asked about
all others, whatever the listener.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Self

from fencepost_broker.security.authorizer.acls import Operation
from fencepost_broker.security.authorizer.authorizer import Authorizer, Rights

if TYPE_CHECKING:
    from fencepost_broker.apis.request import Peer
    from fencepost_broker.config import Settings


class AccessControl:
    """The access control of one process."""

    def __init__(
        self,
        listeners: Iterable[str],
        broker_users: Iterable[str],
        authorizer: Authorizer | None,
        warn: Callable[[str], None],
    ) -> None:
        """By ``listeners``, which ask who comes, ``broker_users`` may ask what brokers ask.

        ``warn`` takes a text for people.
        """
        self.listeners = frozenset(listeners)
        self.broker_users = frozenset(broker_users)
        self.authorizer = authorizer
        """Decides what users may do; without one they may do everything."""
        self._warn = warn

    @classmethod
    def from_settings(
        cls, settings: Settings, authorizer: Authorizer | None, warn: Callable[[str], None]
    ) -> Self:
        """The access control of a process with these settings."""
        asking = (each.name for each in settings.endpoints if settings.asks_who(each.name))
        return cls(asking, settings.users_of_brokers, authorizer, warn)

    def allows_cluster_action(self, peer: Peer) -> bool:
        """Whether a peer may ask what brokers ask."""
        if self.authorizer is not None and peer.listener:
            rights = Rights(self.authorizer, peer.user, peer.client_host)
            return peer.user in self.broker_users or rights.of_cluster(Operation.CLUSTER_ACTION)
        return peer.listener not in self.listeners or peer.user in self.broker_users

    def warn_of_refusal(self, peer: Peer, what: str) -> None:
        """Tell people of a refused peer: they may have forgotten to name a broker's user."""
        self._warn(
            f"User:{peer.user:.100} asks for {what} by listener {peer.listener}, which only brokers"
            " may (CLUSTER_AUTHORIZATION_FAILED): if a broker logs in so, name it in super.users"
            " here"
        )
