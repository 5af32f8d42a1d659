"""Several listeners, addresses of both kinds, and what clients are told about them."""

from __future__ import annotations

import errno
import socket

import pytest
from fencepost_broker import Broker, ListenError, SettingsError
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.broker import Client

pytestmark = pytest.mark.asyncio


def ipv6_works() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not ipv6_works(), reason="this machine has no address ::1")


async def told_at(address: str) -> tuple[str, int]:
    """Where a client is sent that asks at this address."""
    async with Client(address) as client:
        answer = await client.ask(MetadataRequest(topics=None), 12)
    return answer.brokers[0].host, answer.brokers[0].port


@needs_ipv6
async def test_each_listener_tells_its_own_address() -> None:
    settings = {
        "listeners": "INTERNAL://127.0.0.1:0,EXTERNAL://[::1]:0,NAMED://localhost:0",
        "advertised.listeners": "INTERNAL://127.0.0.1:0,EXTERNAL://[::1]:0,NAMED://broker.example:0",
        "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT,NAMED:PLAINTEXT",
    }
    async with Broker(settings=settings) as broker:
        internal, external, named = broker.addresses
        assert broker.bootstrap == internal.bootstrap == f"127.0.0.1:{internal.port}"
        assert external.bootstrap == f"[::1]:{external.port}"
        assert await told_at(internal.bootstrap) == ("127.0.0.1", internal.port)
        assert await told_at(external.bootstrap) == ("::1", external.port)
        assert await told_at(f"127.0.0.1:{named.port}") == ("broker.example", named.port)


@needs_ipv6
async def test_one_port_on_every_address() -> None:
    async with Broker(settings={"listeners": "PLAINTEXT://:0"}) as broker:
        port = broker.addresses[0].port
        told = {await told_at(f"127.0.0.1:{port}"), await told_at(f"[::1]:{port}")}
        assert len(told) == 1
        host, told_port = told.pop()
        assert told_port == port
        socket.getaddrinfo(host, port)  # a name that can be connected to


async def test_without_ipv6_every_address_is_every_one_of_ipv4(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create_server = socket.create_server

    def refuse(address: tuple[str, int], **options: object) -> socket.socket:
        if options.get("family") is socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "none here")
        return create_server(address)

    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: True)
    monkeypatch.setattr(socket, "create_server", refuse)
    async with Broker(settings={"listeners": "PLAINTEXT://:0"}) as broker:
        await told_at(f"127.0.0.1:{broker.addresses[0].port}")


@pytest.mark.parametrize("host", ["", "127.0.0.1"])
async def test_a_port_that_is_taken(host: str) -> None:
    async with Broker(settings={"listeners": "PLAINTEXT://:0"}) as broker:
        port = broker.addresses[0].port
        again = Broker(settings={"listeners": f"PLAINTEXT://{host}:{port}"})
        with pytest.raises(ListenError, match=f"port {port} of .*: the port is in use already"):
            await again.start()


@pytest.mark.parametrize(
    ("host", "said"),
    [("203.0.113.7", "this machine does not have that address"), ("no.invalid", "no such host")],
)
async def test_an_address_that_is_not_here(host: str, said: str) -> None:
    with pytest.raises(ListenError, match=f"of {host}: .*{said}"):
        await Broker(host=host).start()


async def test_what_no_client_can_connect_to_is_not_told() -> None:
    with pytest.raises(
        SettingsError, match=r"clients cannot connect to .* set advertised\.listeners"
    ):
        Broker(host="0.0.0.0")
    settings = {"advertised.listeners": "PLAINTEXT://127.0.0.1:0"}
    async with Broker(host="0.0.0.0", settings=settings) as broker:
        port = broker.addresses[0].port
        assert await told_at(f"127.0.0.1:{port}") == ("127.0.0.1", port)
