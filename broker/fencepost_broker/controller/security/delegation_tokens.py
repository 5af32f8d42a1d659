"""CreateDelegationToken, RenewDelegationToken and ExpireDelegationToken (KIP-48, KIP-373).

A token's owner and its renewers may renew it and let it expire. A token that has expired cannot be
renewed; it is removed at the next multiple of ``delegation.token.expiry.check.interval.ms``.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from typing import Any

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from fencepost_protocol.generated.delegation_token_record import DelegationTokenRecord
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from fencepost_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from fencepost_protocol.generated.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from fencepost_protocol.primitives import uuid_text

from fencepost_broker.controller.context import Context
from fencepost_broker.controller.ports import TokenCommand, TokenSettings
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.delegation_tokens import DelegationTokensImage
from fencepost_broker.security.delegation_tokens import token_secret
from fencepost_broker.security.principals import USER_TYPE, principal_of


def decide(context: Context, now_ms: int, command: TokenCommand) -> Decision[Any]:
    """Decide a request about tokens."""
    user, request = command
    settings = context.settings.tokens
    if isinstance(request, CreateDelegationTokenRequest):
        if settings is None:
            code, owner = ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED, owner_of(request, user)
            return Decision(CreateDelegationTokenResponse(code, USER_TYPE, owner, USER_TYPE, user))
        return _create(settings, context, now_ms, user, request)
    answer, record = _changed(settings, context.image.delegation_tokens, now_ms, user, request)
    return Decision(answer, () if record is None else (MetadataRecord(record, 0),))


def owner_of(request: CreateDelegationTokenRequest, user: str) -> str:
    """Return the name of a new token's owner."""
    return request.owner_principal_name or user


def _create(
    settings: TokenSettings,
    context: Context,
    now_ms: int,
    user: str,
    request: CreateDelegationTokenRequest,
) -> Decision[CreateDelegationTokenResponse]:
    lifetime_ms = settings.lifetime_max_ms
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    max_ms = now_ms + lifetime_ms
    owner = owner_of(request, user)
    record = DelegationTokenRecord(
        owner=principal_of(owner),
        requester=principal_of(user),
        renewers=[principal_of(each.principal_name) for each in request.renewers],
        issue_timestamp=now_ms,
        max_timestamp=max_ms,
        expiration_timestamp=min(max_ms, now_ms + settings.renewed_for_ms),
        token_id=uuid_text(context.new_uuid()),
    )
    answer = CreateDelegationTokenResponse(
        ErrorCode.NONE, USER_TYPE, owner, USER_TYPE, user, now_ms, record.expiration_timestamp,
        max_ms, record.token_id, token_secret(settings.secret_key, record.token_id),
    )  # fmt: skip
    return Decision(answer, (MetadataRecord(record, 0),))


def _changed(
    settings: TokenSettings | None,
    tokens: DelegationTokensImage,
    now_ms: int,
    user: str,
    request: Message,
) -> tuple[Message, Message | None]:
    """Return the answer to a request to renew or expire a token, and the record to write."""
    assert isinstance(request, RenewDelegationTokenRequest | ExpireDelegationTokenRequest)
    renews = isinstance(request, RenewDelegationTokenRequest)
    respond = RenewDelegationTokenResponse if renews else ExpireDelegationTokenResponse
    if settings is None:
        return respond(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED), None
    token = _token_with(settings.secret_key, bytes(request.hmac), tokens)
    if token is None:
        return respond(ErrorCode.DELEGATION_TOKEN_NOT_FOUND), None
    if principal_of(user) not in (token.owner, *token.renewers):
        return respond(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH), None
    if isinstance(request, RenewDelegationTokenRequest):
        period_ms = settings.renewed_for_ms
        if request.renew_period_ms > 0:
            period_ms = min(period_ms, request.renew_period_ms)
    else:
        period_ms = request.expiry_time_period_ms
        if period_ms < 0:
            return respond(ErrorCode.NONE, now_ms), RemoveDelegationTokenRecord(token.token_id)
    if _is_over(token, now_ms):
        return respond(ErrorCode.DELEGATION_TOKEN_EXPIRED), None
    expiry_ms = min(token.max_timestamp, now_ms + period_ms)
    record = DelegationTokenRecord(
        token.owner, token.requester, token.renewers, token.issue_timestamp, token.max_timestamp,
        expiry_ms, token.token_id,
    )  # fmt: skip
    return respond(ErrorCode.NONE, expiry_ms), record


def _token_with(
    key: str, secret: bytes, tokens: DelegationTokensImage
) -> DelegationTokenRecord | None:
    for token_id, token in tokens.by_id.items():
        if hmac.compare_digest(token_secret(key, token_id), secret):
            return token
    return None


def _is_over(token: DelegationTokenRecord, now_ms: int) -> bool:
    return token.expiration_timestamp < now_ms  # which is never after max_timestamp


def check_at_ms(settings: TokenSettings, tokens: DelegationTokensImage) -> int:
    """Return when the next expired token is to be removed; there is at least one token."""
    first_ms = min(token.expiration_timestamp for token in tokens.by_id.values())
    interval_ms = settings.check_interval_ms
    return (first_ms // interval_ms + 1) * interval_ms


def removals(tokens: DelegationTokensImage, now_ms: int) -> Iterator[MetadataRecord]:
    """Yield records that remove the expired tokens."""
    for token in tokens.by_id.values():
        if _is_over(token, now_ms):
            yield MetadataRecord(RemoveDelegationTokenRecord(token.token_id), 0)
