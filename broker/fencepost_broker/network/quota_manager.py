"""Client quotas from the metadata, and the connections that are muted because of them."""

from __future__ import annotations

from collections.abc import Callable

from fencepost_broker.metadata.image.changes import Changes, ClientQuotasChanged
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.network.client_quotas import ClientQuotas
from fencepost_broker.network.muted_connections import MutedConnections
from fencepost_broker.ports import Clock


class QuotaManager(MetadataPublisher):
    """Follows the quotas in the metadata, and notifies the servers that enforce them."""

    def __init__(self, image: MetadataImage, clock: Clock) -> None:
        self._image = image
        self._listeners: list[Callable[[], None]] = []
        self.quotas = ClientQuotas()
        self.muted = MutedConnections(clock)

    def listen(self, on_quotas: Callable[[], None]) -> None:
        """Call ``on_quotas`` whenever the quotas have changed."""
        self._listeners.append(on_quotas)

    def refresh(self) -> None:
        """Read the quotas from the image, and notify all servers."""
        self.quotas.use(self._image)
        for on_quotas in self._listeners:
            on_quotas()

    def on_changes(self, changes: Changes) -> None:
        """Read the quotas from the image again if they have changed."""
        if ClientQuotasChanged() in changes:
            self.refresh()
