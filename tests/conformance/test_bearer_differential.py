"""Logins by OAUTHBEARER (KIP-255, KIP-768): Apache Kafka answers the same messages alike."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fencepost_broker.blocking import Broker

from tests.conformance import bearer_cases, signed_token_cases
from tests.support.apache_kafka import run_tool
from tests.support.issuer import Issuer
from tests.support.secure_kafka import KafkaWithUsers

pytestmark = pytest.mark.conformance

PLAIN_ONLY = {"listener.name.controller_login.sasl.enabled.mechanisms": "PLAIN"}
ALLOWED = "-Dorg.apache.kafka.sasl.oauthbearer.allowed"


def told(settings: dict[str, str], messages: Callable[[int], dict[str, bytes]]) -> list[str]:
    with KafkaWithUsers(settings | PLAIN_ONLY) as kafka:
        now_s = int(time.time())
        login = f"127.0.0.1:{kafka.login_port}"
        return asyncio.run(bearer_cases.told(login, now_s, messages(now_s)))


def expected(file: str) -> list[str]:
    return (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines()


def test_unsecured_tokens() -> None:
    assert told(bearer_cases.SETTINGS, bearer_cases.cases) == expected("bearer_logins.txt")


def test_the_options_of_the_login_module() -> None:
    found = told(bearer_cases.WITH_OPTIONS, bearer_cases.cases_with_options)
    assert found == expected("bearer_options.txt")


def test_signed_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(signed_token_cases.key_set())
    allowed = f"{ALLOWED}.urls={keys.as_uri()} {ALLOWED}.files={keys}"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", allowed)
    found = told(signed_token_cases.settings(keys.as_uri()), signed_token_cases.cases)
    assert found == expected("bearer_signed.txt")


def test_keys_at_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    with Issuer(signed_token_cases.key_set().encode()) as issuer:
        monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"{ALLOWED}.urls={issuer.url}")
        with KafkaWithUsers(signed_token_cases.settings(issuer.url) | PLAIN_ONLY) as kafka:
            login = f"127.0.0.1:{kafka.login_port}"
            now_s = int(time.time())
            told = asyncio.run(signed_token_cases.told_with_endpoint(login, now_s, issuer))
    assert told == expected("bearer_endpoint.txt")


def test_its_clients_make_unsigned_tokens(tmp_path: Path) -> None:
    login = tmp_path / "client.properties"
    module = bearer_cases.MODULE.format(' unsecuredLoginStringClaim_sub="alice"')
    login.write_text(
        f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\nsasl.jaas.config={module}\n"
    )
    settings = {
        "listeners": "SASL_PLAINTEXT://127.0.0.1:0",
        "sasl.enabled.mechanisms": "OAUTHBEARER",
    }
    with Broker(settings=settings, topics={"orders": 1}) as ours:
        where = ("--bootstrap-server", ours.bootstrap, "--command-config", str(login))
        told = run_tool("org.apache.kafka.tools.TopicCommand", *where, "--list")
    assert told.split() == ["orders"]
