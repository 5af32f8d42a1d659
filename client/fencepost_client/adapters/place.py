"""Where a connection leads."""

from __future__ import annotations

from typing import NamedTuple

from fencepost_client.adapters.client_settings import Address
from fencepost_client.errors import NetworkError


class Place(NamedTuple):
    """Where a connection leads, and what it is kept for."""

    host: str
    port: int
    channel: str = ""

    @property
    def address(self) -> Address:
        """Of whatever broker is there."""
        return self.host, self.port

    def gone(self) -> NetworkError:
        """What to tell those who want to go there in vain."""
        return NetworkError(f"{self.host}:{self.port} is no broker of the cluster any more.")
