"""Which events are about a topic or a transaction.

A response need not name what its request was about (EndTxn's does not). So an exchange is followed
from the first of its events that names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fencepost_broker.observability.tap.datagrams import Event, EventKind
from fencepost_broker.observability.tap.summary import Summary

FOLLOWED_MAX: Final = 10_000
"""Connections with an exchange that is followed; beyond that the oldest is forgotten."""


class Following:
    """Remembers which exchanges were asked for; without wishes, everything is."""

    def __init__(self, topics: Iterable[str], transactional_ids: Iterable[str]) -> None:
        self._topics = frozenset(topics)
        self._transactional_ids = frozenset(transactional_ids)
        self._followed: dict[int, int] = {}
        """Connection -> correlation id; a connection has one request at a time."""

    def wants(self, event: Event, summary: Summary) -> bool:
        """Whether an event is one of those that were asked for."""
        if not (self._topics or self._transactional_ids):
            return True
        if event.api_key < 0:
            return False  # a connection's own: it is about nothing
        named = bool(
            self._topics & summary.topics or self._transactional_ids & summary.transactional_ids
        )
        followed = self._followed.get(event.connection) == event.correlation_id
        if event.kind is EventKind.RESPONSE:
            self._followed.pop(event.connection, None)
        elif named:
            self._followed.pop(event.connection, None)
            self._followed[event.connection] = event.correlation_id
            if len(self._followed) > FOLLOWED_MAX:
                del self._followed[next(iter(self._followed))]
        return named or followed
