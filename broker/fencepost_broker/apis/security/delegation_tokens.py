"""Create-, Renew-, Expire- and DescribeDelegationToken (KIP-48, KIP-373).

Behaviour: the controller decides about changes; DescribeDelegationToken reads this broker's
metadata. A client that has not logged in, or has logged in with a token, may send none of these. A
token for another user needs CreateTokens on that user. Owner, requester and renewers of a token may
describe it, and users with Describe on the token or DescribeTokens on its owner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.apis import response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from fencepost_protocol.generated.delegation_token_record import DelegationTokenRecord
from fencepost_protocol.generated.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from fencepost_protocol.generated.expire_delegation_token import ExpireDelegationTokenRequest
from fencepost_protocol.generated.renew_delegation_token import RenewDelegationTokenRequest

from fencepost_broker.apis.request import Answer, Peer, Request
from fencepost_broker.controller.ports import TokenCommand
from fencepost_broker.controller.security.delegation_tokens import owner_of
from fencepost_broker.security.authorizer.acls import AclResource, Operation
from fencepost_broker.security.authorizer.authorizer import Rights
from fencepost_broker.security.delegation_tokens import token_secret
from fencepost_broker.security.principals import ANONYMOUS, USER_TYPE, principal_of, user_of

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_NO_TIME: Final = -1
_REQUESTERS_FROM: Final = 3
"""The first version of responses with the user who asked for a token."""


def create_delegation_token(
    context: HandlerContext, request: Request, message: CreateDelegationTokenRequest
) -> Answer:
    """Answer CreateDelegationToken, versions 1 to 3."""
    answer = _created(context, request.peer, message)
    if request.version < _REQUESTERS_FROM:
        answer.token_requester_principal_type = answer.token_requester_principal_name = ""
    return answer


def _created(
    context: HandlerContext, peer: Peer, message: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    user, owner = peer.user, owner_of(message, peer.user)

    def refused(code: ErrorCode) -> CreateDelegationTokenResponse:
        return CreateDelegationTokenResponse(
            code, USER_TYPE, owner, USER_TYPE, user, _NO_TIME, _NO_TIME, _NO_TIME
        )

    if not _may_ask(peer):
        return refused(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    if owner != user and not _may(
        context, peer, Operation.CREATE_TOKENS, AclResource.USER, principal_of(owner)
    ):
        return refused(ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED)
    if any(each.principal_type != USER_TYPE for each in message.renewers):
        return refused(ErrorCode.INVALID_PRINCIPAL_TYPE)
    answer: CreateDelegationTokenResponse
    answer = context.controller.command(TokenCommand(user, message))
    return answer


def change_delegation_token(
    context: HandlerContext,
    request: Request,
    message: RenewDelegationTokenRequest | ExpireDelegationTokenRequest,
) -> Answer:
    """Answer RenewDelegationToken and ExpireDelegationToken, versions 1 and 2."""
    peer = request.peer
    if not _may_ask(peer):
        respond: Any = response_class(request.api_key)
        refused: Answer = respond(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, _NO_TIME)
        return refused
    answer: Answer = context.controller.command(TokenCommand(peer.user, message))
    return answer


def describe_delegation_token(
    context: HandlerContext, request: Request, message: DescribeDelegationTokenRequest
) -> Answer:
    """Answer DescribeDelegationToken, versions 1 to 3."""
    peer = request.peer
    if not _may_ask(peer):
        return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED)
    key = context.config.settings.delegation_token_secret_key
    if key is None:
        return DescribeDelegationTokenResponse(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
    owners = message.owners
    wanted = None if owners is None else {principal_of(each.principal_name) for each in owners}
    own = principal_of(peer.user)
    tokens = []
    for token in context.image.delegation_tokens.by_id.values():
        known_to = {token.owner, token.requester, *token.renewers}
        if (wanted is None or wanted & known_to) and (
            own in known_to
            or _may(context, peer, Operation.DESCRIBE, AclResource.DELEGATION_TOKEN, token.token_id)
            or _may(context, peer, Operation.DESCRIBE_TOKENS, AclResource.USER, token.owner)
        ):
            tokens.append(_described(token, key))
    if request.version < _REQUESTERS_FROM:
        for each in tokens:
            each.token_requester_principal_type = each.token_requester_principal_name = ""
    return DescribeDelegationTokenResponse(tokens=tokens)


def _described(token: DelegationTokenRecord, key: str) -> DescribedDelegationToken:
    return DescribedDelegationToken(
        USER_TYPE, user_of(token.owner), USER_TYPE, user_of(token.requester),
        token.issue_timestamp, token.expiration_timestamp, token.max_timestamp, token.token_id,
        token_secret(key, token.token_id),
        [DescribedDelegationTokenRenewer(USER_TYPE, user_of(each)) for each in token.renewers],
    )  # fmt: skip


def _may_ask(peer: Peer) -> bool:
    return peer.user != ANONYMOUS and not peer.client.has_token


def _may(
    context: HandlerContext, peer: Peer, operation: Operation, kind: AclResource, name: str
) -> bool:
    authorizer = context.access.authorizer
    return authorizer is None or Rights(authorizer, peer.user, peer.client_host).may(
        operation, kind, name
    )
