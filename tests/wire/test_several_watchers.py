"""Several watchers of one server, as the tap and the control port are."""

from __future__ import annotations

import pytest
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.watchers import unwatch, watch
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.broker import Client, running_broker
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio


class Heard:
    """A watcher that notes what it is told of."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def opened(self, connection: Connection) -> None:
        self.told.append("opened")

    def requested(self, request: Request) -> None:
        self.told.append("requested")

    def parked(self, request: Request) -> None:
        self.told.append("parked")

    def answered(self, request: Request, pieces: Pieces) -> None:
        self.told.append("answered")

    def dropped(self, connection: Connection, reason: str) -> None:
        self.told.append("dropped")

    def closed(self, connection: Connection, reason: str) -> None:
        self.told.append("closed")


async def test_each_hears_everything_until_it_stops_watching() -> None:
    async with running_broker() as broker:
        server = broker.process.socket_server
        first, second, third = Heard(), Heard(), Heard()
        for each in (first, second, second, third):
            watch(server, each)
        async with Client(f"{broker.host}:{broker.port}") as client:
            await client.ask(MetadataRequest([]), 12)
            unwatch(server, second)
            unwatch(server, second)
            await client.ask(MetadataRequest([]), 12)
            assert client.streams is not None
            client.streams[1].write(b"\x00\x00\x00\x0a" + b"\x7f" * 10)
            await until(lambda: "closed" in first.told)
        asked = ["requested", "answered"]
        assert second.told == ["opened", *asked]
        assert first.told == third.told == ["opened", *asked, *asked, "dropped", "closed"]
        unwatch(server, first)
        assert server.watcher is third
        unwatch(server, third)
        assert server.watcher is None
