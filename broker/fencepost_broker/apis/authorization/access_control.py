"""Access control: ACLs, and the right to send brokers' requests (Kafka's ClusterAction on Cluster).

On a listener without authentication, every client may send brokers' requests. On a listener with
authentication, only `super.users` may. If there is an authorizer, it decides for all other users,
on every listener.
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
        """Allow brokers' requests to ``broker_users`` only on ``listeners`` with authentication.

        ``warn`` logs a warning.
        """
        self.listeners = frozenset(listeners)
        self.broker_users = frozenset(broker_users)
        self.authorizer = authorizer
        """Decides what users may do; if it is ``None`` they may do everything."""
        self._warn = warn

    @classmethod
    def from_settings(
        cls, settings: Settings, authorizer: Authorizer | None, warn: Callable[[str], None]
    ) -> Self:
        """Make the access control of a process with these settings."""
        asking = (each.name for each in settings.endpoints if settings.asks_who(each.name))
        return cls(asking, settings.users_of_brokers, authorizer, warn)

    def allows_cluster_action(self, peer: Peer) -> bool:
        """Whether a peer may send requests that are for brokers only."""
        if self.authorizer is not None and peer.listener:
            rights = Rights(self.authorizer, peer.user, peer.client_host)
            return peer.user in self.broker_users or rights.of_cluster(Operation.CLUSTER_ACTION)
        return peer.listener not in self.listeners or peer.user in self.broker_users

    def warn_of_refusal(self, peer: Peer, what: str) -> None:
        """Log a warning about a refused peer, which may be a broker missing in `super.users`."""
        self._warn(
            f"User:{peer.user:.100} sent {what} on listener {peer.listener}, which only brokers"
            " may (CLUSTER_AUTHORIZATION_FAILED): if it is a broker's user, add it to super.users"
            " here"
        )
