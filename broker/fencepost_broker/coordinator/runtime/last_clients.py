"""Which client asked last about each transactional id: its producer, as far as anybody can tell.

It is not in the log: after a restart, or on another coordinator, it is known from the producer's
next request on.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from fencepost_broker.observability.explained import ExplainedClient
from fencepost_broker.ports import RemoteClient

_IDS_MAX: Final = 10_000
"""Those that were used longest ago are forgotten."""


class LastClients:
    """The last client of each of the transactional ids that were used last."""

    def __init__(self) -> None:
        self._by_id: OrderedDict[str, tuple[str | None, RemoteClient]] = OrderedDict()

    def note(self, transactional_id: str, client_id: str | None, client: RemoteClient) -> None:
        """A request about this id came from this client."""
        self._by_id[transactional_id] = (client_id, client)
        self._by_id.move_to_end(transactional_id)
        if len(self._by_id) > _IDS_MAX:
            self._by_id.popitem(last=False)

    def of(self, transactional_id: str) -> ExplainedClient | None:
        """Who asked last; ``None`` if nobody is known."""
        known = self._by_id.get(transactional_id)
        if known is None:
            return None
        client_id, client = known
        return ExplainedClient(client_id, client.address, client.is_connected)
