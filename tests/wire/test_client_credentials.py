"""Our client gets its tokens from a token endpoint (KIP-768)."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from fencepost_broker import Broker
from fencepost_client import Admin, AuthenticationError, Consumer, NetworkError
from fencepost_client.config.settings import COMMON
from fencepost_client.errors import ConfigError
from fencepost_client.network.security import read_security
from fencepost_client.network.token_endpoint import ClientCredentials, Credentials

from tests.conformance import bearer_cases
from tests.support.logins import LISTENERS, places

pytestmark = pytest.mark.asyncio

SECRET = "do not tell"


def a_token(**changed: object) -> str:
    return bearer_cases.unsecured(bearer_cases.claims(int(time.time()), **changed))


@dataclass
class Issuer:
    """A token endpoint, with what it was asked and what it answers next."""

    url: str = ""
    expires_in: int = 3600
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    refusals: list[web.Response] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        form = {**await request.post()}
        self.asked.append((request.headers.get("Authorization", ""), form))
        if self.refusals:
            return self.refusals.pop(0)
        answer = {"access_token": a_token(), "expires_in": self.expires_in, "token_type": "Bearer"}
        return web.json_response(answer)

    def login(self, **changed: Any) -> dict[str, Any]:
        given = {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauthbearer_token_endpoint_url": self.url,
            "sasl_oauthbearer_client_credentials_client_id": "billing",
            "sasl_oauthbearer_client_credentials_client_secret": SECRET,
        }
        return {name: value for name, value in (given | changed).items() if value is not None}


@asynccontextmanager
async def issuer() -> AsyncIterator[Issuer]:
    made = Issuer()
    app = web.Application()
    app.router.add_post("/token", made.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        made.url = f"http://{host}:{port}/token"
        yield made
    finally:
        await runner.cleanup()


@asynccontextmanager
async def both(**topics: int) -> AsyncIterator[tuple[Issuer, str]]:
    settings = bearer_cases.SETTINGS | LISTENERS
    async with issuer() as made, Broker(settings=settings, topics=topics) as broker:
        yield made, places(broker)["LOGIN"]


async def use_two_connections(at: str, login: dict[str, Any]) -> None:
    """A member of a group has one to its coordinator, and one to leaders."""
    async with Consumer(at, group_id="g", auto_offset_reset="earliest", **login) as consumer:
        consumer.subscribe(["t"])
        while not consumer.assignment():
            await consumer.getmany(timeout_ms=100)


async def test_one_token_is_for_all_connections() -> None:
    async with both(t=1) as (made, at):
        await use_two_connections(at, made.login(sasl_oauthbearer_scope="kafka"))
        basic = base64.b64encode(f"billing:{SECRET}".encode()).decode()
        assert made.asked == [
            (f"Basic {basic}", {"grant_type": "client_credentials", "scope": "kafka"})
        ]


async def test_a_token_without_a_lifetime_is_for_one_connection() -> None:
    async with both(t=1) as (made, at):
        made.expires_in = 0
        await use_two_connections(at, made.login())
        assert len(made.asked) > 1
        assert made.asked[0][1] == {"grant_type": "client_credentials"}


async def test_settings_by_kafkas_names_do_the_same() -> None:
    async with both() as (made, at):
        names = {setting.keyword: setting.name for setting in COMMON.values()}
        config = {names[keyword]: value for keyword, value in made.login().items()}
        async with Admin.from_config({"bootstrap.servers": at, **config}) as admin:
            assert await admin.describe_cluster()
        assert len(made.asked) == 1


async def test_a_refusal_of_the_endpoint_is_final_and_has_its_reason() -> None:
    async with both() as (made, at):
        told = {"error": "invalid_client", "error_description": "no such client"}
        made.refusals.append(web.json_response(told, status=401))
        with pytest.raises(AuthenticationError, match=r"401.*invalid_client, no such") as caught:
            async with Admin(at, **made.login()) as admin:
                await admin.describe_cluster()
        assert SECRET not in repr(caught.value)
        assert len(made.asked) == 1


async def test_an_endpoint_that_is_busy_is_asked_again() -> None:
    async with both() as (made, at):
        made.refusals += [web.Response(status=503), web.Response(status=429)]
        async with Admin(at, **made.login()) as admin:
            assert await admin.describe_cluster()
        assert len(made.asked) == 3


async def test_an_endpoint_that_is_not_there_is_a_network_error() -> None:
    tokens = ClientCredentials(Credentials("http://127.0.0.1:1/token", "billing", SECRET))
    with pytest.raises(NetworkError, match=r"No token from http://127\.0\.0\.1:1/token"):
        await tokens.prepare(60)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (lambda: web.Response(status=302, headers={"Location": "/token"}), "answers 302"),
        (lambda: web.Response(text="<html>"), "not a token by RFC 6749"),
        (lambda: web.json_response(["access_token"]), "not a token by RFC 6749"),
        (lambda: web.json_response({"access_token": "a b"}), "not a token by RFC 6750"),
    ],
)
async def test_what_is_no_token_is_refused(answer: Any, why: str) -> None:
    async with both() as (made, at):
        made.refusals.append(answer())
        with pytest.raises(AuthenticationError, match=why):
            async with Admin(at, **made.login()) as admin:
                await admin.describe_cluster()
        assert len(made.asked) == 1


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"sasl_oauthbearer_token_endpoint_url": "file:///x"}, "does not begin with http"),
        ({"sasl_oauthbearer_token_endpoint_url": None}, "token_endpoint_url is missing"),
        ({"sasl_oauthbearer_client_credentials_client_secret": ""}, "client_secret is missing"),
        ({"sasl_oauth_token_provider": str}, "needs sasl_oauth_token_provider, or"),
        ({"sasl_mechanism": "PLAIN"}, "OAUTHBEARER needs"),
        ({"sasl_plain_username": "alice"}, "and nothing else"),
    ],
)
async def test_settings_that_contradict_each_other_are_refused(
    changed: dict[str, Any], why: str
) -> None:
    with pytest.raises(ConfigError, match=why) as caught:
        read_security(**Issuer("http://localhost/token").login(**changed))
    assert SECRET not in repr(caught.value)
