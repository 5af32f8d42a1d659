"""Listeners that ask who comes: what is let in, what is shown, and how long one may take."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from fencepost_broker import Broker
from fencepost_broker.network import sasl_gate
from fencepost_broker.observability.tap.client import TapClient
from fencepost_broker.security.authentication.exchanges import PlainExchange
from fencepost_client import (
    Admin,
    AuthenticationError,
    DeletePassword,
    ScramMechanism,
    SetPassword,
)
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest

from tests.support.logins import Peer, plain_token, told_of
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
USERS: Final = {"alice": "wonder-land=7", "bob": 'with "quotes" and \\'}
BROKER: Final = 4
MORE_THAN_SOCKETS_TAKE: Final = 64 << 20
LISTENER: Final = "listener.name.sasl_plaintext."


def secured(**settings: Any) -> Broker:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return Broker(users=USERS, settings=named)


def login(user: str, mechanism: str, password: str) -> dict[str, Any]:
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password,
    }


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_users_are_let_in_by_every_mechanism(mechanism: str) -> None:
    async with secured() as broker:
        for user, password in USERS.items():
            async with Admin(broker.bootstrap, **login(user, mechanism, password)) as admin:
                await admin.list_topics()
        assert broker.stats()["connections"]["dropped"] == 0


async def test_a_request_behind_the_last_token_is_answered() -> None:
    async def all_at_once(peer: Peer) -> None:
        token = SaslAuthenticateRequest(plain_token("alice", USERS["alice"]))
        frames = [
            encode_request(SaslHandshakeRequest("PLAIN"), 1, 1, "c"),
            encode_request(token, 2, 2, "c"),
            encode_request(MetadataRequest([]), 9, 3, "c"),
        ]
        peer.writer.write(b"".join(frames))
        for correlation_id in (1, 2, 3):
            frame = await peer.frame()
            assert frame is not None
            assert int.from_bytes(frame[:4], "big") == correlation_id

    for settings in ({}, {"connections_max_reauth_ms": 60_000}):
        async with secured(**settings) as broker:
            await told_of(all_at_once, broker.bootstrap)


async def test_users_of_scram_come_and_go_while_the_broker_runs() -> None:
    carol = login("carol", "SCRAM-SHA-256", "new")
    async with (
        secured() as broker,
        Admin(broker.bootstrap, **login("bob", "PLAIN", USERS["bob"])) as admin,
    ):
        with pytest.raises(AuthenticationError):
            await Admin(broker.bootstrap, **carol).start()
        made = {"carol": SetPassword(ScramMechanism.SCRAM_SHA_256, "new")}
        await admin.alter_user_scram_credentials(made)
        async with Admin(broker.bootstrap, **carol) as other:
            await other.list_topics()
        gone = {"carol": DeletePassword(ScramMechanism.SCRAM_SHA_256)}
        await admin.alter_user_scram_credentials(gone)
        with pytest.raises(AuthenticationError):
            await Admin(broker.bootstrap, **carol).start()


async def test_who_says_nothing_or_only_half_is_let_go() -> None:
    async def silent(peer: Peer) -> None:
        assert await peer.frame() is None

    async def halfway(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        assert await peer.frame() is None

    async with secured(connections_login_timeout_ms=50) as broker:
        await asyncio.gather(*(told_of(each, broker.bootstrap) for each in (silent, halfway)))
        async with Admin(broker.bootstrap, **login("bob", "PLAIN", USERS["bob"])) as admin:
            await told_of(silent, broker.bootstrap)  # who came later is let go
            await admin.list_topics()
        assert broker.stats()["connections"]["dropped"] == 3


async def test_a_renewed_login_takes_no_longer_than_a_first_one() -> None:
    async def halfway(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        await peer.token(plain_token("alice", USERS["alice"]))
        await peer.handshake("PLAIN")
        assert await peer.frame() is None

    settings = {"connections_login_timeout_ms": 300, "connections_max_reauth_ms": 3_600_000}
    async with secured(**settings) as broker:
        await told_of(halfway, broker.bootstrap)
        assert broker.stats()["connections"]["dropped"] == 1


async def test_who_takes_no_answers_is_let_go_as_well() -> None:
    async with secured(connections_login_timeout_ms=300) as broker:
        assert broker._process is not None
        connections = broker._process.socket_server.connections
        host, _, port = broker.bootstrap.rpartition(":")
        with socket.create_connection((host, int(port))):
            await until(lambda: len(connections) == 1)
            [connection] = connections
            assert connection.transport is not None
            connection.transport.write(bytes(MORE_THAN_SOCKETS_TAKE))
            await until(lambda: not connections)


async def refused_after(broker: Broker) -> float:
    loop = asyncio.get_running_loop()
    begun = loop.time()

    async def wrong(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        answer = await peer.token(plain_token("alice", "no"))
        assert answer.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
        assert await peer.frame() is None

    await told_of(wrong, broker.bootstrap)
    return round(loop.time() - begun, 3)  # the loop of uvloop counts whole milliseconds


async def test_a_refusal_takes_its_time() -> None:
    async with secured(connection_failed_authentication_delay_ms=300) as broker:
        assert await refused_after(broker) >= 0.3
    async with secured(connection_failed_authentication_delay_ms=0) as broker:
        await refused_after(broker)


async def test_who_waits_to_be_refused_does_not_hold_up_the_end() -> None:
    broker = secured(connection_failed_authentication_delay_ms=3_600_000)
    await broker.start()

    async def wrong(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        assert await peer.token(plain_token("alice", "no")) is None

    waiting = asyncio.ensure_future(told_of(wrong, broker.bootstrap))
    await until(lambda: broker.stats()["connections"]["parked_requests"] == 1)
    assert await broker.stop()
    await waiting


async def test_nothing_that_is_shown_has_a_password_in_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown: list[bytes] = []
    secret = USERS["alice"].encode()

    async def log_in(peer: Peer) -> None:
        await peer.ask(ApiVersionsRequest("test", "1"), 3)
        await peer.handshake("PLAIN")
        await peer.token(plain_token("alice", "wrong-" + USERS["alice"]))

    async def malformed(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        frame = encode_request(SaslAuthenticateRequest(secret), 1, 1, "c")
        frame[-len(secret) - 4 : -len(secret)] = (1 << 20).to_bytes(4, "big")
        peer.writer.write(frame)
        assert await peer.frame() is None

    async with secured(tap_enable=True) as broker:
        host, _, port = broker.bootstrap.rpartition(":")
        async with TapClient(host, int(port)) as tap:
            await told_of(log_in, broker.bootstrap)
            await told_of(malformed, broker.bootstrap)
            wanted = {17, 18, 36}
            async for event in tap.events():
                shown.append(event.frame)
                wanted.discard(event.api_key)
                if not wanted and event.frame and event.api_key == 36:
                    break
        resource = DescribeConfigsResource(BROKER, "1")

        async def described(peer: Peer) -> None:
            await peer.handshake("PLAIN")
            await peer.token(plain_token("alice", USERS["alice"]))
            answer = await peer.ask(DescribeConfigsRequest([resource], True), 4)
            entries = {entry.name: entry for entry in answer.results[0].configs}
            jaas = entries["plain.sasl.jaas.config"]
            assert jaas.is_sensitive
            assert jaas.value is None
            assert USERS["alice"] not in repr(answer)

        await told_of(described, broker.bootstrap)
        told = repr(broker.settings) + json.dumps(broker.stats()) + capsys.readouterr().err
    assert USERS["alice"] not in told
    assert "closing the connection" in told
    assert not any(secret in frame for frame in shown)
    assert any(bytes(len(secret)) in frame for frame in shown), "it is as long as it was"


async def test_a_bug_that_a_login_meets_shows_no_password(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(exchange: PlainExchange, token: bytes) -> bytes:
        raise RuntimeError(f"{len(token)} bytes, of {exchange.user}")

    async def log_in(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        assert await peer.token(plain_token("alice", USERS["alice"])) is None

    monkeypatch.setattr(PlainExchange, "receive", fails)
    async with secured() as broker:
        await told_of(log_in, broker.bootstrap)
        assert broker.stats()["connections"]["dropped"] == 1
    told = capsys.readouterr().err
    assert "please report this" in told
    assert USERS["alice"] not in told
    assert USERS["alice"].encode().hex() not in told


async def test_a_login_that_is_over_and_was_not_made_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    held_ms = 3_600_000
    now_ms = sasl_gate._now_ms

    async def stays(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        answer = await peer.token(plain_token("alice", USERS["alice"]))
        assert answer.session_lifetime_ms == held_ms
        assert await peer.ask(MetadataRequest([]), 9) is not None
        monkeypatch.setattr(sasl_gate, "_now_ms", lambda: now_ms() + held_ms + 1)
        assert await peer.ask(MetadataRequest([]), 9) is None

    async def renews(peer: Peer) -> None:
        for _ in range(2):
            await peer.handshake("PLAIN")
            await peer.token(plain_token("alice", USERS["alice"]))
            assert await peer.ask(MetadataRequest([]), 9) is not None
            monkeypatch.setattr(sasl_gate, "_now_ms", lambda: now_ms() + 2 * held_ms + 2)

    async with secured(connections_max_reauth_ms=held_ms) as broker:
        await told_of(stays, broker.bootstrap)
        assert broker.stats()["connections"]["dropped"] == 1
        await told_of(renews, broker.bootstrap)
        assert broker.stats()["connections"]["dropped"] == 1
    assert "connections.max.reauth.ms" in capsys.readouterr().err


async def test_listeners_with_and_without_logins_stand_side_by_side() -> None:
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0,IN://127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,IN:SASL_PLAINTEXT",
        "listener.name.in.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.in.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain."
        'PlainLoginModule required user_carol="c";',
    }
    async with Broker(settings=settings) as broker:
        plain, asking = (each.bootstrap for each in broker.addresses)
        async with Admin(plain) as admin:
            await admin.list_topics()
        async with Admin(asking, **login("carol", "PLAIN", "c")) as admin:
            await admin.list_topics()
        with pytest.raises(AuthenticationError, match="offers PLAIN"):
            await Admin(asking, **login("carol", "SCRAM-SHA-256", "c")).start()
        with pytest.raises(AuthenticationError, match="ILLEGAL_SASL_STATE"):
            await Admin(plain, **login("carol", "PLAIN", "c")).start()


Hostile = Callable[[Peer], Awaitable[None]]


@pytest.mark.parametrize("size", [-1, 600_000, 2**31 - 1])
async def test_a_frame_before_the_login_is_small(size: int) -> None:
    async def announces(peer: Peer) -> None:
        peer.writer.write(size.to_bytes(4, "big", signed=True))
        assert await peer.frame() is None

    async with secured() as broker:
        await told_of(announces, broker.bootstrap)
