"""What a broker listens as, and whether it can be watched, when it was told to ask who comes."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.server.embedded.broker import Broker

ASKING = {
    "listeners": "SASL_PLAINTEXT://127.0.0.1:29592",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
}
BESIDE = {**ASKING, "listeners": f"{ASKING['listeners']},PLAINTEXT://127.0.0.1:29593"}
WITH_CONTROLLER = {
    **BESIDE,
    "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
    "sasl.mechanism.controller.protocol": "SCRAM-SHA-256",
    "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required"
        ' username="broker" password="other";'
    ),
}
USERS = {"alice": "secret"}


@pytest.mark.parametrize(
    ("where", "listeners"),
    [
        ({}, "SASL_PLAINTEXT://127.0.0.1:29592"),
        ({"port": 29594}, "SASL_PLAINTEXT://127.0.0.1:29594"),
        ({"host": "localhost"}, "SASL_PLAINTEXT://localhost:29592"),
        ({"host": "::1", "port": 0}, "SASL_PLAINTEXT://[::1]:0"),
        ({"port": 29594, "users": USERS}, "SASL_PLAINTEXT://127.0.0.1:29594"),
    ],
)
def test_a_listener_elsewhere_still_asks_who_comes(where: dict[str, Any], listeners: str) -> None:
    assert Broker(settings=ASKING, **where).settings.listeners == (listeners,)


@pytest.mark.parametrize(
    ("settings", "named", "said"),
    [
        (BESIDE, {"port": 1}, "has the addresses of 2 listeners: leave out the host and the port"),
        (BESIDE, {"host": "::1"}, "leave out the host and the port"),
        ({"listeners": "PLAINTEXT://:0"}, {"users": USERS}, "PLAINTEXT://:0 .* has none"),
        ({"process.roles": "controller"}, {"users": USERS}, "CONTROLLER://.* has none"),
    ],
)
def test_what_would_ask_nobody_is_refused(
    settings: dict[str, Any], named: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Broker(settings=settings, **named)


@pytest.mark.parametrize(
    ("settings", "may_be_watched"),
    [
        ({}, True),
        (BESIDE, True),
        (ASKING, False),
        ({**WITH_CONTROLLER, "controller.listener.names": "PLAINTEXT"}, False),
        ({**ASKING, "tap.enable": True}, True),
        ({"tap.enable": False}, False),
    ],
)
def test_where_all_are_asked_nobody_watches_unasked(
    settings: dict[str, Any], *, may_be_watched: bool
) -> None:
    assert Broker(settings=settings).settings.may_be_watched is may_be_watched
