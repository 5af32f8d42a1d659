"""Delegation tokens (KIP-48): the same script as at Apache Kafka, and our own client."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import Broker, StateClock
from fencepost_client import Admin, AuthenticationError
from fencepost_client.errors import KafkaError

from tests.conformance.delegation_token_cases import SETTINGS, Side, script
from tests.support.logins import LISTENERS, places
from tests.support.secure_kafka import PASSWORD

pytestmark = pytest.mark.asyncio

EXPECTED = Path(__file__).parents[1] / "conformance" / "delegation_tokens.txt"
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"


def expected() -> list[str]:
    return EXPECTED.read_text(encoding="utf-8").splitlines()


async def test_what_users_ask_is_answered_as_by_apache_kafka() -> None:
    clock = StateClock(manual=True)

    async def pass_by(milliseconds: int) -> None:
        clock.advance(ms=milliseconds)

    async with Broker(settings=SETTINGS | LISTENERS, clock=clock) as broker:
        at = places(broker)
        assert await script(Side(at["PLAINTEXT"], at["LOGIN"], pass_by)) == expected()


async def test_a_controller_in_another_process_is_told_of_users_and_tokens() -> None:
    own = {name: value for name, value in SETTINGS.items() if not name.startswith("listener.")}

    async def pass_by(milliseconds: int) -> None:
        await asyncio.sleep(milliseconds / 1000)  # two processes have two clocks

    controller = Broker(settings={**own, "process.roles": "controller", "node.id": "100"})
    async with controller:
        joins = {
            "process.roles": "broker",
            "node.id": "1",
            "controller.quorum.bootstrap.servers": controller.bootstrap,
        }
        async with Broker(settings={**SETTINGS, **LISTENERS, **joins}) as broker:
            at = places(broker)
            assert await script(Side(at["PLAINTEXT"], at["LOGIN"], pass_by)) == expected()


def admin_of(bootstrap: str, **login: Any) -> Admin:
    return Admin(bootstrap, security_protocol="SASL_PLAINTEXT", **login)


async def test_our_client_makes_a_token_and_logs_in_with_it() -> None:
    async with Broker(settings=SETTINGS | LISTENERS) as broker:
        at = places(broker)["LOGIN"]
        alice = {"sasl_plain_username": "alice", "sasl_plain_password": PASSWORD}
        async with admin_of(at, sasl_mechanism="PLAIN", **alice) as admin:
            token = await admin.create_delegation_token(renewers=["bob"], max_lifetime_ms=60_000)
            assert (token.owner, token.requester, token.renewers) == ("alice", "alice", ("bob",))
            assert token.expires_ms == token.max_ms == token.issued_ms + 60_000
            assert await admin.describe_delegation_tokens(["alice"]) == [token]
            assert await admin.renew_delegation_token(token.hmac) == token.max_ms
            assert token.password not in repr(token)
            config = (
                f'{MODULE} required username="{token.token_id}" password="{token.password}"'
                ' tokenauth="true";'
            )
            with_token = {"sasl_mechanism": "SCRAM-SHA-256", "sasl_jaas_config": config}
            async with admin_of(at, **with_token) as helper:
                assert await helper.describe_cluster()
                with pytest.raises(KafkaError, match="DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"):
                    await helper.create_delegation_token()
            await admin.expire_delegation_token(token.hmac)
            assert await admin.describe_delegation_tokens() == []
            with pytest.raises(AuthenticationError):
                async with admin_of(at, **with_token) as helper:
                    await helper.describe_cluster()
