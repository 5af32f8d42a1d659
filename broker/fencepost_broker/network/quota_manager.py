"""Client quotas from the metadata, and the connections that are muted because of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fencepost_broker.config import Settings
from fencepost_broker.metadata.image.changes import Changes, OtherChange
from fencepost_broker.metadata.image.client_quotas import CONNECTION_CREATION_RATE
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.network.client_quotas import ClientQuotas
from fencepost_broker.network.connection_rates import ConnectionRates
from fencepost_broker.network.muted_connections import MutedConnections
from fencepost_broker.observability.rates import Windows
from fencepost_broker.ports import Clock

if TYPE_CHECKING:
    from fencepost_broker.network.connection import Connection


class QuotaManager(MetadataPublisher):
    """Follows the quotas in the metadata, and notifies the servers that enforce them."""

    def __init__(self, image: MetadataImage, clock: Clock, settings: Settings) -> None:
        self._clock = clock
        self._listeners: list[Callable[[], None]] = []
        windows = Windows(settings.quota_window_num, settings.quota_window_size_seconds * 1000)
        self.quotas = ClientQuotas(image.client_quotas, windows)
        self.muted = MutedConnections(clock)
        self._rates = ConnectionRates(settings, self.quotas)

    def listen(self, on_quotas: Callable[[], None]) -> None:
        """Call ``on_quotas`` whenever the quotas have changed."""
        self._listeners.append(on_quotas)

    def use(self, settings: Settings) -> None:
        """Apply another limit of new connections, if it was changed."""
        self._rates.use(settings)

    def refresh(self) -> None:
        """Read the quotas from the image, and notify all servers."""
        self.quotas.refresh()
        for on_quotas in self._listeners:
            on_quotas()

    def on_changes(self, changes: Changes) -> None:
        """Read the quotas from the image again if they have changed."""
        if OtherChange.CLIENT_QUOTAS in changes:
            self.refresh()

    def jumped(self, by_ms: int) -> None:
        """Let waits take as long as before, now that the clock was set."""
        self.muted.jumped(by_ms)
        self._rates.jumped(by_ms)

    def opened(self, connection: Connection) -> None:
        """Hold a new connection back if too many are opened, or never serve it (KIP-612)."""
        now_ms = self._clock.now_ms()
        if CONNECTION_CREATION_RATE in self.quotas.keys:
            address = connection.client_host.removeprefix("/")
            refused_ms = self._rates.refused_for_ms(address, now_ms)
            if refused_ms:
                self.muted.mute(connection, refused_ms, then_close=True)
                return
        if self._rates.has_limits:
            wait_ms = self._rates.wait_ms(connection.listener, now_ms)
            if wait_ms:
                self.muted.mute(connection, wait_ms)
