"""A sample of a server's requests: what watching costs is bounded, however many requests come.

Of each API, ``REQUESTS_PER_SECOND`` are told, with their answers, and up to ``BURST`` of them at
once after a calm. Then the API rests for a moment: its requests take the server's direct path, and
the server's own counters say how many were left out.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.generated.index import APIS

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.network.dispatcher import Watcher
from fencepost_broker.network.watchers import Watched, unwatch, watch
from fencepost_broker.server.control.events import EventHub

if TYPE_CHECKING:
    from fencepost_broker.network.socket_server import SocketServer

REQUESTS_PER_SECOND: Final = 50
BURST: Final = 500
TICKS_PER_SECOND: Final = 5
MORE_PER_TICK: Final = REQUESTS_PER_SECOND // TICKS_PER_SECOND


class SampledRequests(Watcher[Any], Watched[Any]):
    """Watches a server for one watcher, or for several that ``watch`` makes one of."""

    def __init__(
        self, server: Watched[Any], events: EventHub, direct: SocketServer | None = None
    ) -> None:
        """``direct`` is the server, if it can carry out requests without showing them."""
        self._server = server
        self._direct = direct
        self._counted: dict[int, int] = {}
        """By API that rests: the server's count of its requests, as far as it was told."""
        self._events = events
        self._watcher: Watcher[Any] | None = None
        self._left: dict[int, int] = {}
        """How many requests of an API may be told now; ``BURST`` if there is no entry."""
        self._left_out: dict[int, int] = {}
        """How many requests of an API were left out since the streams were told."""
        self._open: set[Request] = set()
        """The told requests without an answer."""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def watcher(self) -> Watcher[Any] | None:
        """The watcher that gets the sample; the server is watched while there is one."""
        return self._watcher

    @watcher.setter
    def watcher(self, watcher: Watcher[Any] | None) -> None:
        self._watcher = watcher
        if watcher is not None:
            watch(self._server, self)
            return
        unwatch(self._server, self)
        self._open.clear()
        self._left.clear()
        self._left_out.clear()
        self._counted.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # -- what the server tells ------------------------------------------------------------------

    def requested(self, request: Request) -> None:
        """Tell a request, or count it."""
        api_key = request.api_key
        left = self._left.get(api_key, BURST)
        if not left:
            if api_key not in self._counted:
                self._left_out[api_key] = self._left_out.get(api_key, 0) + 1
                self._rest(api_key)
            return
        self._left[api_key] = left - 1
        if self._timer is None:
            self._tick_later()
        self._open.add(request)
        assert self._watcher is not None
        self._watcher.requested(request)

    def parked(self, request: Request) -> None:
        """Tell that a request of the sample waits."""
        if request in self._open and self._watcher is not None:
            self._watcher.parked(request)

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Tell the answer to a request of the sample."""
        if request in self._open:
            self._open.discard(request)
            if self._watcher is not None:
                self._watcher.answered(request, pieces)

    def opened(self, connection: Any) -> None:
        """Tell that a client has connected."""
        if self._watcher is not None:
            self._watcher.opened(connection)

    def dropped(self, connection: Any, reason: str) -> None:
        """Tell that the broker closes a connection."""
        if self._watcher is not None:
            self._watcher.dropped(connection, reason)

    def closed(self, connection: Any, reason: str) -> None:
        """Tell that a connection is closed."""
        self._open = {each for each in self._open if each.peer is not connection}
        if self._watcher is not None:
            self._watcher.closed(connection, reason)

    # -- time -----------------------------------------------------------------------------------

    def _tick_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(1 / TICKS_PER_SECOND, self._tick)

    def _tick(self) -> None:
        """Let more requests be told, and say how many were left out."""
        self._timer = None
        for api_key in self._counted:
            self._count(api_key)
        more = {each: left + MORE_PER_TICK for each, left in self._left.items()}
        self._left = {each: left for each, left in more.items() if left < BURST}
        self._wake()
        if self._left_out:
            counts = {APIS[each][0]: count for each, count in self._left_out.items()}
            self._left_out.clear()
            self._events.leave_out(counts)
        if self._left:
            self._tick_later()

    # -- the server's direct path ---------------------------------------------------------------

    def _rest(self, api_key: int) -> None:
        """Let the requests of an API take the direct path, unless others watch them, too."""
        direct = self._direct
        if direct is not None and direct.watcher is self and api_key in direct.apis:
            self._counted[api_key] = self._requests(direct, api_key)
            direct.resting |= {api_key}
            direct.make_routes([direct.apis[api_key][0]])

    def _count(self, api_key: int) -> None:
        """Count the requests of an API that were left out since the last time."""
        assert self._direct is not None
        now = self._requests(self._direct, api_key)
        new, self._counted[api_key] = now - self._counted[api_key], now
        if new:
            self._left_out[api_key] = self._left_out.get(api_key, 0) + new

    def _wake(self) -> None:
        """See the requests of all APIs again."""
        if self._direct is not None and self._counted:
            apis = [self._direct.apis[each][0] for each in self._counted]
            self._counted.clear()
            self._direct.resting = frozenset()
            self._direct.make_routes(apis)

    @staticmethod
    def _requests(server: SocketServer, api_key: int) -> int:
        return sum(server.metrics.apis[api_key].requests.values())
