"""AlterUserScramCredentials and DescribeUserScramCredentials: users' SCRAM passwords (KIP-554).

Behaviour: the controller decides about changes. DescribeUserScramCredentials reads this broker's
metadata; its response never has salts or keys.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
)
from fencepost_protocol.generated.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext
    from fencepost_broker.metadata.image.metadata_image import MetadataImage


def alter_user_scram_credentials(
    context: HandlerContext, _request: Request, message: AlterUserScramCredentialsRequest
) -> Answer:
    """Answer AlterUserScramCredentials, version 0."""
    answer: Message = context.controller.command(message)
    return answer


def describe_user_scram_credentials(
    context: HandlerContext, _request: Request, message: DescribeUserScramCredentialsRequest
) -> Answer:
    """Answer DescribeUserScramCredentials, version 0."""
    return described_credentials(context.image, message)


def described_credentials(
    image: MetadataImage, message: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """Build the response from a metadata image."""
    known: dict[str, list[CredentialInfo]] = {}
    for (user, mechanism), record in sorted(image.scram.credentials.items()):
        known.setdefault(user, []).append(CredentialInfo(mechanism, record.iterations))
    times = Counter(each.name for each in message.users or ())
    response = DescribeUserScramCredentialsResponse()
    for user in times or known:
        result = DescribeUserScramCredentialsResult(user)
        if times[user] > 1:
            result.error_code = ErrorCode.DUPLICATE_RESOURCE
            result.error_message = f"{user} is in the request more than once"
        elif user not in known:
            result.error_code = ErrorCode.RESOURCE_NOT_FOUND
            result.error_message = f"{user} has no SCRAM credentials"
        else:
            result.credential_infos = known[user]
        response.results.append(result)
    return response
