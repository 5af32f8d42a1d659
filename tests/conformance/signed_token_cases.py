"""Logins by OAUTHBEARER with signed tokens (KIP-768), and what Apache Kafka 4.3.1 answered."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.conformance.bearer_cases import HOUR_S, MECHANISM, MODULE, claims, first, unsecured
from tests.support.secure_kafka import plain_module

_PREFIX: Final = "listener.name.login.oauthbearer"
AUDIENCE, ISSUER = "orders", "https://issuer.example"
RSA_KEY: Final = rsa.generate_private_key(65537, 2048)
OTHER_KEY: Final = rsa.generate_private_key(65537, 2048)
EC_KEY: Final = ec.generate_private_key(ec.SECP256R1())


def settings(keys: Path) -> dict[str, str]:
    """The settings of a listener that knows these keys."""
    return {
        "sasl.enabled.mechanisms": f"PLAIN,{MECHANISM}",
        "listener.name.login.plain.sasl.jaas.config": plain_module("alice"),
        f"{_PREFIX}.sasl.jaas.config": MODULE.format(""),
        f"{_PREFIX}.sasl.server.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
        ),
        f"{_PREFIX}.sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
        f"{_PREFIX}.sasl.oauthbearer.expected.audience": f"billing,{AUDIENCE}",
        f"{_PREFIX}.sasl.oauthbearer.expected.issuer": ISSUER,
    }


def write_keys(path: Path) -> None:
    """Write the public keys as a JSON Web Key Set."""
    keys = []
    for name, algorithm, key in (("rsa", "RS256", RSA_KEY), ("ec", "ES256", EC_KEY)):
        maker = jwt.get_algorithm_by_name(algorithm)
        public: dict[str, Any] = maker.to_jwk(key.public_key(), as_dict=True)
        keys.append(public | {"kid": name, "use": "sig", "alg": algorithm})
    path.write_text(json.dumps({"keys": keys}))


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
    tampered = base64.urlsafe_b64encode(b"\0" + base64.urlsafe_b64decode(signature + b"==")[1:])
    forged = b".".join((head, body, tampered.rstrip(b"=")))
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
