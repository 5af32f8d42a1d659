"""Raw datagrams to a tap, and events made up for tests."""

from __future__ import annotations

from typing import Any

import asyncio_dgram
from fencepost_broker.observability.tap.datagrams import (
    Cookie,
    Datagram,
    Event,
    EventKind,
    Hello,
    Leased,
    Subscribe,
    decode,
    encode,
)

NODE_ID = 5
CLUSTER_ID = "the-cluster"


def event(kind: EventKind = EventKind.REQUEST, **facts: Any) -> Event:
    """An event whose other facts do not matter."""
    made: dict[str, Any] = {
        "time_us": 1_700_000_000_000_000, "connection": 1, "address": "127.0.0.1:5000",
        "software": "librdkafka 2.6.0", "client_id": "shop", "api_key": 26, "version": 3,
        "correlation_id": 7,
    }  # fmt: skip
    return Event(kind, **(made | facts))


class FakeFacts:
    """What a tap tells about its broker."""

    node_id = NODE_ID
    cluster_id = CLUSTER_ID

    def __init__(self) -> None:
        self.names = {bytes([1]) * 16: "orders"}
        self.told = b'{"requests": 1}'

    def topic_name(self, topic_id: bytes) -> str | None:
        return self.names.get(topic_id)

    def stats(self) -> bytes:
        return self.told


class RawSubscriber:
    """A socket that speaks the tap's datagrams and nothing more."""

    def __init__(self, stream: asyncio_dgram.DatagramClient) -> None:
        self.stream = stream
        self.cookie = b""

    async def ask(self, question: Datagram) -> Datagram:
        await self.stream.send(encode(question))
        return await self.next()

    async def next(self) -> Datagram:
        data, _ = await self.stream.recv()
        return decode(data)

    async def subscribe(self, **wishes: Any) -> Leased:
        hello = await self.ask(Hello())
        assert isinstance(hello, Cookie)
        self.cookie = hello.cookie
        leased = await self.ask(Subscribe(self.cookie, **wishes))
        assert isinstance(leased, Leased)
        return leased
