"""Security of outgoing connections: login and TLS, by the settings.

Settings are read again for each connection, since connections are few.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from fencepost_client.network.security import Security
from fencepost_client.requests.sasl import Login

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.logins import own_login

if TYPE_CHECKING:
    from fencepost_broker.config import Settings
    from fencepost_broker.config.logins import PeerListener

PLAIN_TEXT: Final = Security()


def security_of(settings: Settings, peers: PeerListener) -> Security:
    """Return the security of a connection to peers; raises SettingsError."""
    if peers.protocol == "PLAINTEXT":
        return PLAIN_TEXT
    login = context = None
    if peers.has_login:
        found = own_login(settings, peers)
        if found is None:
            raise SettingsError(
                [f"no {peers.mechanism} login is configured for listener {peers.listener}"]
            )
        login = Login(found.mechanism, found.username, found.password, secrets.token_urlsafe)
    if peers.has_tls:
        from fencepost_broker.network.tls import client_context

        context = client_context(settings, peers.listener)
    return Security(login, context)
