"""The part of ``Admin`` for quotas and SCRAM users."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Final

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
    """Quotas of clients, and users that can log in by SCRAM."""

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
