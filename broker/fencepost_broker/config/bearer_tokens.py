"""What a listener's settings of OAUTHBEARER accept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from urllib.parse import unquote

from fencepost_client.config.jaas import read_jaas

from fencepost_broker.config.setting import Value
from fencepost_broker.config.tables.security import JAAS, SIGNED_TOKENS

if TYPE_CHECKING:
    from fencepost_broker.security.authentication.policy import TokenValidator
    from fencepost_broker.security.authentication.signing_keys import SigningKeys

_FILE: Final = "file://"
_URL: Final = "sasl.oauthbearer.jwks.endpoint.url"


def bearer_tokens(given: Callable[[str], Value]) -> TokenValidator:
    """Return what decides about tokens, by the value of each setting; raises ValueError."""
    url = given(_URL)
    if given("sasl.server.callback.handler.class") == SIGNED_TOKENS:
        from fencepost_broker.security.authentication.signed_tokens import SignedTokens

        return SignedTokens(
            _keys(url, given),
            audiences=cast("tuple[str, ...]", given("sasl.oauthbearer.expected.audience") or ()),
            issuer=cast("str | None", given("sasl.oauthbearer.expected.issuer")),
            user_claim=cast("str", given("sasl.oauthbearer.sub.claim.name")),
            skew_ms=cast("int", given("sasl.oauthbearer.clock.skew.seconds")) * 1000,
        )
    if url is not None:
        raise ValueError(
            f"{_URL} has no effect on unsigned tokens: set"
            f" sasl.server.callback.handler.class={SIGNED_TOKENS}"
        )
    from fencepost_broker.security.authentication.bearer import UnsecuredTokens

    jaas = given(JAAS)
    options = read_jaas(jaas).options if isinstance(jaas, str) else {}
    return UnsecuredTokens.from_options(options)


def _keys(url: Value, given: Callable[[str], Value]) -> SigningKeys:
    from fencepost_broker.security.authentication.signing_keys import KeysAtEndpoint, keys_in_file

    if isinstance(url, str) and url.startswith(_FILE):
        keys = keys_in_file(Path(unquote(url.removeprefix(_FILE))))
        keys.current()
        return keys
    if isinstance(url, str) and url.startswith(("http://", "https://")):
        return KeysAtEndpoint(
            url,
            cast("int", given("sasl.oauthbearer.jwks.endpoint.refresh.ms")),
            cast("int", given("sasl.oauthbearer.jwks.endpoint.retry.backoff.ms")),
            cast("int", given("sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms")),
        )
    raise ValueError(f"signed tokens need keys: set {_URL} to http(s)://HOST/PATH or {_FILE}/PATH")
