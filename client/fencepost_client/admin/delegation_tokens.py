"""Delegation tokens (KIP-48, KIP-373): logins for a time, which a user gives to helpers."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from fencepost_protocol.generated.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from fencepost_protocol.generated.expire_delegation_token import ExpireDelegationTokenRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.renew_delegation_token import RenewDelegationTokenRequest

from fencepost_client.errors import admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import ANY_NODE, Ask, Procedure, retry
from fencepost_client.types import distinct

_USER = "User"


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A delegation token; times are in ms since 1970.

    A client logs in with it by SCRAM: the user name is ``token_id``, the password is ``password``,
    and ``sasl_jaas_config`` has ``tokenauth="true"``.
    """

    token_id: str
    hmac: bytes = field(repr=False)
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issued_ms: int
    expires_ms: int
    max_ms: int
    """The token cannot be renewed beyond this time."""

    @property
    def password(self) -> str:
        """The password for SCRAM."""
        return base64.b64encode(self.hmac).decode()


def create_delegation_token(
    owner: str | None, renewers: Iterable[str], max_lifetime_ms: int, backoff: Backoff
) -> Procedure[DelegationToken]:
    """Make a token for the user of this client, or for another one."""
    names = tuple(distinct(renewers))
    request = CreateDelegationTokenRequest(
        _USER if owner else "",
        owner or "",
        [CreatableRenewers(_USER, name) for name in names],
        max_lifetime_ms,
    )
    answer = yield from _asked(
        ApiKey.CREATE_DELEGATION_TOKEN, request, backoff, "creating a delegation token"
    )
    return DelegationToken(
        answer.token_id, bytes(answer.hmac), answer.principal_name,
        answer.token_requester_principal_name or answer.principal_name, names,
        answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms,
    )  # fmt: skip


def renew_delegation_token(hmac: bytes, for_ms: int, backoff: Backoff) -> Procedure[int]:
    """Renew a token; return when it expires now."""
    request = RenewDelegationTokenRequest(hmac, for_ms)
    answer = yield from _asked(
        ApiKey.RENEW_DELEGATION_TOKEN, request, backoff, "renewing a delegation token"
    )
    return int(answer.expiry_timestamp_ms)


def expire_delegation_token(hmac: bytes, in_ms: int, backoff: Backoff) -> Procedure[int]:
    """Let a token expire in a while, or remove it; return when it expires."""
    request = ExpireDelegationTokenRequest(hmac, in_ms)
    answer = yield from _asked(
        ApiKey.EXPIRE_DELEGATION_TOKEN, request, backoff, "expiring a delegation token"
    )
    return int(answer.expiry_timestamp_ms)


def describe_delegation_tokens(
    owners: Iterable[str] | None, backoff: Backoff
) -> Procedure[list[DelegationToken]]:
    """Describe the tokens of some users, or all that this client's user may see."""
    wanted = (
        None
        if owners is None
        else [DescribeDelegationTokenOwner(_USER, o) for o in distinct(owners)]
    )
    answer = yield from _asked(
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        DescribeDelegationTokenRequest(wanted),
        backoff,
        "describing delegation tokens",
    )
    return [
        DelegationToken(
            each.token_id, bytes(each.hmac), each.principal_name,
            each.token_requester_principal_name or each.principal_name,
            tuple(renewer.principal_name for renewer in each.renewers),
            each.issue_timestamp, each.expiry_timestamp, each.max_timestamp,
        )
        for each in answer.tokens
    ]  # fmt: skip


def _asked(api: ApiKey, request: Message, backoff: Backoff, doing: str) -> Procedure[Any]:
    ask = Ask(ANY_NODE, api, lambda _: request)
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    if answer.error_code:
        raise admin_error(answer.error_code, None, state=doing)
    return answer
