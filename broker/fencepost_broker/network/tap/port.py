"""The tap's UDP port, which is bound when a broker starts.

The rest of the tap is loaded with the first datagram: importing it takes a twentieth of a broker's
start, which a broker without subscribers saves.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, cast

import asyncio_dgram

from fencepost_broker.config import Settings
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.network.tap.facts import Facts

if TYPE_CHECKING:
    from fencepost_broker.network.tap.publisher import Tap


class TapPort:
    """The UDP socket that subscribers send to."""

    def __init__(self, server: SocketServer, settings: Settings, facts: Facts, log: Any) -> None:
        self._server = server
        self._settings = settings
        self._facts = facts
        self._log = log
        self._tap: Tap | None = None

    async def open(self, host: str, port: int) -> None:
        """Bind the socket to this address, and receive datagrams."""
        loop = asyncio.get_running_loop()
        # Bound here, because uvloop logs an error if it cannot bind a socket itself.
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
        bound = socket.socket(*found[0][:3])
        try:
            bound.setblocking(False)
            bound.bind(found[0][4])
        except OSError:
            bound.close()
            raise
        stream = await asyncio_dgram.from_socket(bound)
        self._stream = cast("asyncio_dgram.DatagramServer", stream)
        self._receiving = loop.create_task(self._receive())

    async def stop(self) -> None:
        """Tell subscribers that the broker stops, and close the socket."""
        self._receiving.cancel()
        await asyncio.gather(self._receiving, return_exceptions=True)
        if self._tap is not None:
            await self._tap.stop()
        self._stream.close()
        await asyncio.sleep(0)  # the loop closes the socket in its next turn

    @property
    def tap(self) -> Tap:
        """The tap, which answers datagrams and watches the server."""
        if self._tap is None:
            from fencepost_broker.network.tap.publisher import Tap

            self._tap = Tap(self._stream, self._server, self._settings, self._facts, self._log)
        return self._tap

    def stats(self) -> dict[str, int]:
        """Return the counts of subscribers, events and losses."""
        leases = None if self._tap is None else self._tap.leases
        return {
            "subscribers": 0 if leases is None else len(leases.active),
            "events_lost": self._server.metrics.tap_events_lost,
            "datagrams_ignored": 0 if leases is None else leases.ignored,
        }

    async def _receive(self) -> None:
        while True:
            try:
                data, source = await self._stream.recv()
            except asyncio_dgram.TransportClosed:
                return
            except OSError:
                continue  # the error is about an earlier datagram, whose receiver is gone
            await self.tap.take(data, cast("tuple[Any, ...]", source))


async def open_tap(
    server: SocketServer, settings: Settings, facts: Facts, listener_port: int, log: Any
) -> TapPort | None:
    """Open the tap if the settings say so; the broker starts even if that fails."""
    if not settings.may_be_watched:
        return None
    host = settings.tap_host
    port = listener_port if settings.tap_port < 0 else settings.tap_port
    tap = TapPort(server, settings, facts, log)
    try:
        await tap.open(host, port)
    except OSError as error:
        log.warning(
            "the tap is off, because its address is in use; see tap.port",
            host=host, port=port, error=error.strerror or str(error),
        )  # fmt: skip
        return None
    return tap
