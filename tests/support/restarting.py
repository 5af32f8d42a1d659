"""A broker of a test's own, Fencepost or Apache Kafka, which it stops and starts."""

from __future__ import annotations

import asyncio

from fencepost_broker import Broker

from tests.support.apache_kafka import ApacheKafka


class Restarting:
    """It comes back at the same address with its records."""

    def __init__(self, broker: Broker | ApacheKafka) -> None:
        self._broker = broker

    @property
    def bootstrap(self) -> str:
        """Where it is, also while it is stopped."""
        return self._broker.bootstrap

    async def start(self) -> None:
        """Return when it serves clients."""
        if isinstance(self._broker, Broker):
            await self._broker.start()
        else:
            await asyncio.to_thread(self._broker.start)

    async def stop(self) -> None:
        """Return when it is gone."""
        if isinstance(self._broker, Broker):
            await self._broker.stop()
        else:
            # In an orderly way it takes a minute to end, while clients are connected.
            await asyncio.to_thread(self._broker.kill)
