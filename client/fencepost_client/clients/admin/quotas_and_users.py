"""The part of ``Admin`` for quotas, SCRAM users and delegation tokens."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Final

from fencepost_client.admin.delegation_tokens import (
    DelegationToken,
    create_delegation_token,
    describe_delegation_tokens,
    expire_delegation_token,
    renew_delegation_token,
)
from fencepost_client.admin.quotas_and_users import (
    DeletePassword,
    QuotaEntity,
    QuotaName,
    ScramMechanism,
    SetPassword,
    alter_client_quotas,
    alter_user_scram_credentials,
    describe_client_quotas,
    describe_user_scram_credentials,
)
from fencepost_client.clients.admin.base import AdminBase

_SALT_BYTES: Final = 24


class AdminAccess(AdminBase):
    """Quotas of clients, users that can log in by SCRAM, and delegation tokens."""

    async def alter_client_quotas(
        self,
        changes: Mapping[QuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
    ) -> None:
        """Set quotas and keep all others; ``None`` removes one.

        loader = QuotaEntity(client_id="loader")
        await admin.alter_client_quotas(
            {loader: {"producer_byte_rate": 1_000_000, "consumer_byte_rate": None}}
        )
        """
        await self._run(alter_client_quotas(changes, self._backoff(), validate_only=validate_only))

    async def describe_client_quotas(
        self,
        *,
        user: str | QuotaName | None = None,
        client_id: str | QuotaName | None = None,
        ip: str | QuotaName | None = None,
        strict: bool = False,
    ) -> dict[QuotaEntity, dict[str, float]]:
        """The quotas of entities, all or those with the given names.

        ``strict`` leaves out entities with further names: with ``user`` alone, those of a user and
        a client id.

        for entity, quotas in (await admin.describe_client_quotas(user=QuotaName.ANY)).items():
            print(entity, quotas.get("producer_byte_rate"))
        """
        conditions = QuotaEntity(user, client_id, ip)
        return await self._run(describe_client_quotas(conditions, self._backoff(), strict=strict))

    async def alter_user_scram_credentials(
        self, changes: Mapping[str, SetPassword | DeletePassword]
    ) -> None:
        """Set and delete passwords of users, by mechanism. The client salts and hashes them.

        await admin.alter_user_scram_credentials(
            {"alice": SetPassword(ScramMechanism.SCRAM_SHA_512, "alice-secret")}
        )
        """
        salts = {user: secrets.token_bytes(_SALT_BYTES) for user in changes}
        await self._run(alter_user_scram_credentials(changes, salts, self._backoff()))

    async def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None
    ) -> dict[str, dict[ScramMechanism, int]]:
        """The SCRAM mechanisms of users, or of all users, with their iterations.

        "alice" in await admin.describe_user_scram_credentials()
        """
        return await self._run(describe_user_scram_credentials(users, self._backoff()))

    async def create_delegation_token(
        self,
        *,
        owner: str | None = None,
        renewers: Iterable[str] = (),
        max_lifetime_ms: int = -1,
    ) -> DelegationToken:
        """Make a token with which others log in as this client's user, or as ``owner``.

        ``max_lifetime_ms`` is at most ``delegation.token.max.lifetime.ms``, which is the default.

        token = await admin.create_delegation_token(renewers=["scheduler"])
        """
        return await self._run(
            create_delegation_token(owner, renewers, max_lifetime_ms, self._backoff())
        )

    async def renew_delegation_token(self, hmac: bytes, *, for_ms: int = -1) -> int:
        """Renew a token; return when it expires, in ms since 1970.

        Without ``for_ms`` it is renewed for ``delegation.token.expiry.time.ms``.

        await admin.renew_delegation_token(token.hmac)
        """
        return await self._run(renew_delegation_token(hmac, for_ms, self._backoff()))

    async def expire_delegation_token(self, hmac: bytes, *, in_ms: int = -1) -> int:
        """Remove a token, or let it expire later; return when it expires, in ms since 1970.

        await admin.expire_delegation_token(token.hmac)
        """
        return await self._run(expire_delegation_token(hmac, in_ms, self._backoff()))

    async def describe_delegation_tokens(
        self, owners: Iterable[str] | None = None
    ) -> list[DelegationToken]:
        """The tokens of some users, or all that this client's user may see.

        [token.token_id for token in await admin.describe_delegation_tokens()]
        """
        return await self._run(describe_delegation_tokens(owners, self._backoff()))
