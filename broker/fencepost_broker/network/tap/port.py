"""The tap's UDP port, which is bound when a broker starts.

All else of the tap is imported and made when the first datagram comes: that takes more than a
twentieth of a broker's start, which a broker without subscribers saves. (On Windows, whose loop
cannot tell when it comes, it is made right after the start.)
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any, cast

from fencepost_broker.config import Settings
from fencepost_broker.network.listeners import family_of
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.network.tap.facts import Facts

if TYPE_CHECKING:
    import asyncio_dgram

    from fencepost_broker.network.tap.publisher import Tap


class TapPort:
    """The UDP socket that subscribers send to."""

    def __init__(self, server: SocketServer, settings: Settings, facts: Facts, log: Any) -> None:
        self._server = server
        self._settings = settings
        self._facts = facts
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._receiving: asyncio.Task[None] | None = None
        self.tap: Tap | None = None
        """``None`` until the first datagram."""

    async def open(self, host: str, port: int) -> None:
        """Bind the socket to this address, and wait for the first datagram."""
        family: int | None = family_of(host)
        address: tuple[Any, ...] = (host, port)
        if family is None:
            found = await self._loop.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
            family, _, _, _, address = found[0]
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.setblocking(False)
            self._socket.bind(address)
        except OSError:
            self._socket.close()
            raise
        try:
            self._loop.add_reader(self._socket, self._begin)
        except NotImplementedError:  # Windows' loop has no readers
            self._receiving = self._loop.create_task(self._receive())

    def _begin(self) -> None:
        self._loop.remove_reader(self._socket)
        self._receiving = self._loop.create_task(self._receive())

    async def _stream(self) -> asyncio_dgram.DatagramServer:
        import asyncio_dgram

        making = asyncio.ensure_future(asyncio_dgram.from_socket(self._socket))
        try:
            return cast("asyncio_dgram.DatagramServer", await asyncio.shield(making))
        except asyncio.CancelledError:
            (await making).close()  # uvloop would leave it open
            raise

    async def _receive(self) -> None:
        try:
            stream = await self._stream()
            import asyncio_dgram

            from fencepost_broker.network.tap.publisher import Tap

            self.tap = Tap(stream, self._server, self._settings, self._facts, self._log)
        except Exception:  # noqa: BLE001 (whatever an import may raise)
            self._log.exception("the tap could not be made: please report this")
            return
        try:
            while True:
                try:
                    data, source = await stream.recv()
                except OSError:
                    continue  # the error is about an earlier datagram, whose receiver is gone
                await self.tap.take(data, cast("tuple[Any, ...]", source))
        except asyncio_dgram.TransportClosed:
            return
        finally:
            await self.tap.stop()
            stream.close()

    async def stop(self) -> None:
        """Tell subscribers that the broker stops, and close the socket."""
        if self._receiving is None:
            self._loop.remove_reader(self._socket)
        else:
            self._receiving.cancel()
            await asyncio.gather(self._receiving, return_exceptions=True)
        if self.tap is None:
            self._socket.close()
        await asyncio.sleep(0)  # the loop closes the stream's socket in its next turn

    def stats(self) -> dict[str, int]:
        """Return the counts of subscribers, events and losses."""
        leases = None if self.tap is None else self.tap.leases
        return {
            "subscribers": 0 if leases is None else len(leases.active),
            "events_lost": self._server.metrics.tap_events_lost,
            "datagrams_ignored": 0 if leases is None else leases.ignored,
        }


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
