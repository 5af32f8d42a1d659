"""Connections for requests to other brokers: one for each broker and kind of request.

So a WriteTxnMarkers that waits for followers does not block a question about a transaction.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fencepost_client.errors import KafkaError
from fencepost_client.network.link import Link
from fencepost_protocol.apis import Message
from fencepost_protocol.framing import api_key_of

from fencepost_broker.controller.channel.reachability import Reachability
from fencepost_broker.metadata.dynamic_config import DynamicConfig
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.ports import client_id_of_broker
from fencepost_broker.server.links.dialing import (
    DIAL_MS,
    OutgoingRequest,
    address_of_broker,
    dialled,
    send,
)


@dataclass(slots=True, eq=False)
class _Channel:
    """Connection for one broker and one kind of request."""

    broker_id: int
    name: str
    queue: deque[OutgoingRequest] = field(default_factory=deque)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    link: Link | None = None
    task: asyncio.Task[None] | None = None
    reachability: Reachability = field(default_factory=Reachability)


class BrokerLinks:
    """Sends requests to brokers' inter-broker listeners; ``None`` means: try again."""

    def __init__(self, node_id: int, config: DynamicConfig, image: MetadataImage, log: Any) -> None:
        self._node_id = node_id
        self._config = config
        self._image = image
        self._log = log
        self._channels: dict[tuple[int, int], _Channel] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def ask(self, broker_id: int, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request; ``then`` gets the answer, or ``None``, always later."""
        if self._is_closed:
            asyncio.get_running_loop().call_soon(then, None)
            return
        key = broker_id, api_key_of(message)
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = self._open(broker_id, type(message).__name__)
        channel.queue.append(OutgoingRequest(message, then))
        if channel.link is not None and channel.link.is_ready:
            self._send_all(channel, channel.link)
        else:
            channel.wake.set()

    def drop(self, broker_id: int) -> None:
        """Give up all requests to a broker: their callbacks get ``None``."""
        for key in [key for key in self._channels if key[0] == broker_id]:
            task = self._channels.pop(key).task
            if task is not None:
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
                task.cancel()

    async def close(self) -> None:
        """Close all connections."""
        self._is_closed = True
        for broker_id in {each.broker_id for each in self._channels.values()}:
            self.drop(broker_id)
        await asyncio.gather(*self._ending, return_exceptions=True)

    # -- one channel ----------------------------------------------------------------------------

    def _open(self, broker_id: int, name: str) -> _Channel:
        channel = _Channel(broker_id, name)
        channel.task = asyncio.get_running_loop().create_task(self._run(channel))
        # A task that is cancelled before its first step never runs, nor does its finally.
        channel.task.add_done_callback(lambda _: self._fail(channel))
        return channel

    async def _run(self, channel: _Channel) -> None:
        while True:
            channel.wake.clear()
            if not channel.queue:
                await channel.wake.wait()
                continue
            try:
                await self._connect(channel)
            except (KafkaError, OSError, TimeoutError) as error:
                self._fail(channel)
                self._lost(channel, str(error) or type(error).__name__)

    async def _connect(self, channel: _Channel) -> None:
        settings = self._config.settings
        address = address_of_broker(self._image, settings, channel.broker_id)
        client_id = client_id_of_broker(self._node_id, channel.name)
        within_ms = min(settings.request_timeout_ms, DIAL_MS)
        async with dialled(address, client_id, channel.wake.set, within_ms=within_ms) as link:
            channel.link = link
            self._back(channel)
            try:
                while link.is_ready:
                    channel.wake.clear()
                    self._send_all(channel, link)
                    await channel.wake.wait()
            finally:
                channel.link = None

    def _lost(self, channel: _Channel, why: str) -> None:
        if channel.reachability.lost(_now_ms()):
            told = {"broker": channel.broker_id, "request": channel.name, "why": why}
            self._log.warning("cannot reach another broker", kind="broker-lost", **told)

    def _back(self, channel: _Channel) -> None:
        away_ms = channel.reachability.reached(_now_ms())
        if away_ms is not None:
            told = {"broker": channel.broker_id, "request": channel.name, "after_ms": away_ms}
            self._log.info("another broker can be reached again", kind="broker-back", **told)

    def _send_all(self, channel: _Channel, link: Link) -> None:
        timeout_ms = self._config.settings.request_timeout_ms
        while channel.queue and link.is_ready:
            request = channel.queue.popleft()
            try:
                send(link, request, timeout_ms)
            except KafkaError as error:
                self._log.warning("a request to another broker could not be sent", why=str(error))
                asyncio.get_running_loop().call_soon(request.then, None)

    @staticmethod
    def _fail(channel: _Channel) -> None:
        queue, channel.queue = channel.queue, deque()
        for request in queue:
            request.then(None)


def _now_ms() -> int:
    return int(asyncio.get_running_loop().time() * 1000)
