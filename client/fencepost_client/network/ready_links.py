"""The connections that one run of a loop may use."""

from __future__ import annotations

from fencepost_client.network.link import Link
from fencepost_client.network.network_client import NetworkClient


class ReadyLinks:
    """Says which nodes have a ready connection, and keeps those connections."""

    __slots__ = ("_client", "_links")

    def __init__(self, client: NetworkClient) -> None:
        self._client = client
        self._links: dict[int, Link] = {}

    def is_ready(self, node_id: int) -> bool:
        """Whether a node can be sent a request now; begins to connect if it has no connection."""
        link = self._client.ready_link(node_id)
        if link is None:
            return False
        self._links[node_id] = link
        return link.is_ready

    def of(self, node_id: int) -> Link:
        """The connection to a node that ``is_ready`` was asked about."""
        return self._links[node_id]
