"""Connections to other processes of the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from fencepost_client.adapters.link import Link
from fencepost_client.connection import Connection

from fencepost_broker.node import Node

_DIAL_S: Final = 10.0


@asynccontextmanager
async def dialled(
    host: str, port: int, client_id: str, on_lost: Callable[[], None] = lambda: None
) -> AsyncIterator[Link]:
    """A connection over which requests may be sent, closed at the end."""
    loop = asyncio.get_running_loop()
    machine = Connection(f"{host}:{port}", client_id)
    async with asyncio.timeout(_DIAL_S):
        _, link = await loop.create_connection(
            lambda: Link(machine, loop, lambda _: on_lost()), host, port
        )
        try:
            await link.ready
        except BaseException:
            link.close()
            raise
    try:
        yield link
    finally:
        link.close()
        await asyncio.wait([link.closed])  # which a cancellation ends, and does not cancel


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
