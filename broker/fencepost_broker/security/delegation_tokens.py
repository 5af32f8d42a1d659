"""Secrets of delegation tokens (KIP-48).

A token's secret is the HMAC of its id, with the cluster's ``delegation.token.secret.key``. So it is
computed wherever it is needed, and no log or snapshot contains it. A client logs in with SCRAM: the
token's id is the user name, and its secret in base64 is the password.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from functools import lru_cache
from typing import Final

from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

from fencepost_broker.security.scram import scram_credential

_HASH: Final = "sha512"
_ITERATIONS: Final = 4096
_CREDENTIALS_MAX: Final = 256


def token_secret(key: str, token_id: str) -> bytes:
    """Return the secret of a token."""
    return hmac.digest(key.encode(), token_id.encode(), _HASH)


@lru_cache(_CREDENTIALS_MAX)
def token_credential(
    key: str, token_id: str, mechanism: int, hash_name: str
) -> UserScramCredentialRecord:
    """Return what SCRAM compares the secret with; it is cached, since hashing takes long."""
    secret = token_secret(key, token_id)
    password = base64.b64encode(secret)
    salt = hmac.digest(secret, hash_name.encode(), _HASH)[:16]
    salted = hashlib.pbkdf2_hmac(hash_name, password, salt, _ITERATIONS)
    return scram_credential(token_id, mechanism, hash_name, salt, salted, _ITERATIONS)
