"""Connections to other processes of the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, NamedTuple

from fencepost_client.adapters.link import Link
from fencepost_client.connection import Connection
from fencepost_protocol.apis import Message
from fencepost_protocol.framing import api_key_of

from fencepost_broker.node import Node

DIAL_MS: Final = 10_000
"""As ``socket.connection.setup.timeout.ms`` of Kafka's clients."""


@asynccontextmanager
async def dialled(
    host: str,
    port: int,
    client_id: str,
    on_lost: Callable[[], None] = lambda: None,
    *,
    within_ms: int = DIAL_MS,
) -> AsyncIterator[Link]:
    """A connection over which requests may be sent, closed at the end."""
    loop = asyncio.get_running_loop()
    machine = Connection(f"{host}:{port}", client_id)
    try:
        async with asyncio.timeout(within_ms / 1000):
            _, link = await loop.create_connection(
                lambda: Link(machine, loop, lambda _: on_lost()), host, port
            )
            try:
                await link.ready
            except BaseException:
                link.close()
                raise
    except TimeoutError:
        text = f"nothing came from {host}:{port} within {within_ms} ms of connecting"
        raise TimeoutError(text) from None
    try:
        yield link
    finally:
        link.close()
        await asyncio.wait([link.closed])  # which a cancellation ends, and does not cancel


class Asked(NamedTuple):
    """A request, and who hears its answer: ``None`` if there is none."""

    message: Message
    then: Callable[[Any], None]


def send(link: Link, asked: Asked, timeout_ms: int) -> None:
    """Send a request; raises a ``KafkaError`` when it cannot be, and then nobody hears anything."""
    version = link.machine.choose_version(api_key_of(asked.message))
    reply = link.send(asked.message, version, timeout_ms)
    reply.add_done_callback(partial(_answered, asked.then))


def _answered(then: Callable[[Any], None], reply: asyncio.Future[Any]) -> None:
    lost = reply.cancelled() or reply.exception() is not None
    then(None if lost else reply.result()[0])


class UnknownBrokerError(OSError):
    """There is no address for a broker: the text says why, for a person."""


def address_of(node: Node, broker_id: int) -> tuple[str, int]:
    """Where another broker is asked: its inter-broker listener, by the metadata."""
    broker = node.image.brokers.get(broker_id)
    if broker is None or not broker.endpoints:
        raise UnknownBrokerError(f"broker {broker_id} is not registered")
    name = node.settings.inter_broker_listener_name
    chosen = [each for each in broker.endpoints if each.name == name] or broker.endpoints
    return chosen[0].host, chosen[0].port
