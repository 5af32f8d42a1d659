"""A proxy in front of a broker that a test plays itself, byte by byte."""

from __future__ import annotations

import asyncio
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fencepost_broker.observability.logging import LazyLogs
from fencepost_broker.server.proxy.proxy import Proxy
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head

from tests.support.waiting import until


class Lines:
    """Keeps what a proxy logs."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def info(self, event: str, /, **values: Any) -> None:
        self.lines.append((event, values))

    debug = warning = error = exception = info

    def area(self, name: str) -> Lines:
        del name
        return self

    def bind(self, **values: Any) -> Lines:
        del values
        return self

    def told(self, event: str) -> list[dict[str, Any]]:
        """The values of all lines of an event."""
        return [values for each, values in self.lines if each == event]


@dataclass
class Wire:
    """One end of a connection, in the test's hands."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def frame(self) -> bytes:
        """The next frame, with its size."""
        size = await self.reader.readexactly(4)
        return size + await self.reader.readexactly(struct.unpack(">i", size)[0])

    def send(self, data: bytes | bytearray) -> None:
        self.writer.write(data)

    def request(self, message: Message, version: int, correlation_id: int = 1) -> bytes:
        """Send a request; gives its frame."""
        frame = bytes(encode_request(message, version, correlation_id, "by-hand"))
        self.send(frame)
        return frame

    async def answer_to(self, message: Message, version: int) -> Any:
        """The next answer, decoded."""
        frame = memoryview(await self.frame())[4:]
        key = api_key_of(message)
        _, body = read_response_head(frame, key, version)
        decoded, end = response_class(key).decode(frame, version, body)
        assert end == len(frame)
        return decoded

    async def is_closed(self) -> bool:
        """Wait for the end of the connection; whether nothing came before it."""
        try:
            return await self.reader.read(1) == b""
        except ConnectionError:
            return True


@dataclass
class Played:
    """A proxy, and the connections of the broker behind it."""

    proxy: Proxy
    logs: Lines
    port: int = 0
    brokers: list[Wire] = field(default_factory=list)
    clients: list[Wire] = field(default_factory=list)

    async def connect(self) -> tuple[Wire, Wire]:
        """A client's connection, and the broker's one for it."""
        before = len(self.brokers)
        host, _, port = self.proxy.bootstrap.rpartition(":")
        client = Wire(*await asyncio.open_connection(host, int(port), limit=1 << 26))
        self.clients.append(client)
        await until(lambda: len(self.brokers) > before)
        return client, self.brokers[-1]


@asynccontextmanager
async def played() -> AsyncIterator[Played]:
    """A proxy in front of a broker that says nothing by itself."""
    brokers: list[Wire] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        brokers.append(Wire(reader, writer))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 26)
    port = server.sockets[0].getsockname()[1]
    logs = Lines()
    async with proxy_to(f"127.0.0.1:{port}", logs) as proxy:
        made = Played(proxy, logs, port, brokers)
        try:
            yield made
        finally:
            for wire in (*made.clients, *brokers):
                wire.writer.close()
            server.close()


def proxy_to(upstream: str, logs: Lines | None = None, **given: Any) -> Proxy:
    """A proxy that keeps its log lines."""
    kept: Any = logs or Lines()
    assert not isinstance(kept, LazyLogs)
    return Proxy(upstream, logs=kept, **given)


PROXY_COMMAND = [
    *(sys.executable, "-m", "fencepost_broker", "proxy"),
    *("--port", "0", "--json", "--log-level", "debug"),
]
"""`fencepost proxy` for `Up`."""
