"""Logins by OAUTHBEARER with signed tokens (KIP-768), and what Apache Kafka 4.3.1 answered."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.conformance.bearer_cases import HOUR_S, MECHANISM, MODULE, claims, first, unsecured
from tests.conformance.bearer_cases import told as bearer_told
from tests.support.issuer import Issuer
from tests.support.secure_kafka import plain_module
from tests.support.waiting import asked_until

_PREFIX: Final = "listener.name.login.oauthbearer"
AUDIENCE, ISSUER = "orders", "https://issuer.example"
RSA_KEY: Final = rsa.generate_private_key(65537, 2048)
OTHER_KEY: Final = rsa.generate_private_key(65537, 2048)
EC_KEY: Final = ec.generate_private_key(ec.SECP256R1())


def settings(url: str) -> dict[str, str]:
    """The settings of a listener that knows the keys there."""
    return {
        "sasl.enabled.mechanisms": f"PLAIN,{MECHANISM}",
        "listener.name.login.plain.sasl.jaas.config": plain_module("alice"),
        f"{_PREFIX}.sasl.jaas.config": MODULE.format(""),
        f"{_PREFIX}.sasl.server.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
        ),
        f"{_PREFIX}.sasl.oauthbearer.jwks.endpoint.url": url,
        f"{_PREFIX}.sasl.oauthbearer.expected.audience": f"billing,{AUDIENCE}",
        f"{_PREFIX}.sasl.oauthbearer.expected.issuer": ISSUER,
    }


def key_set(**others: rsa.RSAPrivateKey) -> str:
    """The public keys as a JSON Web Key Set, and those of others, by their names."""
    keys = []
    ours: dict[str, Any] = {"rsa": RSA_KEY, "ec": EC_KEY}
    for name, key in (ours | others).items():
        algorithm = "ES256" if key is EC_KEY else "RS256"
        maker = jwt.get_algorithm_by_name(algorithm)
        public: dict[str, Any] = maker.to_jwk(key.public_key(), as_dict=True)
        keys.append(public | {"kid": name, "use": "sig", "alg": algorithm})
    return json.dumps({"keys": keys})


def by_key(now_s: int, kid: str, key: rsa.RSAPrivateKey = OTHER_KEY) -> bytes:
    """The message with a token that is fine, if this key is known."""
    given = claims(now_s, aud=AUDIENCE, iss=ISSUER)
    return first(jwt.encode(given, key, "RS256", {"kid": kid}))


async def told_with_endpoint(bootstrap: str, now_s: int, issuer: Issuer) -> list[str]:
    """What comes of logins while an endpoint changes what it answers."""

    async def login(about: str, message: bytes) -> str:
        [found] = await bearer_told(bootstrap, now_s, {about: message})
        return found

    known, told = by_key(now_s, "rsa", RSA_KEY), []
    told.append(await login("a key that is there", known))
    issuer.body = key_set(later=OTHER_KEY).encode()
    later = by_key(now_s, "later")
    told.append(await login("a key that came since, at first", later))

    async def is_known() -> bool:
        return (await login("", later)).startswith(": NONE, valid")

    await asked_until(is_known)
    told.append(await login("a key that came since, soon", later))
    for about, status, body in (
        ("an error", 500, b"no"),
        ("no JSON", 200, b"keys"),
        ("no key set", 200, b"{}"),
        ("a list", 200, b"[]"),
        ("deep JSON", 200, b"[" * 100_000),
        ("much", 200, b'{"keys": [], "more": "' + b"a" * 1_000_000 + b'"}'),
    ):
        issuer.status, issuer.body = status, body
        before = len(issuer.asked)
        await login("", by_key(now_s, about))
        await asked_until(lambda least=before: _is_longer(issuer.asked, least))  # type: ignore[misc]
        told.append(await login(f"then it answers {about}", known))
    issuer.status, issuer.body = 200, b'{"keys": []}'

    async def is_unknown() -> bool:
        return (await login("", known)).startswith(': NONE, {"status"')

    await login("", by_key(now_s, "no keys"))
    await asked_until(is_unknown)
    told.append(await login("then it answers no keys", known))
    return told


async def _is_longer(asked: list[str], than: int) -> bool:
    return len(asked) > than


def cases(now_s: int) -> dict[str, bytes]:
    """The client's messages, by what they are about."""

    def signed(
        key: Any = RSA_KEY, algorithm: str = "RS256", kid: str | None = "rsa", **changed: Any
    ) -> bytes:
        given = claims(now_s, **({"aud": AUDIENCE, "iss": ISSUER} | changed))
        headers = None if kid is None else {"kid": kid}
        return first(jwt.encode(given, key, algorithm, headers))

    public = RSA_KEY.public_key().public_numbers().n.to_bytes(256, "big")
    fine = signed()
    [head, body, signature] = fine.split(b"Bearer ")[1].rstrip(b"\1").split(b".")
    signed_by = bytearray(base64.urlsafe_b64decode(signature + b"=="))
    signed_by[-1] ^= 1
    forged = b".".join((head, body, base64.urlsafe_b64encode(signed_by).rstrip(b"=")))
    return {
        "by RSA": fine,
        "by RSA with another hash": signed(algorithm="RS512"),
        "by an elliptic curve": signed(EC_KEY, "ES256", "ec"),
        "by another key": signed(OTHER_KEY),
        "by the key of another": signed(kid="ec"),
        "by an unknown key": signed(kid="unknown"),
        "without the key's name": signed(kid=None),
        "by a secret": signed(public, "HS256"),
        "tampered": b"n,,\1auth=Bearer " + forged + b"\1\1",
        "not signed": first(unsecured(claims(now_s, aud=AUDIENCE, iss=ISSUER))),
        "no token": first("abc"),
        "two audiences": signed(aud=["a", AUDIENCE]),
        "another audience": signed(aud="shipping"),
        "no audience": signed(aud=None),
        "another issuer": signed(iss="https://issuer.example/"),
        "no issuer": signed(iss=None),
        "no user": signed(sub=None),
        "an empty user": signed(sub=""),
        "no expiry": signed(exp=None),
        "not issued": signed(iat=None),
        "expired within the skew": signed(exp=now_s - 10, iat=now_s - 20),
        "expired": signed(exp=now_s - 60, iat=now_s - 70),
        "issued later": signed(iat=now_s + 10),
        "issued much later": signed(iat=now_s + 100),
        "issued after its expiry": signed(iat=now_s + 2 * HOUR_S),
        "not valid yet, within the skew": signed(nbf=now_s + 10),
        "not valid yet": signed(nbf=now_s + 100),
        "scopes": signed(scope="read write"),
        "a list of scopes": signed(scope=["read", "write"]),
        "a number for a scope": signed(scope=5),
        "an unknown claim": signed(other=1),
    }
