"""Names and addresses: a name is resolved anew each time, and all of its addresses are tried."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_client import Admin, Consumer, NetworkError, NoBrokerError, Producer
from fencepost_client.network.connector import Connector
from fencepost_client.network.link import Link
from fencepost_client.network.security import Security
from fencepost_client.requests.connection import Connection

from tests.support.apache_kafka import free_ports

pytestmark = pytest.mark.asyncio
NOBODY = "127.0.0.2"
"""Where nobody listens on the broker's port."""


def resolve_by(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> list[str]:
    """The resolver gives these, one after the other, then the last; the names it was asked for."""
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **_: Any) -> Any:
        asked.append(host)
        answer = answers[min(len(asked), len(answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        stream = socket.SOCK_STREAM
        return [(socket.AF_INET, stream, 6, "", (address, port)) for address in answer]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    return asked


@pytest.mark.ours_alone("about names and sockets before the first request: any listener does")
async def test_a_name_that_moves_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Broker() as broker:
        port = broker.bootstrap.rpartition(":")[2]
        unknown = socket.gaierror(-2, "Name or service not known")
        asked = resolve_by(monkeypatch, unknown, [NOBODY], ["127.0.0.1"])
        async with Admin(f"kafka.test:{port}") as admin:
            await admin.list_topics()
        assert asked[:3] == ["kafka.test"] * 3


def connector_of(timeout_ms: int = 10_000) -> tuple[Connector, list[Link]]:
    loop = asyncio.get_running_loop()
    opened: list[Link] = []
    made = Connector(
        Security(),
        timeout_ms,
        lambda peer: Link(Connection(peer, "me"), loop, lambda link: None),
        opened.append,
    )
    return made, opened


@pytest.mark.ours_alone("about names and sockets before the first request: any listener does")
async def test_all_addresses_of_a_name_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Broker() as broker:
        port = int(broker.bootstrap.rpartition(":")[2])
        resolve_by(monkeypatch, [NOBODY, "127.0.0.1"])
        connector, opened = connector_of()
        link = await connector.connect("kafka.test", port)
        assert link.is_ready
        assert link.machine.peer == f"kafka.test:{port}"
        link.close()
        await asyncio.wait([each.closed for each in opened])


@pytest.mark.ours_alone("about names and sockets before the first request: any listener does")
async def test_an_address_that_does_not_answer_leaves_time_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def listens_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1000):
            pass
        writer.close()

    async with Broker() as broker:
        port = int(broker.bootstrap.rpartition(":")[2])
        server = await asyncio.start_server(listens_only, NOBODY, port)
        async with server:
            resolve_by(monkeypatch, [NOBODY, "127.0.0.1"])
            link, timeout_ms = None, 1_000
            while link is None:  # on a machine that is very busy nobody answers in time
                connector, opened = connector_of(timeout_ms)
                timeout_ms *= 2
                with suppress(NetworkError):
                    link = await connector.connect("kafka.test", port)
                    link.close()
                await asyncio.wait([each.closed for each in opened])
            assert len(opened) == 2


async def test_where_no_broker_runs_the_last_attempt_is_told() -> None:
    with pytest.raises(NoBrokerError) as caught:
        async with Admin("127.0.0.1:1", default_api_timeout_ms=1_000):
            pass
    assert "No connection to 127.0.0.1:1: connection refused. Start" in str(caught.value)


@pytest.mark.parametrize("kind", ["admin", "consumer", "group", "producer"])
async def test_a_client_that_found_nobody_may_start_again(kind: str) -> None:
    (port,) = free_ports(1)
    where = f"127.0.0.1:{port}"
    client: Admin | Consumer | Producer
    if kind == "admin":
        client = Admin(where, default_api_timeout_ms=500)
    elif kind == "producer":
        client = Producer(where, max_block_ms=500)
    else:
        group_id = "g" if kind == "group" else None
        client = Consumer(where, group_id=group_id, default_api_timeout_ms=500)
    with pytest.raises(NoBrokerError):
        await client.start()
    async with Broker(port=port):
        while True:
            with suppress(NoBrokerError):  # on a machine that is very busy
                await client.start()
                break
        await client.close()


async def test_each_failure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        connector, _ = connector_of()
        resolve_by(monkeypatch, [NOBODY, "127.0.0.1"], socket.gaierror(-2, "no such name"))
        with pytest.raises(NetworkError) as raised:
            await connector.connect("kafka.test", port)
        assert f"kafka.test:{port}: {NOBODY}: " in str(raised.value)
        assert "; 127.0.0.1: " in str(raised.value)
        with pytest.raises(
            NetworkError, match=r"'kafka.test' could not be resolved: .*no such name"
        ):
            await connector.connect("kafka.test", port)
