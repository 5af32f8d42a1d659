"""Logins by OAUTHBEARER (KIP-255): the same messages as to Apache Kafka."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from fencepost_broker import Broker
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.tables.security import SIGNED_TOKENS
from fencepost_client import Admin, AuthenticationError

from tests.conformance import bearer_cases, signed_token_cases
from tests.support.logins import LISTENERS, places

pytestmark = pytest.mark.asyncio

EXPECTED = Path(bearer_cases.__file__).parent


@pytest.mark.parametrize(
    ("settings", "messages", "file"),
    [
        (bearer_cases.SETTINGS, bearer_cases.cases, "bearer_logins.txt"),
        (bearer_cases.WITH_OPTIONS, bearer_cases.cases_with_options, "bearer_options.txt"),
    ],
)
async def test_unsecured_tokens_are_accepted_and_refused_as_by_apache_kafka(
    settings: dict[str, str], messages: Callable[[int], dict[str, bytes]], file: str
) -> None:
    given = settings | LISTENERS | {"connection.failed.authentication.delay.ms": "0"}
    async with Broker(settings=given) as broker:
        now_s = broker.clock.now_ms() // 1000
        told = await bearer_cases.told(places(broker)["LOGIN"], now_s, messages(now_s))
    assert told == (EXPECTED / file).read_text(encoding="utf-8").splitlines()


async def test_signed_tokens_are_accepted_and_refused_as_by_apache_kafka(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(signed_token_cases.key_set())
    given = signed_token_cases.settings(keys.as_uri()) | LISTENERS
    given["connection.failed.authentication.delay.ms"] = "0"
    async with Broker(settings=given) as broker:
        now_s = broker.clock.now_ms() // 1000
        messages = signed_token_cases.cases(now_s)
        told = await bearer_cases.told(places(broker)["LOGIN"], now_s, messages)
        assert told == (EXPECTED / "bearer_signed.txt").read_text(encoding="utf-8").splitlines()
        keys.write_text('{"keys": []}')
        [told_now] = await bearer_cases.told(
            places(broker)["LOGIN"], now_s, {"by RSA": messages["by RSA"]}
        )
        assert "invalid_token" in told_now, "the file was read again"


async def test_keys_are_read_once_at_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(signed_token_cases.key_set())
    reads = 0
    read_text = Path.read_text

    def counted(path: Path, *args: Any, **kwargs: Any) -> str:
        nonlocal reads
        reads += path == keys
        return read_text(path, *args, **kwargs)

    monkeypatch.setattr(Path, "read_text", counted)
    async with Broker(settings=signed_token_cases.settings(keys.as_uri()) | LISTENERS):
        assert reads == 1


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("sasl.server.callback.handler.class", "x.Y", "other classes"),
        ("sasl.server.callback.handler.class", SIGNED_TOKENS, "need keys"),
        ("sasl.oauthbearer.jwks.endpoint.url", "file:///k", "has no effect on unsigned tokens"),
        ("sasl.jaas.config", bearer_cases.SKEW_IN_WORDS, "give a number"),
    ],
)
async def test_settings_that_would_accept_other_tokens_than_meant_are_refused(
    name: str, value: str, why: str
) -> None:
    own = {f"listener.name.login.oauthbearer.{name}": value}
    with pytest.raises(SettingsError, match=why):
        Broker(settings=bearer_cases.SETTINGS | LISTENERS | own)


def token(user: str = "alice", **changed: object) -> str:
    return bearer_cases.unsecured(bearer_cases.claims(int(time.time()), sub=user, **changed))


async def test_our_client_logs_in_with_a_token_and_is_told_why_not() -> None:
    async with Broker(settings=bearer_cases.SETTINGS | LISTENERS) as broker:
        at = places(broker)["LOGIN"]
        tokens = [token(exp=1), token()]
        login: dict[str, Any] = {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauth_token_provider": lambda: tokens.pop(),
        }
        async with Admin(at, **login) as admin:
            assert await admin.describe_cluster()
        with pytest.raises(AuthenticationError) as caught:
            async with Admin(at, **login) as admin:
                await admin.describe_cluster()
        assert not tokens
        assert token() not in repr(caught.value)


async def test_mechanisms_that_are_named_hold_beside_users_with_passwords() -> None:
    mechanisms = {"sasl.enabled.mechanisms": "SCRAM-SHA-256,OAUTHBEARER"}
    async with Broker(users={"alice": "wonder-land=7"}, settings=mechanisms) as broker:
        logins: tuple[dict[str, Any], ...] = (
            {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": token},
            {
                "sasl_mechanism": "SCRAM-SHA-256",
                "sasl_plain_username": "alice",
                "sasl_plain_password": "wonder-land=7",
            },
        )
        for login in logins:
            async with Admin(
                broker.bootstrap, security_protocol="SASL_PLAINTEXT", **login
            ) as admin:
                assert await admin.describe_cluster()


async def test_librdkafka_and_aiokafka_log_in_with_a_token() -> None:
    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            return token("bob")

    async with Broker(settings=bearer_cases.SETTINGS | LISTENERS, topics={"t": 1}) as broker:
        at = places(broker)["LOGIN"]
        aiokafka = AIOKafkaProducer(
            bootstrap_servers=at, security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER", sasl_oauth_token_provider=Provider(),
        )  # fmt: skip
        async with aiokafka:
            assert (await aiokafka.send_and_wait("t", b"1")).offset == 0

        def produce() -> None:
            producer = confluent_kafka.Producer({
                "bootstrap.servers": at, "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanisms": "OAUTHBEARER", "enable.sasl.oauthbearer.unsecure.jwt": True,
                "sasl.oauthbearer.config": "principal=alice",
            })  # fmt: skip
            producer.produce("t", b"2")
            assert producer.flush(60) == 0

        await asyncio.to_thread(produce)
