"""Filters of messages, for ``fencepost dissect`` and ``fencepost tap``."""

from __future__ import annotations

import argparse
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Final

from fencepost_protocol.commands import did_you_mean

if TYPE_CHECKING:  # a broker imports this, and needs no schemas
    from fencepost_protocol.dissect.summary import Summary

FOLLOWED_MAX: Final = 10_000
"""The number of exchanges that are tracked; above that, the oldest is dropped."""


def add_filters(parser: argparse.ArgumentParser, topic: str = "exchanges about this topic") -> None:
    """The options."""
    only = parser.add_argument_group("what to show", "each may be given several times")
    only.add_argument("--api", action="append", default=[], help="by name or number")
    only.add_argument(
        "--client", action="append", default=[], metavar="ID", help="client id; shop* is a prefix"
    )
    only.add_argument("--topic", action="append", default=[], help=topic)
    only.add_argument(
        "--transactional-id", action="append", default=[], metavar="ID",
        help="exchanges about this transactional id",
    )  # fmt: skip


def api_key(text: str) -> int:
    """The API with a name or number; a ``ValueError`` suggests the nearest name."""
    from fencepost_protocol.generated.index import APIS

    names = {entry[0].lower(): key for key, entry in APIS.items()}
    if text.lower() in names:
        return names[text.lower()]
    if text.isdigit() and int(text) < 1 << 15:
        return int(text)
    near = did_you_mean(text, [entry[0] for entry in APIS.values()])
    raise ValueError(f"--api {text}: there is no such API{near}")


class Chosen:
    """By API and client id: what a message tells by itself, or its request."""

    def __init__(self, api_keys: Iterable[int], client_ids: Iterable[str]) -> None:
        client_ids = tuple(client_ids)
        self._api_keys = frozenset(api_keys)
        self._client_ids = frozenset(each for each in client_ids if not each.endswith("*"))
        self._client_starts = tuple(each[:-1] for each in client_ids if each.endswith("*"))

    def wants(self, api_key: int, client_id: str | None) -> bool:
        """Whether a message passes; a connection's own events have the key -1."""
        if self._api_keys and api_key not in self._api_keys:
            return False
        if not (self._client_ids or self._client_starts):
            return True
        if client_id is None:
            return False
        return client_id in self._client_ids or client_id.startswith(self._client_starts)


class Following:
    """By topic and transactional id, without which everything passes.

    A response need not name what its request was about (EndTxn's does not). So an exchange is
    followed from the first of its messages that names it.
    """

    def __init__(self, topics: Iterable[str], transactional_ids: Iterable[str]) -> None:
        self._topics = frozenset(topics)
        self._transactional_ids = frozenset(transactional_ids)
        self._followed: dict[Hashable, None] = {}

    def wants(self, exchange: Hashable, summary: Summary, *, is_response: bool) -> bool:
        """Whether a message passes; ``exchange`` is ``None`` for what belongs to none."""
        if not (self._topics or self._transactional_ids):
            return True
        if exchange is None:
            return False
        named = bool(
            self._topics & summary.topics or self._transactional_ids & summary.transactional_ids
        )
        followed = exchange in self._followed
        if is_response:
            self._followed.pop(exchange, None)
        elif named:
            self._followed.pop(exchange, None)
            self._followed[exchange] = None
            if len(self._followed) > FOLLOWED_MAX:
                del self._followed[next(iter(self._followed))]
        return named or followed
