"""Logins by OAUTHBEARER with unsecured tokens (KIP-255), and what Apache Kafka 4.3.1 answered."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.logins import connected
from tests.support.secure_kafka import plain_module

MECHANISM: Final = "OAUTHBEARER"
MODULE: Final = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required{};"
HOUR_S: Final = 3600
UNSIGNED: Final = {"alg": "none"}
SETTINGS: Final = {
    "sasl.enabled.mechanisms": f"PLAIN,{MECHANISM}",
    "listener.name.login.plain.sasl.jaas.config": plain_module("alice"),
    "listener.name.login.oauthbearer.sasl.jaas.config": MODULE.format(""),
}
WITH_OPTIONS: Final = SETTINGS | {
    "listener.name.login.oauthbearer.sasl.jaas.config": MODULE.format(
        ' unsecuredLoginStringClaim_sub="broker" unsecuredValidatorPrincipalClaimName="user"'
        ' unsecuredValidatorScopeClaimName="may"'
        ' unsecuredValidatorRequiredScope="read write"'
        ' unsecuredValidatorAllowableClockSkewMs="60000"'
    )
}

SKEW_IN_WORDS: Final = MODULE.format(' unsecuredValidatorAllowableClockSkewMs="a little"')


def encoded(part: Any) -> str:
    """A part of a token."""
    data = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unsecured(claims: Any, header: Any = UNSIGNED, signature: str = "") -> str:
    """A token that nobody has signed."""
    return f"{encoded(header)}.{encoded(claims)}.{signature}"


def first(token: str, *, other: str = "", scheme: str = "Bearer ", more: str = "") -> bytes:
    """The client's message."""
    name = f"a={other}" if other else ""
    return f"n,{name},\1auth={scheme}{token}\1{more}\1".encode()


def claims(now_s: int, **changed: Any) -> dict[str, Any]:
    """Valid claims, but for those that are changed; ``None`` takes one away."""
    found = {"sub": "alice", "iat": now_s, "exp": now_s + HOUR_S} | changed
    return {name: value for name, value in found.items() if value is not None}


def cases(now_s: int) -> dict[str, bytes]:
    """The client's messages, by what they are about."""
    fine = unsecured(claims(now_s))

    def with_claims(**changed: Any) -> bytes:
        return first(unsecured(claims(now_s, **changed)))

    return {
        "fine": first(fine),
        "small letters": first(fine, scheme="bearer "),
        "several spaces": first(fine, scheme="Bearer   "),
        "another scheme": first(fine, scheme="Basic "),
        "for itself": first(fine, other="alice"),
        "for another": first(fine, other="bob"),
        "an extension": first(fine, more="traceId=123\1"),
        "two extensions": first(fine, more="traceId=123\1b=c d\1"),
        "an empty extension": first(fine, more="traceId=\1"),
        "an extension with a digit": first(fine, more="trace1=1\1"),
        "no token": b"n,,\1\1",
        "no authorization": b"n,,\1a=b\1\1",
        "an empty authorization": b"n,,\1auth=\1\1",
        "another binding": b"y" + first(fine)[1:],
        "no end": first(fine)[:-1],
        "more behind": first(fine) + b"x",
        "one byte": b"\1",
        "nothing": b"",
        "one part": first("abc"),
        "two parts": first(fine.rstrip(".")),
        "a signature": first(fine + "abc"),
        "four parts": first(fine + ".abc"),
        "no base64": first("a.b.c"),
        "no JSON": first(unsecured(b"not json")),
        "a list": first(unsecured([1])),
        "an algorithm": first(unsecured(claims(now_s), {"alg": "HS256"})),
        "no algorithm": first(unsecured(claims(now_s), {"typ": "JWT"})),
        "capitals": first(unsecured(claims(now_s), {"alg": "NONE"})),
        "no user": with_claims(sub=None),
        "an empty user": with_claims(sub=""),
        "a blank user": with_claims(sub="  "),
        "a number for a user": with_claims(sub=5),
        "no expiry": with_claims(exp=None),
        "expired": with_claims(exp=now_s - 1),
        "expired long ago": with_claims(exp=now_s - 100, iat=now_s - 200),
        "expiry in text": with_claims(exp=str(now_s + HOUR_S)),
        "expiry with a fraction": with_claims(exp=now_s + HOUR_S + 0.5),
        "not issued": with_claims(iat=None),
        "issued later": with_claims(iat=now_s + 100),
        "issued in text": with_claims(iat="now"),
        "issued after its expiry": with_claims(iat=now_s + 2 * HOUR_S),
        "not valid yet": with_claims(nbf=now_s + 100),
        "a scope": with_claims(scope="read"),
        "scopes": with_claims(scope=["read", "write"]),
        "a number for a scope": with_claims(scope=5),
        "another claim": with_claims(other={"a": [1]}),
        "a user of another alphabet": with_claims(sub="алиса"),
    }


def cases_with_options(now_s: int) -> dict[str, bytes]:
    """Messages to a listener with options."""

    def with_claims(**changed: Any) -> bytes:
        given = {"user": "alice", "may": ["read", "write"]} | changed
        return first(unsecured(claims(now_s, sub=None, **given)))

    return {
        "fine": with_claims(),
        "a wrong claim": first(unsecured(claims(now_s, may=["read", "write"]))),
        "more than needed": with_claims(may=["a", "write", "read"]),
        "one is missing": with_claims(may=["read"]),
        "in text": with_claims(may="read write"),
        "in the wrong claim": with_claims(may=None, scope=["read", "write"]),
        "expired within the skew": with_claims(exp=now_s - 20, iat=now_s - 30),
        "expired beyond the skew": with_claims(exp=now_s - 80, iat=now_s - 90),
        "issued within the skew": with_claims(iat=now_s + 20),
    }


async def told(bootstrap: str, now_s: int, messages: dict[str, bytes]) -> list[str]:
    """What comes of each message."""
    return [f"{name}: {await _told(bootstrap, now_s, each)}" for name, each in messages.items()]


async def _told(bootstrap: str, now_s: int, message: bytes) -> str:
    async with connected(bootstrap) as peer:
        await peer.handshake(MECHANISM)
        answer = await peer.token(message)
        if answer is None:
            return "closed"
        told = [ErrorCode(answer.error_code).name]
        if not answer.error_code and not answer.auth_bytes:
            held_ms = answer.session_lifetime_ms
            ends_s = now_s + held_ms / 1000
            known = {"at once": now_s, "in an hour": now_s + HOUR_S}
            told.append("valid until" if held_ms else "valid")
            told.append(min(known, key=lambda name: abs(known[name] - ends_s)))
            told.append("asked" if await peer.ask(MetadataRequest(), 12) else "closed")
        elif answer.auth_bytes:
            told.append(text := bytes(answer.auth_bytes).decode())
            again = await peer.token(b"\1")
            told.append("closed" if again is None else ErrorCode(again.error_code).name)
            if again is not None and again.error_message == text:
                told.append("the same text")
        return ", ".join(told)
