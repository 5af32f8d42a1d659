"""Tokens of OAUTHBEARER that an issuer has signed (KIP-768).

Behaviour: as in Apache Kafka, ``iat`` may lie in the future, and any of the expected audiences is
enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jwt

from fencepost_broker.security.authentication.bearer import InvalidTokenError, refuse, time_ms
from fencepost_broker.security.authentication.policy import Bearer
from fencepost_broker.security.authentication.signing_keys import KeysAtEndpoint, SigningKeys

_ALGORITHMS: Final = {
    "RSA": ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    "EC": ("ES256", "ES384", "ES512"),
    "OKP": ("EdDSA",),
}
"""Those of public keys, by the type of the key."""
_SIGNATURE_ALONE: Final[Any] = dict.fromkeys(
    ("verify_exp", "verify_nbf", "verify_iat", "verify_aud", "verify_iss", "verify_sub",
     "verify_jti"),
    False,
)  # fmt: skip
"""What a token says is checked here, by the broker's clock."""


class SignedTokens:
    """Accepts tokens that are signed with one of the current keys."""

    def __init__(
        self,
        keys: SigningKeys,
        *,
        audiences: tuple[str, ...],
        issuer: str | None,
        user_claim: str,
        skew_ms: int,
    ) -> None:
        self._keys = keys
        self._audiences = audiences
        self._issuer = issuer
        self._user_claim = user_claim
        self._skew_ms = skew_ms

    @property
    def endpoint(self) -> KeysAtEndpoint | None:
        """The keys, if they have to be fetched."""
        return self._keys if isinstance(self._keys, KeysAtEndpoint) else None

    def validate(self, token: str, now_ms: int) -> Bearer:
        """Return what a token says."""
        claims = self._verified(token)
        user = claims.get(self._user_claim)
        if not isinstance(user, str) or not user.strip():
            refuse(f"the token's claim {self._user_claim} is {user!r:.100}, which is no user")
        named = claims.get("aud")
        named = named if isinstance(named, list) else [named]
        if self._audiences and not any(each in self._audiences for each in named):
            refuse(f"the token is for {named!r:.100}, not for {', '.join(self._audiences)}")
        if self._issuer is not None and claims.get("iss") != self._issuer:
            refuse(f"the token's issuer is {claims.get('iss')!r:.100}, not {self._issuer}")
        expires_ms, issued_ms = time_ms(claims, "exp"), time_ms(claims, "iat")
        if expires_ms is None or issued_ms is None:
            refuse("the token has no exp or no iat")
        if now_ms - self._skew_ms >= expires_ms:
            refuse("the token has expired")
        if expires_ms <= issued_ms:
            refuse("the token's exp is not after its iat")
        valid_from_ms = time_ms(claims, "nbf")
        if valid_from_ms is not None and valid_from_ms > now_ms + self._skew_ms:
            refuse("the token's nbf lies in the future")
        return Bearer(user, expires_ms)

    def _verified(self, token: str) -> Mapping[str, Any]:
        try:
            keys = self._keys.current()
        except ValueError as error:
            refuse(str(error))
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError as error:
            refuse(f"the token has no header: {error}")
        algorithm, key_id = header.get("alg"), header.get("kid")
        for key in keys:
            if key_id is not None and key.key_id != key_id:
                continue
            if algorithm not in _ALGORITHMS.get(key.key_type or "", ()):
                continue
            try:
                return jwt.decode(token, key.key, algorithms=[algorithm], options=_SIGNATURE_ALONE)
            except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
                continue
        if key_id is not None and all(key.key_id != key_id for key in keys):
            self._keys.want_others()
        raise InvalidTokenError(
            f"no key verifies the token (kid {key_id!r:.50}, alg {algorithm!r:.20})"
        )
