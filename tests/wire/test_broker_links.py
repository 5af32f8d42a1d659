"""Connections to other brokers: whoever asks always hears something."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from fencepost_broker.config import Settings
from fencepost_broker.metadata.image.model import Endpoint
from fencepost_broker.server.links.broker_links import BrokerLinks
from fencepost_protocol.generated.add_partitions_to_txn import AddPartitionsToTxnRequest
from fencepost_protocol.generated.write_txn_markers import WriteTxnMarkersRequest

from tests.support.broker import QuietLog, running_broker
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
OTHER = 2


@asynccontextmanager
async def links_to(port: int) -> AsyncIterator[BrokerLinks]:
    endpoint = Endpoint("PLAINTEXT", "127.0.0.1", port)
    brokers = {OTHER: SimpleNamespace(endpoints=[endpoint])}
    image: Any = SimpleNamespace(cluster=SimpleNamespace(brokers=brokers))
    config: Any = SimpleNamespace(settings=Settings())
    links = BrokerLinks(1, config, image, QuietLog())
    yield links
    await links.close()


@asynccontextmanager
async def silent_broker() -> AsyncIterator[tuple[int, list[asyncio.StreamWriter]]]:
    """One that accepts connections and says nothing, as if it were stopped."""
    writers: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: writers.append(writer), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], writers
    finally:
        for writer in writers:
            writer.close()
        server.close()


async def test_each_kind_of_request_has_a_connection() -> None:
    heard: list[Any] = []
    async with running_broker() as broker, links_to(broker.port) as links:
        for _ in range(2):
            links.ask(OTHER, WriteTxnMarkersRequest([]), heard.append)
            links.ask(OTHER, AddPartitionsToTxnRequest([]), heard.append)
            assert not heard, "never at once"
            await until(lambda: len(heard) == 2)
            assert None not in heard
            heard.clear()
        assert broker.process.socket_server.stats()["open"] == 2


async def test_an_unknown_broker_and_one_that_is_away_do_not_answer() -> None:
    heard: list[Any] = []
    async with silent_broker() as (port, _):
        pass
    async with links_to(port) as links:
        links.ask(OTHER, WriteTxnMarkersRequest([]), heard.append)
        links.ask(OTHER + 1, WriteTxnMarkersRequest([]), heard.append)
        await until(lambda: len(heard) == 2)
    assert heard == [None, None]


async def test_who_waits_for_a_broker_that_is_dropped_waits_no_longer() -> None:
    heard: list[Any] = []
    async with silent_broker() as (port, writers), links_to(port) as links:
        links.ask(OTHER, WriteTxnMarkersRequest([]), heard.append)
        await until(lambda: len(writers) == 1)
        links.drop(OTHER + 1)
        assert not heard
        links.drop(OTHER)
        await until(lambda: heard == [None])
        links.ask(OTHER, WriteTxnMarkersRequest([]), heard.append)
        await until(lambda: len(writers) == 2)


async def test_who_asks_a_broker_that_is_dropped_in_the_same_turn_waits_no_longer() -> None:
    heard: list[Any] = []
    async with silent_broker() as (port, _), links_to(port) as links:
        links.ask(OTHER, WriteTxnMarkersRequest([]), heard.append)
        links.drop(OTHER)
        assert not heard, "never at once"
        await until(lambda: heard == [None])


async def test_nobody_is_left_waiting_at_the_end() -> None:
    heard: list[Any] = []
    async with silent_broker() as (port, writers), links_to(port) as links:
        links.ask(OTHER, WriteTxnMarkersRequest([]), heard.append)
        await until(lambda: len(writers) == 1)
        await links.close()
        assert heard == [None]
        links.ask(OTHER, WriteTxnMarkersRequest([]), heard.append)
        await until(lambda: heard == [None, None])
        assert len(writers) == 1
