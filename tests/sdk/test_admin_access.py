"""Quotas and SCRAM users of real brokers."""

from __future__ import annotations

import pytest
from fencepost_client import (
    Admin,
    ConfigError,
    DeletePassword,
    KafkaError,
    QuotaEntity,
    QuotaName,
    ScramMechanism,
    SetPassword,
)

pytestmark = pytest.mark.asyncio

PRODUCED, CONSUMED = "producer_byte_rate", "consumer_byte_rate"
SHA_256, SHA_512 = ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512


async def test_quotas(bootstrap: str, topic: str) -> None:
    alone = QuotaEntity(client_id=topic)
    both = QuotaEntity(user=topic, client_id=topic)
    other = QuotaEntity(user=topic, client_id=QuotaName.DEFAULT)
    async with Admin(bootstrap) as admin:
        await admin.alter_client_quotas(
            {alone: {PRODUCED: 1e6, CONSUMED: 2e6}, both: {PRODUCED: 3e6}, other: {CONSUMED: 4e6}}
        )
        wanted = {alone: {PRODUCED: 1e6, CONSUMED: 2e6}, both: {PRODUCED: 3e6}}
        while await admin.describe_client_quotas(client_id=topic) != wanted:
            pass  # a broker hears of it a moment later
        assert await admin.describe_client_quotas(client_id=topic, strict=True) == {
            alone: wanted[alone]
        }
        named = await admin.describe_client_quotas(user=topic, client_id=QuotaName.ANY)
        assert named == {both: {PRODUCED: 3e6}, other: {CONSUMED: 4e6}}
        named = await admin.describe_client_quotas(user=topic, client_id=QuotaName.DEFAULT)
        assert named == {other: {CONSUMED: 4e6}}

        await admin.alter_client_quotas({alone: {PRODUCED: 9.0}}, validate_only=True)
        await admin.alter_client_quotas(
            {alone: {PRODUCED: None}, both: {PRODUCED: None}, other: {CONSUMED: None}}
        )
        while await admin.describe_client_quotas(client_id=topic) != {alone: {CONSUMED: 2e6}}:
            pass
        await admin.alter_client_quotas({alone: {CONSUMED: None}})


async def test_quotas_that_are_refused(bootstrap: str, topic: str) -> None:
    mine, nobody = QuotaEntity(client_id=topic), QuotaEntity()
    async with Admin(bootstrap) as admin:
        with pytest.raises(KafkaError, match="INVALID_REQUEST") as refused:
            await admin.alter_client_quotas({mine: {"nope": 1.0}, nobody: {PRODUCED: 1.0}})
        assert set(refused.value.outcomes) == {mine, nobody}
        with pytest.raises(KafkaError, match="INVALID_REQUEST"):
            await admin.describe_client_quotas(ip=QuotaName.ANY, user=topic)
        with pytest.raises(ConfigError, match="ANY is for describe_client_quotas only"):
            await admin.alter_client_quotas({QuotaEntity(user=QuotaName.ANY): {}})


async def test_scram_users(bootstrap: str, topic: str) -> None:
    alice, bob = f"{topic}-alice", f"{topic}-bob"
    async with Admin(bootstrap) as admin:
        await admin.alter_user_scram_credentials(
            {alice: SetPassword(SHA_256, "one"), bob: SetPassword(SHA_512, "two", 8192)}
        )
        await admin.alter_user_scram_credentials({alice: SetPassword(SHA_512, "one")})
        wanted = {alice: {SHA_256: 4096, SHA_512: 4096}, bob: {SHA_512: 8192}}
        told = await admin.describe_user_scram_credentials()
        while {user: told[user] for user in (alice, bob) if user in told} != wanted:
            told = await admin.describe_user_scram_credentials()
        assert await admin.describe_user_scram_credentials([bob]) == {bob: wanted[bob]}
        assert await admin.describe_user_scram_credentials([]) == {}

        with pytest.raises(KafkaError, match="UNACCEPTABLE_CREDENTIAL") as refused:
            await admin.alter_user_scram_credentials(
                {alice: SetPassword(SHA_256, "x", 1), bob: DeletePassword(SHA_512)}
            )
        assert refused.value.outcomes[bob] is None
        with pytest.raises(KafkaError, match="RESOURCE_NOT_FOUND"):
            await admin.alter_user_scram_credentials({bob: DeletePassword(SHA_512)})
        while bob in await admin.describe_user_scram_credentials():
            pass
        with pytest.raises(KafkaError, match="RESOURCE_NOT_FOUND") as unknown:
            await admin.describe_user_scram_credentials([alice, bob])
        assert unknown.value.outcomes[alice] == wanted[alice]


async def test_passwords_are_in_no_text() -> None:
    assert "secret" not in repr(SetPassword(SHA_256, "secret"))
