"""Several watchers of one server, which knows them as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.network.dispatcher import Watcher

ConnectionT = TypeVar("ConnectionT")


class _Watchers(Watcher[ConnectionT]):
    """Tells several watchers everything, in order."""

    def __init__(self, watchers: Sequence[Watcher[ConnectionT]]) -> None:
        self.watchers = tuple(watchers)

    def opened(self, connection: ConnectionT) -> None:
        for each in self.watchers:
            each.opened(connection)

    def requested(self, request: Request) -> None:
        for each in self.watchers:
            each.requested(request)

    def parked(self, request: Request) -> None:
        for each in self.watchers:
            each.parked(request)

    def answered(self, request: Request, pieces: Pieces) -> None:
        for each in self.watchers:
            each.answered(request, pieces)

    def dropped(self, connection: ConnectionT, reason: str) -> None:
        for each in self.watchers:
            each.dropped(connection, reason)

    def closed(self, connection: ConnectionT, reason: str) -> None:
        for each in self.watchers:
            each.closed(connection, reason)


class Watched(Protocol[ConnectionT]):
    """A server, as far as it is watched."""

    watcher: Watcher[ConnectionT] | None


def watch(server: Watched[ConnectionT], watcher: Watcher[ConnectionT]) -> None:
    """Tell a watcher of everything from now on."""
    others = _watchers_of(server)
    if watcher not in others:
        server.watcher = _Watchers([*others, watcher]) if others else watcher


def unwatch(server: Watched[ConnectionT], watcher: Watcher[ConnectionT]) -> None:
    """Tell a watcher nothing any more."""
    watchers = _watchers_of(server)
    if watcher in watchers:
        left = [each for each in watchers if each is not watcher]
        server.watcher = _Watchers(left) if len(left) > 1 else next(iter(left), None)


def _watchers_of(server: Watched[ConnectionT]) -> Sequence[Watcher[ConnectionT]]:
    if isinstance(server.watcher, _Watchers):
        return server.watcher.watchers
    return () if server.watcher is None else (server.watcher,)
