"""The connections of a process: made for each use, or kept for the next one.

A worker of Spark's does the same for every micro-batch. Connecting, and learning the cluster, would
be most of what it does for a small one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from fencepost_client.clients.blocking import portal
from fencepost_client.clients.blocking.portal import Portal
from fencepost_client.network.network_client import NetworkClient

from fencepost_pipeline.sink.settings import SinkSettings

_KEPT_MS: Final = 300_000


@dataclass(frozen=True, slots=True)
class Connected:
    """A connected client, and the portal whose loop it lives in."""

    portal: Portal
    client: NetworkClient
    made_for: tuple[Mapping[str, str], int] = field(repr=False)  # with passwords
    until_ms: int
    """When it is kept no longer, by the client's clock."""

    def close(self) -> None:
        """Close the connections."""
        try:
            self.portal.call(self.client.close)
        finally:
            portal.leave(self.portal)


class _Process:
    keeps = False
    kept: Connected | None = None


def keep() -> None:
    """Keep connections from now on: this process has one use after the other."""
    _Process.keeps = True


def close() -> None:
    """Close what is kept, and keep nothing from now on."""
    _Process.keeps = False
    if _Process.kept is not None:
        kept, _Process.kept = _Process.kept, None
        kept.close()


@contextmanager
def connected(settings: SinkSettings) -> Iterator[Connected]:
    """Connect, unless connections with these settings are kept.

    After an error nothing is kept. What is known of topics is dropped at the end: they may have
    been deleted and made anew by the next use. Files of certificates are read when a connection is
    made, so that none is kept for long.
    """
    wanted = settings.client, settings.api_timeout_ms
    here, _Process.kept = _Process.kept, None
    if here is not None and (here.made_for != wanted or here.client.now_ms() > here.until_ms):
        here.close()
        here = None
    if here is None:
        here = _connect(settings, wanted)
    try:
        yield here
    except BaseException:
        here.close()
        raise
    if _Process.keeps:
        here.portal.call(_forget_topics, here.client)
        _Process.kept = here
    else:
        here.close()


def _connect(settings: SinkSettings, wanted: tuple[Mapping[str, str], int]) -> Connected:
    async def connect() -> NetworkClient:
        client = NetworkClient(settings.client_settings())
        try:
            await client.start()
        except BaseException:
            await client.close()
            raise
        return client

    here = portal.enter()
    try:
        client = here.call(connect)
        return Connected(here, client, wanted, client.now_ms() + _KEPT_MS)
    except BaseException:
        portal.leave(here)
        raise


async def _forget_topics(client: NetworkClient) -> None:
    client.cluster.forget_topics()
