"""Which requests cannot be sent again, because a recording hides their secrets."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.generated.index import ApiKey

_LOGINS: Final = frozenset(
    {ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE, ApiKey.ALTER_USER_SCRAM_CREDENTIALS}
)
_CONFIGS: Final = frozenset({ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS})


def is_hidden(api_key: int, message: Any) -> bool:
    """Return whether a recorded request has no secrets any more that it needs."""
    if api_key in _LOGINS:
        return True
    return (
        api_key in _CONFIGS
        and message is not None
        and any(
            each.value and not each.value.strip("\0")
            for resource in message.resources
            for each in resource.configs
        )
    )
