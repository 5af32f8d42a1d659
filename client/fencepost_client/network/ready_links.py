"""The connections that one look at what is to be sent may use."""

from __future__ import annotations

from fencepost_client.network.link import Link
from fencepost_client.network.network_client import NetworkClient


class ReadyLinks:
    """Asked by a machine which nodes it may send to; remembers what stood for the answer."""

    __slots__ = ("_client", "_links")

    def __init__(self, client: NetworkClient) -> None:
        self._client = client
        self._links: dict[int, Link] = {}

    def is_ready(self, node_id: int) -> bool:
        """Whether a request may go to a node now; a connection that is missing is begun."""
        link = self._client.ready_link(node_id)
        if link is None:
            return False
        self._links[node_id] = link
        return link.is_ready

    def of(self, node_id: int) -> Link:
        """The connection to a node that was asked about."""
        return self._links[node_id]
