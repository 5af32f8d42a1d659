"""The tap's watcher: it turns a server's traffic into events and sends them to subscribers.

It watches the server only while there are subscribers.
Events go to each subscription's outbox at once, without waiting; a task sends the outboxes every
few milliseconds. An error in this module ends the watching, never a request.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from typing import Any, Final, cast

import asyncio_dgram

from fencepost_broker.apis.controller.registry import SERVED_BY_CONTROLLER
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.config import Settings
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.network.tap.facts import Facts
from fencepost_broker.network.watchers import unwatch, watch
from fencepost_broker.observability.tap.datagrams import (
    Event,
    EventKind,
    Refused,
    encode,
    event_head,
)
from fencepost_broker.observability.tap.hiding import (
    BEGINNING_BYTES,
    METADATA_APIS,
    is_of_metadata,
    shown_request,
    shown_response,
)
from fencepost_broker.observability.tap.leases import OUTBOX_DATAGRAMS, Address, Leases, TapLimits

HIDES: Final = {
    api.key.value: (api.hides_in_request, api.hides_in_response)
    for api in (*SERVED, *SERVED_BY_CONTROLLER)
    if api.hides_in_request is not None
}
"""The functions that hide secrets, for requests and for responses."""
GATHER_S: Final = 0.005
"""The time for which events wait to share a datagram, too short to be noticed."""
_SIZE_BYTES: Final = 4
_SECRET_BYTES: Final = 32


class _Watched:
    """What the tap remembers of a connection while there are subscribers."""

    __slots__ = ("address", "client_id", "number", "started_ns")

    def __init__(self, number: int, connection: Connection) -> None:
        transport = connection.transport
        peer = transport.get_extra_info("peername") if transport is not None else None
        host, port = peer[:2] if peer else (connection.client_host.lstrip("/"), 0)
        self.number = number
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.client_id: str | None = None
        self.started_ns = 0


class Tap:
    """Watches one server for all subscribers."""

    def __init__(
        self, stream: asyncio_dgram.DatagramServer, server: SocketServer, settings: Settings,
        facts: Facts, log: Any,
    ) -> None:  # fmt: skip
        limits = TapLimits(
            settings.tap_subscribers_max, settings.tap_lease_ms, settings.tap_datagram_max_bytes
        )
        self._stream = stream
        self._server = server
        self._log = log
        self._loop = asyncio.get_running_loop()
        self.leases = Leases(os.urandom(_SECRET_BYTES), limits, facts)
        self._connections: dict[Connection, _Watched] = {}
        self._numbers = 0
        self._something = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._sending = self._loop.create_task(self._send())

    async def stop(self) -> None:
        """Send the outboxes, and tell subscribers that the broker has stopped."""
        unwatch(self._server, self)
        if self._timer is not None:
            self._timer.cancel()
        self._sending.cancel()
        await asyncio.gather(self._sending, return_exceptions=True)
        goodbye = encode(Refused("the broker has stopped"))
        for lease in self.leases.active.values():
            await self._empty(lease.address)
            await self._send_one(goodbye, lease.address)

    # -- datagrams -----------------------------------------------------------------------------

    async def take(self, data: bytes, address: Address) -> None:
        """Answer a datagram, or ignore it."""
        try:
            await self._empty(address)  # earlier events go out before the answer
            answer = self.leases.receive(self._now_ms(), data, address)
        except Exception:  # noqa: BLE001 (a bug in answering one must not leave the others deaf)
            self._log.exception("the tap failed to answer: please report this")
            return
        if answer is not None:
            await self._send_one(answer, address)
            self._attach()

    async def _send(self) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            await asyncio.sleep(GATHER_S)
            for address in list(self.leases.active):
                await self._empty(address)
                await asyncio.sleep(0)

    async def _empty(self, address: Address) -> None:
        """Send a subscriber's outbox, up to its maximum size."""
        for _ in range(OUTBOX_DATAGRAMS + 1):
            lease = self.leases.active.get(address)
            datagram = lease.take() if lease is not None else None
            if datagram is None:
                return
            await self._send_one(datagram, address)

    async def _send_one(self, datagram: bytes, address: Address) -> None:
        with suppress(
            OSError, asyncio_dgram.TransportClosed
        ):  # these events are lost; the subscriber sees the gap
            await self._stream.send(datagram, address)

    # -- subscribers ---------------------------------------------------------------------------

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def _attach(self) -> None:
        """Watch the server if there are subscribers, else stop watching."""
        self.leases.expire(self._now_ms())
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline_ms = self.leases.deadline()
        if deadline_ms is None:
            unwatch(self._server, self)
            self._connections.clear()
        else:
            watch(self._server, self)
            self._timer = self._loop.call_at(deadline_ms / 1000 + GATHER_S, self._attach)

    # -- events of the server -----------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        """Send an event: a client has connected."""
        self._tell(EventKind.OPENED, connection)

    def requested(self, request: Request) -> None:
        """Send an event: a request is about to be carried out."""
        connection = cast("Connection", request.peer)
        watched = self._watched(connection)
        watched.client_id = request.client_id
        watched.started_ns = time.perf_counter_ns()
        self._tell(EventKind.REQUEST, connection, request, [request.frame], len(request.frame))

    def parked(self, request: Request) -> None:
        """Send an event: a request waits."""
        connection = cast("Connection", request.peer)
        self._tell(EventKind.PARKED, connection, request)

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Send an event: a request is answered."""
        connection = cast("Connection", request.peer)
        watched = self._watched(connection)
        started_ns, watched.started_ns = watched.started_ns, 0
        elapsed_us = (time.perf_counter_ns() - started_ns) // 1000 if started_ns else -1
        size = max(0, sum(map(len, pieces)) - _SIZE_BYTES)
        self._tell(
            EventKind.RESPONSE, connection, request, pieces, size,
            skip=_SIZE_BYTES, elapsed_us=elapsed_us,
        )  # fmt: skip

    def dropped(self, connection: Connection, reason: str) -> None:
        """Send an event: the broker closes a connection."""
        self._tell(EventKind.DROPPED, connection, reason=reason)

    def closed(self, connection: Connection, reason: str) -> None:
        """Send an event: a connection is closed."""
        self._tell(EventKind.CLOSED, connection, reason=reason)
        self._connections.pop(connection, None)

    def _watched(self, connection: Connection) -> _Watched:
        watched = self._connections.get(connection)
        if watched is None:
            self._numbers += 1
            watched = self._connections[connection] = _Watched(self._numbers, connection)
        return watched

    def _tell(self, *arguments: Any, **named: Any) -> None:
        """Publish an event; an exception must not fail the request."""
        try:
            self._put(*arguments, **named)
        except Exception:  # noqa: BLE001 (told, and the watching is over)
            self._log.exception("the tap failed and is off: please report this")
            unwatch(self._server, self)
            self.leases.active.clear()

    def _put(
        self, kind: EventKind, connection: Connection, request: Request | None = None,
        pieces: Pieces | None = None, size: int = 0, *, skip: int = 0, elapsed_us: int = -1,
        reason: str = "",
    ) -> None:  # fmt: skip
        """Put an event into the outbox of each subscription that it matches."""
        watched = self._watched(connection)
        api_key = -1 if request is None else request.api_key
        leases = [
            lease
            for lease in self.leases.active.values()
            if lease.wants(api_key, watched.client_id)
        ]
        if not leases:
            return
        software = f"{connection.client_software_name} {connection.client_software_version}"
        head = event_head(
            Event(
                kind, time.time_ns() // 1000, watched.number, watched.address, software.strip(),
                watched.client_id, api_key,
                -1 if request is None else request.version,
                -1 if request is None else request.correlation_id,
                elapsed_us, size, reason,
            )
        )  # fmt: skip
        if pieces and request is not None and api_key in HIDES:
            in_request, in_response = HIDES[api_key]
            pieces = [
                shown_response(pieces, skip, api_key, request.version, in_response)
                if skip
                else shown_request(request.frame, in_request)
            ]
            skip = 0
        elif pieces and skip and request is not None and api_key in METADATA_APIS:
            beginning = _beginning(pieces, skip, BEGINNING_BYTES)
            if is_of_metadata(api_key, request.version, beginning):
                pieces = []
        frame = _beginning(pieces or [], skip, max(lease.snap_bytes for lease in leases))
        for lease in leases:
            if not lease.add(head, frame):
                self._server.metrics.tap_events_lost += 1
        self._something.set()


def _beginning(pieces: Pieces, skip: int, bytes_max: int) -> bytes:
    """Return the first bytes of a frame, after its size."""
    left = skip + bytes_max
    taken = []
    for piece in pieces:
        taken.append(bytes(piece[:left]))
        left -= len(taken[-1])
        if left <= 0:
            break
    return b"".join(taken)[skip:]
