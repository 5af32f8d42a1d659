"""The local port that stands for one broker, and its clients."""

from __future__ import annotations

import asyncio
import socket
import ssl
from functools import partial
from typing import Final

from fencepost_broker.ports import Address
from fencepost_broker.server.proxy.broker import ProxiedBroker
from fencepost_broker.server.proxy.broker_end import BrokerEnd
from fencepost_broker.server.proxy.client_end import ClientEnd
from fencepost_broker.server.proxy.recorded import RecordedClient

CONNECT_S: Final = 30.0
"""As ``socket.connection.setup.timeout.max.ms`` of Kafka's clients."""
_BACKLOG: Final = 128


class LocalPort:
    """A port that stands for a broker."""

    def __init__(self, broker: ProxiedBroker, sock: socket.socket) -> None:
        self.broker = broker
        self.number: int = sock.getsockname()[1]
        self._sock = sock
        self._server: asyncio.Server | None = None
        self._clients: dict[ClientEnd, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        """Accept clients."""
        self._server = await asyncio.get_running_loop().create_server(
            self._make_client,
            sock=self._sock,
            ssl=self.broker.context.to_clients,
        )

    def _make_client(self) -> asyncio.BufferedProtocol:
        client = ClientEnd(self.broker, self._opened, self._closed)
        recording = self.broker.context.recording
        return client if recording is None else RecordedClient(client, recording)

    async def close(self) -> None:
        """Close the port and all connections."""
        if self._server is not None:
            self._server.close()
        self._sock.close()
        for client in list(self._clients):
            client.end()
        while self._clients:
            await asyncio.sleep(0)  # the loop reports a loss in a later turn
            for client in list(self._clients):
                if client.transport is not None:
                    client.transport.abort()

    def _opened(self, client: ClientEnd) -> None:
        self._clients[client] = asyncio.get_running_loop().create_task(self._connect(client))

    def _closed(self, client: ClientEnd) -> None:
        self._clients.pop(client).cancel()
        self.broker.faults.forget(client)

    async def _connect(self, client: ClientEnd) -> None:
        """Connect to the broker for a client."""
        reasons = []
        for address in self.broker.addresses:
            try:
                await self._connect_to(address, client.broker_end)
            except OSError as error:
                reasons.append(f"{address.bootstrap}: {_why(error)}")
            else:
                client.connected()
                return
        self.broker.context.log.warning(
            "the upstream broker cannot be reached",
            node=self.broker.node_id, client=client.client.address, reason="; ".join(reasons),
        )  # fmt: skip
        client.end()

    async def _connect_to(self, address: Address, end: BrokerEnd) -> None:
        context = self.broker.context.to_brokers
        make = partial(
            asyncio.get_running_loop().create_connection, lambda: end, address.host, address.port
        )
        async with asyncio.timeout(CONNECT_S):
            if context is None:
                await make()
            else:
                await make(ssl=context, server_hostname=address.host)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; clients may connect before they are accepted."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    sock.setblocking(False)
    return sock


def _why(error: OSError) -> str:
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or error}"
    if isinstance(error, TimeoutError):
        return f"no answer in {CONNECT_S:.0f} s"
    return error.strerror or str(error)
