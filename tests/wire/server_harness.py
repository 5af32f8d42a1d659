"""A server without a broker, and EndTxn requests that it answers."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from fencepost_broker.apis.cluster.api_versions import api_versions, read_api_versions
from fencepost_broker.apis.request import Request
from fencepost_broker.apis.served import Served
from fencepost_broker.config import Settings
from fencepost_broker.network import serving
from fencepost_broker.network.limits import Limits
from fencepost_broker.network.socket_server import SocketServer
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import ReadyList
from fencepost_protocol.framing import encode_request, read_response_head
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.index import ApiKey

_FREE = "whole:everybody"

VERSIONS_ONLY = (
    Served(ApiKey.API_VERSIONS, api_versions, _FREE, decode=read_api_versions, is_remembered=True),
)


@dataclass
class Log:
    """Keeps what would be logged."""

    lines: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def warning(self, event: str, **values: Any) -> None:
        self.lines.append((event, values))

    debug = warning

    def bind(self, **values: Any) -> Log:
        del values
        return self


class Parking:
    """A broker whose EndTxn waits until the test lets it go."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.versions = {api.key.value: api.versions for api in VERSIONS_ONLY}
        features = SimpleNamespace(levels={"transaction.version": 2})
        self.image = SimpleNamespace(last_offset=7, features=features)
        self.access = SimpleNamespace(authorizer=None)
        self.config = SimpleNamespace(settings=Settings())
        self.parked: list[Request] = []
        self.arrived = asyncio.Event()

    def end_txn(self, request: Request, message: EndTxnRequest) -> EndTxnResponse | None:
        if message.committed:
            return EndTxnResponse(producer_id=message.producer_id)
        self.parked.append(request)
        self.arrived.set()
        return None

    def let_go(self) -> None:
        request = self.parked.pop(0)
        request.release(EndTxnResponse(error_code=51))


@dataclass
class Client:
    """Raw bytes in and out."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def frame(self) -> memoryview:
        size = struct.unpack(">i", await self.reader.readexactly(4))[0]
        return memoryview(await self.reader.readexactly(size))

    async def end_txn_answer(self) -> tuple[int, EndTxnResponse]:
        frame = await self.frame()
        correlation_id, body = read_response_head(frame, 26, 5)
        return correlation_id, EndTxnResponse.decode(frame, 5, body)[0]


@dataclass
class Running:
    """A server and what the tests need of it."""

    server: SocketServer
    broker: Parking
    log: Log
    address: tuple[str, int]
    clients: list[Client] = field(default_factory=list)

    async def connect(self) -> Client:
        client = Client(*await asyncio.open_connection(*self.address))
        self.clients.append(client)
        return client


@asynccontextmanager
async def running(**limits: Any) -> AsyncIterator[Running]:
    broker, log = Parking(), Log()
    ready = ReadyList(asyncio.get_running_loop().call_soon)
    served = (
        *VERSIONS_ONLY,
        Served(ApiKey.END_TXN, lambda broker, *asked: broker.end_txn(*asked), _FREE),
        Served(ApiKey.PRODUCE, lambda *_: None, _FREE),
    )
    server = SocketServer(cast("Any", broker), served, log, Limits(**limits), ready)
    made = Running(server, broker, log, await serving.add_listener(server, "PLAIN", "127.0.0.1", 0))
    await serving.serve(server)
    try:
        yield made
    finally:  # or a loop that is closed waits for ever: uvloop's does
        for client in made.clients:
            client.writer.close()
        await serving.stop(server, 1.0)


def end_txn(correlation_id: int, *, park: bool = False, name: str = "txn") -> bytes:
    request = EndTxnRequest(name, correlation_id * 10, 0, not park)
    return bytes(encode_request(request, 5, correlation_id, "client"))
