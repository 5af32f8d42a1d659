"""The client that last sent a request for each transactional id, which is probably its producer.

This is not in the log: after a restart, or on a new coordinator, it is unknown until the producer's
next request.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from fencepost_broker.observability.explained import ExplainedClient
from fencepost_broker.ports import RemoteClient

_IDS_MAX: Final = 10_000
"""The limit of ids; beyond it the least recently used one is dropped."""


class LastClients:
    """The last client of each recently used transactional id."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, tuple[str | None, RemoteClient]] = OrderedDict()

    def note(self, transactional_id: str, client_id: str | None, client: RemoteClient) -> None:
        """Record that this client has sent a request for this id."""
        by_id = self._by_id
        by_id[transactional_id] = (client_id, client)
        by_id.move_to_end(transactional_id)
        if len(by_id) > _IDS_MAX:
            by_id.popitem(last=False)

    def of(self, transactional_id: str) -> ExplainedClient | None:
        """Return the last client of an id; ``None`` if it is unknown."""
        known = self._by_id.get(transactional_id)
        if known is None:
            return None
        client_id, client = known
        return ExplainedClient(client_id, client.address, client.is_connected)
