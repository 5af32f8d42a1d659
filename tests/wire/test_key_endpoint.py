"""Keys of signed tokens from an endpoint (KIP-768): as in Apache Kafka, and what one may answer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.network import key_fetcher

from tests.conformance import bearer_cases, signed_token_cases
from tests.support.issuer import Issuer
from tests.support.logins import LISTENERS, places
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

ENDPOINT = "listener.name.login.oauthbearer.sasl.oauthbearer.jwks.endpoint"
AT_ONCE = {f"{ENDPOINT}.retry.backoff.ms": "1", f"{ENDPOINT}.retry.backoff.max.ms": "2"}
KEYS = signed_token_cases.key_set().encode()


def secured(issuer: Issuer, **settings: str) -> Broker:
    given = signed_token_cases.settings(issuer.url) | LISTENERS | AT_ONCE | settings
    given["connection.failed.authentication.delay.ms"] = "0"
    return Broker(settings=given)


async def is_let_in(broker: Broker, message: bytes) -> bool:
    now_s = broker.clock.now_ms() // 1000
    [told] = await bearer_cases.told(places(broker)["LOGIN"], now_s, {"": message})
    return told.startswith(": NONE, valid")


def token(broker: Broker, kid: str = "rsa") -> bytes:
    key = signed_token_cases.RSA_KEY if kid == "rsa" else signed_token_cases.OTHER_KEY
    return signed_token_cases.by_key(broker.clock.now_ms() // 1000, kid, key)


async def test_what_an_endpoint_answers_has_the_same_effect_as_in_apache_kafka(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_fetcher, "UNKNOWN_S", 0.0)
    expected = Path(signed_token_cases.__file__).parent / "bearer_endpoint.txt"
    with Issuer(KEYS) as issuer:
        async with secured(issuer) as broker:
            now_s = broker.clock.now_ms() // 1000
            told = await signed_token_cases.told_with_endpoint(
                places(broker)["LOGIN"], now_s, issuer
            )
    assert told == expected.read_text(encoding="utf-8").splitlines()


async def test_keys_are_fetched_again_when_they_are_due() -> None:
    with Issuer(KEYS) as issuer:
        often = {f"{ENDPOINT}.refresh.ms": "5"}
        async with secured(issuer, **often) as broker:
            issuer.body = signed_token_cases.key_set(later=signed_token_cases.OTHER_KEY).encode()
            seen = len(issuer.asked)
            await until(lambda: len(issuer.asked) > seen + 2)
            assert await is_let_in(broker, token(broker, "later"))
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_tokens_with_unknown_keys_do_not_make_the_broker_ask_and_ask() -> None:
    with Issuer(KEYS) as issuer:
        async with secured(issuer) as broker:
            for number in range(5):
                assert not await is_let_in(broker, token(broker, f"unknown-{number}"))
            await until(lambda: len(issuer.asked) == 2)
            assert await is_let_in(broker, token(broker))
            assert len(issuer.asked) == 2


@pytest.mark.parametrize(
    ("status", "headers", "body", "why"),
    [
        (500, {}, b"", "answers 500"),
        (302, {"Location": "/keys"}, b"", "answers 302"),
        (200, {}, b"<html>", "is not a JSON Web Key Set"),
        (200, {}, b"[" * 100_000, "is not a JSON Web Key Set"),
        (200, {}, b'{"keys": 1}', "keys is not a list"),
        (200, {}, b" " * (1 << 20), "more than 524288 bytes"),
        (200, {"X": "a" * 100_000}, KEYS, "400"),
    ],
)
async def test_a_listener_does_not_open_without_keys(
    status: int, headers: dict[str, str], body: bytes, why: str
) -> None:
    with Issuer(body) as issuer:
        issuer.status, issuer.headers = status, headers
        broker = secured(issuer)
        with pytest.raises(SettingsError, match=why):
            await broker.start()


async def test_a_start_waits_for_an_endpoint_that_starts_too() -> None:
    with Issuer(KEYS) as issuer:
        issuer.statuses = [503, 503, 503]
        patient = {f"{ENDPOINT}.retry.backoff.max.ms": "60000"}
        async with secured(issuer, **patient) as broker:
            assert len(issuer.asked) == 4
            assert await is_let_in(broker, token(broker))


async def test_what_is_no_key_is_left_out() -> None:
    with Issuer(KEYS[:-2] + b', 1, {}, {"kty": "RSA", "n": "!"}]}') as issuer:
        async with secured(issuer) as broker:
            assert await is_let_in(broker, token(broker))


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("url", "ftp://keys", "signed tokens need keys"),
        ("refresh.ms", "0", "at least 1"),
        ("retry.backoff.ms", "3", "not less"),
    ],
)
async def test_settings_of_an_endpoint_are_checked(name: str, value: str, why: str) -> None:
    issuer = Issuer()
    issuer.close()
    with pytest.raises(SettingsError, match=why):
        secured(issuer, **{f"{ENDPOINT}.{name}": value})
