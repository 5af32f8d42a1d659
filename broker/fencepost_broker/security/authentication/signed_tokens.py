"""Tokens of OAUTHBEARER that an issuer has signed (KIP-768), with keys from a file.

The file is a JSON Web Key Set (RFC 7517); it is read again when it has changed. Behaviour: as in
Apache Kafka, ``iat`` may lie in the future, and any of the expected audiences is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from fencepost_broker.security.authentication.bearer import InvalidTokenError, refuse, time_ms
from fencepost_broker.security.authentication.policy import Bearer

try:
    import jwt
except ImportError as error:
    raise ValueError(
        "signed tokens need PyJWT and cryptography: pip install 'fencepost[oauth]'"
    ) from error

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


def signed_tokens(
    keys: Path, *, audiences: tuple[str, ...], issuer: str | None, user_claim: str, skew_ms: int
) -> SignedTokens:
    """Return what accepts such tokens, with the current keys; raises ValueError.

    A listener's settings are checked before they are used, and the file is read only once.
    """
    found = _made(keys, audiences, issuer, user_claim, skew_ms)
    found.read_keys()
    return found


class SignedTokens:
    """Accepts tokens that are signed with one of the keys in a file."""

    def __init__(
        self,
        keys: Path,
        audiences: tuple[str, ...],
        issuer: str | None,
        user_claim: str,
        skew_ms: int,
    ) -> None:
        self._path = keys
        self._audiences = audiences
        self._issuer = issuer
        self._user_claim = user_claim
        self._skew_ms = skew_ms
        self._read_as: tuple[int, int] | None = None
        self._keys: list[jwt.PyJWK] = []

    def read_keys(self) -> None:
        """Read the file, unless it is the same as last time; raises ValueError."""
        try:
            facts = self._path.stat()
            found = facts.st_mtime_ns, facts.st_size
            if found != self._read_as:
                self._keys = jwt.PyJWKSet.from_json(self._path.read_text("utf-8")).keys
                self._read_as = found
        except OSError as error:
            raise ValueError(f"{self._path} cannot be read: {error.strerror}") from error
        except (jwt.PyJWTError, ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"{self._path} is not a JSON Web Key Set: {error}") from error

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
            self.read_keys()
        except ValueError as error:
            refuse(str(error))
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError as error:
            refuse(f"the token has no header: {error}")
        algorithm, key_id = header.get("alg"), header.get("kid")
        for key in self._keys:
            if key_id is not None and key.key_id != key_id:
                continue
            if algorithm not in _ALGORITHMS.get(key.key_type or "", ()):
                continue
            try:
                return jwt.decode(token, key.key, algorithms=[algorithm], options=_SIGNATURE_ALONE)
            except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
                continue
        raise InvalidTokenError(
            f"no key verifies the token (kid {key_id!r:.50}, alg {algorithm!r:.20})"
        )


_made: Final = lru_cache(16)(SignedTokens)
