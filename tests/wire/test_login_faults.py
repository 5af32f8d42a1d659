"""Fault rules on logins: what clients see of SaslHandshake and SaslAuthenticate that go wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, Literal

import confluent_kafka
import pytest
import pytest_asyncio
from fencepost_broker import Broker
from fencepost_broker.server.faults import Fault
from fencepost_client import Admin, AuthenticationError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest

from tests.support.logins import Peer, plain_token, told_of

pytestmark = pytest.mark.asyncio
Mechanism = Literal["PLAIN", "SCRAM-SHA-256"]
USER, PASSWORD = "alice", "wonder-land=7"
HANDSHAKE_DONE: Final = ("SaslHandshakeResponse", 0)
NAME_AND_CODE: Final = 2
TIMEOUT_S: Final = 20.0
ONCE: Final[dict[str, Callable[[Broker, str], Fault]]] = {
    "drop-request": lambda broker, api: broker.faults.drop_request(api=api, times=1),
    "reset": lambda broker, api: broker.faults.drop_request(reset=True, api=api, times=1),
    "drop-answer": lambda broker, api: broker.faults.drop_answer(api=api, times=1),
    "cut-answer": lambda broker, api: broker.faults.cut_answer(6, api=api, times=1),
    "disconnect": lambda broker, api: broker.faults.disconnect(api=api, times=1),
    "delay-request": lambda broker, api: broker.faults.delay(20, api=api, times=1),
    "delay-answer": lambda broker, api: broker.faults.delay(20, what="answer", api=api, times=1),
}
SETTINGS: Final = {"connection.failed.authentication.delay.ms": 10}


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[Broker]:
    async with Broker(users={USER: PASSWORD}, settings=SETTINGS, topics={"t": 1}) as running:
        yield running


def admin(broker: Broker, mechanism: Mechanism = "PLAIN") -> Admin:
    return Admin(
        broker.bootstrap,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism=mechanism,
        sasl_plain_username=USER,
        sasl_plain_password=PASSWORD,
        retry_backoff_ms=1,
    )


async def topics_for_librdkafka(broker: Broker) -> set[str]:
    settings: dict[str, Any] = {
        "bootstrap.servers": broker.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "sasl.password": PASSWORD,
        "reconnect.backoff.ms": 1,
        "log_level": 0,
    }

    def ask() -> set[str]:
        found = confluent_kafka.Consumer({**settings, "group.id": "g"}).list_topics(
            timeout=TIMEOUT_S
        )
        return set(found.topics)

    return await asyncio.to_thread(ask)


def told(answers: list[Any]) -> list[Any]:
    return [each if each == "closed" else each[:NAME_AND_CODE] for each in answers]


async def log_in(peer: Peer) -> None:
    await peer.handshake("PLAIN")
    await peer.token(plain_token(USER, PASSWORD))


@pytest.mark.parametrize("api", ["SaslHandshake", "SaslAuthenticate"])
@pytest.mark.parametrize("act", ONCE)
async def test_a_client_logs_in_at_its_next_try(broker: Broker, act: str, api: str) -> None:
    fault = ONCE[act](broker, api)
    async with admin(broker) as client:
        assert "t" in await client.list_topics()
    assert fault.fired == 1
    assert [each.api for each in fault.requests] == [api]
    assert PASSWORD not in str(fault.requests)


@pytest.mark.parametrize("act", ["drop-request", "delay-answer"])
async def test_librdkafka_logs_in_at_its_next_try(broker: Broker, act: str) -> None:
    fault = ONCE[act](broker, "SaslAuthenticate")
    assert "t" in await topics_for_librdkafka(broker)
    assert fault.fired == 1


async def test_librdkafka_tries_again_after_a_refused_login(broker: Broker) -> None:
    fault = broker.faults.error("SASL_AUTHENTICATION_FAILED", api="SaslAuthenticate", times=1)
    assert "t" in await topics_for_librdkafka(broker)
    assert fault.fired == 1


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_a_login_that_a_rule_refuses_is_an_authentication_error(
    broker: Broker, mechanism: Mechanism
) -> None:
    broker.faults.error(
        "SASL_AUTHENTICATION_FAILED", message="not today", api="SaslAuthenticate", times=1
    )
    with pytest.raises(AuthenticationError, match="not today"):
        await admin(broker, mechanism).start()
    async with admin(broker, mechanism) as client:
        await client.list_topics()


async def test_a_connection_is_closed_after_an_error(broker: Broker) -> None:
    async def case(peer: Peer) -> None:
        await log_in(peer)
        await peer.token(plain_token(USER, PASSWORD))

    broker.faults.error("SASL_AUTHENTICATION_FAILED", api="SaslAuthenticate", times=1)
    assert told(await told_of(case, broker.bootstrap)) == [
        HANDSHAKE_DONE,
        ("SaslAuthenticateResponse", ErrorCode.SASL_AUTHENTICATION_FAILED),
        "closed",
    ]


async def test_a_wrong_password_is_refused_when_its_delay_is_over(broker: Broker) -> None:
    async def case(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        await peer.token(plain_token(USER, "wrong"))
        assert await peer.frame() is None

    fault = broker.faults.delay(20, api="SaslAuthenticate")
    assert told(await told_of(case, broker.bootstrap)) == [
        HANDSHAKE_DONE,
        ("SaslAuthenticateResponse", ErrorCode.SASL_AUTHENTICATION_FAILED),
    ]
    assert fault.fired == 1


async def test_a_held_login_waits_for_its_release(broker: Broker) -> None:
    fault = broker.faults.hold(api="SaslAuthenticate")
    client = admin(broker)
    starting = asyncio.create_task(client.start())
    await fault.wait_until_fired()
    assert fault.held == 1
    fault.remove()
    await starting
    await client.close()


async def test_a_held_login_ends_with_the_time_limit_of_logins() -> None:
    settings = {"connections.login.timeout.ms": 50}
    async with Broker(users={USER: PASSWORD}, settings=settings) as broker:
        fault = broker.faults.hold(api="SaslAuthenticate")
        assert told(await told_of(log_in, broker.bootstrap)) == [HANDSHAKE_DONE, "closed"]
        assert fault.fired == 1
        assert fault.held == 0


async def test_a_changed_token_is_refused(broker: Broker) -> None:
    broker.faults.change_request({"auth_bytes": "00"}, api="SaslAuthenticate", times=1)
    with pytest.raises(AuthenticationError):
        await admin(broker).start()


async def test_a_renewed_login_is_refused() -> None:
    settings = {**SETTINGS, "connections.max.reauth.ms": 3_600_000}

    async def case(peer: Peer) -> None:
        await log_in(peer)
        running.faults.error("SASL_AUTHENTICATION_FAILED", api="SaslAuthenticate", times=1)
        await log_in(peer)
        assert await peer.frame() is None

    async with Broker(users={USER: PASSWORD}, settings=settings) as running:
        answers = told(await told_of(case, running.bootstrap))
        assert [each[1] for each in answers] == [0, 0, 0, ErrorCode.SASL_AUTHENTICATION_FAILED]


@pytest.mark.parametrize("is_late", [False, True])
async def test_a_second_api_versions_before_a_login_is_refused(
    broker: Broker, *, is_late: bool
) -> None:
    async def case(peer: Peer) -> None:
        for _ in range(2):
            await peer.ask(ApiVersionsRequest(), 0)

    if is_late:
        broker.faults.delay(5, api="ApiVersions", times=1)
    assert told(await told_of(case, broker.bootstrap)) == [("ApiVersionsResponse", 0), "closed"]


async def test_a_rule_that_hides_api_versions_lets_the_client_ask_again(broker: Broker) -> None:
    async def case(peer: Peer) -> None:
        for _ in range(2):
            await peer.ask(ApiVersionsRequest(), 0)
        await log_in(peer)

    broker.faults.error("UNSUPPORTED_VERSION", api="ApiVersions", times=1)
    codes = [each[1] for each in told(await told_of(case, broker.bootstrap))]
    assert codes == [ErrorCode.UNSUPPORTED_VERSION, 0, 0, 0]
