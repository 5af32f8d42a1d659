"""The APIs of delegation tokens (KIP-48): a part of the table in ``registry``."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cutting import WHOLE
from fencepost_broker.apis.served import Later, Longest, Served
from fencepost_broker.observability.tap.hiding import hide_delegation_tokens

_RIGHTS: Final = "whole:everybody"
"""The handlers look up the rights to each token and to its owner."""

DELEGATION_TOKEN_APIS: Final = (
    Served(
        ApiKey.CREATE_DELEGATION_TOKEN,
        Later("security.delegation_tokens", "create_delegation_token"),
        rights=_RIGHTS,
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("renewers",)),
        by_controller=True,
        hides_in_response=hide_delegation_tokens,
    ),
    *(
        Served(
            key,
            Later("security.delegation_tokens", "change_delegation_token"),
            rights=_RIGHTS,
            by_controller=True,
            hides_in_request=hide_delegation_tokens,
        )
        for key in (ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN)
    ),
    Served(
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        Later("security.delegation_tokens", "describe_delegation_token"),
        rights=_RIGHTS,
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("owners",)),
        hides_in_response=hide_delegation_tokens,
    ),
)
