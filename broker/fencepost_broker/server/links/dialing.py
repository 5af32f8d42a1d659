"""Connections to other processes of the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from fencepost_client.network.link import Link
from fencepost_client.network.security import Security
from fencepost_client.requests.connection import Connection
from fencepost_protocol.apis import Message
from fencepost_protocol.framing import api_key_of

from fencepost_broker.config import Settings
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.logins import broker_listener
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.server.links.security import PLAIN_TEXT, security_of

DIAL_MS: Final = 10_000
"""As ``socket.connection.setup.timeout.ms`` of Kafka's clients."""


class PeerAddress(NamedTuple):
    """Address of another process, and how to connect to it."""

    host: str
    port: int
    security: Security = PLAIN_TEXT

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@asynccontextmanager
async def dialled(
    address: PeerAddress,
    client_id: str,
    on_lost: Callable[[], None] = lambda: None,
    *,
    within_ms: int = DIAL_MS,
) -> AsyncIterator[Link]:
    """Open a connection for requests, and close it at the end."""
    loop = asyncio.get_running_loop()
    context = address.security.context
    machine = Connection(str(address), client_id, address.security.login)
    try:
        async with asyncio.timeout(within_ms / 1000):
            _, link = await loop.create_connection(
                lambda: Link(machine, loop, lambda _: on_lost()),
                address.host,
                address.port,
                ssl=context,
                server_hostname=None if context is None else address.host,
            )
            try:
                await link.ready
            except BaseException:
                link.close()
                raise
    except TimeoutError:
        text = f"{address} did not answer within {within_ms} ms of connecting"
        raise TimeoutError(text) from None
    try:
        yield link
    finally:
        link.close()
        await asyncio.wait([link.closed])  # which a cancellation ends, and does not cancel


class OutgoingRequest(NamedTuple):
    """A request, and the callback for its answer (``None`` if there is none)."""

    message: Message
    then: Callable[[Any], None]


def send(link: Link, request: OutgoingRequest, timeout_ms: int) -> None:
    """Send a request; raises ``KafkaError`` if that fails, and then does not call the callback."""
    version = link.machine.choose_version(api_key_of(request.message))
    reply = link.send(request.message, version, timeout_ms)
    reply.add_done_callback(partial(_answered, request.then))


def _answered(then: Callable[[Any], None], reply: asyncio.Future[Any]) -> None:
    lost = reply.cancelled() or reply.exception() is not None
    then(None if lost else reply.result()[0])


class UnknownBrokerError(OSError):
    """A broker has no address; the text is for users."""


def address_of_broker(image: MetadataImage, settings: Settings, broker_id: int) -> PeerAddress:
    """Return the address of a broker's inter-broker listener, from the metadata."""
    broker = image.cluster.brokers.get(broker_id)
    if broker is None or not broker.endpoints:
        raise UnknownBrokerError(f"broker {broker_id} is not registered")
    peers = broker_listener(settings)
    chosen = [each for each in broker.endpoints if each.name == peers.listener] or broker.endpoints
    try:
        return PeerAddress(chosen[0].host, chosen[0].port, security_of(settings, peers))
    except SettingsError as error:  # it was right at start
        raise UnknownBrokerError(str(error)) from error
