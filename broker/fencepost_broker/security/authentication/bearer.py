"""The broker's side of OAUTHBEARER (RFC 7628, KIP-255): a token says who the client is.

Behaviour: as in Apache Kafka, a token that is refused is answered with a text in JSON; the login
fails with the client's next message, which is one byte. The same text is the message of that
error. A login lasts as long as its token.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from fencepost_protocol.exceptions import RemoteProtocolError

from fencepost_broker.security.authentication.exchanges import RefusedError, check_other
from fencepost_broker.security.authentication.policy import Bearer, TokenValidator

_NAME: Final = r"(?:[^=,\0\x80-\U0010ffff]|=2C|=3D)+"
_FIRST: Final = re.compile(
    rf"n,(?:a=(?P<other>{_NAME}))?,\x01(?P<pairs>(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*)\x01"
)
_AUTHORIZATION: Final = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_.a-zA-Z0-9]+)", re.ASCII)
_GIVEN_UP: Final = b"\1"


class InvalidTokenError(Exception):
    """A token is refused; the text is for the log."""

    def __init__(self, reason: str, *, missing_scopes: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.missing_scopes = missing_scopes
        """The scopes that are required, if the token has not all of them."""

    @property
    def answer(self) -> bytes:
        """The answer to the client."""
        if not self.missing_scopes:
            return b'{"status":"invalid_token"}'
        scopes = f"[{', '.join(self.missing_scopes)}]"
        return f'{{"status":"insufficient_scope", "scope":{json.dumps(scopes)}}}'.encode()


class BearerExchange:
    """One message with a token; after a refusal, one more."""

    has_delegation_token = False

    def __init__(self, validator: TokenValidator, now_ms: Callable[[], int]) -> None:
        self._validator = validator
        self._now_ms = now_ms
        self._refusal: InvalidTokenError | None = None
        self.user: str | None = None
        self.valid_for_ms: int | None = None

    def receive(self, token: bytes) -> bytes:
        """Check the token."""
        refusal, self._refusal = self._refusal, None
        if refusal is not None and token == _GIVEN_UP:
            raise RefusedError(str(refusal), refusal.answer.decode())
        other, bearer_token = _read(token)
        now_ms = self._now_ms()
        try:
            bearer = self._validator.validate(bearer_token, now_ms)
        except InvalidTokenError as error:
            self._refusal = error
            return error.answer
        check_other(other, bearer.user)
        self.user = bearer.user
        self.valid_for_ms = bearer.expires_ms - now_ms
        return b""


def _read(message: bytes) -> tuple[str, str]:
    """Return the user that the client wants to be, if it says so, and the token."""
    try:
        found = _FIRST.fullmatch(message.decode())
    except UnicodeDecodeError:
        raise RefusedError("the message is not UTF-8 text") from None
    if found is None:
        raise RefusedError("the message is not n,,\\x01auth=Bearer TOKEN\\x01\\x01")
    pairs = dict(pair.split("=", 1) for pair in found["pairs"].split("\1") if pair)
    authorization = _AUTHORIZATION.fullmatch(pairs.get("auth", ""))
    if authorization is None:
        raise RefusedError("the message has no auth=Bearer TOKEN")
    if authorization["scheme"].lower() != "bearer":
        # Apache Kafka closes the connection here.
        scheme = authorization["scheme"]
        raise RemoteProtocolError(f"the token's scheme is {scheme:.20}, not Bearer", api="SASL")
    other = (found["other"] or "").replace("=2C", ",").replace("=3D", "=")
    return other, authorization["token"]


@dataclass(frozen=True, slots=True)
class UnsecuredTokens:
    """Accepts tokens that are not signed (RFC 7515, ``"alg": "none"``): for tests only."""

    user_claim: str = "sub"
    scope_claim: str = "scope"
    scopes: tuple[str, ...] = ()
    """What a token must have in its scope claim."""
    skew_ms: int = 0
    """By how much the client's clock may be wrong."""

    @classmethod
    def from_options(cls, options: Mapping[str, str]) -> UnsecuredTokens:
        """Take the options of Kafka's login module; raises ValueError."""
        skew = options.get("unsecuredValidatorAllowableClockSkewMs", "0")
        if not skew.isdecimal():
            raise ValueError(
                f"unsecuredValidatorAllowableClockSkewMs is {skew:.50}: give a number from 0 on"
            )
        return cls(
            options.get("unsecuredValidatorPrincipalClaimName") or "sub",
            options.get("unsecuredValidatorScopeClaimName") or "scope",
            tuple((options.get("unsecuredValidatorRequiredScope") or "").split()),
            int(skew),
        )

    @property
    def endpoint(self) -> None:
        """There are no keys."""

    def validate(self, token: str, now_ms: int) -> Bearer:
        """Return what a token says."""
        parts = token.split(".")
        if len(parts) != 3 or parts[2]:
            refuse("the token is not HEADER.CLAIMS. without a signature")
        header, claims = _object(parts[0], "header"), _object(parts[1], "claims")
        if "alg" not in header:
            raise RemoteProtocolError("the token's header has no alg", api="SASL")  # as in Kafka
        if header["alg"] != "none":
            refuse(f"the token's alg is {header['alg']!r:.50}; only unsigned ones are accepted")
        user, scopes = claims.get(self.user_claim), _scopes(claims.get(self.scope_claim))
        if not isinstance(user, str) or not user.strip():
            refuse(f"the token's claim {self.user_claim} is {user!r:.100}, which is no user")
        expires_ms = time_ms(claims, "exp")
        if expires_ms is None:
            refuse("the token has no exp")
        issued_ms = time_ms(claims, "iat")
        if issued_ms is not None and issued_ms > now_ms + self.skew_ms:
            refuse("the token's iat lies in the future")
        if now_ms - self.skew_ms >= expires_ms:
            refuse("the token has expired")
        if issued_ms is not None and expires_ms <= issued_ms:
            refuse("the token's exp is not after its iat")
        if not scopes.issuperset(self.scopes):
            raise InvalidTokenError(
                f"the token's scope is {sorted(scopes)!s:.200}", missing_scopes=self.scopes
            )
        return Bearer(user, expires_ms)


def _object(part: str, what: str) -> dict[str, Any]:
    try:
        data = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
        found = json.loads(data, parse_constant=_no_number)
    except (binascii.Error, ValueError, RecursionError):
        refuse(f"the token's {what} is not base64 of JSON")
    if not isinstance(found, dict):
        refuse(f"the token's {what} is not an object")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _scopes(claim: object) -> frozenset[str]:
    if claim is None:
        return frozenset()
    named = [claim] if isinstance(claim, str) else claim
    if not isinstance(named, list) or not all(isinstance(each, str) for each in named):
        refuse("the token's scope is neither a text nor a list of texts")
    return frozenset(text for each in named if (text := each.strip()))


def time_ms(claims: Mapping[str, Any], name: str) -> int | None:
    """Return a time in a token; raises InvalidTokenError."""
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e12 < value < 1e12:
        refuse(f"the token's {name} is {value!r:.50}, which is no time in seconds")
    return round(value * 1000)


def refuse(reason: str) -> NoReturn:
    """Raise InvalidTokenError."""
    raise InvalidTokenError(reason)
