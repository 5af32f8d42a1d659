"""A network client by itself, for requests and procedures that no class offers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fencepost_client.network.client_settings import ClientSettings, read_bootstrap
from fencepost_client.network.network_client import NetworkClient


@asynccontextmanager
async def connected(bootstrap: str) -> AsyncIterator[NetworkClient]:
    async with client_of(ClientSettings(read_bootstrap(bootstrap))) as client:
        yield client


@asynccontextmanager
async def client_of(settings: ClientSettings) -> AsyncIterator[NetworkClient]:
    client = NetworkClient(settings)
    try:
        await client.start()
        yield client
    finally:
        await client.close()
